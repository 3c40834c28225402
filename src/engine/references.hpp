// SPDX-License-Identifier: Apache-2.0
// The points that are measured over and over, so that they show what changes while a run lasts.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "clprobe/engine.hpp"

namespace clprobe {

class References {
 public:
  /// All must outlive it.
  References(const Probe& probe, Backend& backend, const Budget& budget, const Observer& observer);

  /// Those of the plan; else the first of 8 points or more tells of the device's speed, and of
  /// nothing else. Where time is not real, in a recorded run or on a simulated machine, what is
  /// known of the moments is the plan's. Those that would be laid out anew each time are kept,
  /// where the device has memory enough for it and the request no limit.
  void choose(const Plan& plan, const Request& request, bool is_time_real);
  /// The same, for a run of other probes, where only those that are kept are looked at: of the time
  /// a hundredth for each at most.
  void watch(const Plan& plan);
  /// After a point was visited: measures them again, if 16 points and three tenths of a second were
  /// since; but none so often that it takes more than a twentieth of the time.
  void follow(std::span<const Point> points);
  /// At the end of a pass, of another probe's, or of the run: if that is so long ago.
  void look_again(std::span<const Point> points, std::chrono::seconds between);
  /// Between two points of another probe.
  void look_at_kept(std::span<const Point> points, std::chrono::milliseconds between);

  [[nodiscard]] const std::vector<Reference>& seen() const { return seen_; }
  /// What the first of them says of the device's speed, in the order of time.
  [[nodiscard]] const std::vector<double>& speeds_ns() const { return speeds_ns_; }
  /// "drift_not_followed" where one failed, though its point is good.
  [[nodiscard]] const std::vector<Warning>& warnings() const { return warnings_; }

 private:
  using Steady = std::chrono::steady_clock;
  struct Followed {
    std::size_t point{0};          ///< of the plan's
    std::optional<Point> alone{};  ///< with memory of its own, which is kept
    /// In `seen_`; nothing: it only tells of the device's speed.
    std::optional<std::size_t> place{};
    Steady::time_point began{};
    Steady::time_point last{};
    Steady::duration spent{};  ///< on all looks, without what is laid out once
    int looks{0};
  };

  enum class Which { all, kept };

  /// What a look may take, and of the time.
  struct Manner {
    int parts;  ///< of the time, each takes one of so many at most
    std::chrono::milliseconds dear;
  };

  void follow_planned(const Plan& plan, Bytes room);
  void begin();
  [[nodiscard]] bool is_due(const Followed& followed, Steady::duration at_least) const;
  void measure_due(Which which, std::span<const Point> points, Steady::duration at_least);
  bool measure(Followed& followed, const Point& planned);

  const Probe& probe_;
  Backend& backend_;
  const Budget& budget_;
  const Observer& observer_;
  std::vector<Followed> followed_{};
  std::vector<Reference> seen_{};
  Manner manner_{.parts = 20, .dear = std::chrono::milliseconds(10)};
  bool is_time_real_{true};
  int points_since_{0};
  std::vector<double> speeds_ns_{};
  std::vector<Warning> warnings_{};
};

}  // namespace clprobe
