// SPDX-License-Identifier: Apache-2.0
// Tables of a probe's series, each with more than the others see: what is declared of them, and
// which of them a person asked for. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "clprobe/probe.hpp"

namespace clprobe {

/// Names and summaries of a table, for Probe::series.
template <typename Spec, std::size_t Count>
constexpr std::array<Series, Count> declare_series(const std::array<Spec, Count>& all) {
  std::array<Series, Count> declared{};
  for (std::size_t i = 0; i < Count; ++i) declared[i] = {all[i].name, all[i].summary};
  return declared;
}

/// Whether the series is to be measured: all are, unless some are named.
inline bool wants(const Request& request, std::string_view series) {
  return request.series.empty() ||
         std::find(request.series.begin(), request.series.end(), series) != request.series.end();
}

}  // namespace clprobe
