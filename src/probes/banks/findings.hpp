// SPDX-License-Identifier: Apache-2.0
// Inference of banks and conflict costs from the points of the probe `banks`, and the conflict
// model E = c1 * w * l * k + c2. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "clprobe/units.hpp"
#include "probes/banks/access.hpp"

namespace clprobe::banks {

/// Candidate for the structure of local memory. Consecutive words of `width_bytes` lie in
/// consecutive banks. Lanes are served in groups of at most `lanes_together`. A group is smaller if
/// the banks deliver fewer words at once.
struct Model {
  int banks{32};
  int width_bytes{4};
  int lanes_together{32};  ///< maximum number of lanes in a group

  friend bool operator==(const Model&, const Model&) = default;
};

/// Returns the number of passes through the banks that serve all lanes. The number of passes of a
/// group is the maximum number of different rows in one bank. Lanes with equal rows share a pass.
/// Source: the k-congestion of Okamoto et al. 2014.
int wavefronts_of(std::span<const std::uint32_t> offsets, int word_bytes, const Model& model);

/// Times of one series and word size: the time of an access for each pattern, in any unit.
struct Curve {
  int word_bytes{4};
  int lanes{32};
  std::vector<Pattern> patterns{};
  std::vector<double> times{};
};

/// Candidates, with the number of wavefronts of every pattern of every curve.
struct Candidates {
  std::vector<Model> models{};
  /// Indices: model, curve, pattern.
  std::vector<std::vector<std::vector<double>>> wavefronts{};
};

/// Returns the candidates: 8 to 128 banks, widths of 4 and 8 bytes, and groups of 8 to 64 lanes.
/// Groups of more than 8 lanes fit the largest sub-group of the curves.
Candidates tabulate_candidates(std::span<const Curve> curves);

/// Line time = base + cost * wavefronts, fitted by least squares of relative errors.
/// `cost_interval` is a 95 % interval.
struct ConflictLine {
  double base{0.0};  ///< time at 0 wavefronts
  double cost{0.0};
  Interval cost_interval{};
  double r_squared{0.0};
  double relative_squares{0.0};  ///< sum of squares of the relative errors
};

/// Fits the line to times. If all numbers of wavefronts are equal, the cost is 0.
ConflictLine fit_conflicts(std::span<const double> wavefronts, std::span<const double> times);

struct RankedModel {
  Model model{};
  double bic{0.0};
};

struct Verdict {
  bool is_visible{false};
  std::string reason{};                ///< reason why no banks are visible
  std::vector<RankedModel> ranking{};  ///< candidates, the best first
  double bic_of_none{0.0};             ///< BIC of a fit without conflicts
  std::vector<ConflictLine> lines{};   ///< lines of the best candidate, one per curve
  double largest_share{0.0};  ///< maximum cost of conflicts as a share of a conflict-free access
};

/// Minimum difference of BIC that distinguishes two candidates. Kass and Raftery (1995) call a
/// difference of 6 to 10 strong evidence.
inline constexpr double undecided_bic = 6.0;

/// Compares the candidates by BIC, with a separate line for each curve. Banks are visible only if
/// enough patterns were measured and three conditions hold:
/// - Conflicts add at least 2 % to the time of an access.
/// - The BIC of the best candidate is at least 20 below that of flat curves.
/// - The best candidate explains at least 90 % of the variance, without a negative cost.
Verdict judge(std::span<const Curve> curves, const Candidates& candidates);

/// Measured point of the conflict model E = c1 * w * l * k + c2.
struct CongestionPoint {
  double product{0.0};  ///< w * l * k, with k the number of wavefronts
  double time{0.0};     ///< E, the time of a launch in cycles or seconds
};

/// Conflict model, fitted by least squares as in its source.
struct CongestionModel {
  double c1{0.0};
  double c2{0.0};
  Interval c1_interval{};
  Interval c2_interval{};
  double r_squared{0.0};
  double largest_deviation{0.0};        ///< maximum of |E - measured|
  std::size_t deviates_most{0};         ///< index of the point with the largest deviation
  double largest_deviation_share{0.0};  ///< maximum of |E - measured| / measured

  [[nodiscard]] double time_of(double product) const { return c1 * product + c2; }
};

/// Fits the conflict model. Throws std::invalid_argument if all products are equal. Source: S.
/// Okamoto, Y. Ito, K. Nakano, J. Bordim, Thorough Evaluation of GPU Shared Memory Load and Store
/// Instructions, 2014.
CongestionModel fit_congestion(std::span<const CongestionPoint> points);

inline bool in_cycles(const DeviceInfo& device) {
  return device.timer == Timer::clock && device.clock.rate == ClockRate::core_cycles;
}

inline std::string_view time_unit(const DeviceInfo& device) {
  return in_cycles(device) ? "cycles" : "seconds";
}

/// Converts a time in ns to the unit of the findings: cycles or seconds.
inline double in_unit(double ns, const DeviceInfo& device) {
  return in_cycles(device) ? ns * device.clock.ticks_per_ns : ns / ns_per_second;
}

inline Interval in_unit(const Interval& ns, const DeviceInfo& device) {
  return {in_unit(ns.low, device), in_unit(ns.high, device)};
}

/// Returns the estimate of each visit in ns; empty if the interval of `time` already contains the
/// scatter of the visits.
inline std::vector<double> visits_beside(const Estimate& time, const Point& point,
                                         const DeviceInfo& device) {
  return time.holds_visits ? std::vector<double>{} : visit_estimates_ns(point, device);
}

/// Returns an estimate's interval, extended by the 95 % interval of the median of the visits.
inline Interval with_visits(const Interval& estimated, std::span<const double> visits) {
  if (visits.empty()) return estimated;
  const Interval of_visits = median_interval(visits);
  return {std::min(estimated.low, of_visits.low), std::max(estimated.high, of_visits.high)};
}

/// Series of findings that describe local memory as a whole.
inline constexpr std::string_view of_memory = "local memory";

/// Infers the banks from loads of 4 and 8 bytes; if these loads were not measured, from all loads
/// or all accesses. Returns nothing without a measured pattern.
std::optional<Verdict> find_verdict(const DeviceInfo& device, std::span<const Point> points);

/// Returns the findings of the probe. Method: docs/banks.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

/// Returns the minimum time of independent accesses on a discrete memory machine, in the unit of
/// `latency`. The machine accepts one wavefront every `way_time` and answers after `latency`.
/// Source: K. Nakano, Simple memory machine models for GPUs, 2014.
double discrete_memory_machine_time(double wavefronts, double latency, double way_time);

/// Adds the conflict models of loads and of stores, their largest deviations, and the times of
/// single points if there are at most 8. The ratio to the bound of the discrete memory machine is
/// added only if `found` already has the findings of load-latency and load-throughput.
void add_congestion(Findings& found, const DeviceInfo& device, std::span<const Point> points,
                    const Model& model);

/// Returns charts of the conflict model: the times over w * l * k, with the fitted line.
std::vector<CardPlot> model_plots(const ProbeResult& result);

Card card(const ProbeResult& result);

}  // namespace clprobe::banks
