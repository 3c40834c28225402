// SPDX-License-Identifier: Apache-2.0
#include "import/columns.hpp"

#include <algorithm>
#include <array>

#include "import/curve.hpp"
#include "import/lines.hpp"
#include "text/text.hpp"

namespace clprobe::import {
namespace {

struct UnitWord {
  std::string_view word;  // lower case
  ListUnit unit;
};

constexpr ListUnit cycles{0.0, true};
// In headers KB means 1024 bytes with every tool that was looked at.
constexpr std::array size_words{
    UnitWord{"bytes", {1.0}},       UnitWord{"byte", {1.0}},       UnitWord{"b", {1.0}},
    UnitWord{"kib", {kibi}},        UnitWord{"kb", {kibi}},        UnitWord{"k", {kibi}},
    UnitWord{"mib", {mebi}},        UnitWord{"mb", {mebi}},        UnitWord{"m", {mebi}},
    UnitWord{"gib", {kibi * mebi}}, UnitWord{"gb", {kibi * mebi}}, UnitWord{"g", {kibi * mebi}}};
constexpr std::array time_words{UnitWord{"ns", {1.0}},      UnitWord{"nanoseconds", {1.0}},
                                UnitWord{"us", {1e3}},      UnitWord{"microseconds", {1e3}},
                                UnitWord{"cycles", cycles}, UnitWord{"cycle", cycles},
                                UnitWord{"cyc", cycles},    UnitWord{"clocks", cycles},
                                UnitWord{"clks", cycles},   UnitWord{"clk", cycles}};

constexpr std::array<std::string_view, 7> size_names{"size",   "sizes",   "region",    "footprint",
                                                     "volume", "working", "workingset"};
constexpr std::array<std::string_view, 3> latency_names{"latency", "latencies", "lat"};
// What stands beside a latency and is none: how it scatters, and other measures.
constexpr std::array<std::string_view, 16> other_names{
    "std", "stddev", "stdev", "dev",     "sigma", "error",      "err", "var",
    "min", "max",    "total", "elapsed", "p",     "percentile", "ci",  "bandwidth"};

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Its words of letters, in lower case: "latency_ns" has two.
std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (letters.find(c) != std::string_view::npos) {
      word += static_cast<char>(c | 0x20);
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

template <typename Names>
bool has_one_of(const std::vector<std::string>& words, const Names& names) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(names.begin(), names.end(), word) != names.end();
  });
}

template <typename Units>
ListUnit unit_in(std::string_view text, const Units& units) {
  for (const std::string& word : words_in(text)) {
    const auto* const found = std::find_if(units.begin(), units.end(),
                                           [&](const UnitWord& each) { return each.word == word; });
    if (found != units.end()) return found->unit;
  }
  return {};
}

template <typename Units>
std::optional<Quantity> quantity_in(std::string_view cell, const Units& units) {
  const std::size_t end = std::min(cell.find_last_not_of(letters) + 1, cell.size());
  const std::optional<double> value = positive_number(trimmed(cell.substr(0, end)));
  if (!value) return std::nullopt;
  const ListUnit unit = unit_in(cell.substr(end), units);
  // "4 parsecs": a unit that nobody knows is no unit.
  if (end < cell.size() && !unit.is_known()) return std::nullopt;
  return Quantity{*value, unit};
}

bool is_unit(std::string_view word) {
  return word.find_first_not_of(letters) == std::string_view::npos &&
         (size_unit_in(word).is_known() || time_unit_in(word).is_known());
}

/// Between blanks, with "KiB" and "(KiB)" where they belong.
std::vector<std::string_view> cells_between_blanks(std::string_view line) {
  std::vector<std::string_view> cells;
  bool is_first_unit = false;
  for (const std::string_view word : split_words(line, " ")) {
    const bool belongs = !cells.empty() && (word.front() == '(' || word.front() == '[' ||
                                            (is_first_unit && is_unit(word)));
    is_first_unit = positive_number(word).has_value();
    if (belongs) {
      const char* const begin = cells.back().data();
      cells.back() = {begin, static_cast<std::size_t>(word.data() + word.size() - begin)};
    } else {
      cells.push_back(word);
    }
  }
  return cells;
}

/// How much a header's cell looks like one of these names: a name is more than a unit, which may be
/// one of a bandwidth.
template <typename Names>
int likeness(std::string_view cell, const Names& names, const ListUnit& unit) {
  const std::vector<std::string> words = words_in(cell);
  if (has_one_of(words, other_names)) return 0;
  return (has_one_of(words, names) ? 2 : 0) + (unit.is_known() ? 1 : 0);
}

int likeness_to_size(std::string_view cell) {
  return likeness(cell, size_names, size_unit_in(cell));
}

int likeness_to_latency(std::string_view cell) {
  return likeness(cell, latency_names, time_unit_in(cell));
}

/// The first of the cells that are most alike; nothing where none is.
std::optional<std::size_t> find_column(const std::vector<std::string_view>& cells,
                                       int (*alike)(std::string_view)) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (alike(cells[i]) > (best ? alike(cells[*best]) : 0)) best = i;
  }
  return best;
}

}  // namespace

ListUnit size_unit_in(std::string_view text) { return unit_in(text, size_words); }
ListUnit time_unit_in(std::string_view text) { return unit_in(text, time_words); }

std::optional<Quantity> size_in(std::string_view cell) { return quantity_in(cell, size_words); }
std::optional<Quantity> latency_in(std::string_view cell) { return quantity_in(cell, time_words); }

std::vector<std::string_view> cells_of(std::string_view line) {
  line = trimmed(line);
  const bool is_table = line.starts_with('|');
  if (is_table) line = trimmed(line.substr(1));
  if (is_table && line.ends_with('|')) line = trimmed(line.substr(0, line.size() - 1));
  constexpr std::string_view separators = ";,\t";
  char separator = is_table ? '|' : ' ';
  for (const char each : separators) {
    if (separator == ' ' && line.find(each) != std::string_view::npos) separator = each;
  }
  if (separator == ' ') return cells_between_blanks(line);
  std::vector<std::string_view> cells;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    const std::string_view cell = trimmed(line.substr(at, end - at));
    // Tabs only align.
    if (separator != '\t' || !cell.empty()) cells.push_back(cell);
    at = end + 1;
  }
  return cells;
}

std::optional<Layout> layout_of(std::string_view header, std::size_t cells) {
  header.remove_prefix(std::min(header.find_first_not_of("# \t"), header.size()));
  Layout layout{.names = cells_of(header)};
  if (layout.names.size() != cells) return std::nullopt;
  const auto size_at = find_column(layout.names, likeness_to_size);
  const auto latency_at = find_column(layout.names, likeness_to_latency);
  if (!size_at || !latency_at || size_at == latency_at) return std::nullopt;
  layout.size_at = *size_at;
  layout.latency_at = *latency_at;
  layout.size_unit = size_unit_in(layout.names[*size_at]);
  layout.time_unit = time_unit_in(layout.names[*latency_at]);
  return layout;
}

bool names_columns(std::string_view comment) {
  return size_unit_in(comment).is_known() && time_unit_in(comment).is_known() &&
         has_one_of(words_in(comment), size_names);
}

}  // namespace clprobe::import
