// SPDX-License-Identifier: Apache-2.0
// Verdicts of comparisons, in logarithms (shares: differences). Swapping the runs swaps `better`
// and `worse` and has no other effect on a verdict.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/api/statistics.hpp"
#include "compare/comparing.hpp"

namespace clprobe {
namespace {

constexpr std::array verdict_words{std::string_view("same"), std::string_view("better"),
                                   std::string_view("worse"), std::string_view("different"),
                                   std::string_view("unclear")};

/// Returns the reason for a missing value, without its numbers and without the advice after a
/// colon.
std::string kind_of_reason(const Finding& finding) {
  std::string kind = finding.reason.substr(0, finding.reason.find(':'));
  std::erase_if(kind, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return kind;
}

/// Returns true unless the label states that the result is unknown.
bool is_word_of_something(std::string_view label) {
  constexpr std::array<std::string_view, 6> nothing{"",          "unknown",      "unobservable",
                                                    "ambiguous", "inconclusive", "not known"};
  return std::ranges::find(nothing, label) == nothing.end();
}

/// Returns true if the label `one` is one of the alternatives in `other`: "cache" and
/// "cache-or-far".
bool is_among(std::string_view one, std::string_view other) {
  constexpr std::string_view between = "-or-";
  while (true) {
    const auto at = other.find(between);
    if (other.substr(0, at) == one) return true;
    if (at == std::string_view::npos) return false;
    other.remove_prefix(at + between.size());
  }
}

Judgement without_number(Verdict verdict, std::string reason) {
  return {.verdict = verdict, .reason = std::move(reason)};
}

Judgement judge_words(const Finding& baseline, const Finding& other) {
  if (baseline.label != other.label) {
    const bool is_known =
        is_word_of_something(baseline.label) && is_word_of_something(other.label) &&
        !is_among(baseline.label, other.label) && !is_among(other.label, baseline.label);
    const auto shown = [](const Finding& finding) {
      return finding.label.empty() ? std::string_view("no value") : std::string_view(finding.label);
    };
    return without_number(
        is_known ? Verdict::different : Verdict::unclear,
        fmt::format("{} in this run; baseline: {}", shown(other), shown(baseline)));
  }
  if (!baseline.label.empty() && baseline.label != "unknown") {
    return without_number(Verdict::same, fmt::format("both runs: {}", baseline.label));
  }
  if (kind_of_reason(baseline) == kind_of_reason(other)) {
    return without_number(Verdict::same,
                          fmt::format("no value in either run ({})",
                                      other.reason.empty() ? "no reason given" : other.reason));
  }
  return without_number(Verdict::unclear,
                        fmt::format("no value in either run (this run: {}; baseline: {})",
                                    other.reason, baseline.reason));
}

Judgement judge_lone_value(const Finding& baseline, const Finding& other) {
  const bool is_here = other.value.has_value();
  const std::string& reason = is_here ? baseline.reason : other.reason;
  return without_number(Verdict::unclear, fmt::format("only {} has a value{}{}",
                                                      is_here ? "this run" : "the baseline",
                                                      reason.empty() ? ""
                                                      : is_here      ? "; baseline: "
                                                                     : "; this run: ",
                                                      reason));
}

/// Conversion between relative changes, as reports state them, and positions on the axis of
/// comparisons.
struct Scale {
  bool is_share{false};

  [[nodiscard]] double on_line(double share) const { return is_share ? share : std::log1p(share); }
  [[nodiscard]] double from_line(double change) const {
    return is_share ? change : std::expm1(change);
  }
  /// Returns a change as text: "4.2 %", "4.2 % of the total" for shares, "16.0x" for large factors.
  [[nodiscard]] std::string text(double change) const {
    if (!is_share && are_factors(change)) return factor_text(change);
    return fmt::format("{:.3g} %{}", 100.0 * from_line(change), is_share ? " of the total" : "");
  }
  /// Returns a change with its interval as text: "-8.2 % (-9.3 % to -7 %)", "16.0x (14.0x to
  /// 19.0x)"; "-2 % (-7 % or more)" if the interval has no upper limit.
  [[nodiscard]] std::string text(double change, const Interval& interval) const {
    const bool has_low = std::isfinite(interval.low);
    const bool has_high = std::isfinite(interval.high);
    const auto end = [&](double at) {
      const bool is_factor = !is_share && are_factors(change);
      return is_factor ? factor_text(at) : fmt::format("{:.3g} %", 100.0 * from_line(at));
    };
    std::string range = "range unknown";
    if (has_low && has_high) range = fmt::format("{} to {}", end(interval.low), end(interval.high));
    if (has_low && !has_high) range = end(interval.low) + " or more";
    if (has_high && !has_low) range = end(interval.high) + " or less";
    return fmt::format("{} ({})", text(change), range);
  }

 private:
  static bool are_factors(double change) { return std::fabs(change) >= std::log(11.0); }
  static std::string factor_text(double change) {
    const double factor = std::exp(change);
    const int digits = factor >= 100.0 ? 0 : factor >= 10.0 ? 1 : 3;
    return fmt::format("{:.{}f}x", factor, digits);
  }
};

/// Returns the ratio and its interval, or the interval of a difference of shares; no verdict.
Judgement measure(const ComparedFinding& baseline, const ComparedFinding& other,
                  const Difference& apart, const Scale& scale) {
  const double a = *baseline.finding.value;
  const double b = *other.finding.value;
  Judgement judged;
  if (a > 0.0 && b > 0.0 && !scale.is_share) judged.ratio = b / a;
  judged.interval = scale.is_share
                        ? apart.interval
                        : Interval{std::exp(apart.interval.low), std::exp(apart.interval.high)};
  return judged;
}

Judgement judge_difference(const ComparedFinding& baseline, const ComparedFinding& other,
                           double threshold) {
  const Scale scale{is_share(baseline.finding)};
  const Position a = locate(baseline);
  const Position b = locate(other);
  const Difference apart = difference(a, b);
  Judgement judged = measure(baseline, other, apart, scale);
  judged.is_coarse = !a.has_interval || !b.has_interval;
  if (!a.has_interval && !b.has_interval) judged.interval.reset();
  const double coarse = scale.on_line(std::max(threshold, coarse_change));
  const double bound = judged.is_coarse ? coarse : scale.on_line(threshold);
  // Minimum of `resolution`: two exact counts would seem to exclude changes of 1e-14.
  const double finest = judged.is_coarse ? coarse : scale.on_line(1e-4);
  const double far = std::max(apart.farthest(), finest);
  if (std::isfinite(far)) judged.resolution = scale.from_line(far);
  if (judged.is_coarse) {
    // A value without an interval has an unknown error, so that `bound`, at least 25 %, replaces
    // its half-width.
    const double half = std::fabs(apart.change) - apart.beyond(0.0);
    judged.p_value = two_sided_p(
        std::fabs(apart.change) / (bound + half) * student_t(apart.degrees), apart.degrees);
  } else {
    judged.p_value = apart.p_value(bound);
  }
  judged.reason = scale.text(apart.change, apart.interval);
  if (judged.is_coarse) {
    judged.reason = fmt::format("{} (no interval{})", scale.text(apart.change),
                                !a.has_interval && !b.has_interval ? ""
                                : a.has_interval                   ? " in this run"
                                                                   : " in the baseline");
  }
  if (apart.beyond(bound) > 0.0) {
    judged.verdict = direction_of(other.finding, apart.change > 0.0);
    judged.reason += fmt::format(", beyond the threshold of {}", scale.text(bound));
    judged.resolution.reset();
  } else if (far <= coarse) {
    judged.verdict = Verdict::same;
    judged.reason += fmt::format(": a change of more than {} is excluded", scale.text(far));
  } else {
    judged.verdict = Verdict::unclear;
    if (!std::isfinite(far)) {
      const bool is_open =
          !std::isfinite(apart.interval.low) && !std::isfinite(apart.interval.high);
      judged.reason +=
          is_open ? ": any change is possible" : ": the interval is unbounded at one end";
    } else if (judged.is_coarse) {
      judged.reason += fmt::format(": changes from {} to {} are possible",
                                   scale.text(apart.interval.low), scale.text(apart.interval.high));
    } else {
      judged.reason += ": the interval is too wide for a verdict";
    }
  }
  return judged;
}

/// Natural logarithms of the value and the bracket of a size. A bracket that begins at 0 has no
/// lower limit.
struct Bracket {
  double value{0.0};
  double low{0.0};
  double high{0.0};
};

Bracket bracket_of(const Finding& finding) {
  const auto logarithm = [](double bytes) { return bytes > 0.0 ? std::log(bytes) : -HUGE_VAL; };
  const double value = *finding.value;
  return {std::log(value), std::min(std::log(value), logarithm(finding.low.value_or(value))),
          std::max(std::log(value), logarithm(finding.high.value_or(value)))};
}

/// Judges two sizes that lie between measured sizes. A bracket states where the size lies, not how
/// it scatters. The choice of measured sizes moves each end by at most one step of the grid.
Judgement judge_brackets(const ComparedFinding& baseline, const ComparedFinding& other,
                         double threshold) {
  const Scale scale{};
  const Bracket a = bracket_of(baseline.finding);
  const Bracket b = bracket_of(other.finding);
  const double step = bracket_step(baseline, other);
  const bool are_known = std::max(baseline.step, other.step) > 0.0;
  const double bound = std::max(step, std::log1p(threshold));
  const double gap = std::max(b.low - a.high, a.low - b.high);
  const Difference apart{b.value - a.value, {b.low - a.high, b.high - a.low}};
  Judgement judged = measure(baseline, other, apart, scale);
  // `bound` is treated as the half-width of a 95 % interval of the distance.
  judged.p_value =
      gap > 0.0 ? two_sided_p(gap / bound * student_t(normal_degrees), normal_degrees) : 1.0;
  judged.reason = scale.text(apart.change);
  if (gap > bound) {
    judged.verdict = direction_of(other.finding, apart.change > 0.0);
    judged.reason +=
        fmt::format("; the brackets are {} apart, but neighbouring measured sizes {} only {} apart",
                    scale.text(gap), are_known ? "are" : "are assumed to be", scale.text(step));
    return judged;
  }
  const double far = std::max(std::fabs(apart.change), step);
  // Maximum distance of sizes that count as equal. Near the end of a level, the grid is fine enough
  // for this limit.
  constexpr double near = 0.1;
  const bool is_near = far <= std::log1p(near);
  judged.verdict = far <= bound || is_near ? Verdict::same : Verdict::unclear;
  // A change of more than `far` would have separated the brackets.
  if (judged.verdict == Verdict::same) judged.interval = Interval{std::exp(-far), std::exp(far)};
  const double missed = judged.verdict == Verdict::same ? far : apart.farthest();
  if (std::isfinite(missed)) judged.resolution = scale.from_line(missed);
  judged.reason += fmt::format(", {} {} (neighbouring measured sizes {} {} apart)",
                               judged.verdict == Verdict::same ? "and" : "but",
                               gap < 0.0    ? "the brackets overlap"
                               : gap == 0.0 ? "the brackets have one end in common"
                                            : "the brackets are apart",
                               are_known ? "are" : "are assumed to be", scale.text(step));
  return judged;
}

/// Returns true for a lower bound. Two lower bounds never contradict each other.
bool is_lower_bound(const Finding& finding) { return finding.role == Role::lower_bound; }

/// Returns a lower bound without its interval, which is that of the measured value instead of the
/// true value.
ComparedFinding without_interval(const ComparedFinding& compared) {
  ComparedFinding result = compared;
  result.finding.low.reset();
  result.finding.high.reset();
  return result;
}

/// Returns one end of the interval of the ratio `to` / `from` by Fieller (1954): the lower end if
/// `side` is negative. Swapping the values gives the inverse ratio. `from_error` and `to_error` are
/// the half-widths towards this end. The lower end requires to_error < to, the upper end from_error
/// < from.
double ratio_end(double from, double to, double from_error, double to_error, double side) {
  const double product = from * to;
  const double open = from * from - from_error * from_error;
  const double rest = to * to - to_error * to_error;
  const double root = std::sqrt(std::max(0.0, product * product - open * rest));
  return side < 0.0 ? rest / (product + root) : (product + root) / open;
}

/// Returns the 95 % interval of the ratio of two parts; nothing if a part may be 0.
std::optional<Interval> interval_of_ratio(const Position& from, const Position& to) {
  const Difference apart = difference(from, to);
  const double down = (apart.change - apart.interval.low) / std::hypot(from.above, to.below);
  const double up = (apart.interval.high - apart.change) / std::hypot(from.below, to.above);
  if (!(from.value > up * from.below) || !(to.value > down * to.below)) return std::nullopt;
  return Interval{ratio_end(from.value, to.value, down * from.above, down * to.below, -1.0),
                  ratio_end(from.value, to.value, up * from.below, up * to.above, 1.0)};
}

/// Judges two parts as shares of one whole, the geometric mean of the wholes of both runs.
Judgement judge_parts(const ComparedFinding& baseline, const ComparedFinding& other,
                      double threshold) {
  const double whole = std::sqrt(baseline.whole * other.whole);
  const ComparedFinding before = as_share(baseline, whole);
  const ComparedFinding after = as_share(other, whole);
  Judgement judged = judge(before, after, threshold);
  // A part that may be 0 or negative has no ratio.
  const auto may_be_none = [](const ComparedFinding& each) {
    return !(each.finding.low.value_or(*each.finding.value) > 0.0);
  };
  const bool has_interval = judged.interval.has_value();
  judged.interval.reset();
  if (may_be_none(baseline) || may_be_none(other) || !has_interval) return judged;
  judged.interval = interval_of_ratio(locate(before), locate(after));
  if (judged.interval) judged.ratio = *other.finding.value / *baseline.finding.value;
  return judged;
}

Judgement judge_numbers(const ComparedFinding& baseline, const ComparedFinding& other,
                        double threshold) {
  if (is_bracket(other.finding)) return judge_brackets(baseline, other, threshold);
  if (!is_lower_bound(other.finding)) return judge_difference(baseline, other, threshold);
  // The intervals of lower bounds, which are not those of the true values, exclude no change.
  const ComparedFinding before = without_interval(baseline);
  const ComparedFinding after = without_interval(other);
  Judgement judged = judge_difference(before, after, threshold);
  judged.reason =
      Scale{is_share(after.finding)}.text(difference(locate(before), locate(after)).change);
  return judged;
}

/// Returns true if the values, intervals, margins and calibration errors of two findings are equal.
bool is_identical(const ComparedFinding& one, const ComparedFinding& other) {
  const Finding& a = one.finding;
  const Finding& b = other.finding;
  return *a.value == *b.value && a.low == b.low && a.high == b.high && one.margin == other.margin &&
         one.calibration == other.calibration;
}

}  // namespace

std::string_view to_word(Verdict verdict) {
  return verdict_words.at(static_cast<std::size_t>(verdict));
}

bool says_something(const Finding& finding) {
  return finding.value.has_value() || is_word_of_something(finding.label);
}

Verdict direction_of(const Finding& finding, bool is_more) {
  switch (finding.better) {
    case Better::less:
      return is_more ? Verdict::worse : Verdict::better;
    case Better::more:
      return is_more ? Verdict::better : Verdict::worse;
    case Better::unknown:
      break;
  }
  return Verdict::different;
}

bool is_bracket(const Finding& finding) {
  // Sizes of Role::passing are calculated from times, not bracketed by two measured sizes.
  const bool is_exact = finding.low && finding.low == finding.high;
  return finding.unit == "bytes" && finding.role != Role::passing && !is_exact;
}

double bracket_step(const ComparedFinding& baseline, const ComparedFinding& other) {
  const double step = std::max(baseline.step, other.step);
  return step > 0.0 ? step : std::log1p(coarse_change);
}

Judgement judge(const ComparedFinding& baseline, const ComparedFinding& other, double threshold) {
  const Finding& a = baseline.finding;
  const Finding& b = other.finding;
  if (!a.value && !b.value) return judge_words(a, b);
  if (!a.value || !b.value) return judge_lone_value(a, b);
  const bool has_clock = baseline.clock || other.clock;
  if (a.unit != b.unit && has_clock) {  // one value may be in core cycles although both are times
    const ComparedFinding before = baseline.clock ? in_seconds(baseline) : baseline;
    const ComparedFinding after = other.clock ? in_seconds(other) : other;
    if (before.finding.unit == after.finding.unit) return judge(before, after, threshold);
  }
  if (a.unit != b.unit) {
    return without_number(
        Verdict::unclear,
        fmt::format("the unit is '{}', but the baseline's unit is '{}'", b.unit, a.unit));
  }
  if (is_identical(baseline, other)) {
    Judgement judged = without_number(Verdict::same, "equal");
    if (*a.value > 0.0 && !is_share(a)) judged.ratio = 1.0;
    judged.p_value = 1.0;
    return judged;
  }
  if (baseline.whole > 0.0 && other.whole > 0.0) return judge_parts(baseline, other, threshold);
  const bool are_parts = baseline.whole > 0.0 || other.whole > 0.0;
  if (*a.value == 0.0 && *b.value == 0.0 && !is_share(a) && !are_parts) {
    return without_number(Verdict::same, "both are 0");
  }
  if (!is_share(a) && (!(*a.value > 0.0) || !(*b.value > 0.0))) {
    return without_number(Verdict::unclear, "no ratio: a value is 0 or negative");
  }
  Judgement judged = judge_numbers(baseline, other, threshold);
  if (!is_lower_bound(b)) return judged;
  if (is_change(judged.verdict)) judged.verdict = Verdict::unclear;
  judged.reason += "; both values are lower bounds";
  return judged;
}

namespace {

/// Returns a finding in another unit, multiplied by `factor`.
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

/// Returns true if the clock rates differ by more than the threshold and the errors of their
/// calibrations.
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
  judged.is_in_cycles = judged.ratio && baseline.finding.unit != in_cycles(baseline).finding.unit;
  if (judged.is_in_cycles) judged.reason = fmt::format("judged in cycles: {}", judged.reason);
  if (judged.verdict == Verdict::same || !are_apart(*baseline.clock, *other.clock, threshold)) {
    return judged;
  }
  Judgement seconds = judge(in_seconds(baseline), in_seconds(other), threshold);
  if (seconds.verdict == Verdict::same) {
    seconds.reason = fmt::format(
        "judged in seconds, because the time does not follow the core clock: {}", seconds.reason);
    return seconds;
  }
  if (is_change(judged.verdict)) {
    // A change must be significant in cycles and in seconds, so that the larger p-value counts.
    judged.p_value = std::max(judged.p_value.value_or(1.0), seconds.p_value.value_or(1.0));
    if (seconds.verdict != judged.verdict) {
      judged.verdict = Verdict::unclear;
      judged.reason += fmt::format("; but in seconds: {}", seconds.reason);
    }
  }
  return judged;
}

/// Returns true if the baseline or the other finding comes from one run, which cannot show effects
/// that last for a whole run.
bool is_of_single_runs(const ComparedFinding& baseline, const ComparedFinding& other) {
  return baseline.degrees == normal_degrees || other.degrees == normal_degrees;
}

/// Returns true if other tenants of a virtual machine's host may have caused the change. On a
/// virtual machine whose host had two busy cores, the memory bandwidth of a run was up to 3.7 times
/// that of another run. It was constant during each run. Capacities also differed.
bool may_be_of_others(const ComparedFinding& baseline, const ComparedFinding& other,
                      const Judgement& judged) {
  constexpr double max_factor = 10.0;
  // Older documents of a virtual machine do not state that it is one.
  if (!baseline.is_of_virtual_cpu && !other.is_of_virtual_cpu) return false;
  if (baseline.degrees != normal_degrees || other.degrees != normal_degrees) return false;
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
    judged.reason +=
        "; but values of this kind vary from run to run: compare several baseline runs with "
        "several new runs";
  } else if (may_be_of_others(baseline, other, judged)) {
    judged.left_open = std::exchange(judged.verdict, Verdict::unclear);
    if (judged.reason.find(others_on_host) != std::string::npos) return;
    judged.reason += fmt::format("; but {}: compare several baseline runs with several new runs",
                                 others_on_host);
  }
}

}  // namespace clprobe
