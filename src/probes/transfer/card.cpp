// SPDX-License-Identifier: Apache-2.0
// How fast bytes go to the device and back, by the two ways that most programs choose between.
#include "probes/transfer/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "probes/shared/card_parts.hpp"
#include "probes/transfer/findings.hpp"
#include "probes/transfer/series.hpp"

namespace clprobe::transfer {
namespace {

const Finding* rate_of(const ProbeResult& result, std::string_view series) {
  return find_value(result.findings, "bandwidth", series);
}

/// Rates one after the other, with the unit only where it is another one than before, and with the
/// interval only where that is wide.
class Rates {
 public:
  std::string text(const Finding& rate) {
    constexpr double wide = 1.5;
    std::string shown = with_new_unit(*rate.value);
    if (rate.low && rate.high && *rate.high > wide * wide * *rate.low) {
      shown += fmt::format(" ({} to {})", with_new_unit(*rate.low), with_new_unit(*rate.high));
    }
    return shown;
  }

 private:
  std::string with_new_unit(double rate) {
    const std::string whole = format_rate(rate);
    const std::size_t space = whole.find(' ');
    const std::string unit = whole.substr(space);
    const bool is_new = unit != unit_;
    unit_ = unit;
    return is_new ? whole : whole.substr(0, space);
  }

  std::string unit_{};
};

/// "host to device 55.3 GB/s, back 55.3, both at once 93.5; ordinary memory 6.70 and 14.4": of
/// pinned memory, and of what programs allocate without a thought. Empty without any.
std::string both_ways(const ProbeResult& result) {
  struct Way {
    std::string_view word;
    std::string_view series;
  };
  const auto list = [&](Rates& rates, std::string_view between, std::initializer_list<Way> ways) {
    std::string text;
    for (const Way& way : ways) {
      const Finding* const rate = rate_of(result, way.series);
      if (rate != nullptr) append(text, between, fmt::format("{}{}", way.word, rates.text(*rate)));
    }
    return text;
  };
  Rates rates;
  std::string text = list(rates, ", ",
                          {{"host to device ", "to-device-pinned"},
                           {"back ", "from-device-pinned"},
                           {"both at once ", "both-pinned"}});
  if (text.empty()) {
    text = list(rates, ", ", {{"host to device ", "to-device"}, {"back ", "from-device"}});
    return text.empty() ? text : text + " (ordinary memory)";
  }
  const bool has_both =
      rate_of(result, "to-device") != nullptr && rate_of(result, "from-device") != nullptr;
  const std::string ordinary =
      has_both ? list(rates, " and ", {{"", "to-device"}, {"", "from-device"}})
               : list(rates, "", {{"there ", "to-device"}, {"back ", "from-device"}});
  append(text, "; ", ordinary.empty() ? ordinary : "ordinary memory " + ordinary);
  return text;
}

std::string row_of(const ProbeResult& result, const std::string& series) {
  const Finding* const rate = rate_of(result, series);
  std::string text = rate != nullptr ? format_rate(*rate->value) : std::string();
  const Finding* const start = find_value(result.findings, "start_up", series);
  if (start != nullptr) append(text, ", ", "start-up " + format_seconds(*start->value));
  const Finding* const half = find_value(result.findings, "half_size", series);
  if (half != nullptr) append(text, ", ", "half the bandwidth at " + size_text(*half->value));
  const Finding* const one_way = find_value(result.findings, "one_way_bandwidth", series);
  if (one_way != nullptr) append(text, ", ", format_rate(*one_way->value));
  const Finding* const on_device = find_value(result.findings, "device_bandwidth", series);
  if (on_device != nullptr) {
    append(text, ", ", format_rate(*on_device->value) + " in device memory");
  }
  return text;
}

/// "to 7 others: 388 GB/s to 391 GB/s, direct", or of one other "to 388 GB/s, direct".
std::string with_peers(const ProbeResult& result, std::string_view series) {
  const std::string_view word = series.substr(0, series.find('-'));
  std::vector<double> rates;
  std::vector<std::string> paths;
  for (const Finding& each : result.findings) {
    if (each.name != "peer_path" || !each.series.starts_with(series)) continue;
    const Finding* const rate = find_value(result.findings, "bandwidth", each.series);
    if (rate == nullptr) continue;
    rates.push_back(*rate->value);
    const bool is_new = std::find(paths.begin(), paths.end(), each.label) == paths.end();
    if (is_new && !each.label.empty()) paths.push_back(each.label);
  }
  if (rates.empty()) return {};
  const auto [slowest, fastest] = std::minmax_element(rates.begin(), rates.end());
  std::string text = fmt::format("{} {}", word, format_rate(*slowest));
  if (rates.size() > 1) {
    text = fmt::format("{} {} others: {} to {}", word, rates.size(), format_rate(*slowest),
                       format_rate(*fastest));
  }
  for (const std::string& path : paths) append(text, ", ", path);
  return text;
}

}  // namespace

Card card(const ProbeResult& result) {
  Card card;
  std::string host = both_ways(result);
  const Finding* const zero_copy = find_finding(result.findings, "zero_copy");
  if (zero_copy != nullptr && zero_copy->label == is_zero_copy) append(host, "; ", "zero copy");
  if (!host.empty()) card.lines.push_back({"transfer", std::move(host)});
  std::string others = with_peers(result, "to-peer");
  append(others, "; ", with_peers(result, "from-peer"));
  if (!others.empty()) card.lines.push_back({"other devices", std::move(others)});
  for (const std::string& series : series_in(result.findings)) {
    std::string row = row_of(result, series);
    if (!row.empty()) card.rows.push_back({series, std::move(row)});
  }
  return card;
}

}  // namespace clprobe::transfer
