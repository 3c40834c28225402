// SPDX-License-Identifier: Apache-2.0
// Abilities of a terminal, and a line that shows progress and the time left.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace clprobe::terminal {

enum class ColourMode { automatic, always, never };

bool is_terminal(int descriptor);

/// Returns the columns of the terminal, up to 1000; otherwise COLUMNS of the environment, otherwise
/// 80.
int width_columns(int descriptor);

/// Returns the number in COLUMNS; 80 unless it is a number from 1 to 1000. Pure.
int columns_of(std::string_view columns);

/// Facts that decide about colour in automatic mode.
struct ColourFacts {
  std::string_view no_color{};        ///< NO_COLOR: any text turns colour off (no-color.org)
  std::string_view clicolor_force{};  ///< CLICOLOR_FORCE: any text but "0" turns it on for a pipe
  std::string_view term{};            ///< TERM: "dumb" or nothing has no colour
  bool is_terminal{false};
};

/// Returns true if colour is used: the mode decides, then NO_COLOR, then CLICOLOR_FORCE. Pure.
bool decide_colour(ColourMode mode, const ColourFacts& facts);

/// Applies decide_colour() to this process's environment and the descriptor.
bool use_colour(ColourMode mode, int descriptor);

/// Returns true if the first non-empty variable names UTF-8, as in POSIX. Pure.
bool locale_is_utf8(std::string_view lc_all, std::string_view lc_ctype, std::string_view lang);

/// Returns true if the locale is UTF-8, so that blocks and 'µ' can be shown.
bool has_unicode();

/// Returns true if a line can be redrawn in place, on a terminal that is not dumb.
bool can_redraw(int descriptor);

struct Progress {
  std::string title{};
  std::optional<double> done_share{};  ///< 0 to 1; nothing: unknown
  double seconds_left{-1.0};           ///< negative or not finite: unknown
  double seconds_passed{-1.0};         ///< shown if the share is unknown
};

/// Returns the time left, such as "0:07 left" or "1:02:05 left"; empty if unknown. Rounded up, so
/// that 0:00 means the end.
std::string format_time_left(double seconds_left);

/// Returns the time passed, such as "0:07", rounded down; empty if unknown.
std::string format_time_passed(double seconds_passed);

/// Returns the title with the activity once it lasts 0.3 s, and with its time from 1 s on:
/// "latency: preparing 1 GiB (3 s)".
std::string compose_title(const std::string& title, const std::string& activity,
                          double activity_seconds);

/// Returns title, bar, percentage and time left in at most `columns` columns, without a line end.
/// Narrow lines omit the bar, then part of the title, then the time. Pure.
std::string compose_progress(const Progress& progress, int columns, bool unicode);

/// Progress line on a descriptor, redrawn in place at most 10 times per second; draws nothing if
/// that is impossible. Ignores failing writes. The destructor clears the line. Thread-safe.
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
  /// Sets the activity after the title, without drawing.
  void tell(const std::string& activity, Clock::time_point now = Clock::now());
  /// Redraws the last progress with the time passed.
  void redraw(Clock::time_point now = Clock::now());
  /// Starts a thread that redraws the line while a driver works. The thread receives no signals.
  void keep_moving();
  /// Erases the line before other output to the terminal; the next show() draws at once.
  void clear();

 private:
  void draw(Clock::time_point now);

  int descriptor_;
  bool can_redraw_;
  bool unicode_;
  std::mutex mutex_{};  ///< guards all following members
  std::optional<Progress> shown_{};
  Clock::time_point unknown_since_{};  ///< since when the share is unknown
  std::string activity_{};
  Clock::time_point activity_since_{};
  std::optional<Clock::time_point> drawn_{};
  std::jthread mover_{};  ///< joined first
};

}  // namespace clprobe::terminal
