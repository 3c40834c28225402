// SPDX-License-Identifier: Apache-2.0
// Verdicts on two runs of one device: by its clocks, and what may be of one run alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/finding_error.hpp"
#include "analysis/judge.hpp"
#include "clprobe/compare.hpp"
#include "clprobe/statistics.hpp"
#include "clprobe/virtual_host.hpp"

namespace clprobe {
namespace {

/// The same finding in another unit: `factor` times as many.
ComparedFinding converted(const ComparedFinding& compared, double factor, std::string_view unit) {
  ComparedFinding result = compared;
  Finding& finding = result.finding;
  finding.unit = unit;
  for (std::optional<double>* const number : {&finding.value, &finding.low, &finding.high}) {
    if (*number) *number = **number * factor;
  }
  result.whole *= factor;
  return result;
}

}  // namespace

ComparedFinding in_cycles(const ComparedFinding& compared) {
  const double hertz = compared.clock->hertz;
  ComparedFinding result = compared;
  if (compared.finding.unit == "seconds") result = converted(compared, hertz, "cycles");
  if (compared.finding.unit == "bytes_per_second") {
    result = converted(compared, 1.0 / hertz, "bytes_per_cycle");
  }
  result.calibration = 0.0;
  return result;
}

ComparedFinding in_seconds(const ComparedFinding& compared) {
  const CoreClock& clock = *compared.clock;
  ComparedFinding result = compared;
  if (compared.finding.unit == "cycles") result = converted(compared, 1.0 / clock.hertz, "seconds");
  if (compared.finding.unit == "bytes_per_cycle") {
    result = converted(compared, clock.hertz, "bytes_per_second");
  }
  result.calibration = std::max(0.0, (clock.high - clock.low) / (2.0 * clock.hertz));
  return result;
}

namespace {

/// Whether the clocks ran at rates that no error of the calibrations explains.
bool are_apart(const CoreClock& a, const CoreClock& b, double threshold) {
  const double gap = std::max(a.low / b.high, b.low / a.high);
  return gap > 1.0 + threshold;
}

Judgement judge_by_clocks(const ComparedFinding& baseline, const ComparedFinding& other,
                          double threshold) {
  const bool has_clocks = baseline.clock && other.clock && baseline.finding.value &&
                          other.finding.value && baseline.finding.unit == other.finding.unit;
  if (!has_clocks) return judge(baseline, other, threshold);
  Judgement judged = judge(in_cycles(baseline), in_cycles(other), threshold);
  if (judged.ratio && baseline.finding.unit != in_cycles(baseline).finding.unit) {
    judged.reason = fmt::format("in cycles, as measured: {}", judged.reason);
  }
  if (judged.ratio) judged.ratio = *other.finding.value / *baseline.finding.value;  // as shown
  if (judged.verdict == Verdict::same || !are_apart(*baseline.clock, *other.clock, threshold)) {
    return judged;
  }
  Judgement seconds = judge(in_seconds(baseline), in_seconds(other), threshold);
  if (seconds.verdict == Verdict::same) {
    seconds.ratio = judged.ratio;
    seconds.reason =
        fmt::format("in seconds, for it does not follow the clock: {}", seconds.reason);
    return seconds;
  }
  if (is_change(judged.verdict)) {
    // Both have to say it, and the less certain one decides how sure that is.
    judged.p_value = std::max(judged.p_value.value_or(1.0), seconds.p_value.value_or(1.0));
    if (seconds.verdict != judged.verdict) {
      judged.verdict = Verdict::unclear;
      judged.reason += fmt::format("; in seconds: {}", seconds.reason);
    }
  }
  return judged;
}

/// By how much the values and both ends of the intervals are apart at most, as logarithms.
std::optional<double> distance_of_intervals(const Finding& a, const Finding& b) {
  double farthest = 0.0;
  for (const auto number : {&Finding::value, &Finding::low, &Finding::high}) {
    const std::optional<double>& from = a.*number;
    const std::optional<double>& to = b.*number;
    if (!from || !to || !(*from > 0.0) || !(*to > 0.0)) return std::nullopt;
    farthest = std::max(farthest, std::fabs(std::log(*to / *from)));
  }
  return farthest;
}

/// With an interval of so many on both sides, as a logarithm, and the spread of the visits beside
/// it; as it is where its own is narrower.
ComparedFinding narrowed(const ComparedFinding& compared, double half_width) {
  const Finding& finding = compared.finding;
  const double own =
      std::min(std::log(*finding.value / *finding.low), std::log(*finding.high / *finding.value));
  if (own <= half_width) return compared;
  ComparedFinding result = compared;
  result.finding.low = *finding.value * std::exp(-half_width);
  result.finding.high = *finding.value * std::exp(half_width);
  result.margin = std::max(compared.margin, compared.scatter);
  return result;
}

/// Both without the error that they have in common. A line that does not fit, or a level that rises
/// from end to end, has a wide interval in every run of the device: what that leaves open is open
/// on both sides, and parts nothing. It shows by ends that agree as well as the values. Of the
/// three distances the largest is taken three times, so that this never makes a change.
std::pair<ComparedFinding, ComparedFinding> without_common_error(const ComparedFinding& baseline,
                                                                 const ComparedFinding& other) {
  constexpr double times = 3.0;
  const bool is_on_line = !is_bracket(other.finding) && !is_part(baseline) && !is_part(other) &&
                          other.finding.role != Role::lower_bound;
  const std::optional<double> apart =
      is_on_line ? distance_of_intervals(baseline.finding, other.finding) : std::nullopt;
  if (!apart) return {baseline, other};
  return {narrowed(baseline, times * *apart), narrowed(other, times * *apart)};
}

/// One run a side says nothing of what stays for a run and is another in the next.
bool is_of_single_runs(const ComparedFinding& baseline, const ComparedFinding& other) {
  return baseline.degrees == normal_degrees || other.degrees == normal_degrees;
}

/// Whether others on the host of a virtual machine may have made the change. Single runs of one
/// such machine with two cores, minutes apart, had up to 2.7 times another one's bandwidth of
/// memory and 1.7 times its time of operations, each of them the same all through a run. What
/// others leave of a cache that they share is bounded by nothing: its end was at 1.7 to 10.3 MiB.
/// Where a level behind the first one lies in such a cache, a run may find memory's time at its
/// sizes, which is some ten times as long: 16 ns in one run were 73 in the next.
bool may_be_of_others(const ComparedFinding& baseline, const ComparedFinding& other,
                      const Judgement& judged) {
  constexpr double max_factor = 3.0;
  constexpr double max_factor_of_shared = 10.0;
  if (!baseline.is_of_virtual_cpu || !other.is_of_virtual_cpu || !judged.ratio) return false;
  if (is_bracket(other.finding)) return true;
  const bool may_be_shared = is_speed(other.finding) && other.finding.level.value_or(1) > 1;
  const double most = may_be_shared ? max_factor_of_shared : max_factor;
  return std::max(*judged.ratio, 1.0 / *judged.ratio) <= most;
}

}  // namespace

bool passes_with_run(const ComparedFinding& baseline, const ComparedFinding& other) {
  return other.finding.role == Role::passing && is_of_single_runs(baseline, other);
}

Judgement judge_same_device(const ComparedFinding& baseline, const ComparedFinding& other,
                            double threshold) {
  const auto [from, to] = without_common_error(baseline, other);
  Judgement judged = judge_by_clocks(from, to, threshold);
  leave_to_several_runs(baseline, other, judged);
  return judged;
}

void leave_to_several_runs(const ComparedFinding& baseline, const ComparedFinding& other,
                           Judgement& judged) {
  if (!is_change(judged.verdict) || !is_of_single_runs(baseline, other)) return;
  if (passes_with_run(baseline, other)) {
    judged.verdict = Verdict::unclear;
    judged.reason += "; but that may be of one run: compare several a side";
  } else if (may_be_of_others(baseline, other, judged)) {
    judged.left_open = std::exchange(judged.verdict, Verdict::unclear);
    judged.reason += fmt::format("; but {}: compare several a side", others_on_host);
  }
}

}  // namespace clprobe
