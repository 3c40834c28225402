// SPDX-License-Identifier: Apache-2.0
#include "report/comparison_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "clprobe/units.hpp"
#include "report/comparison_text.hpp"
#include "report/findings.hpp"
#include "report/page_axes.hpp"
#include "report/place_lists.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

using Json = nlohmann::ordered_json;

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

/// Fine ticks where nothing is far apart, else 1, 2 and 5 of each power of ten.
Json ratio_axis(const Range& range, std::size_t baseline) {
  constexpr double near = 1.9;
  Json ticks = Json::array();
  const auto add = [&](double value) {
    ticks.push_back(Json::array({rounded(value), format_number(value)}));
  };
  if (range.high <= near && range.low >= 1.0 / near) {
    for (int percent = 50; percent <= 200; percent += 5) add(percent / 100.0);
  } else {
    for (int power = -6; power <= 6; ++power) {
      for (const double digit : {1.0, 2.0, 5.0}) add(digit * std::pow(10.0, power));
    }
  }
  return {{"title", "ratio to " + run_letter(baseline)},
          {"ticks", std::move(ticks)},
          {"steps", Json::array({1, 2, 3, 6})}};
}

Json places_of(const std::string& along, const std::map<double, double>& values) {
  Json places{{"values", Json::array()}, {"texts", Json::array()}};
  for (const auto& [x, value] : values) {
    places["values"].push_back(exact(x));
    places["texts"].push_back(place_text(along, x));
  }
  return places;
}

Json ratios_json(const Line& line, const Line* base, const std::string& along, PlaceLists& places,
                 Range& range) {
  std::map<double, double> ratios;
  for (const auto& [x, value] : line.values) {
    const auto other = base == nullptr ? line.values.end() : base->values.find(x);
    if (base != nullptr && other != base->values.end()) ratios[x] = value / other->second;
  }
  Json values = Json::array();
  Json texts = Json::array();
  for (const auto& [x, ratio] : ratios) {
    range.add(ratio);
    values.push_back(rounded(ratio));
    texts.push_back(ratio_text(ratio) + "x");
  }
  return {{"at", places.number_of(places_of(along, ratios))},
          {"values", std::move(values)},
          {"texts", std::move(texts)}};
}

Json chart_of_lines(const Lines& all, std::string_view probe, const std::string& title,
                    std::size_t baseline) {
  const double scale = all.unit == "seconds" ? 1.0 / ns_per_second : ns_per_second;
  Range xs;
  Range values;
  Range ratios;
  PlaceLists places;
  Json curves = Json::array();
  for (const Line& line : all.lines) {
    const auto base = std::find_if(all.lines.begin(), all.lines.end(), [&](const Line& each) {
      return each.run == baseline && each.series == line.series;
    });
    Json curve{{"device", line.run},
               {"series", printable(line.series)},
               {"at", places.number_of(places_of(all.along, line.values))},
               {"levels", Json::array()},
               {"values", Json::array()},
               {"texts", Json::array()}};
    for (const auto& [x, value] : line.values) {
      xs.add(x);
      values.add(value);
      curve["values"].push_back(rounded(value / scale));
      curve["texts"].push_back(quantity_text(value, all.unit));
    }
    curve["ratios"] =
        ratios_json(line, base == all.lines.end() ? nullptr : &*base, all.along, places, ratios);
    curves.push_back(std::move(curve));
  }
  return {
      {"probe", printable(probe)},
      {"view", "curve"},
      {"baseline", baseline},
      {"x", parameter_axis(all.along, xs, all.scale)},
      {"value", value_axis(title.empty() ? "value" : title, all.unit, values, scale, all.scale)},
      {"ratio", ratio_axis(ratios, baseline)},
      {"places", places.take()},
      {"curves", std::move(curves)}};
}

}  // namespace

std::vector<Json> comparison_charts(std::span<const RunDigest> runs, std::size_t baseline,
                                    std::string_view probe) {
  std::string title;
  std::vector<Json> charts;
  for (const Lines& lines : all_lines(runs, probe, title)) {
    charts.push_back(chart_of_lines(lines, probe, title, baseline));
  }
  return charts;
}

}  // namespace clprobe::report
