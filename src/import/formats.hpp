// SPDX-License-Identifier: Apache-2.0
// The contract of a format that is read, and what the formats share: text by lines, results in the
// making, points of a latency curve. A new format is a file that defines a `Format`, its
// declaration here, and its line in import.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/import.hpp"
#include "run/json.hpp"

namespace clprobe::import {

/// The text of a file, and what it is as JSON.
struct Document {
  std::string_view text{};
  std::optional<json::Json> json{};
};

/// What of the hints a format has a use for.
enum class Uses { nothing, clock, clock_and_series, all };

enum class Kind { text, json, xml };

struct Format {
  std::string_view name{};  ///< in the document: "mt4g-json"
  Kind kind{Kind::text};
  std::string_view tool{};  ///< whose it is, in a sentence: "mt4g"
  Uses uses{Uses::nothing};
  bool (*recognises)(const Document&){nullptr};
  /// Throws RunFormatError with the line or the path.
  std::vector<Run> (*read)(const Document&, const ImportHints&){nullptr};
};

namespace clpeak {
extern const Format json_format;
extern const Format xml_format;
extern const Format csv_format;
extern const Format text_format;
}  // namespace clpeak
namespace nvbandwidth {
extern const Format json_format;
extern const Format text_format;
}  // namespace nvbandwidth
namespace rows {
extern const Format gpu_latency;
extern const Format gpu_cache;
extern const Format cuda_memcpy;
extern const Format lat_mem_rd;
extern const Format chips_and_cheese;
}  // namespace rows
namespace mt4g {
extern const Format format;
}
namespace clmempatterns {
extern const Format format;
}
namespace size_latency {
extern const Format format;
}

/// A run of a device of which nothing is known but what another tool said.
Run imported_run(const ImportHints& hints, std::string_view tool, const Format& format);

/// One number of another tool as a finding without an interval. `unit` is the tool's own word; the
/// value becomes SI, and the finding is called "bandwidth", "throughput" or "time" by it.
Finding imported_finding(std::string_view series, double value, std::string_view unit,
                         std::string_view tool);

/// The same for what the tool could not measure.
Finding imported_gap(std::string_view series, std::string_view unit, std::string_view reason,
                     std::string_view tool);

/// A result for the probe's id that has no points yet.
ProbeResult& result_of(Run& run, std::string_view probe);

/// The text at the key; empty where there is none.
std::string text_at(const json::Json& object, const char* key);
/// The object at the key, or null.
const json::Json* object_at(const json::Json& object, const char* key);

/// A finite number above 0 in fixed or scientific notation; nothing for anything else.
std::optional<double> positive_number(std::string_view text);

/// Its beginning, in printable ASCII, for messages.
std::string excerpt(std::string_view text);

/// The words between the separators, none of them empty.
std::vector<std::string_view> split_words(std::string_view text, std::string_view separators);

/// The numbers of a line that has the form of `pattern`; nothing where it has another. In a
/// pattern, `#` stands for a finite number, a blank for blanks, tabs and commas (at least one
/// behind a number where another one or `*` follows), and `*` at the end for any text.
std::optional<std::vector<double>> numbers_in(std::string_view line, std::string_view pattern);

/// True if the text has a line of which `is_it` is true.
bool has_line(const Document& document, bool (*is_it)(std::string_view));

/// The text with UTF-8's micro signs, dashes and blanks as ASCII; a blank that parts the digits of
/// a number goes.
std::string plain_text(std::string_view text);

/// True for a remark for people, such as "65536 K would exceed ...", with which tools end.
bool is_prose(std::string_view line);

/// The lines of a text, trimmed, and their numbers from 1 on.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  /// Goes to the next line; false behind the last.
  bool next();
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] int number() const { return number_; }

  /// Throws RunFormatError: "line 3: PROBLEM".
  [[noreturn]] void refuse(std::string_view problem) const;
  /// Throws RunFormatError: "line 3: expected EXPECTED, found '...'".
  [[noreturn]] void refuse_instead_of(std::string_view expected) const;

 private:
  std::string_view rest_;
  std::string_view line_{};
  int number_{0};
};

inline constexpr double kibi = 1024.0;
inline constexpr double mebi = kibi * kibi;

/// The series that the hints name; else `otherwise`.
std::string series_or(const ImportHints& hints, std::string_view otherwise);

/// A point of `latency`; the line that it stands in is refused where it cannot be one.
Point latency_point(std::string_view series, double bytes, double ns, const Lines& at);

/// The device's clock, by which times are cycles of its core, too.
void set_clock(Run& run, double hertz);

}  // namespace clprobe::import
