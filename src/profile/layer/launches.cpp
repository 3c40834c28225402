// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include "profile/layer/layer.hpp"

namespace clprobe::layer {
namespace {

/// Counts a launch or its refusal. Passes the event to the application, but keeps a reference.
void finish_launch(cl_int error, cl_command_queue queue, cl_kernel kernel,
                   const survey::Shape& shape, std::chrono::steady_clock::time_point began,
                   cl_event own, cl_event* event) {
  if (error != CL_SUCCESS) {
    note_gap(survey::Gap::refused);
    return;
  }
  if (event != nullptr && own != nullptr) State::below().clRetainEvent(own);
  if (event != nullptr) *event = own;
  State::get().note_launch(
      queue, kernel, shape,
      {.event = own, .began = began, .ended = std::chrono::steady_clock::now()});
}

/// Counts a launch, and times the launch if the sampling selects it. `enqueue` launches the kernel
/// with the event pointer that it gets. For an untimed launch, the pointer is the application's own
/// or null.
template <typename Enqueue>
cl_int count_launch(cl_command_queue queue, cl_kernel kernel, const survey::Shape& shape,
                    cl_event* event, const Enqueue& enqueue) {
  const std::optional<std::size_t> untimed = State::get().count_untimed(queue, kernel, shape);
  if (untimed) {
    const cl_int error = enqueue(event);
    if (error != CL_SUCCESS) {
      State::get().take_back(*untimed);
      note_gap(survey::Gap::refused);
    }
    return error;
  }
  cl_event own = nullptr;
  const auto began = std::chrono::steady_clock::now();
  const cl_int error = enqueue(&own);
  finish_launch(error, queue, kernel, shape, began, own, event);
  return error;
}

template <typename Enqueue>
cl_int launch(cl_command_queue queue, cl_kernel kernel, const bundle::NdRange& range,
              cl_event* event, const Enqueue& enqueue) {
  const survey::Shape shape{range.dimensions, range.global, range.local};
  const auto count = [&](cl_event* used) {
    return count_launch(queue, kernel, shape, used, enqueue);
  };
  return is_capturing() ? capture_launch(queue, kernel, range, event, count) : count(event);
}

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const std::size_t* offset, const std::size_t* global,
                                  const std::size_t* local, cl_uint waits, const cl_event* awaited,
                                  cl_event* event) {
  bundle::NdRange range{.dimensions = std::min<cl_uint>(dimensions, 3)};
  for (std::size_t i = 0; i < range.dimensions; ++i) {
    range.offset.at(i) = offset == nullptr ? 0 : offset[i];
    range.global.at(i) = global == nullptr ? 0 : global[i];
    range.local.at(i) = local == nullptr ? 0 : local[i];
  }
  return launch(queue, kernel, range, event, [&](cl_event* used) {
    return State::below().clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                                 waits, awaited, used);
  });
}

cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint waits,
                                const cl_event* awaited, cl_event* event) {
  constexpr bundle::NdRange one{.dimensions = 1, .offset = {}, .global = {1}, .local = {1}};
  return launch(queue, kernel, one, event, [&](cl_event* used) {
    return State::below().clEnqueueTask(queue, kernel, waits, awaited, used);
  });
}

cl_int CL_API_CALL enqueue_host_function(cl_command_queue queue, void(CL_CALLBACK* function)(void*),
                                         void* arguments, std::size_t size, cl_uint objects,
                                         const cl_mem* list, const void** locations, cl_uint waits,
                                         const cl_event* awaited, cl_event* event) {
  const cl_int error = State::below().clEnqueueNativeKernel(
      queue, function, arguments, size, objects, list, locations, waits, awaited, event);
  if (error == CL_SUCCESS) note_gap(survey::Gap::host_function);
  return error;
}

/// Counts each query for an extension's launch function. Calls of such functions bypass the loader,
/// so the layer cannot count the launches.
void note_extension(const char* name, const void* found) {
  if (name == nullptr || found == nullptr) return;
  const std::string_view text(name);
  const bool launches =
      text.find("Kernel") != std::string_view::npos || text.starts_with("clEnqueueCommandBuffer");
  if (text.starts_with("clEnqueue") && launches) note_gap(survey::Gap::extension);
}

void* CL_API_CALL find_extension(const char* name) {
  void* const found = State::below().clGetExtensionFunctionAddress(name);
  note_extension(name, found);
  return found;
}

void* CL_API_CALL find_extension_of(cl_platform_id platform, const char* name) {
  void* const found = State::below().clGetExtensionFunctionAddressForPlatform(platform, name);
  note_extension(name, found);
  return found;
}

}  // namespace

void wrap_launches(cl_icd_dispatch& table) {
  wrap<&cl_icd_dispatch::clEnqueueNDRangeKernel>(table, enqueue_kernel);
  wrap<&cl_icd_dispatch::clEnqueueTask>(table, enqueue_task);
  wrap<&cl_icd_dispatch::clEnqueueNativeKernel>(table, enqueue_host_function);
  wrap<&cl_icd_dispatch::clGetExtensionFunctionAddress>(table, find_extension);
  wrap<&cl_icd_dispatch::clGetExtensionFunctionAddressForPlatform>(table, find_extension_of);
}

}  // namespace clprobe::layer
