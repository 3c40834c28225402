// SPDX-License-Identifier: Apache-2.0
#include "app/terminal/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <stop_token>
#include <string>
#include <string_view>

#include "system/api/files.hpp"
#include "system/api/processes.hpp"
#include "text/api/text.hpp"

namespace clprobe::terminal {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

// Maximum width in columns. Rules and padding are as long as a line, so with a nonsensical COLUMNS
// clprobe would print hundreds of megabytes.
constexpr int max_columns = 1000;

bool is_dumb(std::string_view term) { return term.empty() || term == "dumb"; }

}  // namespace

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

int width_columns(int descriptor) {
  winsize window{};
  const bool has_window = ::ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
  if (has_window) return std::min<int>(window.ws_col, max_columns);
  return columns_of(environment("COLUMNS"));
}

int columns_of(std::string_view columns) {
  constexpr int fallback = 80;
  int width = 0;
  const char* const last = columns.data() + columns.size();
  const auto [rest, error] = std::from_chars(columns.data(), last, width);
  const bool is_number = error == std::errc{} && rest == last;
  return is_number && width > 0 && width <= max_columns ? width : fallback;
}

bool decide_colour(ColourMode mode, const ColourFacts& facts) {
  if (mode != ColourMode::automatic) return mode == ColourMode::always;
  if (!facts.no_color.empty()) return false;
  if (!facts.clicolor_force.empty() && facts.clicolor_force != "0") return true;
  return facts.is_terminal && !is_dumb(facts.term);
}

bool use_colour(ColourMode mode, int descriptor) {
  return decide_colour(mode, {.no_color = environment("NO_COLOR"),
                              .clicolor_force = environment("CLICOLOR_FORCE"),
                              .term = environment("TERM"),
                              .is_terminal = is_terminal(descriptor)});
}

bool locale_is_utf8(std::string_view lc_all, std::string_view lc_ctype, std::string_view lang) {
  const std::array names{lc_all, lc_ctype, lang};
  const auto* const first =
      std::ranges::find_if(names, [](std::string_view each) { return !each.empty(); });
  if (first == names.end()) return false;
  std::string name(*first);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
}

bool has_unicode() {
  return locale_is_utf8(environment("LC_ALL"), environment("LC_CTYPE"), environment("LANG"));
}

bool can_redraw(int descriptor) { return is_terminal(descriptor) && !is_dumb(environment("TERM")); }

namespace {

constexpr auto min_interval = std::chrono::milliseconds(100);  // minimum time between redraws

// Limits of the bar's length. A shorter bar shows too little, and a longer bar separates the title
// from the numbers.
constexpr int min_bar_columns = 10;
constexpr int max_bar_columns = 30;

constexpr std::string_view erase_line = "\r\x1b[K";

std::string compose_bar(double done_share, int columns, bool unicode) {
  const int cells = columns - 2;
  const int done = static_cast<int>(std::floor(done_share * cells));
  std::string bar = "[";
  for (int i = 0; i < cells; ++i) {
    const std::string_view full = unicode ? "█" : "#";
    const std::string_view rest = unicode ? "░" : ".";
    bar += i < done ? full : rest;
  }
  return bar + "]";
}

}  // namespace

std::string format_time_left(double seconds_left) {
  constexpr double max_seconds = 100.0 * 3600.0;  // longer times are not shown
  if (!std::isfinite(seconds_left) || seconds_left < 0.0 || seconds_left > max_seconds) return "";
  const auto total = static_cast<std::int64_t>(std::ceil(seconds_left));
  const std::int64_t hours = total / 3600;
  const std::int64_t minutes = total / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02} left", hours, minutes, total % 60);
  return fmt::format("{}:{:02} left", minutes, total % 60);
}

std::string format_time_passed(double seconds_passed) {
  if (!std::isfinite(seconds_passed) || seconds_passed < 0.0) return "";
  const auto total = static_cast<std::int64_t>(std::min(seconds_passed, 1e9));
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

std::string compose_title(const std::string& title, const std::string& activity,
                          double activity_seconds) {
  constexpr double glance = 0.3;  // shorter activities would flicker
  if (activity.empty() || activity_seconds < glance) return title;
  if (activity_seconds < 1.0) return fmt::format("{}: {}", title, activity);
  return fmt::format("{}: {} ({:.0f} s)", title, activity, std::floor(activity_seconds));
}

std::string compose_progress(const Progress& progress, int columns, bool unicode) {
  if (columns < 1) return "";
  const bool is_number = progress.done_share && std::isfinite(*progress.done_share);
  const double done_share = is_number ? std::clamp(*progress.done_share, 0.0, 1.0) : 0.0;
  const std::string percent = progress.done_share
                                  ? fmt::format("{:3} %", static_cast<int>(done_share * 100.0))
                                  : format_time_passed(progress.seconds_passed);
  const std::string time_left = format_time_left(progress.seconds_left);
  const std::string tail = time_left.empty() ? percent : fmt::format("{}  {}", percent, time_left);
  const int tail_columns = display_width(tail);
  const std::string title = unicode ? printable(progress.title) : printable_ascii(progress.title);
  const int title_columns = display_width(title);

  const int bar_columns = std::min(columns - title_columns - tail_columns - 4, max_bar_columns);
  if (progress.done_share && bar_columns >= min_bar_columns) {
    return fmt::format("{}  {}  {}", title, compose_bar(done_share, bar_columns, unicode), tail);
  }
  const int columns_for_title = columns - tail_columns - 2;
  if (columns_for_title >= std::min(title_columns, 4)) {
    return fmt::format("{}  {}", cut_to_width(title, columns_for_title, unicode ? "…" : "~"), tail);
  }
  return cut_to_width(columns >= tail_columns ? tail : percent, columns);
}

ProgressLine::ProgressLine(int descriptor)
    : descriptor_(descriptor),
      can_redraw_(terminal::can_redraw(descriptor)),
      unicode_(has_unicode()) {}

ProgressLine::~ProgressLine() {
  mover_ = {};  // joins the thread before clearing
  clear();
}

void ProgressLine::show(const Progress& progress, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const bool was_unknown = shown_ && !shown_->done_share;
  if (!was_unknown) unknown_since_ = now;
  shown_ = progress;
  if (drawn_ && now - *drawn_ < min_interval) return;
  draw(now);
}

void ProgressLine::tell(const std::string& activity, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (activity == activity_) return;
  activity_ = activity;
  activity_since_ = now;
}

void ProgressLine::redraw(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (shown_) draw(now);
}

void ProgressLine::keep_moving() {
  if (!can_redraw_ || mover_.joinable()) return;
  // The new thread inherits the blocked signals, so that the system delivers an interrupt to the
  // main thread, which waits for a driver.
  const system::HeldBackSignals held;
  mover_ = std::jthread([this](const std::stop_token& stop) {
    constexpr auto interval = std::chrono::milliseconds(250);
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); })) {
      redraw();
    }
  });
}

void ProgressLine::draw(Clock::time_point now) {
  if (!can_redraw_) return;
  using Seconds = std::chrono::duration<double>;
  Progress progress = *shown_;
  progress.title = compose_title(progress.title, activity_, Seconds(now - activity_since_).count());
  progress.seconds_passed = Seconds(now - unknown_since_).count();
  // Leaves the last column free, since some terminals wrap a line that fills it. The width is read
  // at each redraw, since the user may resize the window.
  const int columns = width_columns(descriptor_) - 1;
  const std::string line = compose_progress(progress, columns, unicode_);
  static_cast<void>(system::write_all(descriptor_, fmt::format("{}{}", erase_line, line)));
  drawn_ = now;
}

void ProgressLine::clear() {
  const std::lock_guard lock(mutex_);
  if (drawn_) static_cast<void>(system::write_all(descriptor_, erase_line));
  drawn_.reset();
  shown_.reset();
}

}  // namespace clprobe::terminal
