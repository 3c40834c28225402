// SPDX-License-Identifier: Apache-2.0
// "size,latency" a line, as most pointer chases print it. Without units a number says nothing, and
// they are not guessed: a header or the person gives them.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "clprobe/estimate.hpp"
#include "import/formats.hpp"

namespace clprobe::import {
namespace {

struct UnitWord {
  std::string_view word;  // lower case
  double factor;
};

constexpr double kibi = 1024.0;
// In headers KB means 1024 bytes with every tool that was looked at.
constexpr std::array size_words{UnitWord{"bytes", 1.0},
                                UnitWord{"byte", 1.0},
                                UnitWord{"b", 1.0},
                                UnitWord{"kib", kibi},
                                UnitWord{"kb", kibi},
                                UnitWord{"k", kibi},
                                UnitWord{"mib", kibi* kibi},
                                UnitWord{"mb", kibi* kibi},
                                UnitWord{"m", kibi* kibi},
                                UnitWord{"gib", kibi* kibi* kibi},
                                UnitWord{"gb", kibi* kibi* kibi},
                                UnitWord{"g", kibi* kibi* kibi}};
constexpr std::array time_words{UnitWord{"ns", 1.0}, UnitWord{"nanoseconds", 1.0},
                                UnitWord{"us", 1e3}, UnitWord{"microseconds", 1e3}};

constexpr std::string_view separators = ",;\t ";

/// The two columns of a line; the second is empty where there is one alone.
std::pair<std::string_view, std::string_view> columns_of(std::string_view line) {
  line = trimmed(line);
  const std::size_t end = line.find_first_of(separators);
  if (end == std::string_view::npos) return {line, {}};
  const std::size_t next = line.find_first_not_of(separators, end);
  if (next == std::string_view::npos) return {line.substr(0, end), {}};
  return {line.substr(0, end), line.substr(next)};
}

/// The first word of the header that is a unit; 0 without one.
template <typename Words>
double unit_in(std::string_view header, const Words& words) {
  std::string word;
  for (std::size_t i = 0; i <= header.size(); ++i) {
    const char c = i < header.size() ? header[i] : ' ';
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_letter) {
      word += static_cast<char>(c | 0x20);
      continue;
    }
    for (const UnitWord& each : words) {
      if (each.word == word) return each.factor;
    }
    word.clear();
  }
  return 0.0;
}

/// A number, and what one of its unit is; 0 where none stands with it.
struct Quantity {
  double value{0.0};
  double factor{0.0};
};

/// Takes "4", "4K" or "4 KiB" from the front of `rest`; nothing where something else stands there.
template <typename Words>
std::optional<Quantity> take_quantity(std::string_view& rest, const Words& words) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const auto [first, others] = columns_of(rest);
  rest = others;
  if (const std::optional<double> value = positive_number(first)) {
    const auto [word, behind] = columns_of(rest);
    const bool is_word = !word.empty() && word.find_first_not_of(letters) == std::string_view::npos;
    const double factor = is_word ? unit_in(word, words) : 0.0;
    if (factor > 0.0) rest = behind;
    return Quantity{*value, factor};
  }
  const std::size_t end = first.find_last_not_of(letters) + 1;
  const std::optional<double> value = positive_number(first.substr(0, end));
  const double factor = unit_in(first.substr(end), words);
  if (!value || !(factor > 0.0)) return std::nullopt;
  return Quantity{*value, factor};
}

struct Pair {
  Quantity size{};
  Quantity latency{};
};

std::optional<Pair> pair_of(std::string_view line) {
  const std::optional<Quantity> size = take_quantity(line, size_words);
  if (!size) return std::nullopt;
  const std::optional<Quantity> latency = take_quantity(line, time_words);
  if (!latency || !line.empty()) return std::nullopt;
  return Pair{*size, *latency};
}

/// A header is a line with words before the first pair: "Size (KiB),Latency (ns)".
class Reader {
 public:
  explicit Reader(const ImportHints& hints)
      : bytes_per_unit_(hints.bytes_per_size_unit), ns_per_unit_(hints.ns_per_time_unit) {}

  std::vector<std::pair<double, double>> read(std::string_view text) {
    int number = 0;
    while (!text.empty()) {
      const std::string_view line = trimmed(next_line(text));
      ++number;
      if (line.starts_with('#') && pairs_.empty()) read_comment(line);
      if (line.empty() || line.starts_with('#')) continue;
      const std::optional<Pair> pair = pair_of(line);
      if (pair) {
        add(*pair, number);
      } else if (pairs_.empty()) {
        read_header(line);
      } else if (!is_prose(line)) {
        refuse(number,
               fmt::format("expected a size and a latency above 0, found '{}'", excerpt(line)));
      }
    }
    if (pairs_.empty()) {
      throw RunFormatError(
          "document: expected results of clpeak or clmempatterns, or lines with a size and a "
          "latency, found none");
    }
    return pairs_;
  }

 private:
  [[noreturn]] static void refuse(int line, std::string_view problem) {
    throw RunFormatError(fmt::format("line {}: {}", line, problem));
  }

  // Tools end with remarks: "65536 K would exceed ...". A line of numbers that is no pair is an
  // error.
  static bool is_prose(std::string_view line) {
    constexpr std::size_t letters_of_prose = 5;
    std::size_t letters = 0;
    for (const char c : line) letters += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? 1 : 0;
    return letters >= letters_of_prose;
  }

  // "# size(KiB) latency_ns" is a header; of other comments a unit may be one of something else.
  void read_comment(std::string_view line) {
    const bool has_both = unit_in(line, size_words) > 0.0 && unit_in(line, time_words) > 0.0;
    constexpr std::array names{UnitWord{"size", 1.0}, UnitWord{"region", 1.0},
                               UnitWord{"footprint", 1.0}};
    if (has_both && unit_in(line, names) > 0.0) read_header(line);
  }

  void read_header(std::string_view line) {
    const std::size_t middle = std::min(line.find_first_of(",;\t"), line.size());
    if (bytes_per_unit_ == 0.0) bytes_per_unit_ = unit_in(line.substr(0, middle), size_words);
    if (ns_per_unit_ == 0.0) ns_per_unit_ = unit_in(line.substr(middle), time_words);
    if (ns_per_unit_ == 0.0) ns_per_unit_ = unit_in(line, time_words);
  }

  void add(const Pair& pair, int line) {
    const double size_unit = pair.size.factor > 0.0 ? pair.size.factor : bytes_per_unit_;
    const double time_unit = pair.latency.factor > 0.0 ? pair.latency.factor : ns_per_unit_;
    if (size_unit == 0.0) {
      refuse(line, "no header gives the sizes' unit: add --size-unit B, KiB or MiB");
    }
    if (time_unit == 0.0) {
      refuse(line, "no header gives the latencies' unit: add --time-unit ns or us");
    }
    const double bytes = std::round(pair.size.value * size_unit);
    const double ns = pair.latency.value * time_unit;
    constexpr double max_bytes = 1e18;
    constexpr double max_ns = 1e15;
    if (bytes < 1.0 || bytes > max_bytes || ns > max_ns) {
      refuse(line, "expected a size from 1 byte to 10^18 and a latency below a week");
    }
    pairs_.emplace_back(bytes, ns);
  }

  double bytes_per_unit_;
  double ns_per_unit_;
  std::vector<std::pair<double, double>> pairs_{};
};

}  // namespace

std::vector<Run> import_size_latency(std::string_view text, const ImportHints& hints) {
  const auto pairs = Reader(hints).read(text);
  Run run = imported_run(hints, "a list of sizes and latencies", "size-latency");
  ProbeResult& result = result_of(run, "latency");
  for (const auto& [bytes, ns] : pairs) {
    Point point;
    point.series = hints.series;
    point.parameters.set("working_set_bytes", static_cast<std::int64_t>(bytes));
    point.facts.set(imported_ns, ns);
    result.points.push_back(std::move(point));
  }
  return {std::move(run)};
}

}  // namespace clprobe::import
