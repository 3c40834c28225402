// SPDX-License-Identifier: Apache-2.0
// The keys of a run document. The JSON schema in tools/schema describes the keys.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "clprobe/run.hpp"
#include "run/api/fields.hpp"

namespace clprobe::json {

/// Maximum number of compute units, and of work-items in a work-group. The limit ensures that the
/// product of both numbers fits 64 bits.
inline constexpr std::int64_t max_parallel = std::int64_t{1} << 20U;
inline constexpr std::int64_t max_sub_group = std::int64_t{1} << 16U;
/// Maximum rate of a clock, in ticks per ns. A counter at 1 GHz has 1 tick per ns.
inline constexpr double max_ticks_per_ns = 1e6;

template <>
struct Fields<ToolInfo> {
  static constexpr std::string_view name = "tool";
  static constexpr auto list =
      std::tuple(always("version", &ToolInfo::version), always("commit", &ToolInfo::commit),
                 always("compiler", &ToolInfo::compiler));
};

template <>
struct Fields<ImportInfo> {
  static constexpr std::string_view name = "import";
  static constexpr auto list =
      std::tuple(always("tool", &ImportInfo::tool), always("format", &ImportInfo::format),
                 always("file", &ImportInfo::file));
};

template <>
struct Fields<HostInfo> {
  static constexpr std::string_view name = "host";
  static constexpr auto list = std::tuple(
      always("cpu", &HostInfo::cpu), always("os", &HostInfo::os),
      always("kernel", &HostInfo::kernel), always("logical_cpus", &HostInfo::logical_cpus),
      if_any("is_virtual", &HostInfo::is_virtual));
};

template <>
struct Fields<Sample> {
  static constexpr std::string_view name = "sample";
  static constexpr auto list =
      std::tuple(always("accesses", &Sample::accesses), if_any("ticks", &Sample::ticks),
                 if_any("event_ns", &Sample::event_ns), always("host_ns", &Sample::host_ns),
                 always("witness", &Sample::witness), always("visit", &Sample::visit));
};

template <>
struct Fields<Point> {
  static constexpr std::string_view name = "point";
  static constexpr auto list =
      std::tuple(always("series", &Point::series), always("parameters", &Point::parameters),
                 always("facts", &Point::facts), always("samples", &Point::samples),
                 if_any("failure", &Point::failure));
};

template <>
struct Fields<Finding> {
  static constexpr std::string_view name = "finding";
  static constexpr auto list = std::tuple(
      always("name", &Finding::name), always("series", &Finding::series),
      if_any("level", &Finding::level).from(1), if_any("value", &Finding::value),
      if_any("low", &Finding::low), if_any("high", &Finding::high), if_any("unit", &Finding::unit),
      if_any("label", &Finding::label), always("source", &Finding::source),
      if_any("method", &Finding::method), if_any("reason", &Finding::reason),
      if_any("role", &Finding::role), if_any("better", &Finding::better),
      if_any("part_of", &Finding::part_of), if_any("holds_scatter", &Finding::holds_scatter),
      if_any("is_ratio", &Finding::is_ratio),
      if_any("disturbance", &Finding::disturbance).between(0.0, max_magnitude));
};

template <>
struct Fields<Warning> {
  static constexpr std::string_view name = "warning";
  static constexpr auto list =
      std::tuple(always("code", &Warning::code), always("facts", &Warning::facts),
                 always("source", &Warning::source));
};

template <>
struct Fields<Moment> {
  static constexpr std::string_view name = "moment";
  static constexpr auto list =
      std::tuple(always("at_seconds", &Moment::at_seconds), always("ns", &Moment::ns));
};

template <>
struct Fields<Reference> {
  static constexpr std::string_view name = "reference";
  static constexpr auto list =
      std::tuple(always("kind", &Reference::kind), always("series", &Reference::series),
                 always("parameters", &Reference::parameters),
                 always("moments", &Reference::moments), if_any("is_rate", &Reference::is_rate),
                 if_any("spent_seconds", &Reference::spent_seconds).between(0.0, max_magnitude));
};

template <>
struct Fields<Disturbance> {
  static constexpr std::string_view name = "disturbance";
  static constexpr auto list = std::tuple(
      always("probe", &Disturbance::probe), always("series", &Disturbance::series),
      always("kind", &Disturbance::kind), always("seconds", &Disturbance::seconds),
      always("is_rate", &Disturbance::is_rate), always("half_width", &Disturbance::half_width));
};

template <>
struct Fields<KernelBuild> {
  static constexpr std::string_view name = "kernel";
  static constexpr auto list =
      std::tuple(always("sha256", &KernelBuild::sha256), always("options", &KernelBuild::options));
};

template <>
struct Fields<View> {
  static constexpr std::string_view name = "view";
  static constexpr auto list =
      std::tuple(always("kind", &View::kind), if_any("x", &View::x), if_any("y", &View::y),
                 if_any("value_title", &View::value_title), if_any("scale", &View::scale),
                 if_any("beside", &View::beside));
};

template <>
struct Fields<ProbeResult> {
  static constexpr std::string_view name = "result";
  static constexpr auto list = std::tuple(
      always("probe", &ProbeResult::probe), if_any("method", &ProbeResult::method).from(1),
      always("unit", &ProbeResult::unit), always("view", &ProbeResult::view),
      always("status", &ProbeResult::status), if_any("reason", &ProbeResult::reason),
      always("elapsed_seconds", &ProbeResult::elapsed_seconds).between(0.0, max_magnitude),
      if_any("others_share", &ProbeResult::others_share).between(0.0, 1.0),
      always("findings", &ProbeResult::findings), always("warnings", &ProbeResult::warnings),
      always("kernels", &ProbeResult::kernels), always("points", &ProbeResult::points),
      if_any("references", &ProbeResult::references));
};

template <>
struct Fields<Clock> {
  static constexpr std::string_view name = "clock";
  static constexpr auto list = std::tuple(
      always("kind", &Clock::kind), always("rate", &Clock::rate),
      always("overhead_ticks", &Clock::overhead_ticks),
      always("quantum_ticks", &Clock::quantum_ticks),
      always("ticks_per_ns", &Clock::ticks_per_ns).between(0.0, max_ticks_per_ns),
      always("ticks_per_ns_low", &Clock::ticks_per_ns_low)
          .between(-max_ticks_per_ns, max_ticks_per_ns),
      always("ticks_per_ns_high", &Clock::ticks_per_ns_high).between(0.0, max_ticks_per_ns),
      always("r_squared", &Clock::r_squared));
};

template <>
struct Fields<DeviceInfo> {
  using Device = DeviceInfo;
  static constexpr std::string_view name = "device";
  static constexpr auto list = std::tuple(
      always("index", &Device::index), always("platform_index", &Device::platform_index),
      always("platform", &Device::platform), always("name", &Device::name),
      always("type", &Device::type), always("vendor", &Device::vendor),
      always("driver", &Device::driver), always("version", &Device::version),
      if_any("uuid", &Device::uuid), if_any("pci", &Device::pci), if_any("isa", &Device::isa),
      always("compute_units", &Device::compute_units).from(0, max_parallel),
      always("sub_group_size", &Device::sub_group_size).from(0, max_sub_group),
      always("max_work_group_size", &Device::max_work_group_size).from(0, max_parallel),
      always("global_memory_bytes", &Device::global_memory),
      always("max_allocation_bytes", &Device::max_allocation),
      always("local_memory_bytes", &Device::local_memory),
      always("constant_buffer_bytes", &Device::constant_buffer),
      always("cache_line_bytes", &Device::cache_line),
      always("image_buffer_pixels", &Device::image_buffer_pixels),
      always("pointers_stay_valid", &Device::pointers_stay_valid), always("clock", &Device::clock),
      always("timer", &Device::timer), always("launch_timer", &Device::launch_timer),
      always("reported", &Device::reported));
};

template <>
struct Fields<Run> {
  static constexpr std::string_view name = "run";
  static constexpr auto list = std::tuple(
      Fixed{"schema", run_schema_name}, Fixed{"schema_version", run_schema_version},
      always("tool", &Run::tool), always("started", &Run::started),
      always("arguments", &Run::arguments), always("seed", &Run::seed),
      always("interrupted", &Run::interrupted), if_any("label", &Run::label),
      if_any("labels", &Run::labels), always("host", &Run::host),
      if_any("imported", &Run::imported), always("device", &Run::device),
      always("warnings", &Run::warnings), always("results", &Run::results),
      if_any("references", &Run::references), if_any("disturbances", &Run::disturbances));
};

}  // namespace clprobe::json
