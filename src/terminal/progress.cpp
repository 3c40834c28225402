// SPDX-License-Identifier: Apache-2.0
#include "terminal/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "system/write.hpp"
#include "terminal/terminal.hpp"
#include "text/text.hpp"

namespace clprobe::terminal {
namespace {

constexpr auto min_interval = std::chrono::milliseconds(100);  // more often than eyes follow

// Between 10 and 30 columns: shorter shows nothing, longer only moves the numbers away.
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
  constexpr double max_seconds = 100.0 * 3600.0;  // beyond, nobody waits for it
  if (!std::isfinite(seconds_left) || seconds_left < 0.0 || seconds_left > max_seconds) return "";
  const auto total = static_cast<std::int64_t>(std::ceil(seconds_left));
  const std::int64_t hours = total / 3600;
  const std::int64_t minutes = total / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02} left", hours, minutes, total % 60);
  return fmt::format("{}:{:02} left", minutes, total % 60);
}

std::string compose_progress(const Progress& progress, int columns, bool unicode) {
  if (columns < 1) return "";
  const bool is_number = std::isfinite(progress.done_share);
  const double done_share = is_number ? std::clamp(progress.done_share, 0.0, 1.0) : 0.0;
  const std::string percent = fmt::format("{:3} %", static_cast<int>(done_share * 100.0));
  const std::string time_left = format_time_left(progress.seconds_left);
  const std::string tail = time_left.empty() ? percent : fmt::format("{}  {}", percent, time_left);
  const int tail_columns = display_width(tail);
  const std::string title = unicode ? printable(progress.title) : printable_ascii(progress.title);
  const int title_columns = display_width(title);

  const int bar_columns = std::min(columns - title_columns - tail_columns - 4, max_bar_columns);
  if (bar_columns >= min_bar_columns) {
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

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const Progress& progress, Clock::time_point now) {
  if (!can_redraw_ || (drawn_ && now - *drawn_ < min_interval)) return;
  // The last column stays free: some terminals wrap as soon as it is written. The width is asked
  // each time, since windows are resized.
  const int columns = width_columns(descriptor_) - 1;
  const std::string line = compose_progress(progress, columns, unicode_);
  static_cast<void>(system::write_all(descriptor_, fmt::format("{}{}", erase_line, line)));
  drawn_ = now;
}

void ProgressLine::clear() {
  if (drawn_) static_cast<void>(system::write_all(descriptor_, erase_line));
  drawn_.reset();
}

}  // namespace clprobe::terminal
