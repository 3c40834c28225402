// SPDX-License-Identifier: Apache-2.0
// Abilities of the terminal behind a file descriptor.
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

/// Columns of the terminal, up to 1000; otherwise COLUMNS of the environment, otherwise 80.
int width_columns(int descriptor);

/// Pure: the number of columns in COLUMNS; 80 unless it is a number from 1 to 1000.
int columns_of(std::string_view columns);

/// Facts that decide about colour in automatic mode.
struct ColourFacts {
  std::string_view no_color{};        ///< NO_COLOR: any text turns colour off (no-color.org)
  std::string_view clicolor_force{};  ///< CLICOLOR_FORCE: any text but "0" turns it on for a pipe
  std::string_view term{};            ///< TERM: "dumb" or nothing has no colour
  bool is_terminal{false};
};

/// Pure. NO_COLOR is stronger than CLICOLOR_FORCE, and the mode is stronger than both.
bool decide_colour(ColourMode mode, const ColourFacts& facts);

/// `decide_colour` with the facts of this process and of the descriptor.
bool use_colour(ColourMode mode, int descriptor);

/// Pure: the first variable that is not empty names the character set, as in POSIX.
bool locale_is_utf8(std::string_view lc_all, std::string_view lc_ctype, std::string_view lang);

/// Returns whether the environment's locale is UTF-8, so that blocks and 'µ' can be shown.
bool has_unicode();

/// Returns whether a line can be redrawn in place: on a terminal that is not dumb.
bool can_redraw(int descriptor);

struct Progress {
  std::string title{};
  std::optional<double> done_share{};  ///< 0 to 1; nothing: not known
  double seconds_left{-1.0};           ///< negative or not finite: not known
  double seconds_passed{-1.0};         ///< shown where the share is not known
};

/// "0:07 left", "1:02:05 left"; empty if the time is unknown. Rounded up, so that 0:00 is not shown
/// before the end.
std::string format_time_left(double seconds_left);

/// "0:07", rounded down; empty when it is not known.
std::string format_time_passed(double seconds_passed);

/// "latency: preparing 1 GiB (3 s)": the activity follows the title once it lasts 0.3 s, and its
/// time from 1 s on.
std::string compose_title(const std::string& title, const std::string& activity,
                          double activity_seconds);

/// Title, bar, percent and time left in at most `columns` columns, without the end of the line.
/// Pure. Narrow lines omit first the bar, then parts of the title, then the time.
std::string compose_progress(const Progress& progress, int columns, bool unicode);

/// Draws in place on a descriptor, at most 10 times a second; nothing if the line cannot be
/// redrawn. Ignores failing writes. The destructor clears the line. Any thread may call it.
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
  /// Sets the activity that follows the title; draws nothing.
  void tell(const std::string& activity, Clock::time_point now = Clock::now());
  /// Draws the last progress again with the time that has passed. Without a known share, that is
  /// the time since it was first shown.
  void redraw(Clock::time_point now = Clock::now());
  /// Starts a thread that redraws the line while the program waits for a driver. It gets no
  /// signals.
  void keep_moving();
  /// Erases the line, before other output to the same terminal; the next `show` draws at once.
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
