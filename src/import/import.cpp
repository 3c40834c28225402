// SPDX-License-Identifier: Apache-2.0
#include "import/api/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "import/formats.hpp"
#include "text/api/text.hpp"

namespace clprobe {
namespace import {
namespace {

// Formats in order of detection. The list of sizes and latencies is last, since it has no
// distinctive feature.
constexpr std::array all_formats{
    &clpeak::json_format,      &clpeak::xml_format,    &clpeak::csv_format,
    &clpeak::text_format,      &mt4g::format,          &nvbandwidth::json_format,
    &nvbandwidth::text_format, &clmempatterns::format, &rows::gpu_latency,
    &rows::gpu_cache,          &rows::cuda_memcpy,     &rows::lat_mem_rd,
    &rows::chips_and_cheese,   &size_latency::format};

struct UnitRow {
  std::string_view word;  // the other tool's name of the unit
  std::string_view unit;  // the unit in run documents
  double factor;
  std::string_view name;  // name of the finding
};

// In clpeak, "gflops" and "gops" are 10^9 operations per second, and "gbps" are 10^9 bytes per
// second.
constexpr std::array units{
    UnitRow{"gbps", "bytes_per_second", 1e9, "bandwidth"},
    UnitRow{"B/s", "bytes_per_second", 1.0, "bandwidth"},
    UnitRow{"FLOP/s", "operations_per_second", 1.0, "throughput"},
    UnitRow{"op/s", "operations_per_second", 1.0, "throughput"},
    UnitRow{"s", "seconds", 1.0, "time"},
    UnitRow{"GB/s", "bytes_per_second", 1e9, "bandwidth"},
    UnitRow{"MB/s", "bytes_per_second", 1e6, "bandwidth"},
    UnitRow{"GiB/s", "bytes_per_second", 1024.0 * 1024.0 * 1024.0, "bandwidth"},
    UnitRow{"gflops", "operations_per_second", 1e9, "throughput"},
    UnitRow{"gops", "operations_per_second", 1e9, "throughput"},
    UnitRow{"giops", "operations_per_second", 1e9, "throughput"},
    UnitRow{"tflops", "operations_per_second", 1e12, "throughput"},
    UnitRow{"tops", "operations_per_second", 1e12, "throughput"},
    UnitRow{"us", "seconds", 1e-6, "time"},
    UnitRow{"ns", "seconds", 1e-9, "time"},
    UnitRow{"ms", "seconds", 1e-3, "time"}};

/// Returns the text without a byte order mark of UTF-8, which some editors write. Throws
/// RunFormatError for UTF-16.
std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view utf_8 = "\xef\xbb\xbf";
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw RunFormatError("document: expected UTF-8, found UTF-16: save the file as UTF-8");
  }
  return text.starts_with(utf_8) ? text.substr(utf_8.size()) : text;
}

/// Returns the first two characters of a text that are not blank.
std::string beginning_of(std::string_view text) {
  std::string beginning;
  for (const char c : text) {
    if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) beginning += c;
    if (beginning.size() == 2) break;
  }
  return beginning;
}

/// Returns true if text that is not valid JSON was meant to be JSON, by its first characters. A
/// bracket alone is not enough, since printed text may begin with one: "[Bandwidth Test] -
/// Starting...".
bool is_meant_as_json(std::string_view beginning) {
  constexpr std::array<std::string_view, 5> beginnings{"{\"", "{}", "[{", "[[", "{"};
  return std::ranges::find(beginnings, beginning) != beginnings.end();
}

void expect_foreign(const json::Json& document) {
  const json::Json& first = document.is_array() && !document.empty() ? document.front() : document;
  if (first.is_object() && text_at(first, "schema") == run_schema_name) {
    throw RunFormatError(
        "the file is already a clprobe run: use `clprobe report` or `clprobe compare`");
  }
}

/// Returns the tools with formats of a kind: "clpeak, mt4g or nvbandwidth".
std::string list_tools(Kind kind) {
  std::vector<std::string_view> tools;
  for (const Format* const each : all_formats) {
    const bool is_new = std::ranges::find(tools, each->tool) == tools.end();
    if (each->kind == kind && is_new) tools.push_back(each->tool);
  }
  const std::string_view last = tools.back();
  tools.pop_back();
  return tools.empty() ? std::string(last) : fmt::format("{} or {}", fmt::join(tools, ", "), last);
}

[[noreturn]] void refuse_unknown(const Document& document) {
  if (document.json) {
    throw RunFormatError(fmt::format("the JSON is not from a known tool: expected results of {}",
                                     list_tools(Kind::json)));
  }
  throw RunFormatError(
      fmt::format("document: expected output of {}, found none", list_tools(Kind::text)));
}

struct Hint {
  std::string_view option;
  bool (*is_given)(const ImportHints&);
  bool (*is_used)(Uses);
};

constexpr std::array hint_table{
    Hint{"--size-unit", [](const ImportHints& hints) { return hints.bytes_per_size_unit > 0.0; },
         [](Uses uses) { return uses == Uses::all; }},
    Hint{"--time-unit",
         [](const ImportHints& hints) { return hints.ns_per_time_unit > 0.0 || hints.in_cycles; },
         [](Uses uses) { return uses == Uses::all; }},
    Hint{"--clock-rate", [](const ImportHints& hints) { return hints.clock_hertz > 0.0; },
         [](Uses uses) { return uses != Uses::nothing; }},
    Hint{"--series", [](const ImportHints& hints) { return !hints.series.empty(); },
         [](Uses uses) { return uses == Uses::all || uses == Uses::clock_and_series; }}};

void expect_used(const ImportHints& hints, const Format& format) {
  for (const Hint& each : hint_table) {
    if (!each.is_given(hints) || each.is_used(format.uses)) continue;
    throw RunFormatError(
        fmt::format("{} does not apply to results of {}: leave it out", each.option, format.tool));
  }
}

std::vector<Run> import_any(std::string_view text, const ImportHints& hints) {
  Document document{.text = without_byte_order_mark(text)};
  const std::string beginning = beginning_of(document.text);
  if (beginning.starts_with('{') || beginning.starts_with('[')) {
    try {
      document.json = json::parse(document.text);
    } catch (const RunFormatError&) {
      if (is_meant_as_json(beginning)) throw;
    }
    if (document.json) expect_foreign(*document.json);
  }
  for (const Format* const each : all_formats) {
    if (!each->recognises(document)) continue;
    expect_used(hints, *each);
    std::vector<Run> runs = each->read(document, hints);
    for (Run& run : runs) {
      if (hints.clock_hertz > 0.0) set_clock(run, hints.clock_hertz);
    }
    return runs;
  }
  refuse_unknown(document);
}

void expect_sane(std::string_view name, double number) {
  if (is_sane(number)) return;
  throw RunFormatError(fmt::format("{} is {}, which is impossible for a device", name, number));
}

/// Sets the number of compute units of a device from the attributes that the other tool reported.
void count_units(DeviceInfo& device) {
  constexpr double max_units = 1 << 20;
  for (const std::string_view name : {"compute_units", "Compute units"}) {
    const Value* const value = device.reported.find(name);
    if (value == nullptr) continue;
    const std::string text =
        std::visit([](const auto& each) { return fmt::format("{}", each); }, *value);
    const double count = positive_number(text).value_or(0.0);
    if (count <= max_units) device.compute_units = static_cast<std::int64_t>(count);
  }
}

void expect_sane(const Parameters& parameters) {
  for (const auto& [name, value] : parameters) {
    if (const auto* const number = std::get_if<double>(&value)) expect_sane(name, *number);
  }
}

}  // namespace

std::optional<double> positive_number(std::string_view text) {
  double value = 0.0;
  const char* const last = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || rest != last || !std::isfinite(value) || !(value > 0.0)) {
    return std::nullopt;
  }
  return value;
}

std::string excerpt(std::string_view text) {
  constexpr int max_columns = 43;
  // Enough bytes for these columns. A limit is needed, since a line may be the whole file.
  constexpr std::size_t max_bytes = 176;
  return cut_to_width(printable_ascii(text.substr(0, max_bytes)), max_columns, "...");
}

std::vector<std::string_view> split_words(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(separators); at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  return words;
}

std::optional<std::vector<double>> numbers_in(std::string_view line, std::string_view pattern) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '*') return numbers;
    if (pattern[i] == ' ') {
      const bool parts_number = i > 0 && pattern[i - 1] == '#' && i + 1 < pattern.size() &&
                                (pattern[i + 1] == '#' || pattern[i + 1] == '*');
      const std::size_t blanks = std::min(line.find_first_not_of(", \t"), line.size());
      if (blanks == 0 && parts_number) return std::nullopt;
      line.remove_prefix(blanks);
    } else if (pattern[i] == '#') {
      double number = 0.0;
      const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), number);
      if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
      line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
      numbers.push_back(number);
    } else {
      if (!line.starts_with(pattern[i])) return std::nullopt;
      line.remove_prefix(1);
    }
  }
  return line.empty() ? std::optional(std::move(numbers)) : std::nullopt;
}

bool has_line(const Document& document, bool (*is_it)(std::string_view)) {
  for (Lines lines(document.text); lines.next();) {
    if (is_it(lines.line())) return true;
  }
  return false;
}

std::string plain_text(std::string_view text) {
  struct Sign {
    std::string_view utf_8;
    std::string_view ascii;
  };
  constexpr std::array signs{Sign{"\xc2\xb5", "u"},     Sign{"\xce\xbc", "u"},
                             Sign{"\xe2\x80\x93", "-"}, Sign{"\xe2\x80\x94", "-"},
                             Sign{"\xc2\xa0", " "},     Sign{"\xe2\x80\xaf", " "},
                             Sign{"\xe2\x80\x89", " "}};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const auto* const sign = std::ranges::find_if(
        signs, [&](const Sign& each) { return text.substr(at).starts_with(each.utf_8); });
    if (sign == signs.end()) {
      plain += text[at++];
      continue;
    }
    at += sign->utf_8.size();
    const bool is_in_number = sign->ascii == " " && !plain.empty() && is_digit(plain.back()) &&
                              at < text.size() && is_digit(text[at]);
    if (!is_in_number) plain += sign->ascii;
  }
  return plain;
}

bool is_prose(std::string_view line) {
  constexpr std::ptrdiff_t min_letters = 5;
  return std::ranges::count_if(line, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         }) >= min_letters;
}

bool Lines::next() {
  if (rest_.empty()) return false;
  const std::size_t size = std::min(rest_.find('\n'), rest_.size());
  line_ = trimmed(rest_.substr(0, size));
  rest_.remove_prefix(std::min(size + 1, rest_.size()));
  ++number_;
  return true;
}

void Lines::refuse(std::string_view problem) const {
  throw RunFormatError(fmt::format("line {}: {}", number_, problem));
}

void Lines::refuse_instead_of(std::string_view expected) const {
  refuse(fmt::format("expected {}, found '{}'", expected, excerpt(line_)));
}

Run imported_run(const ImportHints& hints, std::string_view tool, const Format& format) {
  Run run;
  run.imported = ImportInfo{std::string(tool), std::string(format.name), hints.file};
  run.device.timer = Timer::imported;
  run.device.type = DeviceType::other;
  run.device.name = hints.device_name.empty() ? hints.file : hints.device_name;
  return run;
}

Finding imported_finding(std::string_view series, double value, std::string_view unit,
                         std::string_view tool) {
  Finding finding;
  finding.series = series;
  finding.source = Source::measured;
  finding.method = tool;
  const auto* const known = std::ranges::find(units, unit, &UnitRow::word);
  finding.name = known == units.end() ? "result" : known->name;
  finding.unit = known == units.end() ? unit : known->unit;
  finding.value = known == units.end() ? value : value * known->factor;
  finding.better = usual_direction(finding.unit);
  return finding;
}

Finding imported_gap(std::string_view series, std::string_view unit, std::string_view reason,
                     std::string_view tool) {
  Finding finding = imported_finding(series, 1.0, unit, tool);
  finding.value.reset();
  finding.source = Source::reported;
  finding.reason = reason.empty() ? "the tool gives no reason" : reason;
  return finding;
}

ProbeResult& result_of(Run& run, std::string_view probe) {
  const auto found = std::ranges::find(run.results, probe, &ProbeResult::probe);
  if (found != run.results.end()) return *found;
  ProbeResult result;
  result.probe = probe;
  run.results.push_back(std::move(result));
  return run.results.back();
}

std::string text_at(const json::Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const json::Json* object_at(const json::Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

std::string series_or(const ImportHints& hints, std::string_view otherwise) {
  return hints.series.empty() ? std::string(otherwise) : hints.series;
}

Point latency_point(std::string_view series, double bytes, double ns, const Lines& at) {
  constexpr double max_bytes = 1e18;
  constexpr double max_ns = 1e15;
  const double whole = std::round(bytes);
  if (whole < 1.0 || whole > max_bytes || ns > max_ns) {
    at.refuse("expected a size from 1 to 10^18 bytes and a latency up to 10^15 ns");
  }
  Point point;
  point.series = series;
  point.parameters.set("working_set_bytes", static_cast<std::int64_t>(whole));
  point.facts.set(imported_ns, ns);
  return point;
}

void set_clock(Run& run, double hertz) {
  Clock& clock = run.device.clock;
  clock.rate = ClockRate::core_cycles;
  clock.ticks_per_ns = hertz / ns_per_second;
  clock.ticks_per_ns_low = clock.ticks_per_ns;
  clock.ticks_per_ns_high = clock.ticks_per_ns;
}

}  // namespace import

std::vector<Run> import_runs(std::string_view text, const ImportHints& hints) {
  std::vector<Run> runs = import::import_any(text, hints);
  for (Run& run : runs) {
    import::count_units(run.device);
    for (const ProbeResult& result : run.results) {
      for (const Point& point : result.points) {
        import::expect_sane(point.parameters);
        import::expect_sane(point.facts);
      }
      for (const Finding& finding : result.findings) {
        if (finding.value) import::expect_sane(printable_ascii(finding.series), *finding.value);
      }
    }
  }
  return runs;
}

}  // namespace clprobe
