// SPDX-License-Identifier: Apache-2.0
#include "report/comparison_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "report/chart.hpp"
#include "report/comparison_text.hpp"
#include "report/findings.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

/// What varies along a curve, as numbers: those of a point's key.
using Coordinates = std::map<std::string, double, std::less<>>;

/// "working_set_bytes 65536, step_bytes 64"; words in a key are no coordinates.
Coordinates coordinates_of(std::string_view key) {
  Coordinates found;
  while (!key.empty()) {
    const std::size_t end = std::min(key.find(", "), key.size());
    const std::string_view part = key.substr(0, end);
    const std::size_t blank = std::min(part.find(' '), part.size());
    const std::string_view digits = part.substr(std::min(blank + 1, part.size()));
    double value = 0.0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool is_number = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    if (is_number && std::isfinite(value)) found.emplace(part.substr(0, blank), value);
    key.remove_prefix(std::min(end + 2, key.size()));
  }
  return found;
}

/// Points of a run that make one line.
struct Line {
  std::size_t run{0};
  std::string series{};
  std::map<double, double> values{};  ///< by place, both above 0
};

/// The lines over one parameter in one unit.
struct Lines {
  std::string along{};
  std::string unit{};
  Scale scale{Scale::logarithmic};
  std::vector<Line> lines{};
};

/// The declared parameter where it varies, else the one with the most values.
std::string along_of(const std::vector<Coordinates>& points, const std::string& declared) {
  std::map<std::string, std::set<double>> values;
  for (const Coordinates& point : points) {
    for (const auto& [name, value] : point) {
      if (value > 0.0) values[name].insert(value);
    }
  }
  const auto wanted = values.find(declared);
  if (wanted != values.end() && wanted->second.size() > 1) return declared;
  std::string most;
  std::size_t count = 1;
  for (const auto& [name, distinct] : values) {
    if (distinct.size() <= count) continue;
    most = name;
    count = distinct.size();
  }
  return most;
}

/// The parameter that tells points of one place apart: the declared one first. Empty where none
/// needs to, nothing where no single one can.
std::optional<std::string> apart_by(const std::vector<Coordinates>& points,
                                    const std::string& along, const std::string& declared) {
  const auto is_unique = [&](const std::string& name) {
    std::set<std::pair<double, double>> seen;
    return std::all_of(points.begin(), points.end(), [&](const Coordinates& point) {
      const auto x = point.find(along);
      const auto other = point.find(name);
      if (x == point.end()) return true;
      return seen.emplace(x->second, other == point.end() ? 0.0 : other->second).second;
    });
  };
  if (is_unique("")) return std::string();
  std::set<std::string> names{};
  for (const Coordinates& point : points) {
    for (const auto& [name, value] : point) names.insert(name);
  }
  if (names.contains(declared) && is_unique(declared)) return declared;
  for (const std::string& name : names) {
    if (name != along && is_unique(name)) return name;
  }
  return std::nullopt;
}

/// The lines of one curve: several where a second parameter varies.
std::vector<Line> lines_of(const ComparedCurve& curve, const View& view, std::size_t run,
                           std::string& along) {
  std::vector<Coordinates> points;
  points.reserve(curve.points.size());
  for (const ComparedPoint& point : curve.points) points.push_back(coordinates_of(point.key));
  along = along_of(points, view.x);
  if (along.empty()) return {};
  const std::optional<std::string> second = apart_by(points, along, view.y);
  if (!second) return {};
  std::map<double, Line> lines;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto x = points[i].find(along);
    if (x == points[i].end() || !(x->second > 0.0) || !(curve.points[i].value > 0.0)) continue;
    const auto other = points[i].find(*second);
    const double which = other == points[i].end() ? 0.0 : other->second;
    Line& line = lines[which];
    line.values[x->second] = curve.points[i].value;
    if (!line.series.empty()) continue;
    line.run = run;
    line.series = curve.series;
    if (!second->empty()) {
      line.series += fmt::format(", {} {}", parameter_title(*second), place_text(*second, which));
    }
  }
  std::vector<Line> found;
  for (auto& [which, line] : lines) {
    if (line.values.size() > 1) found.push_back(std::move(line));
  }
  return found;
}

std::vector<Lines> all_lines(std::span<const RunDigest> runs, std::string_view probe,
                             std::string& title) {
  std::vector<Lines> all;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const ComparedResult& result : runs[run].results) {
      if (result.probe != probe) continue;
      if (title.empty()) title = result.view.value_title;
      for (const ComparedCurve& curve : result.curves) {
        std::string along;
        std::vector<Line> lines = lines_of(curve, result.view, run, along);
        if (lines.empty()) continue;
        auto place = std::find_if(all.begin(), all.end(), [&](const Lines& each) {
          return each.along == along && each.unit == curve.unit;
        });
        if (place == all.end()) {
          place = all.insert(all.end(), Lines{along, curve.unit, result.view.scale, {}});
        }
        std::move(lines.begin(), lines.end(), std::back_inserter(place->lines));
      }
    }
  }
  return all;
}

/// The value of the baseline's line of this name at that place; nothing where it has none.
std::optional<double> baseline_value(const Lines& all, const Line& line, std::size_t baseline,
                                     double x) {
  for (const Line& each : all.lines) {
    if (each.run != baseline || each.series != line.series) continue;
    const auto found = each.values.find(x);
    if (found != each.values.end()) return found->second;
  }
  return std::nullopt;
}

/// The lines of one series, and their ratios to the baseline's, each with the axes' titles.
struct Compared {
  Chart values{};
  Chart ratios{};
};

Compared compared_lines(const Lines& all, const std::string& series, std::size_t baseline,
                        const std::vector<std::string>& names) {
  Compared charts;
  for (const Line& line : all.lines) {
    if (line.series != series) continue;
    ChartSeries values{.name = names[line.run], .look = line.run};
    ChartSeries ratios = values;
    for (const auto& [x, value] : line.values) {
      values.points.push_back({.x = x, .y = value});
      const std::optional<double> base = baseline_value(all, line, baseline, x);
      if (!base) continue;
      values.points.back().remark = ratio_text(value / *base) + "x " + run_letter(baseline);
      ratios.points.push_back({.x = x, .y = value / *base});
    }
    charts.values.series.push_back(std::move(values));
    if (!ratios.points.empty()) charts.ratios.series.push_back(std::move(ratios));
  }
  return charts;
}

/// Ratios near 1 differ on a linear axis alone.
Scale scale_of_ratios(const Chart& chart) {
  constexpr double far = 4.0;
  double low = 1.0;
  double high = 1.0;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      low = std::min(low, point.y);
      high = std::max(high, point.y);
    }
  }
  return high > far * low ? Scale::logarithmic : Scale::linear;
}

void add_figures(const Lines& all, const std::string& series, std::string_view probe,
                 const std::string& y_title, std::size_t baseline,
                 const std::vector<std::string>& names, std::vector<Figure>& figures) {
  Compared charts = compared_lines(all, series, baseline, names);
  charts.values.y_unit = all.unit;
  charts.values.y_title = y_title;
  charts.ratios.y_unit.clear();
  charts.ratios.y_title = "ratio to " + run_letter(baseline);
  charts.ratios.y_scale = scale_of_ratios(charts.ratios);
  for (Chart* const chart : {&charts.values, &charts.ratios}) {
    chart->x_name = all.along;
    chart->scale = all.scale;
    if (chart->series.empty()) continue;
    const PictureText text{
        .title = fmt::format("{}: {}", printable(words(probe)), printable(series)),
        .subtitle = fmt::format("{} by {}", chart->y_title, printable(parameter_title(all.along))),
        .description = fmt::format("{} curves.", chart->series.size()),
        .has_values = true};
    figures.push_back({fmt::format("{}, {}", series, text.subtitle), draw_picture(*chart, text),
                       !figures.empty()});
  }
}

}  // namespace

std::vector<Figure> comparison_figures(std::span<const RunDigest> runs, std::size_t baseline,
                                       std::string_view probe,
                                       const std::vector<std::string>& names) {
  std::string title;
  std::vector<Figure> figures;
  for (const Lines& lines : all_lines(runs, probe, title)) {
    std::vector<std::string> drawn;
    for (const Line& line : lines.lines) {
      if (std::find(drawn.begin(), drawn.end(), line.series) != drawn.end()) continue;
      drawn.push_back(line.series);
      add_figures(lines, line.series, probe, title.empty() ? "value" : title, baseline, names,
                  figures);
    }
  }
  return figures;
}

}  // namespace clprobe::report
