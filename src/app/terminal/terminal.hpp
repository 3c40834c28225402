// SPDX-License-Identifier: Apache-2.0
// Properties of a terminal, and a line that shows the progress and the time left.
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

/// Returns the terminal's width in columns, at most 1000. If `descriptor` is not a terminal,
/// returns the number in the environment variable COLUMNS, or 80 if it is not from 1 to 1000.
int width_columns(int descriptor);

/// Returns the number in `columns`, the value of COLUMNS; 80 if this is not a number from 1 to
/// 1000. Pure.
int columns_of(std::string_view columns);

/// Facts that determine whether automatic mode uses colour.
struct ColourFacts {
  std::string_view no_color{};        ///< NO_COLOR: any text turns off colour (no-color.org)
  std::string_view clicolor_force{};  ///< CLICOLOR_FORCE: any text but "0" forces colour
  std::string_view term{};            ///< TERM: "dumb" or empty has no colour
  bool is_terminal{false};
};

/// Returns true if colour is used. A mode other than automatic decides alone. In automatic mode,
/// NO_COLOR has precedence over CLICOLOR_FORCE, and CLICOLOR_FORCE over the type of the terminal.
/// Pure.
bool decide_colour(ColourMode mode, const ColourFacts& facts);

/// Returns the result of decide_colour() for this process's environment and the descriptor.
bool use_colour(ColourMode mode, int descriptor);

/// Returns true if the first non-empty parameter, in the order of POSIX, names UTF-8. The
/// parameters are the values of LC_ALL, LC_CTYPE and LANG. Pure.
bool locale_is_utf8(std::string_view lc_all, std::string_view lc_ctype, std::string_view lang);

/// Returns true if the locale's encoding is UTF-8, so that the terminal can show blocks and 'µ'.
bool has_unicode();

/// Returns true if a line can be redrawn in place: the descriptor is a terminal that is not dumb.
bool can_redraw(int descriptor);

struct Progress {
  std::string title{};
  std::optional<double> done_share{};  ///< completed share, 0 to 1; nothing: unknown
  double seconds_left{-1.0};           ///< time left; negative or not finite: unknown
  double seconds_passed{-1.0};         ///< time passed; shown if the share is unknown
};

/// Returns the time left, rounded up to whole seconds, as "0:07 left" or "1:02:05 left"; empty if
/// it is unknown or above 100 h.
std::string format_time_left(double seconds_left);

/// Returns the time passed, rounded down to whole seconds, as "0:07"; empty if it is unknown.
std::string format_time_passed(double seconds_passed);

/// Returns the title, the activity if it has lasted at least 0.3 s, and the activity's time if that
/// is at least 1 s: "latency: preparing 1 GiB (3 s)".
std::string compose_title(const std::string& title, const std::string& activity,
                          double activity_seconds);

/// Returns title, bar, percentage and time left in at most `columns` columns, without a line end.
/// If the share is unknown, the time passed replaces bar and percentage. If the line is too narrow,
/// the bar is omitted first, then part of the title or all of it, then the time left. Pure.
std::string compose_progress(const Progress& progress, int columns, bool unicode);

/// Line on a terminal that shows progress. show() redraws it in place at most 10 times per second.
/// Draws nothing if the descriptor cannot redraw a line. Failed writes are ignored. The
/// destructor clears the line. Thread-safe.
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
  /// Sets the activity that the line shows after the title, without drawing the line.
  void tell(const std::string& activity, Clock::time_point now = Clock::now());
  /// Redraws the line with the last progress and the present time.
  void redraw(Clock::time_point now = Clock::now());
  /// Starts a thread that redraws the line four times per second. The thread receives no signals.
  void keep_moving();
  /// Erases the line, so that other text can be written to the terminal. The next show() draws at
  /// once.
  void clear();

 private:
  void draw(Clock::time_point now);

  int descriptor_;
  bool can_redraw_;
  bool unicode_;
  std::mutex mutex_{};  ///< guards all following members
  std::optional<Progress> shown_{};
  Clock::time_point unknown_since_{};  ///< time since which the share is unknown
  std::string activity_{};
  Clock::time_point activity_since_{};
  std::optional<Clock::time_point> drawn_{};
  std::jthread mover_{};  ///< destroyed first, which joins the thread
};

}  // namespace clprobe::terminal
