// SPDX-License-Identifier: Apache-2.0
// A driver with words of its own: preloaded, it stands between the program and the OpenCL loader
// and says what CLPROBE_WORDS holds, at the place that CLPROBE_WORDS_AT names:
//
//   load     printed when the library is loaded, and the process ends, as some drivers do
//   launch   printed at the first launch, and the process crashes
//   build    the log of a build that fails
//   names    name, vendor and version of every device and platform
//
// In worker processes alone: timeout and env have the library, too.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool is_worker() {
  std::array<char, 4096> line{};
  std::FILE* const file = std::fopen("/proc/self/cmdline", "r");
  if (file == nullptr) return false;
  const std::size_t size = std::fread(line.data(), 1, line.size(), file);
  static_cast<void>(std::fclose(file));
  return std::string_view(line.data(), size).find("--worker") != std::string_view::npos;
}

bool speaks_at(std::string_view place) {
  static const bool worker = is_worker();
  return worker && environment("CLPROBE_WORDS_AT") == place;
}

void print_words() {
  const std::string words = environment("CLPROBE_WORDS") + "\n";
  static_cast<void>(write(STDERR_FILENO, words.data(), words.size()));
}

/// The answer of a query of OpenCL that is a text.
cl_int answer(const std::string& text, size_t size, void* value, size_t* needed) {
  if (needed != nullptr) *needed = text.size() + 1;
  if (value == nullptr) return CL_SUCCESS;
  if (size <= text.size()) return CL_INVALID_VALUE;
  std::memcpy(value, text.c_str(), text.size() + 1);
  return CL_SUCCESS;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

__attribute__((constructor)) void speak_when_loaded() {
  if (!speaks_at("load")) return;
  print_words();
  _exit(8);
}

}  // namespace

// The signatures are OpenCL's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

cl_int clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list,
                      const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                      void* user) {
  if (speaks_at("build")) return CL_BUILD_PROGRAM_FAILURE;
  static const auto build = next<decltype(&clBuildProgram)>("clBuildProgram");
  return build(program, num_devices, device_list, options, notify, user);
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info name,
                             size_t size, void* value, size_t* needed) {
  if (name == CL_PROGRAM_BUILD_LOG && speaks_at("build")) {
    return answer("kernel.cl:3: error: " + environment("CLPROBE_WORDS") + "\n", size, value,
                  needed);
  }
  static const auto ask = next<decltype(&clGetProgramBuildInfo)>("clGetProgramBuildInfo");
  return ask(program, device, name, size, value, needed);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void* value,
                       size_t* needed) {
  const bool is_text = name == CL_DEVICE_NAME || name == CL_DEVICE_VENDOR ||
                       name == CL_DRIVER_VERSION || name == CL_DEVICE_PROFILE;
  if (is_text && speaks_at("names")) {
    return answer("gpu " + environment("CLPROBE_WORDS"), size, value, needed);
  }
  static const auto ask = next<decltype(&clGetDeviceInfo)>("clGetDeviceInfo");
  return ask(device, name, size, value, needed);
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t size, void* value,
                         size_t* needed) {
  if (name == CL_PLATFORM_NAME && speaks_at("names")) {
    return answer("platform " + environment("CLPROBE_WORDS"), size, value, needed);
  }
  static const auto ask = next<decltype(&clGetPlatformInfo)>("clGetPlatformInfo");
  return ask(platform, name, size, value, needed);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint work_dim,
                              const size_t* offset, const size_t* global, const size_t* local,
                              cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                              cl_event* event) {
  if (speaks_at("launch")) {
    print_words();
    std::raise(SIGABRT);
  }
  static const auto launch = next<decltype(&clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel");
  return launch(queue, kernel, work_dim, offset, global, local, num_events_in_wait_list,
                event_wait_list, event);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
