// SPDX-License-Identifier: Apache-2.0
#include "engine/visit_order.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string_view>

#include "clprobe/point_facts.hpp"

namespace clprobe {

std::vector<std::size_t> indices_from(std::size_t first, std::size_t count) {
  std::vector<std::size_t> order(count - first);
  std::iota(order.begin(), order.end(), first);
  return order;
}

std::vector<std::size_t> each_series_first(std::span<const Point> points,
                                           const std::vector<std::size_t>& order) {
  std::set<std::string_view> seen;
  std::vector<std::size_t> first;
  std::vector<std::size_t> rest;
  for (const std::size_t index : order) {
    (seen.insert(points[index].series).second ? first : rest).push_back(index);
  }
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

int visits_in_round(const Point& point) {
  constexpr std::int64_t max_visits = 16;  // a document may say anything
  return static_cast<int>(
      std::clamp(point.facts.integer_or(visited_often, 1), std::int64_t{1}, max_visits));
}

std::vector<std::size_t> with_repeats(std::span<const Point> points,
                                      const std::vector<std::size_t>& order) {
  // What is visited behind the first, second, ... of the order.
  std::vector<std::vector<std::size_t>> behind(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto times = static_cast<std::size_t>(visits_in_round(points[order[place]]));
    for (std::size_t time = 0; time < times; ++time) {
      behind[(place + time * order.size() / times) % order.size()].push_back(order[place]);
    }
  }
  std::vector<std::size_t> all;
  for (const std::vector<std::size_t>& each : behind) {
    all.insert(all.end(), each.begin(), each.end());
  }
  return all;
}

}  // namespace clprobe
