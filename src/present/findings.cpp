// SPDX-License-Identifier: Apache-2.0
#include "present/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/api/estimate.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

std::string size_text(double bytes) {
  constexpr double largest = 9.2e18;  // below 2^63, so that the number fits an integer
  return format_byte_count(bytes > 0.0 ? std::min(bytes, largest) : 0.0);  // NaN becomes 0
}

// Returns the range from `low` to `high`, such as "181–208 KiB". The unit is omitted if the
// finding's value is shown in the same unit. A range that begins below 0 has the form "-2 to 5".
std::string range_text(const Finding& finding) {
  const std::string low = quantity_text(*finding.low, finding.unit);
  std::string high = quantity_text(*finding.high, finding.unit);
  if (low == high) return high;
  const auto unit_of = [](const std::string& text) {
    return text.substr(std::min(text.find(' '), text.size()));
  };
  const bool is_beside =
      finding.value && unit_of(quantity_text(*finding.value, finding.unit)) == unit_of(high);
  const bool is_same_unit = unit_of(low) == unit_of(high) && (is_beside || !finding.value);
  const std::string_view between = *finding.low < 0.0 ? " to " : "–";
  if (!is_same_unit) return fmt::format("{}{}{}", low, between, high);
  return fmt::format("{}{}{}", low.substr(0, low.find(' ')), between,
                     is_beside ? high.substr(0, high.find(' ')) : high);
}

std::string bracket_text(const Finding& finding) {
  return fmt::format("({})", range_text(finding));
}

/// Returns a rate such as "33.1 Top/s" or "281 kop/s".
std::string format_operations(double per_second) {
  const double size = std::fabs(per_second);
  if (size >= 1e12) return format_number(per_second * 1e-12) + " Top/s";
  if (size >= 1e8 || size == 0.0) return format_number(per_second * 1e-9) + " Gop/s";
  if (size >= 1e6) return format_number(per_second * 1e-6) + " Mop/s";
  return format_number(per_second * 1e-3) + " kop/s";
}

/// Unit of findings, and of parameters whose names end in the unit, with a function that shows its
/// values.
struct UnitRow {
  std::string_view unit;
  std::string (*show)(double);
  bool ends_names{true};
};

/// Returns a share as a percentage with three digits, and never with an exponent such as "1e+03 %".
std::string percent_of(double value) {
  constexpr double many = 999.5;
  constexpr double none = 1e-9;  // exceeds the rounding error of differences
  const double percent = std::fabs(value) < none ? 0.0 : value * 100.0;
  if (std::fabs(percent) >= many) return fmt::format("{:.0f} %", percent);
  return fmt::format("{:.3g} %", percent);
}

constexpr std::array unit_rows{
    UnitRow{"seconds", format_seconds},
    UnitRow{"ms", [](double value) { return format_seconds(value * 1e-3); }},
    // A power meter that reports 0 has not updated since it was last read.
    UnitRow{"mw",
            [](double value) {
              return value > 0.0 ? fmt::format("{} W", format_number(value * 1e-3))
                                 : std::string("-");
            }},
    UnitRow{"watts", [](double value) { return fmt::format("{} W", format_number(value)); }},
    UnitRow{"joules_per_byte",
            [](double value) { return fmt::format("{} pJ/B", format_number(value * 1e12)); }},
    UnitRow{"joules_per_operation",
            [](double value) { return fmt::format("{} pJ", format_number(value * 1e12)); }},
    UnitRow{"ns", [](double value) { return format_seconds(value / ns_per_second); }},
    UnitRow{"bytes", size_text},
    UnitRow{"bytes_per_second", format_rate},
    UnitRow{"square_cycles",
            [](double value) { return fmt::format("{} square cycles", format_number(value)); }},
    UnitRow{"share", percent_of},
    UnitRow{"count", [](double value) { return fmt::format("{:.0f}", value); }, false},
    UnitRow{"operations_per_second", format_operations, false},
    UnitRow{"flops_per_second", format_flops, false},
    UnitRow{"flops_per_byte",
            [](double value) { return fmt::format("{} flop/B", format_number(value)); }, false},
    UnitRow{"hertz",
            [](double value) { return fmt::format("{} MHz", format_number(value * 1e-6)); }, false},
    // Units that are not shown after a number, since the titles of columns name these units.
    UnitRow{"", format_number, false},
    UnitRow{"cycles", format_number, false},
    UnitRow{"bytes_per_cycle", format_number, false},
    UnitRow{"operations_per_cycle", format_number, false},
};

/// Returns the text after a number in cycles or per cycle, for use where no column title names the
/// unit.
std::string_view cycles_in(std::string_view unit) {
  if (unit == "cycles") return " cycles";
  if (unit == "bytes_per_cycle") return " B/cycle";
  if (unit == "operations_per_cycle") return " op/cycle";
  return {};
}

/// Returns the unit with which a parameter's name ends; null if the name ends in no known unit.
const UnitRow* unit_in(std::string_view name) {
  const auto* const found = std::ranges::find_if(unit_rows, [&](const auto& each) {
    return each.ends_names && name.size() > each.unit.size() + 1 && name.ends_with(each.unit) &&
           name[name.size() - each.unit.size() - 1] == '_';
  });
  return found == unit_rows.end() ? nullptr : found;
}

}  // namespace

std::string quantity_text(double value, std::string_view unit) {
  const auto* const row = std::ranges::find(unit_rows, unit, &UnitRow::unit);
  if (row != unit_rows.end()) return row->show(value);
  return fmt::format("{} {}", format_number(value), words(unit));
}

std::vector<std::vector<Finding>> groups_of(std::span<const Finding> findings) {
  // The block of a series is the index of the first series that has a finding name in common with
  // it.
  std::vector<std::string> series;
  std::vector<std::size_t> block;
  const auto place = [&](const std::string& name) {
    const auto found = std::ranges::find(series, name);
    if (found != series.end()) return static_cast<std::size_t>(found - series.begin());
    block.push_back(series.size());
    series.push_back(name);
    return series.size() - 1;
  };
  std::map<std::string, std::size_t> first_with;
  for (const Finding& finding : findings) {
    const std::size_t own = place(finding.series);
    const std::size_t other = first_with.emplace(finding.name, own).first->second;
    const auto [to, from] = std::minmax({block[own], block[other]});
    std::ranges::replace(block, std::size_t{from}, std::size_t{to});
  }
  std::vector<std::vector<Finding>> blocks(series.size());
  for (const Finding& finding : findings) {
    blocks[block[place(finding.series)]].push_back(finding);
  }
  std::erase_if(blocks, [](const auto& each) { return each.empty(); });
  return blocks;
}

bool is_open(const Finding& finding) {
  return !finding.value && finding.low && !finding.high && finding.label.empty();
}

std::string value_text(const Finding& finding) {
  const auto text = [&](double value) {
    const std::string bare = quantity_text(value, finding.unit);
    // The unit is omitted if the finding's name contains it, as "cycles" and "bytes_per_cycle" do.
    const bool is_named = finding.name.find("cycle") != std::string::npos;
    return is_named ? bare : bare + std::string(cycles_in(finding.unit));
  };
  if (finding.value) return text(*finding.value);
  if (is_open(finding)) return "> " + text(*finding.low);
  // A finding may have a range but no value, because the curve has no plateau or several similar
  // plateaus.
  if (finding.low && finding.high && finding.label.empty()) return range_text(finding);
  return words(finding.label);
}

std::string interval_text(const Finding& finding) {
  if (!finding.value || !finding.low || !finding.high || *finding.low == *finding.high) return {};
  constexpr std::array<std::string_view, 6> scatters{
      "seconds", "cycles", "bytes_per_second", "bytes_per_cycle", "flops_per_byte", "hertz"};
  if (!contains(scatters, finding.unit)) return bracket_text(finding);
  const double aside = std::max(*finding.value - *finding.low, *finding.high - *finding.value);
  // An interval as large as the value is shown by its two ends: a percentage would hide that the
  // sign is uncertain.
  if (aside >= std::fabs(*finding.value)) return bracket_text(finding);
  return spread_text(*finding.value, *finding.low, *finding.high);
}

std::string reason_text(const Finding& finding) {
  if (is_at_one_size(finding)) return fmt::format("{} ({})", finding.method, finding.reason);
  if (finding.value || finding.reason.empty()) return {};
  const bool says_what =
      finding.level.has_value() || !finding.label.empty() || finding.reason.starts_with("not ");
  if (says_what) return finding.reason;
  // A finding that the plan omitted was not measured. A derived finding is computed from measured
  // points, so its value is unknown rather than not measured.
  const bool is_missing = finding.source != Source::derived || finding.method == "plan";
  return fmt::format("not {}: {}", is_missing ? "measured" : "known", finding.reason);
}

std::string short_reason(std::string_view reason) {
  constexpr std::size_t longest = 14;  // length of "not observable"
  const std::size_t end = std::min(reason.find(':'), reason.size());
  return end <= longest ? std::string(reason.substr(0, end)) : "not known";
}

namespace {

struct Title {
  std::string_view name;
  std::string_view words;
};

// Titles of findings and parameters whose names in documents are others.
constexpr std::array titles{Title{"absorbed", "noise absorbed"},
                            Title{"asked", "requested loads"},
                            Title{"sub_group", "sub-group size"},
                            Title{"class", "access pattern"},
                            Title{"beside_global", "ratio to global"},
                            Title{"end_droop", "loss at largest stride"},
                            Title{"idle_units", "idle compute units"},
                            Title{"lanes_together", "lanes per request"},
                            Title{"limit", "limited by"},
                            Title{"slow_round_trip", "99th percentile round trip"},
                            Title{"unit_bandwidth", "bandwidth per compute unit"},
                            Title{"unit_operations", "operations per compute unit"},
                            Title{"unit_share", "line share of one compute unit"},
                            Title{"one_way_bandwidth", "one-way bandwidth"},
                            Title{"conflict_free", "conflict-free"},
                            Title{"bic_margin", "BIC lead over second best"},
                            Title{"parallel_items", "work-items at end of plateau"},
                            Title{"last_cache", "last-level cache"},
                            Title{"occupancy", "cost of halved occupancy"},
                            Title{"requests", "MSHRs"},
                            Title{"instructions", "PRT entries"},
                            Title{"step", "level end"},
                            Title{"half_size", "half-bandwidth size"},
                            Title{"starting", "work-group start"},
                            Title{"instrument_ratio", "instrumentation ratio"},
                            Title{"buffer_transfer", "one-pass memory time"},
                            Title{"mergers", "requests merged per MSHR"},
                            Title{"spike", "work-items before first jump"},
                            Title{"first_cause", "largest cause"},
                            Title{"c1", "time per access and way"},
                            Title{"c2", "fixed time"},
                            Title{"latency_end", "capacity from latency"},
                            Title{"combining", "combining speed-up"},
                            Title{"double_ridge", "ridge (double)"},
                            Title{"half_ridge", "ridge (half)"},
                            Title{"host_memory", "host buffer location"},
                            Title{"least_groups", "fastest group count"},
                            Title{"share_of_peak", "share of the reported peak"},
                            Title{"in_flight", "loads in flight"},
                            Title{"in_flight_at_least", "loads in flight, at least"},
                            Title{"functions", "special functions"},
                            Title{"line_r2", "R2 of the line fit"},
                            Title{"model_r2", "R2 of the model fit"},
                            Title{"near_waits", "cache and arithmetic waits"},
                            Title{"in_order_from", "in-order loads faster from"},
                            Title{"largest_deviation_share", "largest relative deviation"},
                            Title{"deviates_most", "largest deviation at"},
                            Title{"barrier_of_smallest", "barrier time of smallest work-group"},
                            Title{"barrier_of_largest", "barrier time of largest work-group"}};

}  // namespace

std::string words(std::string_view name) {
  const auto* const title = std::ranges::find(titles, name, &Title::name);
  if (title != titles.end()) return std::string(title->words);
  std::string text(name);
  std::ranges::replace_if(
      text, [](char c) { return c == '_' || c == '-'; }, ' ');
  for (const std::string_view compound : {"start up", "sub group", "work group", "work item"}) {
    for (std::size_t at = text.find(compound); at != std::string::npos;
         at = text.find(compound, at + 1)) {
      text[at + compound.find(' ')] = '-';
    }
  }
  return text;
}

std::string parameter_text(std::string_view name, const Value& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) return *text;
  const auto* const whole = std::get_if<std::int64_t>(&value);
  const double number = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
  // A negative size or time is invalid, and is shown without a unit, as in the run document.
  const UnitRow* const row = number >= 0.0 ? unit_in(name) : nullptr;
  if (row != nullptr) return row->show(number);
  return whole != nullptr ? fmt::format("{}", *whole) : format_number(number);
}

std::string_view parameter_unit(std::string_view name) {
  const UnitRow* const row = unit_in(name);
  return row == nullptr ? std::string_view() : row->unit;
}

std::string parameter_title(std::string_view name) {
  const std::string_view unit = parameter_unit(name);
  if (!unit.empty()) name.remove_suffix(unit.size() + 1);
  return words(name);
}

}  // namespace clprobe::report
