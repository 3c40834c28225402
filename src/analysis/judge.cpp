// SPDX-License-Identifier: Apache-2.0
// Verdicts. Everything in logarithms, so that swapping the runs swaps better and worse and no more.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "clprobe/compare.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

// Beyond a factor of two from end to end an interval hides what the comparison looks for. Sizes are
// brackets between two measured working sets, and are as wide as the plan was coarse.
constexpr double widest_factor = 2.0;

// The same for shares, of the whole that they are parts of.
constexpr double widest_share = 0.25;

constexpr std::array verdict_words{std::string_view("same"), std::string_view("better"),
                                   std::string_view("worse"), std::string_view("different"),
                                   std::string_view("unclear")};

/// Why there is no value, without the numbers of this one run: those behind the colon, and others.
std::string kind_of_reason(const Finding& finding) {
  std::string kind = finding.reason.substr(0, finding.reason.find(':'));
  std::erase_if(kind, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return kind;
}

/// Some words say that nothing can be said.
bool says_something(std::string_view label) {
  constexpr std::array<std::string_view, 6> nothing{"",          "unknown",      "unobservable",
                                                    "ambiguous", "inconclusive", "untested"};
  return std::find(nothing.begin(), nothing.end(), label) == nothing.end();
}

Judgement judge_words(const Finding& baseline, const Finding& other) {
  if (baseline.label != other.label) {
    const bool is_known = says_something(baseline.label) && says_something(other.label);
    const auto shown = [](const Finding& finding) {
      return finding.label.empty() ? std::string_view("nothing") : std::string_view(finding.label);
    };
    return {is_known ? Verdict::different : Verdict::unclear, std::nullopt,
            fmt::format("it says {}, the baseline {}", shown(other), shown(baseline))};
  }
  if (!baseline.label.empty() && baseline.label != "unknown") {
    return {Verdict::same, std::nullopt, fmt::format("both say {}", baseline.label)};
  }
  if (kind_of_reason(baseline) == kind_of_reason(other)) {
    return {Verdict::same, std::nullopt,
            fmt::format("neither has a value: {}",
                        other.reason.empty() ? "no reason given" : other.reason)};
  }
  return {Verdict::unclear, std::nullopt,
          fmt::format("neither has a value: {}; the baseline: {}", other.reason, baseline.reason)};
}

Judgement judge_lone_value(const Finding& baseline, const Finding& other) {
  const bool is_here = other.value.has_value();
  const std::string& reason = is_here ? baseline.reason : other.reason;
  return {Verdict::unclear, std::nullopt,
          fmt::format("only {} has a value{}{}", is_here ? "this run" : "the baseline",
                      reason.empty() ? "" : "; the other: ", reason)};
}

/// Natural logarithms of a finding's value and interval, margins included.
struct LogInterval {
  double value{0.0};
  double low{0.0};
  double high{0.0};
  bool is_known{false};  // whether the finding has an interval at all
};

LogInterval log_interval(const ComparedFinding& compared) {
  const Finding& finding = compared.finding;
  LogInterval interval{.value = std::log(*finding.value)};
  interval.low = interval.high = interval.value;
  interval.is_known = finding.low.has_value() && finding.high.has_value();
  // An end at or below 0 has no logarithm: the interval is open there.
  if (finding.low) {
    interval.low =
        *finding.low > 0.0 ? std::min(interval.value, std::log(*finding.low)) : -HUGE_VAL;
  }
  if (finding.high && *finding.high > 0.0) {
    interval.high = std::max(interval.value, std::log(*finding.high));
  }
  const double margin = std::log1p(compared.margin + compared.calibration);
  interval.low -= margin;
  interval.high += margin;
  return interval;
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

double percent(double logarithm) { return 100.0 * std::expm1(std::fabs(logarithm)); }

Judgement judge_values(const ComparedFinding& baseline, const ComparedFinding& other,
                       double threshold) {
  const LogInterval a = log_interval(baseline);
  const LogInterval b = log_interval(other);
  const double change = b.value - a.value;
  const double gap = std::max(b.low - a.high, a.low - b.high);
  const double bound = std::log1p(threshold);
  const auto judged = [&](Verdict verdict, std::string reason) {
    return Judgement{verdict, std::exp(change), std::move(reason)};
  };
  const bool is_bracket = baseline.finding.unit == "bytes";
  const double width = std::max(a.high - a.low, b.high - b.low);
  if (!is_bracket && width > std::log(widest_factor)) {
    return judged(Verdict::unclear, "an interval is wider than a factor of 2");
  }
  if (std::fabs(change) <= bound) {
    return judged(Verdict::same, fmt::format("{:.2g} % apart, within the threshold of {:.3g} %",
                                             percent(change), 100.0 * threshold));
  }
  if (!a.is_known || !b.is_known) {
    return judged(Verdict::unclear,
                  fmt::format("{:.3g} % apart, but {} has no interval", percent(change),
                              a.is_known ? "it" : "the baseline"));
  }
  if (gap > bound) {
    return judged(direction_of(other.finding, change > 0.0),
                  fmt::format("{:.3g} % apart, {:.3g} % between the nearest ends of the intervals",
                              percent(change), percent(gap)));
  }
  if (is_bracket && gap <= 0.0) {
    return judged(Verdict::same,
                  fmt::format("{:.3g} % apart, but the brackets overlap", percent(change)));
  }
  const bool is_inside =
      (a.low <= b.value && b.value <= a.high) || (b.low <= a.value && a.value <= b.high);
  if (is_inside) {
    return judged(
        Verdict::same,
        fmt::format("{:.3g} % apart, but one is within the other's interval", percent(change)));
  }
  return judged(Verdict::unclear,
                gap > 0.0
                    ? fmt::format("{:.3g} % apart, but only {:.2g} % between the nearest ends "
                                  "of the intervals",
                                  percent(change), percent(gap))
                    : fmt::format("{:.3g} % apart, but the intervals overlap", percent(change)));
}

/// Parts of one whole, some of them 0 or below: what counts is how much of the whole they differ
/// by. A hundredth that doubles is a hundredth.
Judgement judge_shares(const ComparedFinding& compared_baseline,
                       const ComparedFinding& compared_other, double threshold) {
  const Finding& baseline = compared_baseline.finding;
  const Finding& other = compared_other.finding;
  const double a = *baseline.value;
  const double b = *other.value;
  const bool has_a = baseline.low && baseline.high;
  const bool has_b = other.low && other.high;
  const double a_low = baseline.low.value_or(a) - compared_baseline.margin;
  const double a_high = baseline.high.value_or(a) + compared_baseline.margin;
  const double b_low = other.low.value_or(b) - compared_other.margin;
  const double b_high = other.high.value_or(b) + compared_other.margin;
  const double apart = std::fabs(b - a);
  const double gap = std::max(b_low - a_high, a_low - b_high);
  const auto judged = [&](Verdict verdict, std::string_view reason) {
    const bool has_ratio = a > 0.0 && b > 0.0;
    return Judgement{verdict, has_ratio ? std::optional(b / a) : std::nullopt,
                     fmt::format("{:.3g} % of the whole apart, {}", 100.0 * apart, reason)};
  };
  if (std::max(a_high - a_low, b_high - b_low) > widest_share) {
    return judged(Verdict::unclear,
                  fmt::format("but an interval is wider than {:.0f} %", 100.0 * widest_share));
  }
  if (apart <= threshold) {
    return judged(Verdict::same,
                  fmt::format("within the threshold of {:.3g} %", 100.0 * threshold));
  }
  if (!has_a || !has_b) {
    return judged(Verdict::unclear,
                  fmt::format("but {} has no interval", has_a ? "it" : "the baseline"));
  }
  if (gap > threshold) {
    return judged(Verdict::different,
                  fmt::format("{:.3g} % between the nearest ends", 100.0 * gap));
  }
  const bool is_inside = (a_low <= b && b <= a_high) || (b_low <= a && a <= b_high);
  if (is_inside) return judged(Verdict::same, "but one is within the other's interval");
  return judged(Verdict::unclear,
                gap > 0.0 ? fmt::format("but only {:.2g} % between the nearest ends", 100.0 * gap)
                          : "but the intervals overlap");
}

bool is_change(Verdict verdict) { return verdict != Verdict::same && verdict != Verdict::unclear; }

/// Two lower bounds may both be true, however far they are apart.
bool is_lower_bound(const Finding& finding) { return finding.role == Role::lower_bound; }

}  // namespace

std::string_view to_word(Verdict verdict) {
  return verdict_words.at(static_cast<std::size_t>(verdict));
}

Judgement judge(const ComparedFinding& baseline, const ComparedFinding& other, double threshold) {
  const Finding& a = baseline.finding;
  const Finding& b = other.finding;
  if (!a.value && !b.value) return judge_words(a, b);
  if (!a.value || !b.value) return judge_lone_value(a, b);
  if (a.unit != b.unit) {
    return {Verdict::unclear, std::nullopt,
            fmt::format("its unit is '{}', the baseline's '{}'", b.unit, a.unit)};
  }
  if (*a.value == *b.value) {
    const bool has_ratio = *a.value > 0.0;
    return {Verdict::same, has_ratio ? std::optional(1.0) : std::nullopt, "equal"};
  }
  if (a.unit == "share") return judge_shares(baseline, other, threshold);
  if (!(*a.value > 0.0) || !(*b.value > 0.0)) {
    return {Verdict::unclear, std::nullopt, "only values above 0 have a ratio"};
  }
  Judgement judged = judge_values(baseline, other, threshold);
  if (is_change(judged.verdict) && is_lower_bound(b)) {
    judged.verdict = Verdict::unclear;
    judged.reason += "; but both are lower bounds";
  }
  return judged;
}

namespace {

/// The same finding in another unit: `factor` times as many.
ComparedFinding converted(const ComparedFinding& compared, double factor, std::string_view unit) {
  ComparedFinding result = compared;
  Finding& finding = result.finding;
  finding.unit = unit;
  for (std::optional<double>* const number : {&finding.value, &finding.low, &finding.high}) {
    if (*number) *number = **number * factor;
  }
  return result;
}

/// As it was measured: without the calibration of the clock.
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

/// Whether the clocks ran at rates that no error of the calibrations explains.
bool are_apart(const CoreClock& a, const CoreClock& b, double threshold) {
  const double gap = std::max(a.low / b.high, b.low / a.high);
  return gap > 1.0 + threshold;
}

}  // namespace

Judgement judge_same_device(const ComparedFinding& baseline, const ComparedFinding& other,
                            double threshold) {
  const bool has_clocks = baseline.clock && other.clock && baseline.finding.value &&
                          other.finding.value && baseline.finding.unit == other.finding.unit;
  if (!has_clocks) return judge(baseline, other, threshold);
  Judgement judged = judge(in_cycles(baseline), in_cycles(other), threshold);
  const std::optional<double> ratio = judge(baseline, other, threshold).ratio;
  if (judged.ratio && baseline.finding.unit != in_cycles(baseline).finding.unit) {
    judged.reason = fmt::format("in cycles, as measured: {}", judged.reason);
  }
  judged.ratio = ratio;  // of what is shown
  if (judged.verdict == Verdict::same || !are_apart(*baseline.clock, *other.clock, threshold)) {
    return judged;
  }
  const Judgement seconds = judge(in_seconds(baseline), in_seconds(other), threshold);
  if (seconds.verdict == Verdict::same) {
    return {Verdict::same, ratio,
            fmt::format("in seconds, for it does not follow the clock: {}", seconds.reason)};
  }
  if (is_change(judged.verdict) && seconds.verdict != judged.verdict) {
    judged.verdict = Verdict::unclear;
    judged.reason += fmt::format("; in seconds: {}", seconds.reason);
  }
  return judged;
}

}  // namespace clprobe
