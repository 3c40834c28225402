// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/fit.hpp"

#include <algorithm>
#include <cmath>

#include "probes/shared/relative_line.hpp"

namespace clprobe::transfer {
namespace {

constexpr std::size_t fewest_small = 3;

/// The line through the times of transfers of which the start-up is most; nothing where they do not
/// tell one.
std::optional<Line> line_of(const std::vector<Timed>& small) {
  if (small.size() < fewest_small || small.front().bytes == small.back().bytes) return std::nullopt;
  std::vector<double> bytes;
  std::vector<double> ns;
  for (const Timed& each : small) {
    bytes.push_back(each.bytes);
    ns.push_back(each.ns);
  }
  const Line line = fit_relative_line(bytes, ns);
  // Of sizes or times as no device has them the sums have no difference left.
  const bool is_known = line.intercept > 0.0 && std::isfinite(line.intercept_interval.high);
  return is_known ? std::optional(line) : std::nullopt;
}

}  // namespace

std::optional<Law> fit_law(std::vector<Timed> transfers) {
  std::erase_if(transfers, [](const Timed& each) { return !(each.ns > 0.0 && each.bytes > 0.0); });
  if (transfers.empty()) return std::nullopt;
  std::sort(transfers.begin(), transfers.end(),
            [](const Timed& a, const Timed& b) { return a.bytes < b.bytes; });
  const Timed& largest = transfers.back();
  const double rate = largest.bytes / largest.ns;
  std::vector<Timed> small;
  for (const Timed& each : transfers) {
    if (each.bytes / rate < each.ns / 2) small.push_back(each);
  }
  const std::optional<Line> line = line_of(small);
  Law law;
  std::vector<double> rates;
  std::vector<double> slow;
  std::vector<double> fast;
  for (const Timed& each : transfers) {
    if (each.bytes * static_cast<double>(large_part) < largest.bytes) continue;
    const double of_start = line ? std::min(line->intercept, each.ns / 2) : 0.0;
    rates.push_back(each.bytes / (each.ns - of_start));
    slow.push_back(each.bytes / (each.ns_interval.high - of_start));
    fast.push_back(each.bytes / std::max(each.ns_interval.low - of_start, each.ns / 4));
  }
  law.bytes_per_ns = median(rates);
  law.bytes_per_ns_interval = {
      std::min(*std::min_element(slow.begin(), slow.end()), law.bytes_per_ns),
      std::max(*std::max_element(fast.begin(), fast.end()), law.bytes_per_ns)};
  if (line) {
    law.start_ns = line->intercept;
    law.start_interval = {std::max(0.0, line->intercept_interval.low),
                          line->intercept_interval.high};
  }
  return law;
}

}  // namespace clprobe::transfer
