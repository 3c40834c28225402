// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/fit.hpp"

#include <algorithm>
#include <cmath>

namespace clprobe::transfer {
namespace {

constexpr std::size_t fewest_small = 3;

struct Start {
  double ns{0.0};
  Interval interval{};
};

/// The start-up of transfers in which it is most: the line t = start + bytes * s that has the least
/// relative errors, which is linear in both once it is divided by t.
std::optional<Start> start_of(const std::vector<Timed>& small) {
  if (small.size() < fewest_small) return std::nullopt;
  double aa = 0.0;
  double ab = 0.0;
  double bb = 0.0;
  double a1 = 0.0;
  double b1 = 0.0;
  for (const Timed& each : small) {
    const double a = 1.0 / each.ns;
    const double b = each.bytes / each.ns;
    aa += a * a;
    ab += a * b;
    bb += b * b;
    a1 += a;
    b1 += b;
  }
  const double determinant = aa * bb - ab * ab;
  if (!(determinant > 0.0)) return std::nullopt;
  Start start;
  start.ns = (bb * a1 - ab * b1) / determinant;
  const double slope = (aa * b1 - ab * a1) / determinant;
  double squares = 0.0;
  for (const Timed& each : small) {
    const double error = (start.ns + slope * each.bytes) / each.ns - 1.0;
    squares += error * error;
  }
  const std::size_t degrees = small.size() - 2;
  const double variance = squares / static_cast<double>(degrees) * bb / determinant;
  const double half = student_t(degrees) * std::sqrt(variance);
  start.interval = {start.ns - half, start.ns + half};
  if (!(start.ns > 0.0)) return std::nullopt;
  start.interval.low = std::max(0.0, start.interval.low);
  return start;
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
  const std::optional<Start> start = start_of(small);
  Law law;
  std::vector<double> rates;
  std::vector<double> slow;
  std::vector<double> fast;
  for (const Timed& each : transfers) {
    if (each.bytes * static_cast<double>(large_part) < largest.bytes) continue;
    const double of_start = start ? std::min(start->ns, each.ns / 2) : 0.0;
    rates.push_back(each.bytes / (each.ns - of_start));
    slow.push_back(each.bytes / (each.ns_interval.high - of_start));
    fast.push_back(each.bytes / std::max(each.ns_interval.low - of_start, each.ns / 4));
  }
  law.bytes_per_ns = median(rates);
  law.bytes_per_ns_interval = {
      std::min(*std::min_element(slow.begin(), slow.end()), law.bytes_per_ns),
      std::max(*std::max_element(fast.begin(), fast.end()), law.bytes_per_ns)};
  if (start) {
    law.start_ns = start->ns;
    law.start_interval = start->interval;
  }
  return law;
}

}  // namespace clprobe::transfer
