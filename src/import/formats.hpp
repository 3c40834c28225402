// SPDX-License-Identifier: Apache-2.0
// The contract of an imported format, and functions that formats share. A new format is a file that
// defines a `Format`, its declaration here, and its line in import.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/api/import.hpp"
#include "run/api/json.hpp"

namespace clprobe::import {

/// The text of a file, and its JSON value if it is JSON.
struct Document {
  std::string_view text{};
  std::optional<json::Json> json{};
};

/// The options of the user that a format uses.
enum class Uses { nothing, clock, clock_and_series, all };

enum class Kind { text, json, xml };

struct Format {
  std::string_view name{};  ///< name in the document: "mt4g-json"
  Kind kind{Kind::text};
  std::string_view tool{};  ///< name in a sentence: "mt4g"
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

/// Returns an empty run of a device for the results of another tool.
Run imported_run(const ImportHints& hints, std::string_view tool, const Format& format);

/// Returns a number of another tool as a finding without an interval. `unit` is the tool's word,
/// which determines the SI value and the name "bandwidth", "throughput" or "time".
Finding imported_finding(std::string_view series, double value, std::string_view unit,
                         std::string_view tool);

/// Returns a finding without a value, for a metric that the tool could not measure.
Finding imported_gap(std::string_view series, std::string_view unit, std::string_view reason,
                     std::string_view tool);

/// Returns the run's result of the probe, and adds the result if necessary.
ProbeResult& result_of(Run& run, std::string_view probe);

/// Returns the text at the key; empty if there is none.
std::string text_at(const json::Json& object, const char* key);
/// Returns the object at the key; null without one.
const json::Json* object_at(const json::Json& object, const char* key);

/// Reads a finite number above 0 in fixed or scientific notation; returns nothing for other text.
std::optional<double> positive_number(std::string_view text);

/// Returns the beginning of a text in printable ASCII, for messages.
std::string excerpt(std::string_view text);

/// Returns the nonempty words between the separators.
std::vector<std::string_view> split_words(std::string_view text, std::string_view separators);

/// Returns the numbers of a line in the form of `pattern`; nothing for another form. In a pattern,
/// `#` matches a finite number, and `*` at the end any text. A blank matches blanks, tabs and
/// commas, at least one between two numbers or before `*`.
std::optional<std::vector<double>> numbers_in(std::string_view line, std::string_view pattern);

/// Returns true if any line of the text satisfies `is_it`.
bool has_line(const Document& document, bool (*is_it)(std::string_view));

/// Returns the text with micro signs, dashes and blanks of UTF-8 as ASCII, and without such blanks
/// inside of numbers.
std::string plain_text(std::string_view text);

/// Returns true for a remark in prose, such as "65536 K would exceed ...", at the end of a tool's
/// output.
bool is_prose(std::string_view line);

/// The trimmed lines of a text with their numbers, from 1.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  /// Advances to the next line; returns false after the last.
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

/// Returns the series of the user's options, or else `otherwise`.
std::string series_or(const ImportHints& hints, std::string_view otherwise);

/// Returns a point of `latency`. Refuses the line if size or time are out of range.
Point latency_point(std::string_view series, double bytes, double ns, const Lines& at);

/// Sets the device's clock rate, so that reports also show times in cycles.
void set_clock(Run& run, double hertz);

}  // namespace clprobe::import
