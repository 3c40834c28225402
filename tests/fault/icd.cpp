// SPDX-License-Identifier: Apache-2.0
// A driver that misbehaves when the loader opens it, as the name of its file says (a copy each:
// libcrash.so, libexit.so, ...):
//
//   crash    ends the process by SIGSEGV when it is loaded
//   exit     ends it with status 0
//   hang     never returns
//   flood    prints 256 MiB, and then crashes
//   babble   prints without end
//   garbage  offers a platform at an address that is none
//   vast     offers a platform that says it has 2^31 - 1 devices
//   long     offers a platform with a device whose name has 2^60 bytes
//   mean     ends the process by SIGSEGV only where libmean2.so, a copy, is loaded too
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

struct _cl_platform_id {
  const cl_icd_dispatch* dispatch;
};
struct _cl_device_id {
  const cl_icd_dispatch* dispatch;
};

namespace {

/// "crash" of "/some/where/libcrash.so".
std::string kind() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&kind), &info) == 0) return "";
  std::string name = info.dli_fname;
  name.erase(0, name.rfind('/') + 1);
  return name.substr(3, name.find('.') - 3);
}

void crash() {
  static_cast<void>(std::signal(SIGSEGV, SIG_DFL));
  static_cast<void>(std::raise(SIGSEGV));
}

void print(long mebibytes) {
  const std::string line(std::string(127, 'x') + "\n");
  std::string block;
  while (block.size() < (1U << 20U)) block += line;
  for (long i = 0; mebibytes == 0 || i < mebibytes; ++i) {
    if (write(STDERR_FILENO, block.data(), block.size()) < 0) return;
  }
}

__attribute__((constructor)) void misbehave() {
  const std::string what = kind();
  if (what == "crash") crash();
  if (what == "exit") _exit(0);
  if (what == "hang") {
    for (;;) pause();
  }
  if (what == "flood") {
    print(256);
    crash();
  }
  if (what == "babble") print(0);
  if (what == "mean2") setenv("CLPROBE_MEAN", "1", 1);
}

cl_int answer(std::string_view text, size_t size, void* value, size_t* needed) {
  if (needed != nullptr) *needed = text.size() + 1;
  if (value != nullptr) std::memset(value, 0, size);
  if (value != nullptr) std::memcpy(value, text.data(), std::min(size, text.size()));
  return CL_SUCCESS;
}

cl_int platform_info(cl_platform_id, cl_platform_info name, size_t size, void* value,
                     size_t* needed) {
  if (name == CL_PLATFORM_EXTENSIONS) return answer("cl_khr_icd", size, value, needed);
  if (name == CL_PLATFORM_VERSION) return answer("OpenCL 1.2 strange", size, value, needed);
  return answer("Strange", size, value, needed);
}

cl_platform_id strange_platform();
cl_device_id strange_device();

cl_int device_ids(cl_platform_id, cl_device_type, cl_uint count, cl_device_id* devices,
                  cl_uint* found) {
  const bool is_vast = kind() == "vast";
  constexpr cl_uint vast = 0x7fffffff;
  if (found != nullptr) *found = is_vast ? vast : 1;
  for (cl_uint i = 0; devices != nullptr && i < count; ++i) devices[i] = strange_device();
  return CL_SUCCESS;
}

cl_int device_info(cl_device_id, cl_device_info, size_t, void*, size_t* needed) {
  if (needed != nullptr) *needed = size_t{1} << 60U;
  return CL_SUCCESS;
}

const cl_icd_dispatch& dispatch() {
  static const cl_icd_dispatch table = [] {
    cl_icd_dispatch all{};
    all.clGetPlatformInfo = platform_info;
    all.clGetDeviceIDs = device_ids;
    all.clGetDeviceInfo = device_info;
    return all;
  }();
  return table;
}

cl_platform_id strange_platform() {
  static _cl_platform_id platform{&dispatch()};
  return &platform;
}

cl_device_id strange_device() {
  static _cl_device_id device{&dispatch()};
  return &device;
}

cl_int platform_ids(cl_uint count, cl_platform_id* platforms, cl_uint* found) {
  const std::string what = kind();
  // Only now: the loader opens all libraries before it asks the first.
  if (what == "mean" && std::getenv("CLPROBE_MEAN") != nullptr) crash();
  const bool offers = what == "garbage" || what == "vast" || what == "long";
  if (!offers) return -1001;  // CL_PLATFORM_NOT_FOUND_KHR
  if (found != nullptr) *found = 1;
  constexpr std::size_t nowhere = 0x1234;
  if (platforms != nullptr && count > 0) {
    platforms[0] = what == "garbage"
                       ? reinterpret_cast<cl_platform_id>(nowhere)  // NOLINT: it is the fault
                       : strange_platform();
  }
  return CL_SUCCESS;
}

}  // namespace

// What the loader asks a driver for.
extern "C" {

// NOLINTNEXTLINE(readability-identifier-naming): OpenCL's
__attribute__((visibility("default"))) void* clGetExtensionFunctionAddress(const char* name) {
  if (std::string_view(name) == "clIcdGetPlatformIDsKHR") {
    return reinterpret_cast<void*>(&platform_ids);
  }
  if (std::string_view(name) == "clGetPlatformInfo") {
    return reinterpret_cast<void*>(&platform_info);
  }
  return nullptr;
}

}  // extern "C"
