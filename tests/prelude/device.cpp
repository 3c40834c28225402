// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <stdexcept>

namespace clprobe::prelude {
namespace {

cl::NDRange range_of(const std::array<std::uint64_t, 3>& sizes, std::uint32_t dimensions) {
  if (dimensions == 1) return {sizes[0]};
  if (dimensions == 2) return {sizes[0], sizes[1]};
  return {sizes[0], sizes[1], sizes[2]};
}

}  // namespace

Device::Device() {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  platforms.at(0).getDevices(CL_DEVICE_TYPE_ALL, &devices);
  device_ = devices.at(0);
  context_ = cl::Context(device_);
  queue_ = cl::CommandQueue(context_, device_);
  cl_bool non_uniform = CL_FALSE;
  // Not known before OpenCL 3.0.
  const cl_int error = clGetDeviceInfo(device_(), CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT,
                                       sizeof(non_uniform), &non_uniform, nullptr);
  takes_non_uniform_ = error == CL_SUCCESS && non_uniform == CL_TRUE;
}

cl::Kernel Device::build(const std::string& text, const std::string& name,
                         const std::string& options) const {
  const cl::Program program(context_, text);
  try {
    program.build(device_, options.c_str());
  } catch (const cl::Error&) {
    throw std::runtime_error(program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_));
  }
  return {program, name.c_str()};
}

cl::Buffer Device::buffer(std::size_t words) const {
  const Words zeros(words, 0);
  cl::Buffer made(context_, CL_MEM_READ_WRITE, words * sizeof(zeros[0]));
  queue_.enqueueWriteBuffer(made, CL_TRUE, 0, words * sizeof(zeros[0]), zeros.data());
  return made;
}

Words Device::read(const cl::Buffer& buffer, std::size_t words) const {
  Words held(words, 0);
  queue_.enqueueReadBuffer(buffer, CL_TRUE, 0, words * sizeof(held[0]), held.data());
  return held;
}

std::uint32_t Device::compute_units() const {
  return device_.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
}

bool Device::compiles(const std::string& options) const {
  try {
    return build("kernel void k(global int* a) {}", "k", options)() != nullptr;
  } catch (const std::runtime_error&) {
    return false;
  }
}

Words Device::run(cl::Kernel& kernel, const NdRange& launch, const Words& in,
                  std::size_t out_words) const {
  Words out(out_words, 0xc0ffee);
  const cl::Buffer from(context_, CL_MEM_READ_ONLY, in.size() * sizeof(in[0]));
  const cl::Buffer to(context_, CL_MEM_READ_WRITE, out.size() * sizeof(out[0]));
  queue_.enqueueWriteBuffer(from, CL_TRUE, 0, in.size() * sizeof(in[0]), in.data());
  queue_.enqueueWriteBuffer(to, CL_TRUE, 0, out.size() * sizeof(out[0]), out.data());
  kernel.setArg(0, from);
  kernel.setArg(1, to);
  kernel.setArg(2, static_cast<cl_uint>(in.size()));
  const cl::NDRange local =
      launch.local[0] == 0 ? cl::NullRange : range_of(launch.local, launch.dimensions);
  queue_.enqueueNDRangeKernel(kernel, range_of(launch.offset, launch.dimensions),
                              range_of(launch.global, launch.dimensions), local);
  queue_.enqueueReadBuffer(to, CL_TRUE, 0, out.size() * sizeof(out[0]), out.data());
  return out;
}

Words distinct_words(std::size_t count) {
  Words words(count);
  std::uint32_t state = 1;
  for (std::uint32_t& word : words) {
    state = state * 1664525U + 1013904223U;
    word = state;
  }
  return words;
}

}  // namespace clprobe::prelude
