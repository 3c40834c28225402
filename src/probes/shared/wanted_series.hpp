// SPDX-License-Identifier: Apache-2.0
// Tables of a probe's series: their declaration, and the selection by --series. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "clprobe/probe.hpp"

namespace clprobe {

/// Names, summaries and titles of a table, for Probe::series.
template <typename Spec, std::size_t Count>
constexpr std::array<Series, Count> declare_series(const std::array<Spec, Count>& all) {
  std::array<Series, Count> declared{};
  for (std::size_t i = 0; i < Count; ++i) {
    declared[i] = {all[i].name, all[i].summary};
    if constexpr (requires { all[i].title; }) declared[i].title = all[i].title;
  }
  return declared;
}

/// Returns true if `name` is among `named`, or nothing is named.
inline bool is_wanted(std::span<const std::string> named, std::string_view name) {
  return named.empty() || std::find(named.begin(), named.end(), name) != named.end();
}

inline bool wants(const Request& request, std::string_view series) {
  return is_wanted(request.series, series);
}

}  // namespace clprobe
