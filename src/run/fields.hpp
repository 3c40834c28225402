// SPDX-License-Identifier: Apache-2.0
// The keys of a run document: one list per type gives the writer, the reader and the schema.
// The writer keeps the order of the list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "clprobe/run.hpp"

namespace clprobe::json {

/// Maximum number of parallel units of any kind: products of two such numbers fit 64 bits.
inline constexpr std::int64_t max_parallel = std::int64_t{1} << 20U;
inline constexpr std::int64_t max_sub_group = std::int64_t{1} << 16U;
/// Maximum rate of a clock. A counter at 1 GHz has 1 tick per ns.
inline constexpr double max_ticks_per_ns = 1e6;

/// Range of a number: a signed integer lies from `least` to `most`, another number from `low` to
/// `high`.
struct Limits {
  int least{0};
  std::int64_t most{std::numeric_limits<std::int64_t>::max()};
  double low{-max_magnitude};
  double high{max_magnitude};
};

/// A key and its member. An optional key is left out if the member has its default value.
template <typename Class, typename Member>
struct Field {
  std::string_view key;
  Member Class::*member;
  std::string_view about;  ///< description in the schema; may be empty
  bool is_optional{false};
  Limits limits{};

  [[nodiscard]] constexpr Field from(int value) const {
    Field field = *this;
    field.limits.least = value;
    return field;
  }
  [[nodiscard]] constexpr Field up_to(std::int64_t value) const {
    Field field = *this;
    field.limits.most = value;
    return field;
  }
  [[nodiscard]] constexpr Field between(double low, double high) const {
    Field field = *this;
    field.limits.low = low;
    field.limits.high = high;
    return field;
  }
};

template <typename Class, typename Member>
constexpr Field<Class, Member> always(std::string_view key, Member Class::*member,
                                      std::string_view about = {}) {
  return {.key = key, .member = member, .about = about};
}

template <typename Class, typename Member>
constexpr Field<Class, Member> if_any(std::string_view key, Member Class::*member,
                                      std::string_view about = {}) {
  return {.key = key, .member = member, .about = about, .is_optional = true};
}

/// A key with a constant value, which identifies the document. The reader checks it first.
template <typename Value>
struct Fixed {
  std::string_view key;
  Value value;
};
template <typename Value>
Fixed(const char*, Value) -> Fixed<Value>;

template <typename T>
inline constexpr bool is_fixed = false;
template <typename Value>
inline constexpr bool is_fixed<Fixed<Value>> = true;

/// The fields of a type: specialisations have the type's `name` in the schema and a tuple `list`.
template <typename T>
struct Fields;

template <typename T>
concept HasFields = requires {
  Fields<T>::list;
};

template <typename T>
inline constexpr std::size_t field_count = std::tuple_size_v<decltype(Fields<T>::list)>;

template <typename T>
inline constexpr std::array<std::string_view, field_count<T>> keys_of =
    std::apply([](const auto&... each) { return std::array{each.key...}; }, Fields<T>::list);

/// Calls `visit(field)` for each field of a type, in the order of the list.
template <typename T, typename Visit>
constexpr void for_each_field(Visit visit) {
  std::apply([&](const auto&... each) { (visit(each), ...); }, Fields<T>::list);
}

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
                 always("file", &ImportInfo::file, "name of the imported file, without folders"));
};

template <>
struct Fields<HostInfo> {
  static constexpr std::string_view name = "host";
  static constexpr auto list = std::tuple(
      always("cpu", &HostInfo::cpu), always("os", &HostInfo::os),
      always("kernel", &HostInfo::kernel), always("logical_cpus", &HostInfo::logical_cpus),
      if_any("is_virtual", &HostInfo::is_virtual,
             "true on a virtual machine, whose host may have other tenants"));
};

template <>
struct Fields<Sample> {
  static constexpr std::string_view name = "sample";
  static constexpr auto list = std::tuple(
      always("accesses", &Sample::accesses),
      if_any("ticks", &Sample::ticks,
             "ticks of the device clock, including the overhead of reading it"),
      if_any("event_ns", &Sample::event_ns, "time from the launch event's START to its END"),
      always("host_ns", &Sample::host_ns, "host time from enqueueing the launch to its end"),
      always("witness", &Sample::witness, "64-bit checksum that the kernel computed"),
      always("visit", &Sample::visit, "number of the visit that took the sample, from 0"));
};

template <>
struct Fields<Point> {
  static constexpr std::string_view name = "point";
  static constexpr auto list =
      std::tuple(always("series", &Point::series),
                 always("parameters", &Point::parameters, "values that identify the point"),
                 always("facts", &Point::facts, "further properties of the point"),
                 always("samples", &Point::samples),
                 if_any("failure", &Point::failure, "reason why the point could not be measured"));
};

template <>
struct Fields<Finding> {
  static constexpr std::string_view name = "finding";
  static constexpr auto list = std::tuple(
      always("name", &Finding::name), always("series", &Finding::series),
      if_any("level", &Finding::level, "number of the level; 1 is nearest to the compute unit")
          .from(1),
      if_any("value", &Finding::value), if_any("low", &Finding::low),
      if_any("high", &Finding::high), if_any("unit", &Finding::unit),
      if_any("label", &Finding::label,
             "conclusion of the finding, if that is a word instead of a number"),
      always("source", &Finding::source), if_any("method", &Finding::method),
      if_any("reason", &Finding::reason, "reason why the finding has no value"),
      if_any("role", &Finding::role, "purpose of the finding; `fact` if left out"),
      if_any("better", &Finding::better, "direction in which a change is an improvement"),
      if_any("part_of", &Finding::part_of,
             "larger finding of which this finding is a part; changes are judged as a share of the "
             "larger finding"),
      if_any("holds_scatter", &Finding::holds_scatter,
             "true if the interval includes the variation between visits"),
      if_any("disturbance", &Finding::disturbance,
             "half-width that accounts for disturbances during the run; the interval already "
             "includes this width")
          .between(0.0, max_magnitude));
};

template <>
struct Fields<Warning> {
  static constexpr std::string_view name = "warning";
  static constexpr auto list =
      std::tuple(always("code", &Warning::code), always("facts", &Warning::facts),
                 always("source", &Warning::source, "part of clprobe that raised the warning"));
};

template <>
struct Fields<Moment> {
  static constexpr std::string_view name = "moment";
  static constexpr auto list =
      std::tuple(always("at_seconds", &Moment::at_seconds, "time since the start of the run"),
                 always("ns", &Moment::ns, "time of one access or byte"));
};

template <>
struct Fields<Reference> {
  static constexpr std::string_view name = "reference";
  static constexpr auto list = std::tuple(
      always("kind", &Reference::kind, "kind of points that the reference point represents"),
      always("series", &Reference::series),
      always("parameters", &Reference::parameters, "values that identify the point"),
      always("moments", &Reference::moments,
             "measurements of the point during the run, each with its time of measurement"),
      if_any("is_rate", &Reference::is_rate,
             "true if all compute units work on the point, which is measured per byte"),
      if_any("spent_seconds", &Reference::spent_seconds,
             "total time spent on the measurements of the point")
          .between(0.0, max_magnitude));
};

template <>
struct Fields<Disturbance> {
  static constexpr std::string_view name = "disturbance";
  static constexpr auto list = std::tuple(
      always("probe", &Disturbance::probe), always("series", &Disturbance::series),
      always("kind", &Disturbance::kind, "kind of the reference point that shows the disturbance"),
      always("seconds", &Disturbance::seconds, "time of one access or byte"),
      always("is_rate", &Disturbance::is_rate, "true if the probe measures a rate"),
      always("half_width", &Disturbance::half_width,
             "half-width of the 95 % interval, as the logarithm of a ratio"));
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
  static constexpr auto list = std::tuple(
      always("kind", &View::kind), if_any("x", &View::x, "parameter on the horizontal axis"),
      if_any("y", &View::y, "parameter on the vertical axis"),
      if_any("value_title", &View::value_title),
      if_any("scale", &View::scale, "scale of both axes of a curve"),
      if_any("beside", &View::beside, "fact of the points that is drawn on a second axis"));
};

template <>
struct Fields<ProbeResult> {
  static constexpr std::string_view name = "result";
  static constexpr auto list = std::tuple(
      always("probe", &ProbeResult::probe),
      if_any("method", &ProbeResult::method, "version of the probe's method").from(1),
      always("unit", &ProbeResult::unit, "unit of the points' values"),
      always("view", &ProbeResult::view, "how the points are drawn"),
      always("status", &ProbeResult::status),
      if_any("reason", &ProbeResult::reason, "reason for a status other than ok"),
      always("elapsed_seconds", &ProbeResult::elapsed_seconds).between(0.0, max_magnitude),
      if_any("others_share", &ProbeResult::others_share,
             "share of the CPU's time that other processes used while the probe measured")
          .between(0.0, 1.0),
      always("findings", &ProbeResult::findings), always("warnings", &ProbeResult::warnings),
      always("kernels", &ProbeResult::kernels), always("points", &ProbeResult::points),
      if_any("references", &ProbeResult::references,
             "points measured repeatedly to show disturbances of the run"));
};

template <>
struct Fields<Clock> {
  static constexpr std::string_view name = "clock";
  static constexpr auto list = std::tuple(
      always("kind", &Clock::kind), always("rate", &Clock::rate),
      always("overhead_ticks", &Clock::overhead_ticks),
      always("quantum_ticks", &Clock::quantum_ticks),
      always("ticks_per_ns", &Clock::ticks_per_ns, "rate of the clock; 0 if it is not calibrated")
          .between(0.0, max_ticks_per_ns),
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
      always("index", &Device::index,
             "index of the device over all platforms, as in `clprobe list`"),
      always("platform_index", &Device::platform_index,
             "indices of the platform and of the device in it, as PLATFORM:DEVICE"),
      always("platform", &Device::platform), always("name", &Device::name),
      always("type", &Device::type), always("vendor", &Device::vendor),
      always("driver", &Device::driver), always("version", &Device::version),
      if_any("uuid", &Device::uuid), if_any("pci", &Device::pci),
      if_any("isa", &Device::isa, "instruction set that the compiler's macros report"),
      always("compute_units", &Device::compute_units).up_to(max_parallel),
      always("sub_group_size", &Device::sub_group_size).up_to(max_sub_group),
      always("max_work_group_size", &Device::max_work_group_size).up_to(max_parallel),
      always("global_memory_bytes", &Device::global_memory),
      always("max_allocation_bytes", &Device::max_allocation),
      always("local_memory_bytes", &Device::local_memory),
      always("constant_buffer_bytes", &Device::constant_buffer),
      always("cache_line_bytes", &Device::cache_line,
             "cache line size that the driver reports; may be 0"),
      always("image_buffer_pixels", &Device::image_buffer_pixels,
             "maximum number of pixels of an image created from a buffer; 0 without images"),
      always("pointers_stay_valid", &Device::pointers_stay_valid), always("clock", &Device::clock),
      always("timer", &Device::timer, "way in which accesses are timed"),
      always("launch_timer", &Device::launch_timer, "way in which whole launches are timed"),
      always("reported", &Device::reported));
};

template <>
struct Fields<Run> {
  static constexpr std::string_view name = "run";
  static constexpr auto list = std::tuple(
      Fixed{"schema", run_schema_name}, Fixed{"schema_version", run_schema_version},
      always("tool", &Run::tool), always("started", &Run::started, "UTC, ISO 8601"),
      always("arguments", &Run::arguments), always("seed", &Run::seed),
      always("interrupted", &Run::interrupted),
      if_any("label", &Run::label, "name that the user gave the run"), always("host", &Run::host),
      if_any("imported", &Run::imported, "only in runs imported from another tool's results"),
      always("device", &Run::device),
      always("warnings", &Run::warnings, "warnings about the device"),
      always("results", &Run::results),
      if_any("references", &Run::references, "reference points that belong to no probe"),
      if_any("disturbances", &Run::disturbances, "disturbances that the reference points showed"));
};

}  // namespace clprobe::json
