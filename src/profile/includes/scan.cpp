// SPDX-License-Identifier: Apache-2.0
#include "profile/includes/scan.hpp"

#include <algorithm>

namespace clprobe::includes {

std::size_t Spliced::original(std::size_t place) const {
  const auto behind =
      std::upper_bound(gaps.begin(), gaps.end(), place,
                       [](std::size_t at, const auto& gap) { return at < gap.first; });
  return place + std::prev(behind)->second;
}

Spliced splice(std::string_view text) {
  Spliced spliced;
  spliced.text.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      const std::size_t end = text.substr(i + 1, 2) == "\r\n" ? 2 : 1;
      if (end == 2 || text.substr(i + 1, 1) == "\n") {
        i += end;
        const std::size_t missing = spliced.gaps.back().second + end + 1;
        spliced.gaps.emplace_back(spliced.text.size(), missing);
        continue;
      }
    }
    spliced.text += text[i];
  }
  return spliced;
}

std::size_t comment_end(std::string_view text, std::size_t at) {
  const std::string_view begin = text.substr(at, 2);
  if (begin == "//") return std::min(text.find('\n', at), text.size());
  if (begin != "/*") return at;
  const std::size_t end = text.find("*/", at + 2);
  return end == std::string_view::npos ? text.size() + 1 : end + 2;
}

std::size_t quoted_end(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != '\n') {
    if (text[end] == text[at]) return end + 1;
    const bool is_escape = text[end] == '\\' && end + 1 < text.size() && text[end + 1] != '\n';
    end += is_escape ? 2U : 1U;
  }
  return end;
}

namespace {

/// Reads the directive whose # is at `at`, and moves `at` to the end of its line. Its places are
/// those in the joined text.
Directive read_directive(std::string_view text, std::size_t& at) {
  Directive found{.begin = at};
  ++at;
  std::string line;
  while (at < text.size() && text[at] != '\n') {
    std::size_t end = comment_end(text, at);
    if (end > at) {
      line += ' ';
    } else {
      end = text[at] == '"' || text[at] == '\'' ? quoted_end(text, at) : at + 1;
      line += text.substr(at, end - at);
    }
    at = end;
  }
  found.end = std::min(at, text.size());
  const std::string_view all = trimmed(line);
  found.name = first_word(all);
  found.rest = trimmed(all.substr(found.name.size()));
  return found;
}

bool ends_open(std::string_view text) {
  return text.ends_with('\\') || text.ends_with("\\\n") || text.ends_with("\\\r\n") ||
         text.ends_with("\\\r");
}

/// Replaces places in `spliced` by places and lines of the original text.
void restore_places(std::string_view text, const Spliced& spliced, Scanned& scanned) {
  std::size_t place = 0;
  std::size_t line = 1;
  const auto go_to = [&](std::size_t next) {
    line += static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(place),
                                                text.begin() + static_cast<std::ptrdiff_t>(next),
                                                '\n'));
    place = next;
  };
  for (Directive& each : scanned.directives) {
    go_to(each.begin = spliced.original(each.begin));
    each.first_line = line;
    go_to(each.end = spliced.original(each.end));
    each.last_line = line;
  }
}

}  // namespace

Scanned scan(std::string_view text) {
  const Spliced spliced = splice(text);
  const std::string_view all = spliced.text;
  Scanned scanned;
  bool is_line_start = true;
  std::size_t at = 0;
  while (at < all.size()) {
    const char c = all[at];
    const std::size_t end = comment_end(all, at);
    if (is_space(c)) {
      is_line_start = is_line_start || c == '\n';
      ++at;
    } else if (end > at) {
      at = end;
    } else if (c == '#' && is_line_start) {
      scanned.directives.push_back(read_directive(all, at));
      scanned.directives.back().follows_code = std::exchange(scanned.ends_with_code, false);
    } else {
      is_line_start = false;
      scanned.ends_with_code = true;
      at = c == '"' || c == '\'' ? quoted_end(all, at) : at + 1;
    }
  }
  scanned.is_open = at > all.size() || ends_open(text);
  restore_places(text, spliced, scanned);
  return scanned;
}

}  // namespace clprobe::includes
