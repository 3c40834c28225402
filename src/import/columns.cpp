// SPDX-License-Identifier: Apache-2.0
#include "import/columns.hpp"

#include <algorithm>
#include <array>

#include "import/formats.hpp"
#include "text/api/text.hpp"

namespace clprobe::import {
namespace {

struct UnitWord {
  std::string_view word;  // in lower case
  ListUnit unit;
};

constexpr ListUnit cycles{0.0, true};
// KB means 1024 bytes in all supported tools.
constexpr std::array size_words{
    UnitWord{"bytes", {1.0}},    UnitWord{"byte", {1.0}},        UnitWord{"b", {1.0}},
    UnitWord{"kib", {kibi}},     UnitWord{"kb", {kibi}},         UnitWord{"k", {kibi}},
    UnitWord{"kbytes", {kibi}},  UnitWord{"kbyte", {kibi}},      UnitWord{"mib", {mebi}},
    UnitWord{"mb", {mebi}},      UnitWord{"m", {mebi}},          UnitWord{"mbytes", {mebi}},
    UnitWord{"mbyte", {mebi}},   UnitWord{"gib", {kibi * mebi}}, UnitWord{"gb", {kibi * mebi}},
    UnitWord{"g", {kibi * mebi}}};
constexpr std::array time_words{UnitWord{"ns", {1.0}},
                                UnitWord{"nanoseconds", {1.0}},
                                UnitWord{"nsec", {1.0}},
                                UnitWord{"us", {1e3}},
                                UnitWord{"microseconds", {1e3}},
                                UnitWord{"usec", {1e3}},
                                UnitWord{"ms", {1e6}},
                                UnitWord{"milliseconds", {1e6}},
                                UnitWord{"msec", {1e6}},
                                UnitWord{"s", {ns_per_second}},
                                UnitWord{"sec", {ns_per_second}},
                                UnitWord{"second", {ns_per_second}},
                                UnitWord{"seconds", {ns_per_second}},
                                UnitWord{"ps", {1e-3}},
                                UnitWord{"cycles", cycles},
                                UnitWord{"cycle", cycles},
                                UnitWord{"cyc", cycles},
                                UnitWord{"clocks", cycles},
                                UnitWord{"clks", cycles},
                                UnitWord{"clk", cycles}};

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 11> size_names{
    "size",       "sizes", "region", "footprint", "volume", "working",
    "workingset", "ws",    "set",    "buffer",    "array"};
constexpr std::array<std::string_view, 4> latency_names{"latency", "latencies", "lat", "time"};
// Words that do not change the meaning of a latency column.
constexpr std::array<std::string_view, 12> plain_words{"avg",  "average", "mean",    "median",
                                                       "load", "access",  "per",     "in",
                                                       "of",   "memory",  "typical", "loads"};
// Names of columns that contain no latencies, such as their scatter or a bandwidth.
constexpr std::array<std::string_view, 25> other_names{
    "std",  "stddev", "stdev",   "dev",  "sigma",      "error",  "err",       "var", "min",
    "max",  "total",  "elapsed", "p",    "percentile", "ci",     "bandwidth", "bw",  "throughput",
    "rate", "speed",  "mbps",    "gbps", "delay",      "spread", "best"};
constexpr std::array<std::string_view, 14> key_names{
    "stride",  "step",   "device", "gpu",  "cpu",    "core",   "node",
    "threads", "thread", "run",    "test", "series", "kernel", "iteration"};

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view digits = "0123456789";

/// Returns the words of letters in a text, in lower case: "latency" and "ns" for "latency_ns".
Words words_in(std::string_view text) {
  Words words;
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
bool is_one_of(const std::string& word, const Names& names) {
  return std::ranges::find(names, word) != names.end();
}

template <typename Names>
bool has_one_of(const Words& words, const Names& names) {
  return std::ranges::any_of(words,
                             [&](const std::string& word) { return is_one_of(word, names); });
}

template <typename Units>
ListUnit unit_of(std::string_view word, const Units& units) {
  const auto* const found = std::ranges::find(units, word, &UnitWord::word);
  return found == units.end() ? ListUnit{} : found->unit;
}

/// The text before "per" or "/" if a unit is next to that mark ("ns per load"), else all text.
struct Quotient {
  std::string_view above;
  bool is_rate{false};  ///< true for a rate: "MB/s", "bytes per cycle"
};

Quotient quotient_in(std::string_view text) {
  for (const std::string_view mark : {"/", " per "}) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) continue;
    const Words above = words_in(text.substr(0, at));
    const Words below = words_in(text.substr(at + mark.size()));
    if (above.empty() || below.empty()) continue;
    const bool is_of_size = unit_of(above.back(), size_words).is_known();
    const bool is_by_unit = unit_of(below.front(), size_words).is_known() ||
                            unit_of(below.front(), time_words).is_known();
    const bool is_of_time = unit_of(above.back(), time_words).is_known();
    if (is_of_size || is_by_unit || is_of_time) {
      return {text.substr(0, at), is_of_size || is_by_unit};
    }
  }
  return {text};
}

/// Returns the first unit in the text. A unit in brackets or after a comma has priority. A letter
/// counts only if no other word is there, so that "GPU B (ns)" is not mistaken for bytes.
template <typename Units>
ListUnit unit_in(std::string_view text, const Units& units) {
  const Quotient quotient = quotient_in(text);
  if (quotient.is_rate) return {};
  text = quotient.above;
  const std::size_t mark = text.find_last_of("([,");
  const std::string_view last = mark == std::string_view::npos ? text : text.substr(mark + 1);
  const Words bare = words_in(last);
  for (const std::string& word : bare) {
    if (word.size() == 1 && bare.size() > 1) continue;
    if (unit_of(word, size_words).is_known() || unit_of(word, time_words).is_known()) {
      return unit_of(word, units);
    }
  }
  for (const std::string& word : words_in(text)) {
    if (word.size() > 1 && unit_of(word, units).is_known()) return unit_of(word, units);
  }
  return {};
}

/// Returns true for one to three digits followed by groups of three digits: "1,024" or "12 288".
bool is_grouped(std::string_view whole, std::string_view marks) {
  std::size_t at = std::min(whole.find_first_not_of(digits), whole.size());
  if (at == 0 || at > 3 || whole.front() == '0') return false;
  for (; at < whole.size(); at += 4) {
    const std::string_view group = whole.substr(at + 1, 3);
    if (marks.find(whole[at]) == std::string_view::npos || group.size() != 3 ||
        group.find_first_not_of(digits) != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

std::optional<double> number_in(std::string_view text, char decimal) {
  const std::string_view marks = decimal == '.' ? ", '" : ". '";
  const std::size_t end = std::min(text.find(decimal), text.size());
  std::string plain(text.substr(0, end));
  if (plain.find_first_of(marks) != std::string::npos) {
    if (!is_grouped(plain, marks)) return std::nullopt;
    std::erase_if(plain, [&](char c) { return marks.find(c) != std::string_view::npos; });
  }
  if (end < text.size()) plain.append(".").append(text.substr(end + 1));
  return positive_number(plain);
}

template <typename Units>
std::optional<Quantity> quantity_in(std::string_view cell, const Units& units, char decimal) {
  const std::size_t end = std::min(cell.find_last_not_of(letters) + 1, cell.size());
  const std::optional<double> value = number_in(trimmed(cell.substr(0, end)), decimal);
  if (!value) return std::nullopt;
  const ListUnit unit = unit_in(cell.substr(end), units);
  // A number with an unknown unit, as in "4 parsecs", is not a quantity.
  if (end < cell.size() && !unit.is_known()) return std::nullopt;
  return Quantity{*value, unit};
}

bool is_unit(std::string_view word) {
  return word.find_first_not_of(letters) == std::string_view::npos &&
         (size_unit_in(word).is_known() || time_unit_in(word).is_known());
}

/// Returns the cells of a line that is split at blanks. A unit such as "KiB" or "(KiB)" belongs to
/// the previous cell.
std::vector<std::string_view> cells_between_blanks(std::string_view line) {
  std::vector<std::string_view> cells;
  bool is_first_unit = false;
  for (const std::string_view word : split_words(line, " \t")) {
    const bool belongs = !cells.empty() && (word.front() == '(' || word.front() == '[' ||
                                            (is_first_unit && is_unit(word)));
    is_first_unit = digits.find(word.front()) != std::string_view::npos &&
                    digits.find(word.back()) != std::string_view::npos;
    if (belongs) {
      const char* const begin = cells.back().data();
      cells.back() = {begin, static_cast<std::size_t>(word.data() + word.size() - begin)};
    } else {
      cells.push_back(word);
    }
  }
  return cells;
}

/// Returns the cells of a line that is split at tabs and at two or more blanks.
std::vector<std::string_view> cells_between_gaps(std::string_view line) {
  std::vector<std::string_view> cells;
  while (!line.empty()) {
    const std::size_t end = std::min({line.find('\t'), line.find("  "), line.size()});
    cells.push_back(trimmed(line.substr(0, end)));
    line = trimmed(line.substr(end));
  }
  return cells;
}

/// Returns the position after the closing quote of a quoted cell.
std::size_t end_of_quoted(std::string_view line, std::size_t at) {
  while ((at = line.find('"', at + 1)) != std::string_view::npos) {
    if (at + 1 >= line.size() || line[at + 1] != '"') return at + 1;
    ++at;
  }
  return line.size();
}

/// Returns a score for how well a column fits `names`. A matching name counts more than a known
/// unit.
template <typename Names>
int likeness(const std::string& name, const Names& names, const ListUnit& unit) {
  if (is_other_measure(name)) return 0;
  return (has_one_of(words_in(name), names) ? 2 : 0) + (unit.is_known() ? 1 : 0);
}

/// Returns the words that distinguish a latency column from others, without units and without words
/// such as "latency" and "mean".
Words meaning_of(const std::string& name) {
  Words words = words_in(name);
  std::erase_if(words, [](const std::string& word) {
    return is_one_of(word, latency_names) || is_one_of(word, plain_words) ||
           (word.size() > 1 && unit_of(word, time_words).is_known());
  });
  return words;
}

/// Returns the columns that match latencies best, and columns with the unit of the first of them.
/// Returns the columns of values. If columns have the same meaning, such as one in ns and one in
/// cycles, returns only the first, or the first in a unit of time.
std::vector<ValueColumn> values_in(const std::vector<std::string>& names, std::size_t size_at) {
  int best = 0;
  ListUnit unit;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int like = i == size_at ? 0 : likeness(names[i], latency_names, time_unit_in(names[i]));
    if (like > best) unit = time_unit_in(names[i]);
    best = std::max(best, like);
  }
  std::vector<ValueColumn> values;
  for (std::size_t i = 0; i < names.size() && best > 0; ++i) {
    const ValueColumn column{i, time_unit_in(names[i])};
    const int like = i == size_at ? 0 : likeness(names[i], latency_names, column.unit);
    if (like == 0 || (like < best && column.unit != unit)) continue;
    const auto same = std::ranges::find_if(values, [&](const ValueColumn& each) {
      return meaning_of(names[each.at]) == meaning_of(names[i]);
    });
    if (same == values.end()) {
      values.push_back(column);
    } else if (same->unit.is_cycles && !column.unit.is_cycles) {
      *same = column;
    }
  }
  return values;
}

}  // namespace

ListUnit size_unit_in(std::string_view text) { return unit_in(text, size_words); }
ListUnit time_unit_in(std::string_view text) { return unit_in(text, time_words); }

std::optional<Quantity> size_in(std::string_view cell, char decimal) {
  return quantity_in(cell, size_words, decimal);
}
std::optional<Quantity> latency_in(std::string_view cell, char decimal) {
  return quantity_in(cell, time_words, decimal);
}

bool is_other_measure(std::string_view name) {
  return quotient_in(name).is_rate || has_one_of(words_in(name), other_names);
}

std::vector<std::string_view> cells_of(std::string_view line, Separator separator) {
  line = trimmed(line);
  if (separator == Separator::blank) return cells_between_blanks(line);
  if (separator == Separator::wide) return cells_between_gaps(line);
  const char mark = static_cast<char>(separator);
  if (mark == '|' && line.starts_with(mark)) line.remove_prefix(1);
  if (mark == '|' && line.ends_with(mark)) line.remove_suffix(1);
  std::vector<std::string_view> cells;
  for (std::size_t at = 0; at <= line.size();) {
    at = std::min(line.find_first_not_of(mark == '\t' ? " " : " \t", at), line.size());
    const bool is_quoted = at < line.size() && line[at] == '"';
    const std::size_t end =
        std::min(line.find(mark, is_quoted ? end_of_quoted(line, at) : at), line.size());
    std::string_view cell = trimmed(line.substr(at, end - at));
    if (is_quoted && cell.size() > 1 && cell.ends_with('"')) {
      cell = trimmed(cell.substr(1, cell.size() - 2));
    }
    cells.push_back(cell);
    at = end + 1;
  }
  return cells;
}

std::optional<Layout> layout_of(const std::vector<std::string>& names) {
  Layout layout{.size_at = names.size(), .names = names};
  int best = 0;
  bool has_meaning = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int like = likeness(names[i], size_names, size_unit_in(names[i]));
    if (like > best) layout.size_at = i;
    best = std::max(best, like);
    if (has_one_of(words_in(names[i]), key_names)) layout.keys.push_back(i);
    has_meaning = has_meaning || is_other_measure(names[i]);
  }
  layout.values = values_in(names, layout.size_at);
  if (best == 0 && layout.values.empty() && !has_meaning) return std::nullopt;
  if (best > 0) layout.size_unit = size_unit_in(names[layout.size_at]);
  std::erase_if(layout.keys, [&](std::size_t i) { return layout.is_read(i); });
  return layout;
}

bool names_columns(std::string_view comment) {
  return size_unit_in(comment).is_known() && time_unit_in(comment).is_known() &&
         has_one_of(words_in(comment), size_names);
}

}  // namespace clprobe::import
