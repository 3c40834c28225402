// SPDX-License-Identifier: Apache-2.0
#include "clprobe/stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace clprobe {
namespace {

constexpr std::array views{stack_view_gsi, stack_view_all_causes, stack_view_shapley,
                           stack_view_clock};

// Categories in display order: the kernel's own work, followed by the causes in the order of GSI's
// figures.
constexpr std::array<std::string_view, 8> categories{
    "no stall",    "compute structural", "compute data", "memory structural",
    "memory data", "synchronization",    "control",      "idle"};

template <std::size_t size>
std::size_t index_in(const std::array<std::string_view, size>& words, std::string_view word) {
  return static_cast<std::size_t>(std::ranges::find(words, word) - words.begin());
}

Stack& stack_of(std::vector<Stack>& stacks, const Finding& finding) {
  const auto found = std::ranges::find_if(stacks, [&](const Stack& each) {
    return each.bar == finding.series && each.view == finding.method;
  });
  if (found != stacks.end()) return *found;
  stacks.push_back({.bar = finding.series, .view = finding.method});
  return stacks.back();
}

}  // namespace

bool is_stack_part(const Finding& finding) {
  return finding.name == stack_part_name && finding.value && !finding.label.empty();
}

bool is_share_of_bar(const Finding& finding) {
  constexpr std::array names{stack_part_name,     stack_interaction_name, stack_absorbed_name,
                             stack_first_name,    stack_unit_least_name,  stack_unit_median_name,
                             stack_unit_most_name};
  return !finding.label.empty() && std::ranges::find(names, finding.name) != names.end();
}

bool is_told_by_label(const Finding& finding) { return finding.value && is_share_of_bar(finding); }

bool is_unresolved_share(const Finding& finding) {
  const bool may_be_none = finding.name == stack_part_name && finding.label != stack_remainder &&
                           finding.low && finding.high && *finding.low < *finding.high &&
                           *finding.low <= 0.0 && *finding.high >= 0.0;
  return is_told_by_label(finding) &&
         (may_be_none || finding.reason.starts_with(stack_not_resolved));
}

std::string describe_unresolved(std::span<const Finding* const> findings) {
  if (findings.empty()) return {};
  std::vector<std::string_view> labels;
  double furthest = 0.0;
  for (const Finding* const each : findings) {
    if (std::ranges::find(labels, each->label) == labels.end()) {
      labels.push_back(each->label);
    }
    for (const auto& end : {each->value, each->low, each->high}) {
      furthest = std::max(furthest, std::abs(end.value_or(0.0)));
    }
  }
  constexpr double percent = 100.0;
  return fmt::format("{}: {} ({}within {:.1f} % of 0)", stack_not_resolved, fmt::join(labels, ", "),
                     labels.size() > 1 ? "each " : "", percent * furthest);
}

std::vector<Stack> shares_called(std::string_view name, std::span<const Finding> findings) {
  std::vector<Stack> stacks;
  for (const Finding& finding : findings) {
    if (finding.name != name || !is_told_by_label(finding)) continue;
    stack_of(stacks, finding)
        .parts.push_back({.label = finding.label,
                          .share = *finding.value,
                          .low = finding.low,
                          .high = finding.high,
                          .reason = finding.reason,
                          .is_resolved = !is_unresolved_share(finding)});
  }
  return stacks;
}

namespace {

std::optional<double> app_share_of(std::string_view bar, std::span<const Finding> findings) {
  const auto found = std::ranges::find_if(findings, [&](const Finding& each) {
    return each.name == stack_app_share_name && each.value &&
           (each.series == bar || bar.starts_with(each.series + ", "));
  });
  return found == findings.end() ? std::nullopt : found->value;
}

}  // namespace

std::vector<Stack> stacks_in(std::span<const Finding> findings) {
  std::vector<Stack> stacks = shares_called(stack_part_name, findings);
  for (Stack& stack : stacks) {
    stack.is_whole = std::ranges::none_of(findings, [&](const Finding& each) {
      return each.name == stack_part_name && each.series == stack.bar &&
             each.method == stack.view && !each.label.empty() && !each.value;
    });
    stack.app_share = app_share_of(stack.bar, findings);
    const auto found = [&](std::string_view name) {
      return std::ranges::find_if(findings, [&](const Finding& each) {
        return each.name == name && each.series == stack.bar && each.value;
      });
    };
    const auto relative = found(stack_relative_name);
    if (relative != findings.end() && *relative->value > 0.0) {
      stack.relative = relative->value;
      stack.baseline = relative->method;
    }
    const auto time = found(stack_time_name);
    if (time == findings.end()) continue;
    stack.time = time->value;
    stack.time_unit = time->unit;
  }
  std::ranges::stable_sort(stacks, [](const Stack& a, const Stack& b) {
    return index_in(views, a.view) < index_in(views, b.view);
  });
  return stacks;
}

std::string_view stack_category(std::string_view label) { return label.substr(0, label.find(':')); }

std::vector<std::string> stack_labels(std::span<const Stack> stacks) {
  std::vector<std::string> labels;
  for (const Stack& stack : stacks) {
    for (const StackPart& part : stack.parts) {
      const auto found = std::ranges::find(labels, part.label);
      if (found == labels.end()) labels.push_back(part.label);
    }
  }
  std::ranges::stable_sort(labels, [](const auto& a, const auto& b) {
    return index_in(categories, stack_category(a)) < index_in(categories, stack_category(b));
  });
  return labels;
}

}  // namespace clprobe
