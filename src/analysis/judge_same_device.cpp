// SPDX-License-Identifier: Apache-2.0
// Verdicts on two runs of one device: by its clocks, and what may be of one run alone.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/judge.hpp"
#include "clprobe/compare.hpp"
#include "clprobe/statistics.hpp"

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
    judged.reason = fmt::format("judged in cycles: {}", judged.reason);
  }
  if (judged.ratio) {  // and its interval, as the values are shown
    const double shown = *other.finding.value / *baseline.finding.value;
    const double factor = shown / *judged.ratio;
    judged.ratio = shown;
    if (judged.interval) {
      judged.interval = Interval{judged.interval->low * factor, judged.interval->high * factor};
    }
  }
  if (judged.verdict == Verdict::same || !are_apart(*baseline.clock, *other.clock, threshold)) {
    return judged;
  }
  Judgement seconds = judge(in_seconds(baseline), in_seconds(other), threshold);
  if (seconds.verdict == Verdict::same) {
    seconds.ratio = judged.ratio;
    seconds.reason = fmt::format(
        "judged in seconds, since the time does not follow the core clock: {}", seconds.reason);
    return seconds;
  }
  if (is_change(judged.verdict)) {
    // Both have to say it, and the less certain one decides how sure that is.
    judged.p_value = std::max(judged.p_value.value_or(1.0), seconds.p_value.value_or(1.0));
    if (seconds.verdict != judged.verdict) {
      judged.verdict = Verdict::unclear;
      judged.reason += fmt::format("; but in seconds: {}", seconds.reason);
    }
  }
  return judged;
}

/// One run a side says nothing of what stays for a run and is another in the next.
bool is_of_single_runs(const ComparedFinding& baseline, const ComparedFinding& other) {
  return baseline.degrees == normal_degrees || other.degrees == normal_degrees;
}

/// Whether others on the host of a virtual machine may have made the change. Single runs of one
/// such machine with two busy cores had up to 3.7 times another one's bandwidth of memory, each of
/// them the same all through a run, and capacities of other levels.
bool may_be_of_others(const ComparedFinding& baseline, const ComparedFinding& other,
                      const Judgement& judged) {
  constexpr double max_factor = 10.0;
  if (!baseline.is_of_virtual_cpu || !other.is_of_virtual_cpu) return false;
  if (!baseline.finding.value || !other.finding.value) return false;
  if (!judged.ratio || baseline.finding.unit == "bytes") return true;
  return std::max(*judged.ratio, 1.0 / *judged.ratio) <= max_factor;
}

}  // namespace

bool passes_with_run(const ComparedFinding& baseline, const ComparedFinding& other) {
  return other.finding.role == Role::passing && is_of_single_runs(baseline, other);
}

Judgement judge_same_device(const ComparedFinding& baseline, const ComparedFinding& other,
                            double threshold) {
  Judgement judged = judge_by_clocks(baseline, other, threshold);
  leave_to_several_runs(baseline, other, judged);
  return judged;
}

void leave_to_several_runs(const ComparedFinding& baseline, const ComparedFinding& other,
                           Judgement& judged) {
  if (!is_change(judged.verdict) || !is_of_single_runs(baseline, other)) return;
  if (passes_with_run(baseline, other)) {
    judged.verdict = Verdict::unclear;
    judged.reason += "; but such values vary from run to run: compare several runs per side";
  } else if (may_be_of_others(baseline, other, judged)) {
    judged.left_open = std::exchange(judged.verdict, Verdict::unclear);
    judged.reason += fmt::format("; but {}: compare several runs per side", others_on_host);
  }
}

}  // namespace clprobe
