// SPDX-License-Identifier: Apache-2.0
#include "engine/visit_order.hpp"

#include <numeric>
#include <set>
#include <string_view>

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

}  // namespace clprobe
