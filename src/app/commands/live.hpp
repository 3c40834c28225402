// SPDX-License-Identifier: Apache-2.0
// Parts of `compare --live`. Both sides (A and B) are measured once. Then passes over the headlines
// alternate between the sides until every headline is decided.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/options.hpp"
#include "app/commands/devices.hpp"
#include "app/terminal/terminal.hpp"
#include "clprobe/run.hpp"
#include "compare/api/paired.hpp"
#include "measure/api/engine.hpp"

namespace clprobe::commands {

struct Side {
  std::string name{};  ///< name such as "side A, NAME=VALUE"
  Target target{};
  std::unique_ptr<Backend> backend{};  ///< null if the device could not be opened
  Run run{};
};

using Sides = std::array<Side, 2>;

struct LiveObserver {
  std::function<void(std::string_view message)> say{};
  std::function<void(const terminal::Progress&)> progress{};
  std::function<bool()> cancelled{};
  std::function<void()> save{};  ///< called when the runs have new samples
};

/// Returns the time for alternating passes. Without a `budget`, it is what remains of a minute for
/// the whole comparison, but at least 20 s. `spent`: time since the start of the comparison, which
/// includes the first measurement of both sides.
std::chrono::duration<double> alternating_time(
    const std::optional<std::chrono::duration<double>>& budget,
    std::chrono::duration<double> spent);

/// Alternating passes over the headlines of both sides. The samples are added to `Side::run`.
class LivePasses {
 public:
  /// Prepares passes over the headlines of `first`, the comparison of the sides' first
  /// measurements. All arguments must outlive the object.
  LivePasses(const Comparison& first, Sides& sides, double threshold, const LiveObserver& observer);

  /// Makes passes until all headlines are decided or have failed, `time` is over, or the observer
  /// cancels. After each pass, frees the devices' buffers and calls the observer's `save`.
  void run(std::chrono::duration<double> time);

  /// Returns the headlines that were visited, with the ratio of the sides' values.
  [[nodiscard]] std::vector<Alternated> alternated() const;
  /// Returns true if a side failed to measure a headline.
  [[nodiscard]] bool has_failed() const { return has_failed_; }

 private:
  /// Headline of the comparison, and the pairs of points whose times show its ratio.
  struct Headline {
    std::size_t row{0};
    const Probe* probe{nullptr};
    std::array<std::size_t, 2> results{};  // index of the probe's result in each side's run
    std::array<ComparedFinding, 2> findings{};
    std::vector<PointPair> pairs{};
    std::vector<double> log_ratios{};      // logarithms of the values' ratios, B to A, one per pass
    std::vector<double> baseline_ns{};     // logarithms of the baseline's times in ns
    std::chrono::duration<double> took{};  // duration of the headline's last visit
    bool is_settled{false};
    bool is_lost{false};
  };

  void settle_clocks();
  void add_headline(std::size_t row);
  std::optional<VisitRatio> visit(const Headline& headline, const PointPair& pair);
  void visit(Headline& headline);
  void lose(Headline& headline, const SideError& error);
  void report_progress(std::chrono::duration<double> spent,
                       std::chrono::duration<double> time) const;

  const Comparison& first_;
  Sides& sides_;
  double threshold_;
  const LiveObserver& observer_;
  std::array<PairSide, 2> measured_{};
  double calibration_{0.0};
  std::vector<Headline> headlines_{};
  std::size_t pass_{0};
  // Ratios of the present pass, by results and points of both sides. A pair of points is visited
  // once per pass, even if it shows both a time in seconds and a time in cycles.
  std::map<std::array<std::size_t, 4>, std::optional<VisitRatio>> visited_{};
  std::size_t family_{0};
  bool has_failed_{false};
};

}  // namespace clprobe::commands
