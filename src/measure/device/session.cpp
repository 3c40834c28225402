// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "measure/api/device.hpp"
#include "measure/device/pocl_cache.hpp"
#include "system/api/host.hpp"
#include "text/api/embedded.hpp"

namespace clprobe {
namespace {

std::uint64_t steady_now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

/// END - START, or nothing: drivers answer with success and rubbish (END before START, all zero).
std::optional<std::uint64_t> event_time_ns(const cl::Event& event) {
  cl_ulong begin = 0;
  cl_ulong end = 0;
  const auto read = [&](cl_profiling_info name, cl_ulong& stamp) {
    return clGetEventProfilingInfo(event(), name, sizeof stamp, &stamp, nullptr) == CL_SUCCESS;
  };
  if (!read(CL_PROFILING_COMMAND_START, begin) || !read(CL_PROFILING_COMMAND_END, end)) {
    return std::nullopt;
  }
  if (end < begin) return std::nullopt;
  return end - begin;
}

}  // namespace

std::string first_error_line(const std::string& log) {
  const auto at = log.find("error");
  const auto begin = at == std::string::npos ? log.find_first_not_of(" \n\t") : log.rfind('\n', at);
  if (begin == std::string::npos && at == std::string::npos) return "the driver gave no reason";
  const std::size_t first = begin == std::string::npos ? 0 : log.find_first_not_of('\n', begin);
  return log.substr(first, log.find('\n', first) - first);
}

Session::Session(const cl::Device& device, DeviceInfo info, std::uint64_t seed)
    : Session(device, std::move(info), seed, cl::Context(device)) {}

Session::Session(cl::Device device, DeviceInfo info, std::uint64_t seed, cl::Context context)
    : device_(std::move(device)),
      info_(std::move(info)),
      seed_(seed),
      context_(std::move(context)),
      queue_(context_, device_, CL_QUEUE_PROFILING_ENABLE),
      cores_(std::make_shared<system::Cores>()) {}

std::string Session::full_options(const std::string& options) const {
  // OpenCL C 3.0 only where its clock needs it: some implementations cannot build it at all.
  const bool needs_3 =
      info_.clock.kind == ClockKind::khr_device || info_.clock.kind == ClockKind::khr_sub_group;
  return fmt::format("{}-DCLOCK={}{}{}", needs_3 ? "-cl-std=CL3.0 " : "",
                     static_cast<int>(info_.clock.kind), options.empty() ? "" : " ", options);
}

cl::Kernel Session::kernel(std::string_view file, const char* name, const std::string& options,
                           const std::string& preamble) {
  return {program(file, options, preamble), name};
}

void Session::build(std::string_view file, const std::string& options,
                    const std::string& preamble) {
  static_cast<void>(program(file, options, preamble));
}

const cl::Program& Session::program(std::string_view file, const std::string& options,
                                    const std::string& preamble) {
  const std::string all_options = full_options(options);
  const std::string key = fmt::format("{}\n{}\n{}", file, all_options, preamble);
  auto found = programs_.find(key);
  if (found == programs_.end()) {
    cl::Program program(context_, kernel_source(file, preamble));
    const auto begin = std::chrono::steady_clock::now();
    try {
      program.build(device_, all_options.c_str());
    } catch (const cl::BuildError& error) {
      const auto logs = error.getBuildLog();
      const bool is_pocl = info_.platform == pocl_platform;
      throw DeviceError(fmt::format("{} does not build with '{}': {}: {}{}", file, all_options,
                                    describe(error),
                                    first_error_line(logs.empty() ? "" : logs.front().second),
                                    is_pocl ? advise_about_pocl_cache() : ""));
    }
    longest_build_ = std::max(longest_build_, std::chrono::steady_clock::now() - begin);
    found = programs_.emplace(key, std::move(program)).first;
  }
  return found->second;
}

KernelBuild Session::build_of(std::string_view file, const std::string& options) const {
  return {std::string(kernel_sha256(file)), full_options(options)};
}

/// Confines a launch of one work-group to the chosen core. All cores run larger launches and the
/// first launch, with which a driver may start as many threads as this thread has cores.
void Session::place_launch(const cl::NDRange& global, const cl::NDRange& local) {
  if (!core_ || !first_launch_ || !runs_items_in_turn(info_)) return;
  const bool is_one_group = std::equal(global.get(), global.get() + global.dimensions(),
                                       local.get(), local.get() + local.dimensions());
  if (is_one_group) {
    cores_->confine(*core_);
  } else {
    cores_->release();
  }
}

void Session::use_all_cores() {
  if (core_) cores_->release();
  core_.reset();
}

LaunchTimes Session::launch(const cl::Kernel& kernel, const cl::NDRange& global,
                            const cl::NDRange& local, const cl::NDRange& offset) {
  place_launch(global, local);
  if (!first_launch_) first_launch_ = std::chrono::steady_clock::now();
  cl::Event event;
  const std::uint64_t begin = steady_now_ns();
  queue_.enqueueNDRangeKernel(kernel, offset, global, local, nullptr, &event);
  queue_.finish();
  LaunchTimes times;
  times.host_ns = steady_now_ns() - begin;
  const auto status = event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
  if (status < 0) throw cl::Error(status, "launch");
  times.event_ns = event_time_ns(event);
  return times;
}

}  // namespace clprobe
