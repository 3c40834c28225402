// SPDX-License-Identifier: Apache-2.0
// Every key of a run document once: what it is called, which member it is, and since which version
// it is there. The writer, the reader and the schema walk these lists, in whose order keys are
// written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "run/version_1.hpp"

namespace clprobe::json {

/// Of anything that a device has side by side: products of two of these are integers.
inline constexpr std::int64_t max_parallel = std::int64_t{1} << 20U;
inline constexpr std::int64_t max_sub_group = std::int64_t{1} << 16U;
/// 1 is a counter of a GHz; none is a million times as fast.
inline constexpr double max_ticks_per_ns = 1e6;

/// What a member may be: a signed integer from `least` to `most`, any other number between `low`
/// and `high`.
struct Limits {
  int least{0};
  std::int64_t most{std::numeric_limits<std::int64_t>::max()};
  double low{-max_magnitude};
  double high{max_magnitude};
};

/// A key and its member. Left out where the member is what it is in a new object, when
/// `is_optional`.
template <typename Class, typename Member>
struct Field {
  std::string_view key;
  Member Class::*member;
  std::string_view about;  ///< for the schema; empty where the key says it
  bool is_optional{false};
  int first_version{1};
  int last_version{run_schema_version};
  Limits limits{};
  void (*if_missing)(Class&){nullptr};  ///< what documents of version 1 may leave out means this

  [[nodiscard]] constexpr bool is_in(int version) const {
    return first_version <= version && version <= last_version;
  }
  [[nodiscard]] constexpr Field since(int version) const {
    Field field = *this;
    field.first_version = version;
    return field;
  }
  [[nodiscard]] constexpr Field until(int version) const {
    Field field = *this;
    field.last_version = version;
    return field;
  }
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
  [[nodiscard]] constexpr Field missing_in_version_1(void (*then)(Class&)) const {
    Field field = *this;
    field.if_missing = then;
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

/// A key whose value says what kind of document this is. It is looked at before all others.
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

/// The fields of a type: its `name` in the schema, and a tuple of them called `list`.
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

/// Calls `visit(field)` for each, in their order.
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
                 always("facts", &Point::facts, "further properties of the point").since(2),
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
      if_any("label", &Finding::label, "the conclusion, if it is a word"),
      always("source", &Finding::source), if_any("method", &Finding::method),
      if_any("reason", &Finding::reason, "reason why there is no value"),
      if_any("role", &Finding::role, "purpose of the finding; a fact if left out").since(2),
      if_any("better", &Finding::better, "direction of an improvement").since(2),
      if_any("part_of", &Finding::part_of,
             "finding of which it is a part; changes are judged as a share of that finding")
          .since(2),
      if_any("holds_scatter", &Finding::holds_scatter,
             "true if the interval includes the variation between visits")
          .since(2),
      if_any(
          "disturbance", &Finding::disturbance,
          "half-width of the interval for disturbances during the run, included in this interval")
          .between(0.0, max_magnitude)
          .since(2));
};

template <>
struct Fields<Warning> {
  static constexpr std::string_view name = "warning";
  static constexpr auto list =
      std::tuple(always("code", &Warning::code), always("facts", &Warning::facts),
                 always("source", &Warning::source, "part of clprobe that raised it").since(2));
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
  static constexpr auto list =
      std::tuple(always("kind", &Reference::kind, "kind of points that it represents"),
                 always("series", &Reference::series),
                 always("parameters", &Reference::parameters, "values that identify the point"),
                 always("moments", &Reference::moments, "times of the point during the run"),
                 if_any("is_rate", &Reference::is_rate,
                        "true if it is work of all compute units, measured per byte")
                     .since(2),
                 if_any("spent_seconds", &Reference::spent_seconds, "total time of all moments")
                     .between(0.0, max_magnitude)
                     .since(2));
};

template <>
struct Fields<Disturbance> {
  static constexpr std::string_view name = "disturbance";
  static constexpr auto list =
      std::tuple(always("probe", &Disturbance::probe), always("series", &Disturbance::series),
                 always("kind", &Disturbance::kind, "kind of its reference point"),
                 always("seconds", &Disturbance::seconds, "time of one access or byte"),
                 always("is_rate", &Disturbance::is_rate, "true if its probe measures a rate"),
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
      if_any("beside", &View::beside, "fact of the points, drawn on its own axis"));
};

template <>
struct Fields<ProbeResult> {
  static constexpr std::string_view name = "result";
  static constexpr auto list = std::tuple(
      always("probe", &ProbeResult::probe),
      if_any("method", &ProbeResult::method, "version of the probe's method").from(1).since(2),
      always("quantity", &ProbeResult::unit).until(1),
      always("unit", &ProbeResult::unit, "unit of the points' values").since(2),
      always("view", &ProbeResult::view, "how its points are drawn").since(2),
      always("status", &ProbeResult::status),
      if_any("reason", &ProbeResult::reason, "reason for a status other than ok"),
      always("elapsed_seconds", &ProbeResult::elapsed_seconds).between(0.0, max_magnitude),
      if_any("others_share", &ProbeResult::others_share,
             "share of the CPU's time that other processes used while the probe measured")
          .between(0.0, 1.0),
      always("findings", &ProbeResult::findings), always("warnings", &ProbeResult::warnings),
      always("kernels", &ProbeResult::kernels), always("points", &ProbeResult::points),
      if_any("references", &ProbeResult::references,
             "points measured repeatedly to show disturbances of the run")
          .since(2));
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
      always("index", &Device::index, "index over all platforms, as in `clprobe list`"),
      always("platform_index", &Device::platform_index, "indices as PLATFORM:DEVICE"),
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
      always("cache_line_bytes", &Device::cache_line, "size that the driver reports; may be 0"),
      always("image_buffer_pixels", &Device::image_buffer_pixels,
             "maximum number of pixels; 0 without images"),
      always("pointers_stay_valid", &Device::pointers_stay_valid), always("clock", &Device::clock),
      always("timer", &Device::timer, "timer of accesses"),
      always("launch_timer", &Device::launch_timer, "timer of whole launches")
          .missing_in_version_1(infer_launch_timer),
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
      if_any("label", &Run::label, "name given by the user").since(2), always("host", &Run::host),
      if_any("imported", &Run::imported, "only in runs imported from another tool's results"),
      always("device", &Run::device),
      always("warnings", &Run::warnings, "warnings about the device"),
      always("results", &Run::results),
      if_any("references", &Run::references, "reference points that belong to no probe").since(2),
      if_any("disturbances", &Run::disturbances, "disturbances shown by the references").since(2));
};

// What follows is in no document: the worker speaks of it.

template <>
struct Fields<PreparedPoint> {
  static constexpr std::string_view name = "prepared point";
  static constexpr auto list =
      std::tuple(always("facts", &PreparedPoint::facts), always("build", &PreparedPoint::build));
};

template <>
struct Fields<Sampling> {
  static constexpr std::string_view name = "sampling";
  static constexpr auto list =
      std::tuple(always("timer", &Sampling::timer), always("count", &Sampling::count),
                 always("agree_share", &Sampling::agree_share),
                 always("has_partners", &Sampling::has_partners));
};

}  // namespace clprobe::json
