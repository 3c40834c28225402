// SPDX-License-Identifier: Apache-2.0
// What the tests of several probes' plans ask for, and how they look at what was planned.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe {

inline Request with_sizes(std::vector<SizeRange> sizes) {
  Request request;
  request.own.set("sizes", std::move(sizes));
  return request;
}

inline Request with_effort(Effort effort) {
  Request request;
  request.effort = effort;
  return request;
}

/// Returns the shapes of the points of each series, in the order of the plan.
template <typename Shape>
std::map<std::string, std::vector<Shape>> shapes_by_series(const Plan& plan) {
  std::map<std::string, std::vector<Shape>> all;
  for (const Point& each : plan.points) all[each.series].push_back(shape_of<Shape>(each));
  return all;
}

}  // namespace clprobe
