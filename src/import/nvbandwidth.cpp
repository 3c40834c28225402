// SPDX-License-Identifier: Apache-2.0
// nvbandwidth's printed text and its JSON (-j). Each test has a matrix of numbers, stored as text.
// One run contains the results of all GPUs of the host, since most results are for pairs of GPUs. A
// result that a probe of clprobe also measures becomes a finding of that probe: the median of all
// GPUs, with the interval from minimum to maximum, or one finding per copy from the first GPU.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "import/formats.hpp"
#include "text/api/text.hpp"

namespace clprobe::import::nvbandwidth {

namespace {

constexpr std::string_view tool_name = "nvbandwidth";

struct Counterpart {
  std::string_view test;
  std::string_view probe;
  std::string_view name;
  std::string_view series;
  // True if the test copies between GPUs. Each GPU except the first then gets a finding, from the
  // first GPU's row of the matrix.
  bool is_of_pairs{false};
};

// nvbandwidth uses pinned host memory, and copies by copy engines (ce) or by kernels (sm).
constexpr std::array counterparts{
    Counterpart{"host_to_device_memcpy_ce", "transfer", "bandwidth", "to-device-pinned"},
    Counterpart{"device_to_host_memcpy_ce", "transfer", "bandwidth", "from-device-pinned"},
    Counterpart{"host_to_device_bidirectional_memcpy_ce", "transfer", "one_way_bandwidth",
                "to-device-duplex"},
    Counterpart{"device_to_host_bidirectional_memcpy_ce", "transfer", "one_way_bandwidth",
                "from-device-duplex"},
    Counterpart{"device_local_copy", "transfer", "bandwidth", "on-device"},
    Counterpart{"host_to_device_memcpy_sm", "transfer", "bandwidth", "to-device-kernel"},
    Counterpart{"device_to_host_memcpy_sm", "transfer", "bandwidth", "from-device-kernel"},
    Counterpart{"device_to_device_memcpy_write_ce", "transfer", "bandwidth", "to-peer", true},
    Counterpart{"device_to_device_memcpy_read_ce", "transfer", "bandwidth", "from-peer", true},
    Counterpart{"host_device_latency_sm", "latency", "link_latency", "host"}};

const Counterpart* counterpart_of(std::string_view test) {
  const auto* const found = std::ranges::find(counterparts, test, &Counterpart::test);
  return found == counterparts.end() ? nullptr : found;
}

/// Names of a test's rows and columns, and the unit, parsed from a text such as "memcpy CE CPU(row)
/// -> GPU(column) bandwidth (GB/s)".
struct Description {
  std::string row{};
  std::string column{"GPU"};
  std::string unit{"GB/s"};
};

/// Returns the word that ends before `mark`; empty if the text lacks `mark`.
std::string word_before(std::string_view text, std::string_view mark) {
  const std::size_t end = text.find(mark);
  if (end == std::string_view::npos) return {};
  const std::size_t blank = text.substr(0, end).find_last_of(' ');
  const std::size_t start = blank == std::string_view::npos ? 0 : blank + 1;
  return std::string(text.substr(start, end - start));
}

Description description_of(const std::string& text) {
  Description description;
  description.row = word_before(text, "(row)");
  if (const std::string column = word_before(text, "(column)"); !column.empty()) {
    description.column = column;
  }
  const std::size_t open = text.rfind('(');
  if (text.ends_with(')') && open != std::string::npos) {
    description.unit = text.substr(open + 1, text.size() - open - 2);
  }
  return description;
}

class Reader {
 public:
  Reader(Run& run, std::string tool) : run_(run), tool_(std::move(tool)) {}

  void read(const json::Json& test, std::size_t index) {
    const std::string where = fmt::format("nvbandwidth.testcases[{}]", index);
    const std::string name = test.is_object() ? text_at(test, "name") : std::string();
    if (name.empty()) throw RunFormatError(where + ": expected the name of a test");
    const auto matrix = test.find("bandwidth_matrix");
    if (matrix == test.end() || !matrix->is_array()) {
      const std::string error = text_at(test, "error");
      const std::string status = text_at(test, "status");
      add(imported_gap(name, "GB/s", error.empty() ? status : error, tool_));
      return;
    }
    expect_rows(*matrix, where);
    const Description description = description_of(text_at(test, "bandwidth_description"));
    const std::size_t parts = parts_of(*matrix, description);
    const Counterpart* const known = parts == 1 ? counterpart_of(name) : nullptr;
    if (known != nullptr && known->is_of_pairs) {
      add_peers(*known, *matrix, description.unit);
    } else if (known != nullptr) {
      add_counterpart(*known, *matrix, description.unit);
      // The matrix has no other number.
      if (matrix->size() == 1 && matrix->front().size() == 1) return;
    }
    const std::size_t rows = matrix->size() / parts;
    std::size_t values = 0;
    for (std::size_t row = 0; row < matrix->size(); ++row) {
      const json::Json& cells = (*matrix)[row];
      for (std::size_t column = 0; column < cells.size(); ++column) {
        const std::string of_row =
            rows > 1 ? fmt::format(" {} {},", description.row, row % rows) : std::string();
        const std::string series = fmt::format("{}{}{} {} {}", name, part_name(row / rows, parts),
                                               of_row, description.column, column);
        if (add_cell(cells[column], series, description.unit)) ++values;
      }
    }
    const auto sum = test.find("sum");
    const bool has_sum = sum != test.end() && sum->is_number() && sum->get<double>() > 0.0;
    // A sum of latencies has no meaning. For a test with several matrices, the tool writes the sum
    // of the last matrix.
    if (values > 1 && has_sum && description.unit == "GB/s") {
      add(imported_finding(fmt::format("{}{} sum", name, part_name(parts - 1, parts)),
                           sum->get<double>(), description.unit, tool_));
    }
  }

 private:
  static void expect_rows(const json::Json& matrix, const std::string& where) {
    for (std::size_t row = 0; row < matrix.size(); ++row) {
      if (matrix[row].is_array()) continue;
      throw RunFormatError(fmt::format("{}.bandwidth_matrix[{}]: expected a list", where, row));
    }
  }

  /// Returns the number of matrices of a test. A bidirectional copy has three matrices, one below
  /// the other: one for each direction, and their sum. A matrix for pairs of GPUs has as many rows
  /// as columns. A matrix for the host has one row.
  static std::size_t parts_of(const json::Json& matrix, const Description& description) {
    const std::size_t rows = matrix.size();
    const std::size_t columns = rows == 0 ? 0 : matrix.front().size();
    if (columns == 0 || rows <= columns || description.row.empty()) return 1;
    if (rows % columns == 0) return rows / columns;
    throw RunFormatError(fmt::format(
        "nvbandwidth.testcases: {} rows cannot be divided into square matrices of {} columns", rows,
        columns));
  }

  static std::string part_name(std::size_t part, std::size_t parts) {
    constexpr std::array<std::string_view, 3> ways{" first way", " second way", " both ways"};
    if (parts == 1) return {};
    return parts == ways.size() ? std::string(ways.at(part)) : fmt::format(" part {}", part + 1);
  }

  void add(Finding finding) {
    if (finding.unit == "seconds") finding.name = "latency";
    result_of(run_, tool_name).findings.push_back(std::move(finding));
  }

  /// Returns the number in a cell; nothing for "N/A". "N/A" marks the diagonal, and pairs of GPUs
  /// that cannot access each other.
  static std::optional<double> number_of(const json::Json& cell) {
    const auto number = cell.is_number()   ? std::optional(cell.get<double>())
                        : cell.is_string() ? positive_number(cell.get<std::string>())
                                           : std::nullopt;
    return number && *number > 0.0 ? number : std::nullopt;
  }

  bool add_cell(const json::Json& cell, const std::string& series, const std::string& unit) {
    const auto number = number_of(cell);
    if (!number) return false;
    add(imported_finding(series, *number, unit, tool_));
    return true;
  }

  void add_counterpart(const Counterpart& known, const json::Json& matrix,
                       const std::string& unit) {
    std::vector<double> values;
    for (const json::Json& row : matrix) {
      for (const json::Json& cell : row) {
        if (const auto number = number_of(cell)) values.push_back(*number);
      }
    }
    if (values.empty()) return;
    const auto in_si = [&](double value) {
      return *imported_finding(known.series, value, unit, tool_).value;
    };
    Finding finding = imported_finding(known.series, median(values), unit, tool_);
    finding.name = known.name;
    if (values.size() > 1) {
      finding.low = in_si(*std::ranges::min_element(values));
      finding.high = in_si(*std::ranges::max_element(values));
    }
    result_of(run_, known.probe).findings.push_back(std::move(finding));
  }

  void add_peers(const Counterpart& known, const json::Json& matrix, const std::string& unit) {
    for (std::size_t peer = 1; !matrix.empty() && peer < matrix.front().size(); ++peer) {
      const auto number = number_of(matrix.front()[peer]);
      if (!number) continue;
      Finding finding =
          imported_finding(fmt::format("{}-{}", known.series, peer), *number, unit, tool_);
      finding.name = known.name;
      result_of(run_, known.probe).findings.push_back(std::move(finding));
    }
  }

  Run& run_;
  std::string tool_;
};

/// Returns the model of a device: "NVIDIA H200" for "0: NVIDIA H200 (00000000:18:00): (host)".
std::string model_in(const std::string& device) {
  const std::size_t colon = device.find(": ");
  const std::size_t start = colon == std::string::npos ? 0 : colon + 2;
  return device.substr(start, device.find(" (", start) - start);
}

/// Returns a name for all devices: "NVIDIA H200", "8 x NVIDIA H200", or a list of different models.
std::string name_devices(const json::Json& list) {
  std::vector<std::string> models;
  for (const json::Json& each : list) {
    if (each.is_string()) models.push_back(model_in(each.get<std::string>()));
  }
  if (models.size() < 2) return models.empty() ? std::string() : models.front();
  const bool is_one_model =
      std::ranges::all_of(models, [&](const std::string& each) { return each == models.front(); });
  return is_one_model ? fmt::format("{} x {}", models.size(), models.front())
                      : fmt::format("{}", fmt::join(models, ", "));
}

bool recognises(const Document& document) {
  return document.json && document.json->is_object() &&
         object_at(*document.json, "nvbandwidth") != nullptr;
}

/// Returns the text after `label`; nothing if the line does not begin with `label`.
std::optional<std::string> text_after(std::string_view line, std::string_view label) {
  if (!line.starts_with(label)) return std::nullopt;
  return std::string(trimmed(line.substr(label.size())));
}

bool recognises_text(const Document& document) {
  return has_line(document,
                  [](std::string_view line) { return line.starts_with("nvbandwidth Version:"); });
}

/// Adds a line of a test's output to `test`: the description, a row of the matrix, the sum, or the
/// reason for a missing matrix. Sets `is_in_matrix` for the next line.
void read_test_line(json::Json& test, std::string_view line, bool& is_in_matrix) {
  const std::vector<std::string_view> words = split_words(line, " \t");
  if (words.size() > 1 && is_in_matrix) {
    json::Json row = json::Json::array();
    for (std::size_t i = 1; i < words.size(); ++i) row.push_back(std::string(words[i]));
    test["bandwidth_matrix"].push_back(std::move(row));
  }
  const bool is_described = test.contains("bandwidth_description");
  const bool is_heading = line.find_first_not_of("0123456789 \t") == std::string_view::npos;
  is_in_matrix = !words.empty() && is_described && (is_in_matrix || is_heading);
  if (words.empty() || is_in_matrix) return;
  if (const auto sum = text_after(line, "SUM ")) {
    if (const auto number = positive_number(split_words(*sum, " ").back())) test["sum"] = *number;
  } else if (line.ends_with("(GB/s)") || line.ends_with("(ns)")) {
    test["bandwidth_description"] = std::string(line);
  } else if (!is_described) {
    test["error"] = excerpt(line);
  }
}

/// Returns the printed text in the format of the tool's JSON.
json::Json json_of(std::string_view text) {
  struct Label {
    std::string_view label;
    const char* key;
  };
  constexpr std::array labels{Label{"nvbandwidth Version:", "version"},
                              Label{"Driver Version:", "Driver Version"}};
  json::Json root = json::Json::object();
  json::Json tests = json::Json::array();
  json::Json devices = json::Json::array();
  bool is_in_matrix = false;
  for (Lines lines(text); lines.next();) {
    const std::string_view line = lines.line();
    for (const Label& each : labels) {
      if (const auto value = text_after(line, each.label)) root[each.key] = *value;
    }
    if (line.starts_with("NOTE:")) break;
    if (const auto device = text_after(line, "Device ")) {
      if (tests.empty()) devices.push_back(*device);
    }
    if (const auto running = text_after(line, "Running ")) {
      json::Json test = json::Json::object();
      test["name"] = running->substr(0, running->find('.'));
      tests.push_back(std::move(test));
      is_in_matrix = false;
    } else if (!tests.empty()) {
      read_test_line(tests.back(), line, is_in_matrix);
    }
  }
  root["GPU Device list"] = std::move(devices);
  root["testcases"] = std::move(tests);
  return root;
}

std::vector<Run> read_root(const json::Json& root, const ImportHints& hints, const Format& as) {
  const auto tests = root.find("testcases");
  if (tests == root.end() || !tests->is_array() || tests->empty()) {
    const std::string error = text_at(root, "error");
    throw RunFormatError(error.empty()
                             ? "nvbandwidth.testcases: expected a list of tests, found none"
                             : fmt::format("nvbandwidth failed: {}", excerpt(error)));
  }
  std::string version = text_at(root, "version");
  if (version.empty()) version = text_at(root, "git_version");
  const std::string tool = fmt::format("{}{}{}", tool_name, version.empty() ? "" : " ", version);
  Run run = imported_run(hints, tool, as);
  run.device.driver = text_at(root, "Driver Version");
  const auto devices = root.find("GPU Device list");
  const std::string name = devices == root.end() ? std::string() : name_devices(*devices);
  if (!name.empty() && hints.device_name.empty()) run.device.name = name;
  Reader reader(run, tool);
  for (std::size_t i = 0; i < tests->size(); ++i) reader.read((*tests)[i], i);
  if (run.results.empty()) {
    throw RunFormatError("nvbandwidth.testcases: expected a bandwidth, found none");
  }
  return {std::move(run)};
}

std::vector<Run> read(const Document& document, const ImportHints& hints) {
  return read_root(document.json->at("nvbandwidth"), hints, json_format);
}

std::vector<Run> read_text(const Document& document, const ImportHints& hints) {
  return read_root(json_of(document.text), hints, text_format);
}

}  // namespace

const Format text_format{.name = "nvbandwidth-text",
                         .tool = "nvbandwidth",
                         .recognises = recognises_text,
                         .read = read_text};

const Format json_format{.name = "nvbandwidth-json",
                         .kind = Kind::json,
                         .tool = "nvbandwidth",
                         .recognises = recognises,
                         .read = read};

}  // namespace clprobe::import::nvbandwidth
