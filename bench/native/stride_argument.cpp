// SPDX-License-Identifier: Apache-2.0
// Whether it costs anything that the stride is an argument of cl/stride.cl and not a constant: both
// builds of the kernel that reads, in turns, on the same buffer.
//
//   stride_argument cl/stride.cl PLATFORM DEVICE ELEMENTS GRID WORK_GROUP VECTOR UNROLL WIDE
//   REPEATS
//
// One line for each stride: bandwidth as an argument and as a constant, medians in GB/s, and the
// median of the repeats' ratios.
#define CL_HPP_MINIMUM_OPENCL_VERSION 110
#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Settings {
  std::uint64_t elements;
  std::uint64_t grid;
  std::uint64_t work_group;
  std::uint64_t vector;
  std::uint64_t unroll;
  bool is_wide;
  std::uint64_t repeats;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// A device with a queue and a filled buffer.
class Bench {
 public:
  Bench(const cl::Device& device, std::string source, const Settings& settings)
      : device_(device),
        source_(std::move(source)),
        settings_(settings),
        context_(device),
        queue_(context_, device, CL_QUEUE_PROFILING_ENABLE),
        data_(context_, CL_MEM_READ_WRITE, settings.elements * settings.vector * sizeof(cl_uint)),
        out_(context_, CL_MEM_READ_WRITE, 4097 * sizeof(cl_uint)) {
    queue_.enqueueFillBuffer(data_, cl_uint{0x9e3779b9}, 0,
                             settings.elements * settings.vector * sizeof(cl_uint));
    queue_.finish();
  }

  cl::Kernel build(std::uint64_t stride, bool is_constant) const {
    std::string options = "-DTYPE=0 -DVECTOR=" + std::to_string(settings_.vector) +
                          " -DUNROLL=" + std::to_string(settings_.unroll) +
                          " -DWIDE=" + std::to_string(settings_.is_wide ? 1 : 0);
    if (is_constant) options += " -DSTRIDE=" + std::to_string(stride);
    cl::Program program(context_, source_);
    program.build(device_, options.c_str());
    cl::Kernel kernel(program, "stride_read");
    const std::uint64_t run = settings_.elements / settings_.grid;
    kernel.setArg(0, data_);
    kernel.setArg(1, out_);
    set_place(kernel, 2, stride);
    kernel.setArg(3, static_cast<cl_uint>(std::countr_zero(run)));
    set_place(kernel, 4, 0);
    kernel.setArg(5, static_cast<cl_uint>(run / settings_.unroll));
    for (cl_uint i = 6; i < 10; ++i) kernel.setArg(i, cl_uint{1});
    const std::uint64_t samples = std::min<std::uint64_t>(4096, settings_.grid);
    kernel.setArg(10, static_cast<cl_uint>(std::countr_zero(settings_.grid / samples)));
    kernel.setArg(11, static_cast<cl_uint>(samples));
    rate(kernel);
    return kernel;
  }

  /// Bytes per second of one launch.
  double rate(const cl::Kernel& kernel) const {
    cl::Event event;
    queue_.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(settings_.grid),
                                cl::NDRange(settings_.work_group), nullptr, &event);
    event.wait();
    const auto ns = static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                                        event.getProfilingInfo<CL_PROFILING_COMMAND_START>());
    return static_cast<double>(settings_.elements * settings_.vector * sizeof(cl_uint)) / ns * 1e9;
  }

 private:
  void set_place(cl::Kernel& kernel, cl_uint index, std::uint64_t value) const {
    if (settings_.is_wide) {
      kernel.setArg(index, cl_ulong{value});
    } else {
      kernel.setArg(index, static_cast<cl_uint>(value));
    }
  }

  cl::Device device_;
  std::string source_;
  Settings settings_;
  cl::Context context_;
  cl::CommandQueue queue_;
  cl::Buffer data_;
  cl::Buffer out_;
};

std::uint64_t number(const char* word) { return std::strtoull(word, nullptr, 10); }

}  // namespace

int main(int count, char** words) {
  if (count != 11) {
    std::fprintf(stderr,
                 "usage: stride_argument cl/stride.cl PLATFORM DEVICE ELEMENTS GRID WORK_GROUP "
                 "VECTOR UNROLL WIDE REPEATS\n");
    return 2;
  }
  try {
    std::ostringstream source;
    source << std::ifstream(words[1]).rdbuf();
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    std::vector<cl::Device> devices;
    platforms.at(number(words[2])).getDevices(CL_DEVICE_TYPE_ALL, &devices);
    const Settings settings{number(words[4]), number(words[5]), number(words[6]),
                            number(words[7]), number(words[8]), number(words[9]) != 0,
                            number(words[10])};
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    const Bench bench(devices.at(number(words[3])), source.str(), settings);
    std::printf("%12s %10s %10s %8s\n", "stride", "argument", "constant", "ratio");
    for (std::uint64_t stride = 1; stride <= settings.grid; stride *= 2) {
      const cl::Kernel argument = bench.build(stride, false);
      const cl::Kernel constant = bench.build(stride, true);
      std::vector<double> rates[2];
      std::vector<double> ratios;
      for (std::uint64_t n = 0; n < settings.repeats; ++n) {
        rates[0].push_back(bench.rate(argument));
        rates[1].push_back(bench.rate(constant));
        ratios.push_back(rates[0].back() / rates[1].back());
      }
      std::printf("%12llu %10.2f %10.2f %8.4f\n", static_cast<unsigned long long>(stride),
                  median(rates[0]) / 1e9, median(rates[1]) / 1e9, median(ratios));
    }
  } catch (const cl::Error& error) {
    std::fprintf(stderr, "stride_argument: %s: %d\n", error.what(), error.err());
    return 1;
  }
  return 0;
}
