// SPDX-License-Identifier: Apache-2.0
// A line on a terminal that says how far the work is and how long it will take.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace clprobe::terminal {

struct Progress {
  std::string title{};
  std::optional<double> done_share{};  ///< 0 to 1; nothing: not known
  double seconds_left{-1.0};           ///< negative or not finite: not known
  double seconds_passed{-1.0};         ///< shown where the share is not known
};

/// "0:07 left", "1:02:05 left"; empty when the time is not known. Rounded up, so that it does not
/// say 0:00 while there is something to do.
std::string format_time_left(double seconds_left);

/// "0:07", rounded down; empty when it is not known.
std::string format_time_passed(double seconds_passed);

/// "latency: preparing 1 GiB (3 s)": what goes on stands behind the title once it lasts longer than
/// a glance, and how long from the second second on.
std::string compose_title(const std::string& title, const std::string& activity,
                          double activity_seconds);

/// Title, bar, percent and time left in at most `columns` columns, without the end of the line.
/// Pure. What has no room is left out: first the bar, then parts of the title, then the time.
std::string compose_progress(const Progress& progress, int columns, bool unicode);

/// Draws on a descriptor, in place, at most 10 times a second; nothing at all where it cannot
/// redraw. A write that fails is ignored: progress is no result. Clears its line when it ends. Any
/// thread may call it.
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
  /// What goes on now, behind the title of all that is shown; nothing is drawn yet.
  void tell(const std::string& activity, Clock::time_point now = Clock::now());
  /// Draws what was shown last once more, with the time that has passed since. Where no share is
  /// known, that is the time since it was shown first.
  void redraw(Clock::time_point now = Clock::now());
  /// From now on a thread redraws it while a driver lets the program wait. No signal comes to it.
  void keep_moving();
  /// Before something else is written to the same terminal; the next `show` draws at once.
  void clear();

 private:
  void draw(Clock::time_point now);

  int descriptor_;
  bool can_redraw_;
  bool unicode_;
  std::mutex mutex_{};  ///< of all below
  std::optional<Progress> shown_{};
  Clock::time_point unknown_since_{};  ///< where no share is known
  std::string activity_{};
  Clock::time_point activity_since_{};
  std::optional<Clock::time_point> drawn_{};
  std::jthread mover_{};  ///< ends first
};

}  // namespace clprobe::terminal
