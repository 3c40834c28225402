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
                 always("file", &ImportInfo::file, "without folders"));
};

template <>
struct Fields<HostInfo> {
  static constexpr std::string_view name = "host";
  static constexpr auto list = std::tuple(
      always("cpu", &HostInfo::cpu), always("os", &HostInfo::os),
      always("kernel", &HostInfo::kernel), always("logical_cpus", &HostInfo::logical_cpus),
      if_any("is_virtual", &HostInfo::is_virtual,
             "a virtual machine, whose host others may use as well"));
};

template <>
struct Fields<Sample> {
  static constexpr std::string_view name = "sample";
  static constexpr auto list =
      std::tuple(always("accesses", &Sample::accesses),
                 if_any("ticks", &Sample::ticks,
                        "of the device clock; the empty clock pair is not subtracted"),
                 if_any("event_ns", &Sample::event_ns, "START to END of the launch"),
                 always("host_ns", &Sample::host_ns, "enqueue to finish"),
                 always("witness", &Sample::witness, "64 bits, as the kernel computed it"),
                 always("visit", &Sample::visit, "which visit of the point this was"));
};

template <>
struct Fields<Point> {
  static constexpr std::string_view name = "point";
  static constexpr auto list =
      std::tuple(always("series", &Point::series),
                 always("parameters", &Point::parameters, "which point it is"),
                 always("facts", &Point::facts, "what else is known of it").since(2),
                 always("samples", &Point::samples),
                 if_any("failure", &Point::failure, "why it could not be measured"));
};

template <>
struct Fields<Finding> {
  static constexpr std::string_view name = "finding";
  static constexpr auto list = std::tuple(
      always("name", &Finding::name), always("series", &Finding::series),
      if_any("level", &Finding::level, "1 is the nearest").from(1),
      if_any("value", &Finding::value), if_any("low", &Finding::low),
      if_any("high", &Finding::high), if_any("unit", &Finding::unit),
      if_any("label", &Finding::label, "a word where the conclusion is one"),
      always("source", &Finding::source), if_any("method", &Finding::method),
      if_any("reason", &Finding::reason, "why there is no value"),
      if_any("role", &Finding::role, "what it is for; a fact where left out").since(2),
      if_any("better", &Finding::better, "which change is an improvement").since(2),
      if_any("part_of", &Finding::part_of, "a change of it is judged as a share of this finding")
          .since(2),
      if_any("holds_scatter", &Finding::holds_scatter,
             "by how much visits differ is in its interval")
          .since(2),
      if_any("disturbance", &Finding::disturbance,
             "half an interval of what changed while the run lasted, which is in this one")
          .between(0.0, max_magnitude)
          .since(2));
};

template <>
struct Fields<Warning> {
  static constexpr std::string_view name = "warning";
  static constexpr auto list =
      std::tuple(always("code", &Warning::code), always("facts", &Warning::facts),
                 always("source", &Warning::source, "who raised it").since(2));
};

template <>
struct Fields<Moment> {
  static constexpr std::string_view name = "moment";
  static constexpr auto list =
      std::tuple(always("at_seconds", &Moment::at_seconds, "since the run began"),
                 always("ns", &Moment::ns, "of one access, or byte"));
};

template <>
struct Fields<Reference> {
  static constexpr std::string_view name = "reference";
  static constexpr auto list = std::tuple(
      always("kind", &Reference::kind, "what it stands for"), always("series", &Reference::series),
      always("parameters", &Reference::parameters, "which point it is"),
      always("moments", &Reference::moments, "what it took, over and over"),
      if_any("is_rate", &Reference::is_rate, "whether it is work of all units, by the byte")
          .since(2),
      if_any("spent_seconds", &Reference::spent_seconds, "on all moments together")
          .between(0.0, max_magnitude)
          .since(2));
};

template <>
struct Fields<Disturbance> {
  static constexpr std::string_view name = "disturbance";
  static constexpr auto list =
      std::tuple(always("probe", &Disturbance::probe), always("series", &Disturbance::series),
                 always("kind", &Disturbance::kind, "what its reference point stands for"),
                 always("seconds", &Disturbance::seconds, "of one access, or byte"),
                 always("is_rate", &Disturbance::is_rate, "whether its probe measures a rate"),
                 always("half_width", &Disturbance::half_width,
                        "of a 95 % interval, as the logarithm of a ratio"));
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
      always("kind", &View::kind), if_any("x", &View::x, "the parameter across"),
      if_any("y", &View::y, "the parameter down"), if_any("value_title", &View::value_title),
      if_any("scale", &View::scale, "of both axes of a curve"),
      if_any("beside", &View::beside, "a fact of the points, drawn on an axis of its own"));
};

template <>
struct Fields<ProbeResult> {
  static constexpr std::string_view name = "result";
  static constexpr auto list = std::tuple(
      always("probe", &ProbeResult::probe),
      if_any("method", &ProbeResult::method, "version of what the probe measures").from(1).since(2),
      always("quantity", &ProbeResult::unit).until(1),
      always("unit", &ProbeResult::unit, "what a point's value is in").since(2),
      always("view", &ProbeResult::view, "how its points are drawn").since(2),
      always("status", &ProbeResult::status), if_any("reason", &ProbeResult::reason, "why not ok"),
      always("elapsed_seconds", &ProbeResult::elapsed_seconds).between(0.0, max_magnitude),
      if_any("others_share", &ProbeResult::others_share,
             "what others took of a CPU's time while the probe measured")
          .between(0.0, 1.0),
      always("findings", &ProbeResult::findings), always("warnings", &ProbeResult::warnings),
      always("kernels", &ProbeResult::kernels), always("points", &ProbeResult::points),
      if_any("references", &ProbeResult::references, "points that show what disturbs the run")
          .since(2));
};

template <>
struct Fields<Clock> {
  static constexpr std::string_view name = "clock";
  static constexpr auto list = std::tuple(
      always("kind", &Clock::kind), always("rate", &Clock::rate),
      always("overhead_ticks", &Clock::overhead_ticks),
      always("quantum_ticks", &Clock::quantum_ticks),
      always("ticks_per_ns", &Clock::ticks_per_ns, "0 when not calibrated")
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
      always("index", &Device::index, "over all platforms, as in `clprobe list`"),
      always("platform_index", &Device::platform_index, "platform:device"),
      always("platform", &Device::platform), always("name", &Device::name),
      always("type", &Device::type), always("vendor", &Device::vendor),
      always("driver", &Device::driver), always("version", &Device::version),
      if_any("uuid", &Device::uuid), if_any("pci", &Device::pci),
      if_any("isa", &Device::isa, "what the compiler's macros say"),
      always("compute_units", &Device::compute_units).up_to(max_parallel),
      always("sub_group_size", &Device::sub_group_size).up_to(max_sub_group),
      always("max_work_group_size", &Device::max_work_group_size).up_to(max_parallel),
      always("global_memory_bytes", &Device::global_memory),
      always("max_allocation_bytes", &Device::max_allocation),
      always("local_memory_bytes", &Device::local_memory),
      always("constant_buffer_bytes", &Device::constant_buffer),
      always("cache_line_bytes", &Device::cache_line, "as reported; may be 0"),
      always("image_buffer_pixels", &Device::image_buffer_pixels, "0 without images"),
      always("pointers_stay_valid", &Device::pointers_stay_valid), always("clock", &Device::clock),
      always("timer", &Device::timer, "what times accesses"),
      always("launch_timer", &Device::launch_timer, "what times whole launches")
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
      if_any("label", &Run::label, "the user's name of the run").since(2),
      always("host", &Run::host),
      if_any("imported", &Run::imported, "only in runs that were made from another tool's results"),
      always("device", &Run::device), always("warnings", &Run::warnings, "about the device"),
      always("results", &Run::results),
      if_any("references", &Run::references, "points of none of the probes, as their references")
          .since(2),
      if_any("disturbances", &Run::disturbances, "what the references say").since(2));
};

// What follows is in no document: the worker speaks of it.

template <>
struct Fields<Work> {
  static constexpr std::string_view name = "work";
  static constexpr auto list = std::tuple(
      always("accesses_per_iteration", &Work::accesses_per_iteration),
      always("iterations", &Work::iterations), always("max_iterations", &Work::max_iterations),
      always("facts", &Work::facts), always("build", &Work::build));
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
