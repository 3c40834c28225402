// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/command_buffer.hpp"
#include "probes/shared/expect_success.hpp"

#include <CL/cl_ext.h>

#include <cstddef>
#include <string>
#include <utility>

namespace clprobe::launch {

struct CommandBuffer::Functions {
  clCreateCommandBufferKHR_fn create{nullptr};
  clCommandNDRangeKernelKHR_fn record{nullptr};
  clFinalizeCommandBufferKHR_fn finalize{nullptr};
  clEnqueueCommandBufferKHR_fn enqueue{nullptr};
  clReleaseCommandBufferKHR_fn release{nullptr};
};

namespace {

/// Extensions have no symbols: the platform is asked where they are.
template <typename Function>
void find_function(const Session& session, const char* name, Function& function) {
  const cl::Platform platform(session.device().getInfo<CL_DEVICE_PLATFORM>());
  void* const address = clGetExtensionFunctionAddressForPlatform(platform(), name);
  if (address == nullptr) throw cl::Error(CL_INVALID_OPERATION, name);
  function = reinterpret_cast<Function>(address);
}

}  // namespace

cl::CommandQueue queue_for_command_buffers(const Session& session) {
  cl_command_queue_properties wanted = 0;
  expect_success(
      clGetDeviceInfo(session.device()(), CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR,
                      sizeof wanted, &wanted, nullptr),
      "clGetDeviceInfo");
  return {session.context(), session.device(), wanted};
}

CommandBuffer::CommandBuffer(const Session& session, cl::CommandQueue queue, cl::Kernel kernel,
                             std::uint64_t launches)
    : queue_(std::move(queue)), kernel_(std::move(kernel)) {
  auto functions = std::make_shared<Functions>();
  find_function(session, "clCreateCommandBufferKHR", functions->create);
  find_function(session, "clCommandNDRangeKernelKHR", functions->record);
  find_function(session, "clFinalizeCommandBufferKHR", functions->finalize);
  find_function(session, "clEnqueueCommandBufferKHR", functions->enqueue);
  find_function(session, "clReleaseCommandBufferKHR", functions->release);
  functions_ = functions;

  cl_int status = CL_SUCCESS;
  cl_command_queue used = queue_();
  cl_command_buffer_khr made = functions_->create(1, &used, nullptr, &status);
  expect_success(status, "clCreateCommandBufferKHR");
  buffer_ = std::shared_ptr<void>(made, [functions](void* buffer) {
    functions->release(static_cast<cl_command_buffer_khr>(buffer));
  });
  constexpr std::size_t one = 1;
  for (std::uint64_t i = 0; i < launches; ++i) {
    expect_success(functions_->record(made, nullptr, nullptr, kernel_(), 1, nullptr, &one, &one, 0,
                                      nullptr, nullptr, nullptr),
                   "clCommandNDRangeKernelKHR");
  }
  expect_success(functions_->finalize(made), "clFinalizeCommandBufferKHR");
}

void CommandBuffer::enqueue() const {
  expect_success(functions_->enqueue(0, nullptr, static_cast<cl_command_buffer_khr>(buffer_.get()),
                                     0, nullptr, nullptr),
                 "clEnqueueCommandBufferKHR");
}

}  // namespace clprobe::launch
