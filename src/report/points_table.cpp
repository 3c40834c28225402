// SPDX-License-Identifier: Apache-2.0
// Every measured point (-v).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "clprobe/estimate.hpp"
#include "report/curves.hpp"
#include "report/findings.hpp"
#include "report/table_sections.hpp"

namespace clprobe::report {
namespace {

constexpr int indent = 1;

// One digit more than a finding: what is looked for here is small differences.
std::string four_digits(double value) {
  const bool is_long = std::fabs(value) >= 999.95;
  return is_long ? fmt::format("{:.0f}", value) : fmt::format("{:#.4g}", value);
}

// Parameters that are the same for all points of a series are said once, above the table.
std::vector<std::string> columns_that_vary(const std::vector<const Point*>& points,
                                           std::string& same) {
  Names names;
  for (const Point* point : points) names.add(*point);
  std::vector<std::string> varying;
  for (const std::string& name : names.in_order()) {
    const Value* const first = find_known(*points.front(), name);
    const bool varies = std::any_of(points.begin(), points.end(), [&](const Point* point) {
      const Value* const value = find_known(*point, name);
      return (value == nullptr) != (first == nullptr) || (value != nullptr && *value != *first);
    });
    if (varies) {
      varying.push_back(name);
    } else {
      same += fmt::format("{}{} {}", same.empty() ? "" : ", ", parameter_title(name),
                          parameter_text(name, *first));
    }
  }
  return varying;
}

/// What a value in ns, or the number of things in a ns, is called.
const char* value_column(Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return "ns";
    case Unit::bytes_per_second:
      return "GB/s";
    case Unit::operations_per_second:
      return "Gop/s";
    case Unit::hertz:
      return "GHz";
  }
  return "";
}

Row point_row(const Page& page, const Point& point, const std::vector<std::string>& names,
              const DeviceInfo& device, bool is_rate) {
  Row row;
  for (const std::string& name : names) {
    const Value* const value = find_known(point, name);
    row.cells.push_back(value == nullptr ? "" : page.show(parameter_text(name, *value)));
  }
  if (!point.failure.empty()) row.remark = page.show("failed: " + point.failure);
  const std::optional<Estimate> time = estimate(point, device);
  if (!time) {
    if (row.remark.empty()) row.remark = "its samples yield no time";
    return row;
  }
  // Bytes in a nanosecond are gigabytes in a second.
  const auto shown = [&](double ns) { return four_digits(is_rate ? 1.0 / ns : ns); };
  const Interval& ns = time->ns_interval;
  row.cells.push_back(shown(time->ns));
  row.cells.push_back(page.show(
      fmt::format("{}–{}", shown(is_rate ? ns.high : ns.low), shown(is_rate ? ns.low : ns.high))));
  if (!is_rate) row.cells.push_back(time->cycles ? four_digits(*time->cycles) : "");
  row.cells.push_back(fmt::format("{}", point.samples.size()));
  return row;
}

}  // namespace

void add_points(Page& page, const ProbeResult& result, const DeviceInfo& device) {
  const std::string x = x_of(result);
  const bool is_rate = result.unit != Unit::seconds;
  for (const std::string& series : series_of(result)) {
    std::vector<const Point*> points;
    for (const Point& point : result.points) {
      if (point.series == series) points.push_back(&point);
    }
    std::stable_sort(points.begin(), points.end(), [&](const Point* a, const Point* b) {
      return numeric(*a, x).value_or(0.0) < numeric(*b, x).value_or(0.0);
    });
    std::string same;
    const std::vector<std::string> names = columns_that_vary(points, same);
    std::vector<Column> columns;
    columns.reserve(names.size() + 4);
    for (const std::string& name : names) {
      columns.push_back(
          {page.show(parameter_title(name)), numeric(*points.front(), name).has_value()});
    }
    for (const char* title : {value_column(result.unit), "low-high", "cycles", "samples"}) {
      const bool is_time = std::string_view(title) == "cycles";
      if (!is_rate || !is_time) columns.push_back({title, true});
    }
    std::vector<Row> rows;
    rows.reserve(points.size());
    for (const Point* point : points) {
      rows.push_back(point_row(page, *point, names, device, is_rate));
    }
    page.blank();
    page.line({{" " + page.show(series), Ink::heading}});
    if (!same.empty()) page.prose(" ", same, Ink::faint);
    page.table(columns, rows, indent);
  }
}

}  // namespace clprobe::report
