// SPDX-License-Identifier: Apache-2.0
#include "analysis/kernel_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clprobe {
namespace {

struct AdviceRow {
  std::string_view cause;
  std::string_view what;
};

// What a programmer can do about each, in the order of how often it is that.
constexpr std::array advices{
    AdviceRow{"memory",
              "load and store less, or let groups that run together use the same data (tiles)"},
    AdviceRow{"main_memory",
              "move less data, or let groups that run together use the same (tiles that fit the "
              "last cache)"},
    AdviceRow{"last_cache",
              "keep what a group uses again in local memory or registers, and let neighbouring "
              "work-items load neighbouring words"},
    AdviceRow{"barriers",
              "give a group more work between two barriers, or groups of one sub-group that need "
              "none"},
    AdviceRow{"atomics", "count in local or private memory first, and add that up once per group"},
};

std::string_view advice_about(std::string_view cause) {
  const auto* const found = std::find_if(
      advices.begin(), advices.end(), [&](const AdviceRow& each) { return each.cause == cause; });
  return found == advices.end() ? std::string_view() : found->what;
}

/// Shares as whole percent; what is below one is no reason to do anything.
std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * share); }

bool is_everything_refused(const KernelCauses& causes) {
  return std::all_of(causes.causes.begin(), causes.causes.end(),
                     [](const KernelCause& each) { return each.state == CauseState::refused; });
}

}  // namespace

std::string kernel_advice(const KernelCauses& causes) {
  if (!causes.is_believed) return {};
  if (causes.causes.empty() || is_everything_refused(causes)) {
    return "Nothing can be taken away from this kernel without a risk: see why below.";
  }
  const std::vector<KernelCause> ranked = ranked_causes(causes);
  if (ranked.empty() || ranked.front().share < 0.05) {
    return "None of what could be taken away costs it much: what is left is the work itself, or "
           "waiting within a group.";
  }
  const KernelCause& first = ranked.front();
  const std::string app =
      first.app_share ? fmt::format(", {} of the program's device time", percent(*first.app_share))
                      : "";
  // Folding is a perfect cache: no code gains more, unless it also works less.
  const std::string_view bound = first.is_lower_bound ? "at least" : "at most";
  return fmt::format("Without {} it saves {} {} of its time{}: {}.", first.title, bound,
                     percent(first.share), app, advice_about(first.name));
}

}  // namespace clprobe
