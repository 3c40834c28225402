// SPDX-License-Identifier: Apache-2.0
// What the points of the probe `banks` say of banks and conflicts, and of the model
// E = c1 * w * l * k + c2. Pure.
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

/// Words in turn over `banks` banks of `width_bytes`; at most so many lanes' accesses go together,
/// and no more than all banks deliver at once (half as many for words of twice the size).
struct Model {
  int banks{32};
  int width_bytes{4};
  int lanes_together{32};

  friend bool operator==(const Model&, const Model&) = default;
};

/// Counts the passes through the banks until all lanes are served: for each group of lanes that go
/// together, the most different rows that they want of one bank (at least 1), and the sum of those.
/// Lanes that want the same row share it. Source: the k-congestion of Okamoto and others 2014.
int wavefronts_of(std::span<const std::uint32_t> offsets, int word_bytes, const Model& model);

/// The times of one series: what an access of each pattern takes, in any unit.
struct Curve {
  int word_bytes{4};
  int lanes{32};
  std::vector<Pattern> patterns{};
  std::vector<double> times{};
};

/// Wavefronts of every pattern of the curves by every candidate; they depend on no time.
struct Candidates {
  std::vector<Model> models{};
  /// Indexed by model, curve, pattern.
  std::vector<std::vector<std::vector<double>>> wavefronts{};
};

/// 8 to 128 banks of 4 and 8 bytes, 8 to 64 lanes together as far as the curves have them.
Candidates tabulate_candidates(std::span<const Curve> curves);

/// time = base + cost * wavefronts, by least squares of relative deviations, with 95 % intervals.
struct ConflictLine {
  double base{0.0};  ///< time without any wavefront; the time of a conflict-free access is more
  double cost{0.0};
  Interval cost_interval{};
  double r_squared{0.0};
  double relative_squares{0.0};  ///< sum of squares of the relative deviations
};

/// Least two points with different wavefronts, else a line of cost 0.
ConflictLine fit_conflicts(std::span<const double> wavefronts, std::span<const double> times);

/// A candidate and its BIC.
struct RankedModel {
  Model model{};
  double bic{0.0};
};

/// Verdict of all curves together.
struct Verdict {
  bool is_visible{false};
  std::string reason{};                ///< why nothing is visible, or no candidate describes it
  std::vector<RankedModel> ranking{};  ///< best first
  double bic_of_none{0.0};             ///< of curves that are flat
  std::vector<ConflictLine> lines{};   ///< of the best, one a curve
  double largest_share{0.0};  ///< the most that conflicts add, as a share of a conflict-free access
};

/// Candidates whose BIC is nearer than this to the best cannot be told from it (Kass and Raftery
/// 1995: 6 to 10 is strong evidence).
inline constexpr double undecided_bic = 6.0;

/// Compares the candidates by BIC, each with a line of its own for every curve. Nothing is visible
/// where conflicts add less than 2 %, or where a candidate is no better than flat curves; and
/// nothing is claimed where the best explains less than 90 % of what is seen.
Verdict judge(std::span<const Curve> curves, const Candidates& candidates);

/// One measured point of the model E = c1 * w * l * k + c2.
struct CongestionPoint {
  double product{0.0};  ///< w * l * wavefronts
  double time{0.0};     ///< E
};

/// The model, fitted by least squares as in its source.
struct CongestionModel {
  double c1{0.0};
  double c2{0.0};
  Interval c1_interval{};
  Interval c2_interval{};
  double r_squared{0.0};
  double largest_deviation{0.0};        ///< |E - measured|
  std::size_t deviates_most{0};         ///< the point that has it
  double largest_deviation_share{0.0};  ///< of what was measured

  [[nodiscard]] double time_of(double product) const { return c1 * product + c2; }
};

/// Throws std::invalid_argument without two different products.
/// Source: S. Okamoto, Y. Ito, K. Nakano, J. Bordim, Thorough Evaluation of GPU Shared Memory Load
/// and Store Instructions, 2014.
CongestionModel fit_congestion(std::span<const CongestionPoint> points);

inline bool in_cycles(const DeviceInfo& device) {
  return device.timer == Timer::clock && device.clock.rate == ClockRate::core_cycles;
}

inline std::string_view time_unit(const DeviceInfo& device) {
  return in_cycles(device) ? "cycles" : "seconds";
}

/// A time in the unit of the findings.
inline double in_unit(double ns, const DeviceInfo& device) {
  return in_cycles(device) ? ns * device.clock.ticks_per_ns : ns / ns_per_second;
}

inline Interval in_unit(const Interval& ns, const DeviceInfo& device) {
  return {in_unit(ns.low, device), in_unit(ns.high, device)};
}

/// Estimates of the visits, if the estimate of all does not hold how far they are apart.
inline std::vector<double> visits_beside(const Estimate& time, const Point& point,
                                         const DeviceInfo& device) {
  return time.holds_visits ? std::vector<double>{} : visit_estimates_ns(point, device);
}

/// Joins the interval of an estimate with that of the visits' median.
inline Interval with_visits(const Interval& estimated, std::span<const double> visits) {
  if (visits.empty()) return estimated;
  const Interval usual = median_interval(visits);
  return {std::min(estimated.low, usual.low), std::max(estimated.high, usual.high)};
}

/// The series of findings about the memory as a whole.
inline constexpr std::string_view of_memory = "local memory";

/// Judges the banks by loads of 4 and 8 bytes, or else by whatever was measured; nothing without a
/// measured pattern.
std::optional<Verdict> find_verdict(const DeviceInfo& device, std::span<const Point> points);

/// The `analyse` of the probe. Method: docs/banks.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

/// Minimum time of independent accesses with so many wavefronts together on a discrete memory
/// machine: its memory takes one wavefront every `way_time` and answers an
/// access `latency` after it began, all others while it waits. In any unit.
/// Source: K. Nakano, Simple memory machine models for GPUs, 2014.
double discrete_memory_machine_time(double wavefronts, double latency, double way_time);

/// Adds the line of loads and of stores, where it is off, and up to 8 points one by one. The ratio
/// to the bound needs the findings of load-latency and load-throughput for the same words, which
/// are in `found` already.
void add_congestion(Findings& found, const DeviceInfo& device, std::span<const Point> points,
                    const Model& model);

/// Charts of what the model's points took over the product of their three numbers, the mean of
/// those with one product, with the line that was found.
std::vector<CardPlot> model_plots(const ProbeResult& result);

/// Findings on the card of a device. Pure.
Card card(const ProbeResult& result);

}  // namespace clprobe::banks
