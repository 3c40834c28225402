// SPDX-License-Identifier: Apache-2.0
// Interface of an imported format, and functions that formats share. A new format consists of a
// source file that defines a `Format`, a declaration in this header, and a line in import.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/api/import.hpp"
#include "run/api/json.hpp"

namespace clprobe::import {

/// Text of a file, and its JSON value if the text is JSON.
struct Document {
  std::string_view text{};
  std::optional<json::Json> json{};
};

/// The user's options that a format uses.
enum class Uses { nothing, clock, clock_and_series, all };

enum class Kind { text, json, xml };

struct Format {
  std::string_view name{};  ///< name in the run document: "mt4g-json"
  Kind kind{Kind::text};
  std::string_view tool{};  ///< name of the tool in messages: "mt4g"
  Uses uses{Uses::nothing};
  bool (*recognises)(const Document&){nullptr};
  /// Returns the runs in the document. Throws RunFormatError with the line or the JSON path.
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

/// Returns a run without results for a device that another tool measured.
Run imported_run(const ImportHints& hints, std::string_view tool, const Format& format);

/// Returns a finding without an interval for a number that another tool measured. `unit`, the
/// tool's name of the unit, determines the factor to SI units and the finding's name: "bandwidth",
/// "throughput" or "time". The finding of an unknown unit keeps the unit and is named "result".
Finding imported_finding(std::string_view series, double value, std::string_view unit,
                         std::string_view tool);

/// Returns a finding without a value, for a metric that the other tool could not measure.
Finding imported_gap(std::string_view series, std::string_view unit, std::string_view reason,
                     std::string_view tool);

/// Returns the run's result of the probe `probe`, and adds an empty result if the run has none.
ProbeResult& result_of(Run& run, std::string_view probe);

/// Returns the text at `key`; empty if the object has none.
std::string text_at(const json::Json& object, const char* key);
/// Returns the object at `key`; null if there is none.
const json::Json* object_at(const json::Json& object, const char* key);

/// Returns a finite number above 0 in fixed or scientific notation; nothing for other text.
std::optional<double> positive_number(std::string_view text);

/// Returns the beginning of a text in printable ASCII, at most 43 columns, for messages.
std::string excerpt(std::string_view text);

/// Returns the nonempty words of a text between any of the characters `separators`.
std::vector<std::string_view> split_words(std::string_view text, std::string_view separators);

/// Returns the numbers in a line that matches `pattern`; nothing if the line does not match. In a
/// pattern, `#` matches a finite number, and `*` at the end matches any text. A blank matches any
/// number of blanks, tabs and commas, but at least one between `#` and a second `#` or `*`.
std::optional<std::vector<double>> numbers_in(std::string_view line, std::string_view pattern);

/// Returns true if `is_it` is true for a line of the text.
bool has_line(const Document& document, bool (*is_it)(std::string_view));

/// Returns the text with Unicode's micro signs, dashes, and no-break and thin spaces replaced by
/// ASCII. Such a space between two digits is removed.
std::string plain_text(std::string_view text);

/// Returns true for a line with at least five letters, such as the remark "65536 K would exceed
/// ..." at the end of a tool's output.
bool is_prose(std::string_view line);

/// Lines of a text without surrounding blanks, with line numbers from 1.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  /// Advances to the next line; returns false after the last line.
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

/// Returns the series that the user selected; without one, `otherwise`.
std::string series_or(const ImportHints& hints, std::string_view otherwise);

/// Returns a point of the probe `latency`. Throws RunFormatError with the line if size or time is
/// out of range.
Point latency_point(std::string_view series, double bytes, double ns, const Lines& at);

/// Sets the device's clock rate in Hz, so that reports also show times in cycles.
void set_clock(Run& run, double hertz);

}  // namespace clprobe::import
