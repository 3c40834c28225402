// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include "measure/api/device.hpp"
#include "measure/device/driver_words.hpp"
#include "measure/device/queries.hpp"
#include "system/api/host.hpp"
#include "text/api/embedded.hpp"

namespace clprobe {
namespace {

std::uint64_t steady_now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

/// Returns END - START of an event in ns; nothing if the driver refuses the query, or reports an
/// END before START, as some drivers do.
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
      cores_(std::make_shared<system::Cores>()),
      sub_group_(required_sub_group(device_)) {}

std::string Session::full_options(const std::string& options) const {
  // OpenCL C 3.0 is selected only if the clock needs it, since some drivers cannot build OpenCL C
  // 3.0 at all.
  const bool needs_3 =
      info_.clock.kind == ClockKind::khr_device || info_.clock.kind == ClockKind::khr_sub_group;
  return fmt::format("{}-DCLOCK={}{}{}{}", needs_3 ? "-cl-std=CL3.0 " : "",
                     static_cast<int>(info_.clock.kind),
                     sub_group_ ? fmt::format(" -DSUB_GROUP={}", *sub_group_) : std::string(),
                     options.empty() ? "" : " ", options);
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
    found = programs_.emplace(key, std::move(program)).first;
  }
  return found->second;
}

KernelBuild Session::build_of(std::string_view file, const std::string& options) const {
  return {std::string(kernel_sha256(file)), full_options(options)};
}

/// Confines a launch of one work-group to the selected core. Larger launches use all cores. The
/// first launch also uses all cores, since a driver may then start as many threads as this thread
/// has cores.
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

namespace {

struct CodeName {
  cl_int code;
  const char* name;
};

constexpr std::array code_names{
    CodeName{-1, "CL_DEVICE_NOT_FOUND"},
    CodeName{-2, "CL_DEVICE_NOT_AVAILABLE"},
    CodeName{-3, "CL_COMPILER_NOT_AVAILABLE"},
    CodeName{-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    CodeName{-5, "CL_OUT_OF_RESOURCES"},
    CodeName{-6, "CL_OUT_OF_HOST_MEMORY"},
    CodeName{-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    CodeName{-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
    CodeName{-11, "CL_BUILD_PROGRAM_FAILURE"},
    CodeName{-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    CodeName{-15, "CL_COMPILE_PROGRAM_FAILURE"},
    CodeName{-30, "CL_INVALID_VALUE"},
    CodeName{-33, "CL_INVALID_DEVICE"},
    CodeName{-34, "CL_INVALID_CONTEXT"},
    CodeName{-36, "CL_INVALID_COMMAND_QUEUE"},
    CodeName{-38, "CL_INVALID_MEM_OBJECT"},
    CodeName{-40, "CL_INVALID_IMAGE_SIZE"},
    CodeName{-43, "CL_INVALID_BUILD_OPTIONS"},
    CodeName{-44, "CL_INVALID_PROGRAM"},
    CodeName{-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    CodeName{-46, "CL_INVALID_KERNEL_NAME"},
    CodeName{-48, "CL_INVALID_KERNEL"},
    CodeName{-49, "CL_INVALID_ARG_INDEX"},
    CodeName{-50, "CL_INVALID_ARG_VALUE"},
    CodeName{-51, "CL_INVALID_ARG_SIZE"},
    CodeName{-52, "CL_INVALID_KERNEL_ARGS"},
    CodeName{-54, "CL_INVALID_WORK_GROUP_SIZE"},
    CodeName{-55, "CL_INVALID_WORK_ITEM_SIZE"},
    CodeName{-59, "CL_INVALID_OPERATION"},
    CodeName{-61, "CL_INVALID_BUFFER_SIZE"},
    CodeName{-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    CodeName{-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    CodeName{-9999, "illegal access (NVIDIA)"},
};

}  // namespace

bool is_refusal(cl_int code) {
  // CL_INVALID_WORK_GROUP_SIZE for a group of one work-item means that the kernel needs more
  // resources than the device has. CL_BUILD_PROGRAM_FAILURE comes from drivers that compile at the
  // first launch.
  constexpr std::array refusals{
      CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES,   CL_OUT_OF_HOST_MEMORY,
      CL_BUILD_PROGRAM_FAILURE,         CL_INVALID_ARG_SIZE,   CL_INVALID_KERNEL_ARGS,
      CL_INVALID_WORK_GROUP_SIZE,       CL_INVALID_BUFFER_SIZE};
  return std::find(refusals.begin(), refusals.end(), code) != refusals.end();
}

std::string describe(const cl::Error& error) {
  const auto* const found =
      std::find_if(code_names.begin(), code_names.end(),
                   [&](const CodeName& each) { return each.code == error.err(); });
  const char* const name = found == code_names.end() ? "unknown error" : found->name;
  return fmt::format("{}: {} ({})", error.what(), name, error.err());
}

}  // namespace clprobe
