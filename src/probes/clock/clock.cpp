// SPDX-License-Identifier: Apache-2.0
// The core's clock over time, idle and under load. Method: docs/clock.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "clprobe/probe.hpp"
#include "probes/clock/clock.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::clock {
namespace {

// Number of rounds of a launch on a CPU. Each round reads the clock.
constexpr std::uint32_t cpu_rounds = 8;
// Iterations of a chain on a CPU: 16,384 cycles. The two clock reads are negligible in a chain of
// this length, and few chains are interrupted.
constexpr std::uint32_t cpu_links = 128;

std::uint32_t word_at(std::uint32_t w) { return (0x7f4a7c15U * w + 0x42ef9505U) * w; }

std::uint32_t arithmetic(std::uint32_t item, std::uint32_t turns) {
  constexpr float growth = 3.9375F;
  std::uint32_t sum = 0;
  for (std::uint32_t n = 0; n < 4; ++n) {
    const std::uint32_t bits = (item * 4 + n) * 2654435761U >> 9U;
    float value = static_cast<float>(bits) / 8388608.0F * 0.5F + 0.25F;
    for (std::uint32_t i = 0; i < turns * unroll; ++i) {
      const float grown = growth * value;
      value = std::fma(-grown, value, grown);
    }
    sum += std::bit_cast<std::uint32_t>(value);
  }
  return sum;
}

std::uint32_t stream(const Burn& burn, std::uint32_t item, std::uint32_t round) {
  const std::uint64_t first = burn.first + std::uint64_t{item} * burn.apart +
                              std::uint64_t{round} * burn.loads * unroll * burn.step;
  auto at = static_cast<std::uint32_t>(first % burn.vectors);
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < burn.loads * unroll; ++i) {
    for (std::uint32_t n = 0; n < 4; ++n) sum += word_at(at * 4 + n);
    at += burn.step;
    if (at >= burn.vectors) at -= burn.vectors;
  }
  return sum;
}

/// Returns the number of steps that all work-items make in one kind of work, arithmetic or
/// streaming.
std::uint64_t steps_of(const Burn& burn, std::uint32_t turns, bool is_odd_half) {
  const std::uint64_t groups = burn.items / burn.group;
  const bool is_both = burn.numbers != 0 && burn.loads != 0;
  const std::uint64_t half = is_odd_half ? groups / 2 : groups - groups / 2;
  return (is_both ? half : groups) * burn.group * burn.rounds * turns * unroll;
}

}  // namespace

Counting counting_of(const DeviceInfo& device) {
  const Clock& clock = device.clock;
  if (runs_items_in_turn(device)) {
    return clock.kind == ClockKind::cpu ? Counting::chain : Counting::none;
  }
  if (is_simulated(device)) return Counting::none;
  if (clock.kind == ClockKind::nvidia) return Counting::steady;
  const bool is_timed = device.launch_timer == Timer::event;
  return clock.rate == ClockRate::core_cycles && is_timed ? Counting::event : Counting::none;
}

std::string_view missing_on(const DeviceInfo& device) {
  if (counting_of(device) != Counting::none) return {};
  if (is_simulated(device)) return "a simulated device has no clock";
  if (device.clock.kind == ClockKind::none) return "kernels cannot read a clock on this device";
  switch (device.clock.rate) {
    case ClockRate::core_cycles:
      return "clprobe cannot time the core's cycles, because the device's launch times are "
             "unreliable";
    case ClockRate::constant_rate:
      return "the in-kernel clock has a constant rate, independent of the core clock";
    case ClockRate::unknown:
      break;
  }
  return "the in-kernel clock possibly has a constant rate, independent of the core clock";
}

Burn launch_shape(const DeviceInfo& device, Bytes size) {
  constexpr std::uint64_t groups_of_unit = 8;
  constexpr std::uint64_t largest_group = 256;
  const bool is_cpu = runs_items_in_turn(device);
  Burn burn;
  burn.group = is_cpu ? 1 : std::min(largest_group, max_group_of(device));
  burn.items = units_of(device) * groups_of_unit * burn.group;
  burn.vectors = static_cast<std::uint32_t>(size.count / 16);
  // Each work-item on a CPU has its own region. On a GPU, consecutive work-items read consecutive
  // vectors.
  const auto items = static_cast<std::uint32_t>(burn.items);
  burn.apart = is_cpu ? std::max(1U, burn.vectors / items) : 1;
  burn.step = is_cpu ? 1 : std::max(1U, items % burn.vectors);
  burn.rounds = is_cpu ? cpu_rounds : 1;
  burn.links = is_cpu ? cpu_links : 0;
  return burn;
}

std::uint32_t max_turns(const DeviceInfo& device) {
  const std::uint64_t rounds = runs_items_in_turn(device) ? cpu_rounds : 1;
  const std::uint64_t links = runs_items_in_turn(device) ? cpu_links : 0;
  return static_cast<std::uint32_t>((max_iterations / rounds - 1 - links) / 2);
}

std::uint64_t operations_of(const Burn& burn) {
  return steps_of(burn, burn.numbers, false) * operations_of_step;
}

std::uint64_t moved_bytes_of(const Burn& burn) {
  constexpr std::uint64_t bytes_of_step = 16;
  return steps_of(burn, burn.loads, true) * bytes_of_step;
}

std::uint32_t expected_end(const Burn& burn, std::uint32_t item) {
  const bool is_both = burn.numbers != 0 && burn.loads != 0;
  const bool is_odd = item / burn.group % 2 != 0;
  std::uint32_t end = 0;
  for (std::uint32_t round = 0; round < burn.rounds; ++round) {
    if (!(is_both && is_odd) && burn.numbers != 0) end += arithmetic(item + round, burn.numbers);
    if (!(is_both && !is_odd) && burn.loads != 0) end += stream(burn, item, round);
  }
  return end;
}

std::uint32_t expected_chain(std::uint32_t item, std::uint64_t links, std::uint32_t more,
                             std::uint32_t mask) {
  std::uint32_t value = item;
  for (std::uint64_t link = 0; link < links; ++link) value = (value + more) ^ mask;
  return value;
}

namespace {

/// Clock at a moment of a load, and other observations of this moment.
struct Moment {
  double end_s{0.0};
  double hertz{0.0};
  Observation observed{};
  std::optional<double> watts{};
};

// Minimum number of moments for the findings settling time, throttling and spread.
constexpr std::size_t fewest_of_course = 6;

constexpr std::string_view last_third = "median of the last third";

std::vector<Moment> moments_of(std::string_view series, const DeviceInfo& device,
                               std::span<const Point> points) {
  constexpr double ms_per_s = 1e3;
  constexpr double mw_per_watt = 1e3;
  std::vector<Moment> moments;
  for (const Point& point : points) {
    if (point.series != series || !point.failure.empty()) continue;
    const auto shape = find_shape<Shape>(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (!shape || !time || !(time->ns > 0.0)) continue;
    Moment moment{static_cast<double>(shape->time_ms) / ms_per_s, ns_per_second / time->ns,
                  find_shape<Observation>(point).value_or(Observation{}),
                  number_in(point.facts, "power_mw")};
    if (moment.watts) *moment.watts /= mw_per_watt;
    moments.push_back(moment);
  }
  std::sort(moments.begin(), moments.end(),
            [](const Moment& a, const Moment& b) { return a.end_s < b.end_s; });
  return moments;
}

/// Returns the moments' values, without values that are not positive and finite.
std::vector<double> each_of(std::span<const Moment> moments,
                            const std::function<double(const Moment&)>& value) {
  std::vector<double> values;
  for (const Moment& each : moments) {
    const double found = value(each);
    if (found > 0.0 && std::isfinite(found)) values.push_back(found);
  }
  return values;
}

double clock_at(const Moment& moment) { return moment.hertz; }

std::span<const Moment> last_of(std::span<const Moment> moments) {
  return moments.last(std::max<std::size_t>(1, moments.size() / 3));
}

/// Returns the end in seconds of the last moment whose clock, like the previous one's, differs from
/// `sustained` by more than the share `near`. Single moments except the first do not count.
double settled_after(std::span<const Moment> moments, double sustained, double near) {
  const auto is_off = [&](const Moment& each) {
    return std::fabs(each.hertz - sustained) > near * sustained;
  };
  double settled = 0.0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const bool is_still = is_off(moments[i]) && (i == 0 || is_off(moments[i - 1]));
    if (is_still) settled = moments[i].end_s;
  }
  return settled;
}

/// Returns the share of moments whose clock is below `part` of `clock`, without single moments:
/// disturbances last for one moment, throttling lasts longer.
double share_below(std::span<const Moment> moments, double clock, double part) {
  const auto is_low = [&](std::size_t i) { return moments[i].hertz < part * clock; };
  std::size_t low = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const bool has_neighbour =
        (i > 0 && is_low(i - 1)) || (i + 1 < moments.size() && is_low(i + 1));
    if (is_low(i) && has_neighbour) ++low;
  }
  return static_cast<double>(low) / static_cast<double>(moments.size());
}

/// Returns the highest clock that was sustained for a second, or for a third of a load shorter
/// than three seconds. A shorter rise, which occurs when other programs on the host pause, does
/// not count.
double best_kept(std::span<const Moment> moments) {
  constexpr double long_enough_s = 1.0;
  const std::size_t third = std::max<std::size_t>(1, moments.size() / 3);
  const double slot_s = moments.back().end_s / static_cast<double>(moments.size());
  const std::size_t second =
      slot_s > 0.0 ? static_cast<std::size_t>(std::ceil(long_enough_s / slot_s)) : third;
  const std::size_t window = std::min(third, second);
  double best = 0.0;
  for (std::size_t i = 0; i + window <= moments.size(); ++i) {
    best = std::max(best, median(each_of(moments.subspan(i, window), clock_at)));
  }
  return best;
}

/// Returns the moments after the initial rise of the clock. The rise does not count as throttling.
std::span<const Moment> risen(std::span<const Moment> moments, double best) {
  constexpr double nearly = 0.97;
  const auto first = std::find_if(moments.begin(), moments.end(),
                                  [&](const Moment& each) { return each.hertz >= nearly * best; });
  return moments.subspan(static_cast<std::size_t>(first - moments.begin()));
}

void add_course(Findings& found, const SeriesSpec& series, std::span<const Moment> moments,
                double sustained) {
  if (moments.size() < fewest_of_course) return;
  const std::vector<double> all = each_of(moments, clock_at);
  // The ends of the interval have twice and half the threshold. If the clock keeps wavering, these
  // thresholds give other times.
  found.findings.push_back(finding_of(
      "settling_time", series.name, "seconds", "clock stays within 1 % of the sustained clock",
      settled_after(moments, sustained, 0.01), settled_after(moments, sustained, 0.02),
      settled_after(moments, sustained, 0.005)));
  const double best = best_kept(moments);
  const std::span<const Moment> later = risen(moments, best);
  found.findings.push_back(
      finding_of("throttled", series.name, "share", "time slices below 97 % of the best clock",
                 share_below(later, best, 0.97), share_below(later, best, 0.96),
                 share_below(later, best, 0.98)));
  Finding spread = finding_of("spread", series.name, "share",
                              "5th to 95th percentile of the clock over the time slices");
  spread.value = (quantile(all, 0.95) - quantile(all, 0.05)) / median(all);
  found.findings.push_back(std::move(spread));
}

void add_median(Findings& found, std::string_view name, const SeriesSpec& series,
                std::string_view unit, const std::vector<double>& values) {
  if (values.empty()) return;
  Finding finding = finding_of(name, series.name, unit, last_third, median(values),
                               quantile(values, 0.25), quantile(values, 0.75));
  // Fewer than four moments give no interval.
  constexpr std::size_t fewest = 4;
  if (values.size() < fewest) finding.low = finding.high = std::nullopt;
  found.findings.push_back(std::move(finding));
}

double operations_at(const Moment& moment) {
  return static_cast<double>(moment.observed.operations) /
         static_cast<double>(moment.observed.launched_ns) * ns_per_second;
}

double bandwidth_at(const Moment& moment) {
  return static_cast<double>(moment.observed.moved_bytes) /
         static_cast<double>(moment.observed.launched_ns) * ns_per_second;
}

/// Adds the throughput of the load, which distinguishes a slow clock from slow memory. With both
/// loads, half of the work-groups run each load, and both throughputs are added.
void add_throughput(Findings& found, const SeriesSpec& series, const DeviceInfo& device,
                    std::span<const Moment> moments) {
  const std::span<const Moment> last = last_of(moments);
  const bool is_both = series.load == Load::both;
  if (series.load == Load::arithmetic || is_both) {
    add_median(found, "operations", series, "operations_per_second", each_of(last, operations_at));
  }
  if (series.load == Load::arithmetic) {
    const auto units = static_cast<double>(units_of(device));
    // Median of the last third's clocks, as in the finding `clock`.
    const double hertz = median(each_of(last, clock_at));
    const auto by_cycle = [&](const Moment& moment) {
      return operations_at(moment) / hertz / units;
    };
    add_median(found, "unit_operations", series, "operations_per_cycle", each_of(last, by_cycle));
  }
  if (series.load != Load::stream && !is_both) return;
  add_median(found, "bandwidth", series, "bytes_per_second", each_of(last, bandwidth_at));
  // Two loads share a device differently in each run, so `compare` judges this bandwidth only from
  // several runs. In six runs of an H200 within three minutes, reads next to arithmetic fell from
  // 2.31 to 2.16 TB/s.
  if (is_both && !found.findings.empty()) found.findings.back().role = Role::passing;
  const std::vector<double> first =
      each_of(moments.first(std::max<std::size_t>(1, moments.size() / 3)), bandwidth_at);
  const std::vector<double> end = each_of(last, bandwidth_at);
  const bool has_course = moments.size() >= fewest_of_course && !first.empty() && !end.empty();
  if (!has_course) return;
  Finding drift = finding_of("bandwidth_drift", series.name, "share",
                             "median of the last third compared with that of the first");
  drift.value = median(end) / median(first) - 1.0;
  found.findings.push_back(std::move(drift));
}

/// Returns true for a plausible reading. A meter that reports 0 W has not updated since the
/// previous reading.
bool has_power(const Moment& moment) { return moment.watts && *moment.watts > 0.0; }

void add_power(Findings& found, Readings& readings, const SeriesSpec& series,
               std::span<const Moment> moments) {
  constexpr std::string_view method = "mean of the last third";
  // A moment that is shorter than the interval of the meter's updates has either no power or the
  // power of more than one moment. The mean of the few moments with power would be wrong.
  constexpr double few = 0.1;
  const auto none = std::count_if(moments.begin(), moments.end(), [](const Moment& each) {
    return each.watts && !has_power(each);
  });
  if (static_cast<double>(none) > few * static_cast<double>(moments.size())) {
    Finding power = without_value(
        "power", series.name, method,
        "clprobe read the power meter more often than the meter updates, so readings are missing",
        "watts");
    power.source = Source::reported;
    found.findings.push_back(std::move(power));
    return;
  }
  std::vector<double>& watts = readings[std::string(series.name)];
  for (const Moment& each : last_of(moments)) {
    if (has_power(each)) watts.push_back(*each.watts);
  }
  if (watts.empty()) return;
  Finding power = finding_of("power", series.name, "watts", method);
  power.value = mean(watts);
  power.source = Source::reported;
  found.findings.push_back(std::move(power));
}

void add_missing_power(Findings& found, std::span<const Point> points) {
  for (const Point& point : points) {
    const std::string reason = point.facts.text_or(no_power_fact, "");
    if (reason.empty()) continue;
    Finding power = without_value("power", point.series, "meter", reason, "watts");
    power.source = Source::reported;
    found.findings.push_back(std::move(power));
    return;
  }
}

}  // namespace

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  Readings readings;
  for (const SeriesSpec& series : all_series) {
    const std::vector<Moment> moments = moments_of(series.name, device, points);
    if (moments.empty()) continue;
    const std::vector<double> last = each_of(last_of(moments), clock_at);
    add_median(found, "clock", series, "hertz", last);
    add_course(found, series, moments, median(last));
    add_throughput(found, series, device, moments);
    add_power(found, readings, series, moments);
  }
  add_energy(found, readings);
  add_missing_power(found, points);
  return found;
}

namespace {

constexpr Option options[]{
    {.name = "burn",
     .value_name = "TIME",
     .summary = "total time under load, such as 5s, divided among the loads",
     .details = "Total time under load, such as `5s` or `2min`, divided evenly among the loads; a "
                "number without a unit is in milliseconds. Default: 3s; 1s with --quick, one "
                "minute per load with --thorough.",
     .value = Milliseconds{30, 36'000'000}},
};

constexpr auto declared_series = declare_series(all_series);

constexpr FindingSpec finding_specs[]{
    {.name = "clock", .unit = "hertz", .role = Role::headline},
    {.name = "settling_time", .unit = "seconds", .role = Role::passing},
    {.name = "throttled", .unit = "share", .role = Role::passing, .better = Better::less},
    {.name = "spread", .unit = "share", .role = Role::remark, .better = Better::less},
    {.name = "operations", .unit = "operations_per_second"},
    {.name = "unit_operations", .unit = "operations_per_cycle"},
    {.name = "bandwidth", .unit = "bytes_per_second"},
    {.name = "bandwidth_drift", .unit = "share", .role = Role::remark},
    {.name = "power", .unit = "watts", .role = Role::remark},
    {.name = "energy_per_byte", .unit = "joules_per_byte", .role = Role::remark},
    {.name = "energy_per_operation", .unit = "joules_per_operation", .role = Role::remark},
};

constexpr DescribedNumber described[]{
    {"clock.loaded", "clock", "arithmetic"},
};

// The engine visits each moment once, without time limit.
constexpr Budget once{.probe_time = std::chrono::hours(24),
                      .first_visit_time = std::chrono::hours(24),
                      .min_visits = 1,
                      .max_visits = 1,
                      .samples_per_visit = 1};
constexpr Budgets budgets{.quick = once, .normal = once, .thorough = once};

std::uint64_t load_ms(const Request& request, std::uint64_t loads) {
  constexpr std::uint64_t quick = 1000;
  constexpr std::uint64_t usual = 3000;
  constexpr std::uint64_t thorough = 60000;  // ms per load
  const std::uint64_t own = request.effort == Effort::quick      ? quick
                            : request.effort == Effort::thorough ? thorough * loads
                                                                 : usual;
  return request.own.number("burn").value_or(own) / loads;
}

/// Returns the time in ms that the device rests before its idle clock is measured.
std::uint64_t idle_ms(const Request& request) {
  constexpr std::uint64_t quick = 200;
  constexpr std::uint64_t usual = 500;
  constexpr std::uint64_t thorough = 5000;
  return request.effort == Effort::quick      ? quick
         : request.effort == Effort::thorough ? thorough
                                              : usual;
}

/// Returns the length of a moment in ms. A load of at least 10 ms has at least 10 moments. A long
/// load has about 2,000 moments.
std::uint64_t slot_of(std::uint64_t load) {
  constexpr std::uint64_t usual = 50;
  constexpr std::uint64_t fewest = 10;
  constexpr std::uint64_t most = 2000;
  return std::max(std::clamp<std::uint64_t>(load / fewest, 1, usual), load / most);
}

Bytes buffer_size(const DeviceInfo& device, const Request& request) {
  Bytes size = runs_items_in_turn(device) ? beyond_caches(device) : mebibytes(512);
  if (device.max_allocation.count != 0) size = std::min(size, device.max_allocation);
  if (device.global_memory.count != 0) size = std::min(size, device.global_memory / 4);
  if (request.max_memory.count != 0) size = std::min(size, request.max_memory / 2);
  constexpr std::uint64_t granule = 4096;
  return {std::max(granule, size.count / granule * granule)};
}

/// Returns the size of the results of all work-items in bytes.
Bytes results_size(const DeviceInfo& device) {
  constexpr std::uint64_t items_of_unit = 2048;
  constexpr std::uint64_t bytes_of_item = 20;
  return Bytes{items_of_unit * bytes_of_item} * units_of(device);
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan result;
  const std::string_view missing = missing_on(device);
  std::uint64_t loads = 0;
  for (const SeriesSpec& series : all_series) {
    if (wants(request, series.name) && series.load != Load::idle) ++loads;
  }
  const std::uint64_t each = load_ms(request, std::max<std::uint64_t>(1, loads));
  const std::uint64_t slot = slot_of(each);
  const std::uint64_t bytes = buffer_size(device, request).count;
  for (const SeriesSpec& series : all_series) {
    if (!wants(request, series.name)) continue;
    if (!missing.empty()) {
      result.findings.push_back(not_measured("clock", series.name, missing));
      continue;
    }
    const bool is_idle = series.load == Load::idle;
    const std::uint64_t moments = is_idle ? 1 : each / slot;
    result.seconds += 1e-3 * static_cast<double>(is_idle ? idle_ms(request) : moments * slot);
    for (std::uint64_t i = 0; i < moments; ++i) {
      Point point;
      point.series = series.name;
      write_shape(Shape{.time_ms = is_idle ? idle_ms(request) : (i + 1) * slot,
                        .slot_ms = is_idle ? idle_ms(request) : slot,
                        .load = series.load,
                        .timer = runs_items_in_turn(device) ? Timer::clock : Timer::event,
                        .buffer_bytes = bytes},
                  point);
      result.points.push_back(std::move(point));
    }
  }
  result.is_ordered = true;
  if (!result.points.empty()) result.memory = Bytes{bytes} + results_size(device);
  return result;
}

/// Returns "1800 MHz arithmetic (throttled 50 %)". The unit is omitted unless `has_unit`. Returns
/// an empty string without a clock.
std::string load_text(const ProbeResult& result, std::string_view series, bool has_unit) {
  const Finding* const clock = find_value(result.findings, "clock", series);
  if (clock == nullptr) return {};
  constexpr double mega = 1e6;
  constexpr double percent = 100.0;
  // Shares below 5 % come from disturbances of the host.
  constexpr double worth_telling = 0.05;
  std::string text =
      fmt::format("{:.0f}{} {}", *clock->value / mega, has_unit ? " MHz" : "", series);
  const Finding* const throttled = find_value(result.findings, "throttled", series);
  if (throttled != nullptr && *throttled->value >= worth_telling) {
    text += fmt::format(" (throttled {:.0f} %)", *throttled->value * percent);
  }
  return text;
}

/// Makes a line with the clocks under load first. A narrow card then cuts off the idle clock.
Card card(const ProbeResult& result) {
  Card card;
  std::string text;
  for (const bool is_idle : {false, true}) {
    for (const SeriesSpec& series : all_series) {
      if ((series.load == Load::idle) != is_idle) continue;
      append(text, ", ", load_text(result, series.name, text.empty()));
    }
  }
  if (text.empty()) {
    if (!result.findings.empty()) card.unseen.emplace_back("the clock under load");
    return card;
  }
  append(text, "; ", power_text(result));
  card.lines.push_back({"clock", std::move(text)});
  std::string energy = energy_text(result);
  if (!energy.empty()) card.lines.push_back({"energy", std::move(energy)});
  return card;
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "clock",
    .title = "Clock under load",
    .question = "What clock do the cores sustain, idle and under load?",
    .method = 2,
    .unit = Unit::hertz,
    .options = options,
    .series = declared_series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve,
             .x = "time_ms",
             .value_title = "clock",
             .scale = Scale::linear},
    .budgets = budgets,
    .plan = plan,
    .open = open,
    .builds = builds,
    .find_problem = find_problem<Shape, Observation>,
    .analyse = analyse,
    .card = card,
    .described = described,
};

}  // namespace clprobe::clock
