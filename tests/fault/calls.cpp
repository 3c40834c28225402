// SPDX-License-Identifier: Apache-2.0
// The functions of OpenCL that the program calls, each with the faults that befall it.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <string>

#include "fault.hpp"
#include "stretch.hpp"

namespace {

using clprobe::fault::fault_of;
using clprobe::fault::Interposer;
using clprobe::fault::note_launch;
using clprobe::fault::went_before;

bool is_vast() { return fault_of("clCreateBuffer").kind == "vast"; }

/// All ones: the largest number, or -1, or a text without an end.
void fill(size_t size, void* value, size_t* needed) {
  if (value != nullptr) std::memset(value, 0xff, size);
  if (value == nullptr && needed != nullptr) *needed = ~size_t{0};
}

/// A stamp of a counter whose ticks take `percent` % of a nanosecond.
cl_ulong in_ticks(cl_ulong ns, unsigned percent) {
  return ns / percent * 100 + ns % percent * 100 / percent;
}

cl_int answer(const void* bytes, size_t count, size_t size, void* value, size_t* needed) {
  if (needed != nullptr) *needed = count;
  if (value == nullptr) return CL_SUCCESS;
  if (size < count) return CL_INVALID_VALUE;
  std::memcpy(value, bytes, count);
  return CL_SUCCESS;
}

/// Answers as an Intel GPU whose compiler chooses the sub-group size of each kernel.
std::optional<cl_int> answer_of_intel(cl_device_info name, size_t size, void* value,
                                      size_t* needed) {
  constexpr cl_device_info sizes_name = 0x4108;  // CL_DEVICE_SUB_GROUP_SIZES_INTEL
  static const std::string extensions = "cl_intel_required_subgroup_size";
  static const std::array<size_t, 3> sizes{8, 16, 32};
  static const cl_device_type type = CL_DEVICE_TYPE_GPU;
  if (name == CL_DEVICE_TYPE) return answer(&type, sizeof type, size, value, needed);
  if (name == sizes_name) return answer(sizes.data(), sizeof sizes, size, value, needed);
  if (name != CL_DEVICE_EXTENSIONS) return std::nullopt;
  return answer(extensions.c_str(), extensions.size() + 1, size, value, needed);
}

}  // namespace

// The signatures are OpenCL's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

cl_int clGetPlatformIDs(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms) {
  static Interposer interposer("clGetPlatformIDs");
  if (const cl_int error = interposer.on_call(CL_OUT_OF_HOST_MEMORY); error != CL_SUCCESS) {
    return error;
  }
  if (interposer.is("empty")) {
    if (num_platforms != nullptr) *num_platforms = 0;
    return -1001;  // CL_PLATFORM_NOT_FOUND_KHR, what a loader without drivers answers
  }
  return interposer.next<decltype(&clGetPlatformIDs)>()(num_entries, platforms, num_platforms);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint num_entries,
                      cl_device_id* devices, cl_uint* num_devices) {
  static Interposer interposer("clGetDeviceIDs");
  if (const cl_int error = interposer.on_call(CL_OUT_OF_HOST_MEMORY); error != CL_SUCCESS) {
    return error;
  }
  if (interposer.is("empty") || went_before()) {
    if (num_devices != nullptr) *num_devices = 0;
    return CL_DEVICE_NOT_FOUND;
  }
  return interposer.next<decltype(&clGetDeviceIDs)>()(platform, type, num_entries, devices,
                                                      num_devices);
}

cl_context clCreateContext(const cl_context_properties* properties, cl_uint num_devices,
                           const cl_device_id* devices,
                           void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*),
                           void* user, cl_int* errcode_ret) {
  static Interposer interposer("clCreateContext");
  return interposer.make<decltype(&clCreateContext)>(CL_OUT_OF_RESOURCES, errcode_ret, properties,
                                                     num_devices, devices, notify, user);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host,
                      cl_int* errcode_ret) {
  static Interposer interposer("clCreateBuffer");
  if (interposer.is("vast") && (flags & CL_MEM_USE_HOST_PTR) != 0) {
    // The driver sees the first page; its processor reaches what lies behind it all the same.
    constexpr std::size_t page = 4096;
    size = std::min(size, page);
  }
  return interposer.make<decltype(&clCreateBuffer)>(CL_MEM_OBJECT_ALLOCATION_FAILURE, errcode_ret,
                                                    context, flags, size, host);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void* value,
                       size_t* param_value_size_ret) {
  static Interposer interposer("clGetDeviceInfo");
  cl_int error = interposer.on_call(CL_OUT_OF_HOST_MEMORY);
  if (error != CL_SUCCESS) return error;
  if (interposer.is("intel")) {
    if (const auto answered = answer_of_intel(name, size, value, param_value_size_ret)) {
      return *answered;
    }
  }
  const bool is_garbage = interposer.is_garbage();
  error = interposer.next<decltype(&clGetDeviceInfo)>()(device, name, size, value,
                                                        param_value_size_ret);
  if (is_garbage) fill(size, value, param_value_size_ret);
  const bool is_size = name == CL_DEVICE_MAX_MEM_ALLOC_SIZE || name == CL_DEVICE_GLOBAL_MEM_SIZE;
  if (error == CL_SUCCESS && is_size && value != nullptr && is_vast()) {
    constexpr cl_ulong more_than_enough = cl_ulong{64} << 30U;
    *static_cast<cl_ulong*>(value) = more_than_enough;
  }
  const bool is_nameless = error == CL_SUCCESS && name == CL_DEVICE_NAME;
  if (is_nameless && interposer.is("nameless")) {
    if (param_value_size_ret != nullptr) *param_value_size_ret = 1;
    if (value != nullptr && size > 0) *static_cast<char*>(value) = '\0';
  }
  return error;
}

cl_int clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list,
                      const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                      void* user) {
  static Interposer interposer("clBuildProgram");
  const cl_int error = interposer.on_device_call(CL_BUILD_PROGRAM_FAILURE);
  const auto build = interposer.next<decltype(&clBuildProgram)>();
  if (interposer.is("fail") || error == CL_BUILD_PROGRAM_FAILURE) {
    // A true failure, so that there is a log to read: `kernel` becomes a word that nobody knows.
    const std::string broken = std::string(options == nullptr ? "" : options) + " -Dkernel=broken";
    return build(program, num_devices, device_list, broken.c_str(), notify, user);
  }
  return error != CL_SUCCESS ? error
                             : build(program, num_devices, device_list, options, notify, user);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint work_dim,
                              const size_t* offset, const size_t* global, const size_t* local,
                              cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                              cl_event* event) {
  static Interposer interposer("clEnqueueNDRangeKernel");
  note_launch(kernel);
  if (const cl_int error = interposer.on_device_call(CL_OUT_OF_RESOURCES); error != CL_SUCCESS) {
    return error;
  }
  clprobe::fault::begin_launch(kernel);
  const cl_int error = interposer.next<decltype(&clEnqueueNDRangeKernel)>()(
      queue, kernel, work_dim, offset, global, local, num_events_in_wait_list, event_wait_list,
      event);
  clprobe::fault::note_event(event);
  return error;
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                           size_t size, void* ptr, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  static Interposer interposer("clEnqueueReadBuffer");
  cl_int error = interposer.on_device_call(CL_OUT_OF_RESOURCES);
  if (error != CL_SUCCESS) return error;
  const bool wrong = interposer.is("wrong");
  const bool is_garbage = interposer.is_garbage();
  error = interposer.next<decltype(&clEnqueueReadBuffer)>()(
      queue, buffer, wrong || is_garbage ? CL_TRUE : blocking, offset, size, ptr,
      num_events_in_wait_list, event_wait_list, event);
  if (is_garbage) std::memset(ptr, 0xff, size);
  // The last byte but seven: the low byte of the last 8-byte word.
  if (error == CL_SUCCESS && wrong && size >= sizeof(cl_ulong)) {
    static_cast<unsigned char*>(ptr)[size - sizeof(cl_ulong)] ^= 0x40U;
  }
  return error;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                            size_t size, const void* ptr, cl_uint num_events_in_wait_list,
                            const cl_event* event_wait_list, cl_event* event) {
  static Interposer interposer("clEnqueueWriteBuffer");
  return interposer.call<decltype(&clEnqueueWriteBuffer)>(
      CL_OUT_OF_RESOURCES, queue, buffer, blocking, offset, size, ptr, num_events_in_wait_list,
      event_wait_list, event);
}

cl_int clFinish(cl_command_queue queue) {
  static Interposer interposer("clFinish");
  const cl_int error = interposer.call<decltype(&clFinish)>(CL_OUT_OF_RESOURCES, queue);
  clprobe::fault::end_launch();
  return error;
}

cl_int clWaitForEvents(cl_uint num_events, const cl_event* event_list) {
  static Interposer interposer("clWaitForEvents");
  return interposer.call<decltype(&clWaitForEvents)>(CL_OUT_OF_RESOURCES, num_events, event_list);
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t size, void* value,
                               size_t* param_value_size_ret) {
  static Interposer interposer("clGetEventProfilingInfo");
  if (const cl_int error = interposer.on_call(CL_PROFILING_INFO_NOT_AVAILABLE);
      error != CL_SUCCESS) {
    return error;
  }
  if (interposer.is("lie") && value != nullptr && size >= sizeof(cl_ulong)) {
    // As rusticl of Mesa 22.3 answers for every command.
    *static_cast<cl_ulong*>(value) = std::min<cl_ulong>(name - CL_PROFILING_COMMAND_QUEUED, 3);
    return CL_SUCCESS;
  }
  const cl_int error = interposer.next<decltype(&clGetEventProfilingInfo)>()(
      event, name, size, value, param_value_size_ret);
  if (error == CL_SUCCESS && value != nullptr && size >= sizeof(cl_ulong)) {
    static std::atomic<cl_ulong> last{cl_ulong{1} << 62U};
    cl_ulong& stamp = *static_cast<cl_ulong*>(value);
    if (interposer.is("zero")) stamp = 0;
    if (interposer.is("falling")) stamp = last -= 1000;
    if (name == CL_PROFILING_COMMAND_END) stamp += clprobe::fault::stretch_of(event);
    if (interposer.is("percent")) stamp = in_ticks(stamp, interposer.code());
    if (interposer.is("huge")) stamp = name == CL_PROFILING_COMMAND_END ? cl_ulong{1} << 63U : 0;
  }
  return error;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
