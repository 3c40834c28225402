// SPDX-License-Identifier: Apache-2.0
#include "stretch.hpp"

#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string_view>

namespace clprobe::fault {
namespace {

using Steady = std::chrono::steady_clock;

/// The share by which launches are stretched, in percent; 0: they are not.
long percent() {
  static const long share = [] {
    const Fault fault = fault_of("clEnqueueNDRangeKernel");
    return fault.kind == "stretch" ? fault.code : 0L;
  }();
  return share;
}

std::string source_of(cl_uint count, const char** texts, const size_t* lengths) {
  std::string source;
  for (cl_uint i = 0; i < count; ++i) {
    const bool has_length = lengths != nullptr && lengths[i] != 0;
    source += has_length ? std::string_view(texts[i], lengths[i]) : std::string_view(texts[i]);
  }
  return source;
}

struct State {
  std::mutex mutex{};
  std::set<cl_program> programs{};
  bool is_launched{false};
  Steady::time_point begin{};
  cl_event event{nullptr};
};

State& state() {
  static State all;
  return all;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

bool is_meant(cl_uint count, const char** texts, const size_t* lengths) {
  if (percent() == 0) return false;
  const char* const word = std::getenv("CLPROBE_FAULT_STRETCHED");
  return word == nullptr || source_of(count, texts, lengths).find(word) != std::string::npos;
}

std::optional<std::string> stretched_source(cl_uint count, const char** texts,
                                            const size_t* lengths) {
  if (!is_meant(count, texts, lengths)) return std::nullopt;
  constexpr std::string_view clock = "inline ulong clock_now(void) {";
  std::string source = source_of(count, texts, lengths);
  const std::size_t place = source.find(clock);
  if (place == std::string::npos) return std::nullopt;
  // The clock's own function is left to it, so that only what the kernels read runs faster.
  const std::string share = std::to_string(percent());
  source.replace(place, clock.size(),
                 "inline ulong true_clock(void);\n"
                 "inline ulong clock_now(void) {\n"
                 "  const ulong now = true_clock();\n"
                 "  return now + now / 100 * " +
                     share + " + now % 100 * " + share +
                     " / 100;\n"
                     "}\n"
                     "inline ulong true_clock(void) {");
  return source;
}

std::optional<std::string> shortened_source(cl_uint count, const char** texts,
                                            const size_t* lengths) {
  if (fault_of("clCreateProgramWithSource").kind != "short") return std::nullopt;
  constexpr std::string_view loop = "turn < turns;";
  std::string source = source_of(count, texts, lengths);
  for (std::size_t at = source.find(loop); at != std::string::npos; at = source.find(loop, at)) {
    source.replace(at, loop.size(), "turn < (turns + 1) / 2;");
  }
  return source;
}

void note_program(cl_program program, bool is_stretched) {
  const std::lock_guard lock(state().mutex);
  if (is_stretched) {
    state().programs.insert(program);
  } else {
    state().programs.erase(program);  // one that was there before had the same place
  }
}

void begin_launch(cl_kernel kernel) {
  if (percent() == 0) return;
  cl_program program = nullptr;
  static const auto get_info = next<decltype(&clGetKernelInfo)>("clGetKernelInfo");
  get_info(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr);
  const std::lock_guard lock(state().mutex);
  state().is_launched = state().programs.count(program) != 0;
  state().begin = Steady::now();
  state().event = nullptr;
}

void note_event(const cl_event* event) {
  const std::lock_guard lock(state().mutex);
  if (state().is_launched && event != nullptr) state().event = *event;
}

void end_launch() {
  const std::lock_guard lock(state().mutex);
  if (!state().is_launched) return;
  state().is_launched = false;
  const auto spent = Steady::now() - state().begin;
  const auto until = Steady::now() + spent * percent() / 100;
  while (Steady::now() < until) {
  }
}

cl_ulong stretch_of(cl_event event) {
  const std::lock_guard lock(state().mutex);
  if (state().event == nullptr || state().event != event) return 0;
  static const auto get_info = next<decltype(&clGetEventProfilingInfo)>("clGetEventProfilingInfo");
  cl_ulong start = 0;
  cl_ulong end = 0;
  get_info(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
  get_info(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
  return end > start ? (end - start) * static_cast<cl_ulong>(percent()) / 100 : 0;
}

}  // namespace clprobe::fault
