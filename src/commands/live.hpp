// SPDX-License-Identifier: Apache-2.0
// The parts of `compare --live`: its two sides and the first look at each, then the headlines of
// both sides, followed in rounds of turns until all of them are decided.
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

#include "cli/options.hpp"
#include "clprobe/engine.hpp"
#include "clprobe/paired.hpp"
#include "clprobe/run.hpp"
#include "clprobe/turns.hpp"
#include "commands/selection.hpp"
#include "terminal/progress.hpp"

namespace clprobe::commands {

/// One side: what was chosen for it, where it is measured, and what that gave.
struct Side {
  std::string name{};  ///< "side A", with its variables
  Target target{};
  std::unique_ptr<Backend> backend{};  ///< null: the device could not be opened
  Run run{};
};

using Sides = std::array<Side, 2>;

/// Hears what happens meanwhile.
struct LiveObserver {
  std::function<void(std::string_view message)> say{};
  std::function<void(const terminal::Progress&)> progress{};
  std::function<bool()> cancelled{};
  /// Something more is known.
  std::function<void()> save{};
};

/// How long both sides may take turns: as long as was asked for, or so that the whole comparison,
/// of which the first looks took so long, ends within a minute; but 20 s at least.
std::chrono::duration<double> time_for_turns(
    const std::optional<std::chrono::duration<double>>& asked, std::chrono::duration<double> spent);

/// Rounds of turns on the headlines that both sides have. Every sample goes into the sides' runs.
class LiveTurns {
 public:
  /// `first`: the comparison of both sides' first look. All must outlive it.
  LiveTurns(const Comparison& first, Sides& sides, double threshold, const LiveObserver& observer);

  /// Takes rounds until all headlines are settled, or the time is up, or it is cancelled.
  void take(std::chrono::duration<double> time);

  /// What they gave so far.
  [[nodiscard]] std::vector<Followed> followed() const;
  /// Whether a side's device failed meanwhile.
  [[nodiscard]] bool has_failed() const { return has_failed_; }

 private:
  /// One of the comparison's findings, and the points that show it.
  struct Headline {
    std::size_t row{0};
    std::array<std::size_t, 2> results{};  // places of the probe's result in both runs
    std::array<ComparedFinding, 2> findings{};
    std::vector<PointPair> pairs{};
    std::vector<double> log_ratios{};      // of the values, one a round
    std::vector<double> baseline_ns{};     // logarithms
    std::chrono::duration<double> took{};  // the last of them
    bool is_settled{false};
    bool is_lost{false};
  };

  [[nodiscard]] Measured measured(std::size_t side, std::size_t result) const;
  [[nodiscard]] std::optional<Headline> headline_of(std::size_t row) const;
  void follow(std::size_t row);
  std::optional<RoundRatio> compare(const Headline& headline, const PointPair& pair);
  void take_one(Headline& headline);
  void lose(Headline& headline, int side, const std::string& reason);
  void report_progress(std::chrono::duration<double> spent, std::chrono::duration<double> time);
  [[nodiscard]] std::size_t unsettled() const;
  void settle_clocks();

  const Comparison& first_;
  Sides& sides_;
  double threshold_;
  const LiveObserver& observer_;
  std::array<TurnSide, 2> turn_sides_{};
  double calibration_{0.0};
  std::vector<Headline> headlines_{};
  std::size_t round_{0};
  /// Ratios of this round, by results and points of both sides: a point that shows a time in
  /// seconds also shows it in cycles.
  std::map<std::array<std::size_t, 4>, std::optional<RoundRatio>> compared_{};
  int failed_{-1};  // the side whose device failed last
  std::size_t family_{0};
  bool has_failed_{false};
};

}  // namespace clprobe::commands
