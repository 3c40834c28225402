// SPDX-License-Identifier: Apache-2.0
// A driver that crashes, hangs, lies or disappears: preloaded, it stands between the program and
// the OpenCL loader and breaks what CLPROBE_FAULT says, a comma list of KIND@FUNCTION[:COUNT].
//
//   crash@clFinish:20                 the process ends by SIGSEGV at the 20th call
//   exit@clBuildProgram               the process ends with status 8, as some drivers do
//   hang@clFinish:20                  the 20th call never returns
//   error=-5@clEnqueueNDRangeKernel:3 the 3rd call returns -5, once
//   fail@clBuildProgram               every call from COUNT on fails with the function's usual
//   error gone@clEnqueueNDRangeKernel:40    from the 40th call on, this and every other call of a
//   queue
//                                     fails with CL_DEVICE_NOT_AVAILABLE; with
//                                     CLPROBE_FAULT_ONCE=FILE no later process finds a device
//   empty@clGetPlatformIDs            no platforms; @clGetDeviceIDs: no devices
//   lie@clGetEventProfilingInfo       success, and the stamps are 0, 1, 2, 3
//   wrong@clEnqueueReadBuffer:5       from the 5th read on, the last byte read has a wrong bit
//   vast@clCreateBuffer               no driver's error but more than it offers: buffers of any
//   size
//                                     over the host's own memory, for tests beyond 4 GiB
//
// Calls are counted from 1, in each process anew; with CLPROBE_FAULT_KERNEL=NAME from the first
// launch of that kernel on, so that a fault can be put behind the trials of the device, whose
// number of launches depends on the time. With CLPROBE_FAULT_ONCE=FILE a crash, exit, hang or error
// happens in one process alone: the one that creates FILE.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

struct Fault {
  std::string kind;
  long code{0};
  long from{1};
};

/// The fault for `function` in CLPROBE_FAULT; its kind is empty when there is none.
Fault fault_of(std::string_view function) {
  const char* const text = std::getenv("CLPROBE_FAULT");
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const auto at = one.find('@');
    const auto colon = one.find(':');
    if (at == std::string_view::npos || one.substr(at + 1, colon - at - 1) != function) continue;
    const std::string_view kind = one.substr(0, at);
    const auto equals = kind.find('=');
    Fault fault{std::string(kind.substr(0, equals))};
    if (equals != std::string_view::npos) {
      fault.code = std::strtol(std::string(kind.substr(equals + 1)).c_str(), nullptr, 10);
    }
    if (colon != std::string_view::npos) {
      fault.from = std::strtol(std::string(one.substr(colon + 1)).c_str(), nullptr, 10);
    }
    return fault;
  }
  return {};
}

std::atomic<bool> device_gone{false};
std::atomic<bool> counting{std::getenv("CLPROBE_FAULT_KERNEL") == nullptr};

/// Begins to count at the first launch of the kernel that CLPROBE_FAULT_KERNEL names.
void note_launch(cl_kernel kernel) {
  const char* const awaited = std::getenv("CLPROBE_FAULT_KERNEL");
  if (counting || awaited == nullptr) return;
  constexpr std::size_t longest = 256;
  std::array<char, longest> name{};
  clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, name.size() - 1, name.data(), nullptr);
  counting = std::string_view(name.data()) == awaited;
}

/// PoCL catches SIGSEGV, so that raising it alone does nothing.
void crash() {
  static_cast<void>(std::signal(SIGSEGV, SIG_DFL));
  static_cast<void>(std::raise(SIGSEGV));
}

/// Whether this process is the one in which it happens.
bool is_ours_to_break() {
  const char* const once = std::getenv("CLPROBE_FAULT_ONCE");
  if (once == nullptr) return true;
  const int file = open(once, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return false;
  close(file);
  return true;
}

/// Whether a device went in a process before this one.
bool went_before() {
  const char* const text = std::getenv("CLPROBE_FAULT");
  const char* const once = std::getenv("CLPROBE_FAULT_ONCE");
  return text != nullptr && once != nullptr && std::string_view(text).starts_with("gone@") &&
         !device_gone && access(once, F_OK) == 0;
}

[[noreturn]] void hang() {
  while (true) pause();
}

/// What befalls one function, call by call.
class Interposer {
 public:
  explicit Interposer(const char* function)
      : fault_(fault_of(function)), next_(dlsym(RTLD_NEXT, function)) {}

  /// Counts a call, plays the faults that end it, and returns the error to give, or CL_SUCCESS.
  cl_int on_call(cl_int usual_error) {
    if (!counting) return CL_SUCCESS;
    const long call = ++calls_;
    if (call < fault_.from) return CL_SUCCESS;
    if (call == fault_.from && is_once() && is_ours_to_break()) {
      if (fault_.kind == "crash") crash();
      if (fault_.kind == "exit") _exit(8);
      if (fault_.kind == "hang") hang();
      return static_cast<cl_int>(fault_.code);
    }
    if (fault_.kind == "fail") return usual_error;
    if (fault_.kind == "gone" && !device_gone) {
      device_gone = true;
      is_ours_to_break();
    }
    return CL_SUCCESS;
  }

  [[nodiscard]] bool is(std::string_view kind) const {
    return fault_.kind == kind && calls_ >= fault_.from;
  }

  template <typename Function>
  [[nodiscard]] Function next() const {
    return reinterpret_cast<Function>(next_);
  }

 private:
  [[nodiscard]] bool is_once() const {
    return fault_.kind == "crash" || fault_.kind == "exit" || fault_.kind == "hang" ||
           fault_.kind == "error";
  }

  Fault fault_;
  void* next_;
  std::atomic<long> calls_{0};
};

bool is_vast() { return fault_of("clCreateBuffer").kind == "vast"; }

/// The same for calls that a device which is gone cannot serve.
cl_int on_device_call(Interposer& interposer, cl_int usual_error) {
  const cl_int error = interposer.on_call(usual_error);
  return device_gone ? CL_DEVICE_NOT_AVAILABLE : error;
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
  if (const cl_int code = on_device_call(interposer, CL_OUT_OF_RESOURCES); code != CL_SUCCESS) {
    if (errcode_ret != nullptr) *errcode_ret = code;
    return nullptr;
  }
  return interposer.next<decltype(&clCreateContext)>()(properties, num_devices, devices, notify,
                                                       user, errcode_ret);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host,
                      cl_int* errcode_ret) {
  static Interposer interposer("clCreateBuffer");
  if (const cl_int code = on_device_call(interposer, CL_MEM_OBJECT_ALLOCATION_FAILURE);
      code != CL_SUCCESS) {
    if (errcode_ret != nullptr) *errcode_ret = code;
    return nullptr;
  }
  if (interposer.is("vast") && (flags & CL_MEM_USE_HOST_PTR) != 0) {
    // The driver sees the first page; its processor reaches what lies behind it all the same.
    constexpr std::size_t page = 4096;
    size = std::min(size, page);
  }
  return interposer.next<decltype(&clCreateBuffer)>()(context, flags, size, host, errcode_ret);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void* value,
                       size_t* param_value_size_ret) {
  static Interposer interposer("clGetDeviceInfo");
  const cl_int error = interposer.next<decltype(&clGetDeviceInfo)>()(device, name, size, value,
                                                                     param_value_size_ret);
  const bool is_size = name == CL_DEVICE_MAX_MEM_ALLOC_SIZE || name == CL_DEVICE_GLOBAL_MEM_SIZE;
  if (error == CL_SUCCESS && is_size && value != nullptr && is_vast()) {
    constexpr cl_ulong more_than_enough = cl_ulong{64} << 30U;
    *static_cast<cl_ulong*>(value) = more_than_enough;
  }
  return error;
}

cl_int clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list,
                      const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                      void* user) {
  static Interposer interposer("clBuildProgram");
  const cl_int error = on_device_call(interposer, CL_BUILD_PROGRAM_FAILURE);
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
  if (const cl_int error = on_device_call(interposer, CL_OUT_OF_RESOURCES); error != CL_SUCCESS) {
    return error;
  }
  return interposer.next<decltype(&clEnqueueNDRangeKernel)>()(
      queue, kernel, work_dim, offset, global, local, num_events_in_wait_list, event_wait_list,
      event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                           size_t size, void* ptr, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  static Interposer interposer("clEnqueueReadBuffer");
  cl_int error = on_device_call(interposer, CL_OUT_OF_RESOURCES);
  if (error != CL_SUCCESS) return error;
  const bool wrong = interposer.is("wrong");
  error = interposer.next<decltype(&clEnqueueReadBuffer)>()(
      queue, buffer, wrong ? CL_TRUE : blocking, offset, size, ptr, num_events_in_wait_list,
      event_wait_list, event);
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
  if (const cl_int error = on_device_call(interposer, CL_OUT_OF_RESOURCES); error != CL_SUCCESS) {
    return error;
  }
  return interposer.next<decltype(&clEnqueueWriteBuffer)>()(
      queue, buffer, blocking, offset, size, ptr, num_events_in_wait_list, event_wait_list, event);
}

cl_int clFinish(cl_command_queue queue) {
  static Interposer interposer("clFinish");
  if (const cl_int error = on_device_call(interposer, CL_OUT_OF_RESOURCES); error != CL_SUCCESS) {
    return error;
  }
  return interposer.next<decltype(&clFinish)>()(queue);
}

cl_int clWaitForEvents(cl_uint num_events, const cl_event* event_list) {
  static Interposer interposer("clWaitForEvents");
  if (const cl_int error = on_device_call(interposer, CL_OUT_OF_RESOURCES); error != CL_SUCCESS) {
    return error;
  }
  return interposer.next<decltype(&clWaitForEvents)>()(num_events, event_list);
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
  return interposer.next<decltype(&clGetEventProfilingInfo)>()(event, name, size, value,
                                                               param_value_size_ret);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
