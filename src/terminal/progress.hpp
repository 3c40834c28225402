// SPDX-License-Identifier: Apache-2.0
// A line on a terminal that says how far the work is and how long it will take.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace clprobe::terminal {

struct Progress {
  std::string title{};
  double done_share{0.0};     ///< 0 to 1
  double seconds_left{-1.0};  ///< negative or not finite: not known
};

/// "0:07 left", "1:02:05 left"; empty when the time is not known. Rounded up, so that it does not
/// say 0:00 while there is something to do.
std::string format_time_left(double seconds_left);

/// Title, bar, percent and time left in at most `columns` columns, without the end of the line.
/// Pure. What has no room is left out: first the bar, then parts of the title, then the time.
std::string compose_progress(const Progress& progress, int columns, bool unicode);

/// Draws on a descriptor, in place, at most 10 times a second; nothing at all where it cannot
/// redraw. A write that fails is ignored: progress is no result. Clears its line when it ends.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ProgressLine(int descriptor);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ProgressLine(ProgressLine&&) = delete;
  ProgressLine& operator=(ProgressLine&&) = delete;
  ~ProgressLine();

  void show(const Progress& progress, Clock::time_point now = Clock::now());
  /// Before something else is written to the same terminal; the next `show` draws at once.
  void clear();

 private:
  int descriptor_;
  bool can_redraw_;
  bool unicode_;
  std::optional<Clock::time_point> drawn_{};
};

}  // namespace clprobe::terminal
