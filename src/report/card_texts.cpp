// SPDX-License-Identifier: Apache-2.0
#include "report/card_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/text.hpp"

namespace clprobe::report {
namespace {

constexpr int indent = 1;
constexpr int gap = 2;
constexpr std::string_view seen_topic = "not seen";
constexpr std::string_view caution_topic = "beware of";

std::string_view mark_of(const Page& page) { return page.is_unicode() ? "…" : "..."; }

int text_width(const Page& page, int topic_width) {
  return page.width() - indent - topic_width - gap;
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// As many of a list as fit into a line, and how many more there are.
std::string list_in(const std::vector<std::string>& parts, int width, std::string_view mark) {
  std::string text = joined(parts);
  for (std::size_t left = 1; left < parts.size() && display_width(text) > width; ++left) {
    const std::vector<std::string> first(parts.begin(),
                                         parts.end() - static_cast<std::ptrdiff_t>(left));
    text = fmt::format("{}, {} more", joined(first), left);
  }
  return display_width(text) <= width ? text : shorten(text, 1, width, mark).front();
}

std::vector<std::string> shown(const Page& page, const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  all.reserve(texts.size());
  for (const std::string& each : texts) all.push_back(page.show(each));
  return all;
}

/// What the first of a list takes, and how many more there are.
int width_of_first(const std::vector<std::string>& parts) {
  if (parts.size() == 1) return display_width(parts.front());
  return display_width(fmt::format("{}, {} more", parts.front(), parts.size() - 1));
}

/// What was not seen, and behind it what to beware of. Each has half of the line and what the other
/// one leaves, but at least its first part where both have room for that.
CardEntry shared_line(const std::vector<std::string>& unseen,
                      const std::vector<std::string>& warnings, int width, std::string_view mark) {
  const std::string between = fmt::format("; {} ", caution_topic);
  const int room = width - display_width(between);
  const int least = width_of_first(unseen);
  const int most = room - width_of_first(warnings);
  int share = std::max(room / 2, room - display_width(joined(warnings)));
  if (least <= most) share = std::clamp(share, least, most);
  const std::string first = list_in(unseen, share, mark);
  const std::string last = list_in(warnings, room - display_width(first), mark);
  return {.topic = std::string(seen_topic),
          .text = first,
          .lines = {first},
          .ink = Ink::plain,
          .caution = between + last,
          .is_shared = true};
}

/// Each has half of the line and what the other one leaves.
CardEntry one_of_two(const CardEntry& first, const CardEntry& second, int width,
                     std::string_view mark) {
  const std::string between = fmt::format("; {} ", second.topic);
  const int room = width - display_width(between);
  const auto cut = [&](const std::string& text, int share) {
    return display_width(text) <= share ? text : shorten(text, 1, share, mark).front();
  };
  const std::string start = cut(first.text, std::max(room / 2, room - display_width(second.text)));
  const std::string text = start + between + cut(second.text, room - display_width(start));
  return {.topic = first.topic, .text = text, .lines = {text}, .is_shared = true};
}

/// Failures and cautions have a colour of their own, and a line that is shared has no more room.
bool can_share(const CardEntry& entry) { return entry.ink == Ink::plain && !entry.is_shared; }

CardEntry one_line(std::string_view topic, const std::vector<std::string>& parts, Ink ink,
                   int width, std::string_view mark) {
  const std::string text = list_in(parts, width, mark);
  return {.topic = std::string(topic), .text = text, .lines = {text}, .ink = ink};
}

}  // namespace

int topic_width_of(const Page& page, const DeviceCard& card) {
  int width = display_width(caution_topic);
  for (const CardLine& line : card.lines) {
    width = std::max(width, display_width(page.show(line.topic)));
  }
  return std::min(width, page.width() / 3);
}

std::vector<CardEntry> entries_of(const Page& page, const DeviceCard& card, bool has_warnings,
                                  bool is_short) {
  const std::string_view mark = mark_of(page);
  const int topic_width = topic_width_of(page, card);
  const int width = text_width(page, topic_width);
  std::vector<CardEntry> entries;
  for (const CardLine& each : card.lines) {
    const std::string text = page.show(each.text);
    entries.push_back({.topic = cut_to_width(page.show(each.topic), topic_width, mark),
                       .text = text,
                       .lines = wrap(text, width)});
  }
  if (!card.failures.empty()) {
    entries.push_back(one_line("not done", {page.show(card.failures)}, Ink::failure, width, mark));
  }
  const std::vector<std::string> unseen = shown(page, card.unseen);
  const std::vector<std::string> warnings =
      has_warnings ? shown(page, card.warnings) : std::vector<std::string>{};
  if (is_short && !unseen.empty() && !warnings.empty()) {
    entries.push_back(shared_line(unseen, warnings, width, mark));
    return entries;
  }
  if (!unseen.empty()) entries.push_back(one_line(seen_topic, unseen, Ink::plain, width, mark));
  if (!warnings.empty()) {
    entries.push_back(one_line(caution_topic, warnings, Ink::caution, width, mark));
  }
  return entries;
}

void share_lines(std::vector<CardEntry>& entries, std::size_t room, const Page& page,
                 int topic_width) {
  const auto columns = [](const CardEntry& a, const CardEntry& b) {
    return display_width(a.text) + display_width(b.text);
  };
  while (entries.size() > room) {
    auto first = entries.end();
    auto second = entries.end();
    auto before = entries.end();
    for (auto each = entries.begin(); each != entries.end(); ++each) {
      if (!can_share(*each)) continue;
      const bool is_shorter =
          before != entries.end() &&
          (second == entries.end() || columns(*before, *each) < columns(*first, *second));
      if (is_shorter) {
        first = before;
        second = each;
      }
      before = each;
    }
    if (second == entries.end()) return;
    *first = one_of_two(*first, *second, text_width(page, topic_width), mark_of(page));
    entries.erase(second);
  }
}

std::vector<std::string> shorten(const std::string& text, std::size_t max_lines, int width,
                                 std::string_view mark) {
  std::vector<std::string> after_part;
  std::vector<std::string> after_word;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (text[i] != ' ' || i == 0) continue;
    std::vector<std::string> lines =
        wrap(fmt::format("{} {}{}", text.substr(0, i), mark, depth > 0 ? ")" : ""), width);
    if (lines.size() > max_lines) break;
    const bool is_part = text[i - 1] == ',' || text[i - 1] == ';';
    (is_part ? after_part : after_word) = std::move(lines);
  }
  const auto columns = [](const std::vector<std::string>& lines) {
    int sum = 0;
    for (const std::string& line : lines) sum += display_width(line);
    return sum;
  };
  if (2 * columns(after_part) >= columns(after_word)) after_word = std::move(after_part);
  if (!after_word.empty()) return after_word;
  return {cut_to_width(text, width, mark)};
}

void fit(std::vector<CardEntry>& entries, std::size_t room, const Page& page, int topic_width) {
  const auto count = [&] {
    std::size_t lines = 0;
    for (const CardEntry& each : entries) lines += each.lines.size();
    return lines;
  };
  while (count() > room) {
    const auto longest = std::max_element(
        entries.begin(), entries.end(),
        [](const CardEntry& a, const CardEntry& b) { return a.lines.size() < b.lines.size(); });
    if (longest == entries.end() || longest->lines.size() < 2) return;
    longest->lines = shorten(longest->text, longest->lines.size() - 1,
                             text_width(page, topic_width), mark_of(page));
  }
}

}  // namespace clprobe::report
