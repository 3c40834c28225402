// SPDX-License-Identifier: Apache-2.0
// A driver that crashes, hangs, lies or disappears: preloaded, it stands between the program and
// the OpenCL loader and breaks what CLPROBE_FAULT says, a comma list of KIND@FUNCTION[:COUNT].
//
//   crash@clFinish:20                 the process ends by SIGSEGV at the 20th call
//   exit@clBuildProgram               the process ends with status 8, as some drivers do
//   hang@clFinish:20                  the 20th call never returns
//   late=500@clFinish:20              the 20th call takes 500 ms more
//   error=-5@clEnqueueNDRangeKernel:3 the 3rd call returns -5, once
//   fail@clBuildProgram               every call from COUNT on fails with the usual error
//   gone@clEnqueueNDRangeKernel:40    from the 40th call on, this and every other call of a context
//                                     or queue fails with CL_DEVICE_NOT_AVAILABLE, or with the code
//                                     of gone=CODE; with CLPROBE_FAULT_ONCE=FILE no later process
//                                     finds a device
//   garbage@clGetDeviceInfo:7         the 7th answer is all ones: of clGetDeviceInfo,
//                                     clGetKernelWorkGroupInfo, clEnqueueReadBuffer
//   empty@clGetPlatformIDs            no platforms; @clGetDeviceIDs: no devices
//   lie@clGetEventProfilingInfo       success, and the stamps are 0, 1, 2, 3
//   zero@, falling@, huge@clGetEventProfilingInfo:5
//                                     from the 5th call on the stamps are 0; each less than the one
//                                     before; 2^63 apart
//   percent=150@clGetEventProfilingInfo
//                                     a tick of the stamps takes so many percent of a
//                                     nanosecond
//   nameless@clGetDeviceInfo          the device's name is empty
//   wrong@clEnqueueReadBuffer:5       from the 5th read on, the last byte read has a wrong bit
//   short@clCreateProgramWithSource   loops over `turns` make half of them, as those of drivers
//   that
//                                     end long loops do
//   fits=16@clGetKernelWorkGroupInfo  each kernel has registers for 16 work-items of a group
//   vast@clCreateBuffer               no driver's error but more than it offers: buffers of any
//                                     size over the host's own memory, for tests beyond 4 GiB
//
//   stretch=10@clEnqueueNDRangeKernel launches take 10 % longer, by every timer: the clock that the
//                                     kernel reads, the events and the host's. With
//                                     CLPROBE_FAULT_STRETCHED=WORD only those of programs in whose
//                                     source the word occurs, as the name of a kernel does
//
// Calls are counted from 1, in each process anew; with CLPROBE_FAULT_KERNEL=NAME from the first
// launch of that kernel on, so that a fault can be put behind the trials of the device, whose
// number of launches depends on the time. With CLPROBE_FAULT_ONCE=FILE what happens at one call
// happens in one process alone: the one that creates FILE, into which it writes the name of the
// kernel that was launched last. With CLPROBE_FAULT_COUNTS=FILE each function's calls are counted
// in that file, of Count's, by all processes together.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
// clCreateCommandQueue ended with OpenCL 1.2, and programs still call it.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace clprobe::fault {

/// What CLPROBE_FAULT says of one function; `kind` is empty when it says nothing.
struct Fault {
  std::string kind{};
  long code{0};
  long from{1};
};

Fault fault_of(std::string_view function);

/// Calls of a function; the file of CLPROBE_FAULT_COUNTS holds max_counts of these.
struct Count {
  std::array<char, 56> function;
  std::atomic<std::uint64_t> calls;
};
inline constexpr std::size_t max_counts = 64;

/// Begins to count at the first launch of the kernel that CLPROBE_FAULT_KERNEL names.
void note_launch(cl_kernel kernel);

/// Whether a device went in a process before this one.
bool went_before();

/// What befalls one function, call by call.
class Interposer {
 public:
  explicit Interposer(const char* function);

  /// Counts a call, plays the faults that end it, and returns the error to give, or CL_SUCCESS.
  cl_int on_call(cl_int usual_error);

  /// The same for calls that a device which is gone cannot serve.
  cl_int on_device_call(cl_int usual_error);

  /// Whether the fault is of that kind and has begun.
  [[nodiscard]] bool is(std::string_view kind) const;
  [[nodiscard]] unsigned code() const { return static_cast<unsigned>(fault_.code); }
  /// Whether the call that was counted last is the one that CLPROBE_FAULT means, and this the
  /// process.
  [[nodiscard]] bool is_garbage();

  template <typename Function>
  [[nodiscard]] Function next() const {
    return reinterpret_cast<Function>(next_);
  }

  /// A call that returns its error.
  template <typename Function, typename... Arguments>
  cl_int call(cl_int usual_error, Arguments... arguments) {
    const cl_int error = on_device_call(usual_error);
    return error != CL_SUCCESS ? error : next<Function>()(arguments...);
  }

  /// A call that returns what it makes and leaves its error behind its last argument.
  template <typename Function, typename... Arguments>
  auto make(cl_int usual_error, cl_int* error, Arguments... arguments)
      -> decltype(std::declval<Function>()(arguments..., error)) {
    const cl_int code = on_device_call(usual_error);
    if (code == CL_SUCCESS) return next<Function>()(arguments..., error);
    if (error != nullptr) *error = code;
    return nullptr;
  }

 private:
  [[nodiscard]] bool happens_once() const;

  Fault fault_;
  void* next_;
  Count* count_;
  std::atomic<long> calls_{0};
  std::atomic<bool> is_garbage_{false};
};

}  // namespace clprobe::fault
