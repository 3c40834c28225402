// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/latency_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "clprobe/stacks.hpp"
#include "probes/shared/finding.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/noise.hpp"

namespace clprobe::stalls {
namespace {

const Finding* find_in(std::span<const Finding> findings, std::string_view bar,
                       std::string_view name) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& each) {
    return each.series == bar && each.name == name;
  });
  return found == findings.end() ? nullptr : &*found;
}

/// Of all resources the least that is free for sure, as a share of the time; 0 where that of one is
/// not known.
double free_of_busiest(std::string_view bar, std::span<const Finding> findings) {
  double least = 1.0;
  std::size_t known = 0;
  for (const Finding& each : findings) {
    if (each.series != bar || each.name != stack_absorbed_name) continue;
    if (!each.value) return 0.0;
    least = std::min(least, each.low.value_or(*each.value));
    ++known;
  }
  return known == std::size(all_noise) ? least : 0.0;
}

}  // namespace

std::optional<Finding> find_latency_bound(std::string_view bar, std::span<const Finding> findings) {
  constexpr double min_free = 0.2;
  constexpr std::string_view waits_for = "memory data";
  const Finding* const first = find_in(findings, bar, stack_first_name);
  const Finding* const noise = find_in(findings, bar, noise_verdict_name);
  if (first == nullptr || !first->value || !first->label.starts_with(waits_for)) {
    return std::nullopt;
  }
  if (noise == nullptr || noise->label != noise_agrees) return std::nullopt;
  const double free = free_of_busiest(bar, findings);
  if (free < min_free) return std::nullopt;
  Finding bound = finding_of("advice", bar, "", "noise");
  bound.label = fmt::format(
      "bound by latency: {} is the largest cause, and no resource is busy for more than {:.0f} % "
      "of the time. More loads in flight would make the kernel faster; a faster resource alone "
      "would not",
      waits_for, 100.0 * (1.0 - free));
  return bound;
}

}  // namespace clprobe::stalls
