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

std::string rate_of(const ProbeResult& result, std::string_view series) {
  const Finding* const rate = find_value(result.findings, "bandwidth", series);
  return rate == nullptr ? std::string() : format_rate(*rate->value);
}

/// "56.1 GB/s pinned, 10.2 GB/s pageable".
std::string one_way(const ProbeResult& result, const std::string& series) {
  std::string text;
  const std::string pinned = rate_of(result, series + "-pinned");
  if (!pinned.empty()) append(text, ", ", pinned + " pinned");
  const std::string pageable = rate_of(result, series);
  if (!pageable.empty()) append(text, ", ", pageable + " pageable");
  return text;
}

std::string row_of(const ProbeResult& result, const std::string& series) {
  std::string text = rate_of(result, series);
  const Finding* const start = find_value(result.findings, "start_up", series);
  if (start != nullptr) append(text, ", ", "start-up " + format_seconds(*start->value));
  const Finding* const half = find_value(result.findings, "half_size", series);
  if (half != nullptr) append(text, ", ", "half of it at " + size_text(*half->value));
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
  std::string to = one_way(result, "to-device");
  std::string from = one_way(result, "from-device");
  const Finding* const zero_copy = find_finding(result.findings, "zero_copy");
  if (zero_copy != nullptr && zero_copy->label == is_zero_copy) append(to, "; ", "zero copy");
  const Finding* const duplex = find_value(result.findings, "duplex");
  if (duplex != nullptr) {
    append(from, "; ", fmt::format("both ways {:.2f} times one", *duplex->value));
  }
  if (!to.empty()) card.lines.push_back({"to device", std::move(to)});
  if (!from.empty()) card.lines.push_back({"from device", std::move(from)});
  std::string others = with_peers(result, "to-peer");
  append(others, "; ", with_peers(result, "from-peer"));
  if (!others.empty()) card.lines.push_back({"other devices", std::move(others)});
  for (const std::string& series : series_in(result.findings)) {
    std::string row = row_of(result, series);
    if (row.empty()) {
      card.unseen.push_back(fmt::format("transfers {}", series));
    } else {
      card.rows.push_back({series, std::move(row)});
    }
  }
  return card;
}

}  // namespace clprobe::transfer
