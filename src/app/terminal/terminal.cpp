// SPDX-License-Identifier: Apache-2.0
#include "app/terminal/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string>

namespace clprobe::terminal {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

// Wider than any screen with letters that can be read. Rules and paddings are as long as a line, so
// that a nonsense COLUMNS would print hundreds of megabytes.
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
      std::find_if(names.begin(), names.end(), [](std::string_view each) { return !each.empty(); });
  if (first == names.end()) return false;
  std::string name(*first);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
}

bool has_unicode() {
  return locale_is_utf8(environment("LC_ALL"), environment("LC_CTYPE"), environment("LANG"));
}

bool can_redraw(int descriptor) { return is_terminal(descriptor) && !is_dumb(environment("TERM")); }

}  // namespace clprobe::terminal
