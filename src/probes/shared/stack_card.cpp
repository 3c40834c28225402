// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/stack_card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/stacks.hpp"
#include "probes/shared/card_parts.hpp"

namespace clprobe {
namespace {

/// A cause, and the bars of which it is the largest one.
struct Cause {
  std::string name{};
  std::vector<std::string> bars{};
  double low{1.0};
  double high{0.0};
};

/// What is no cause to wait: time that was worked, and time of which nothing is known.
bool is_cause(const StackPart& part) {
  return part.is_resolved && part.share > 0.0 && part.label != stack_remainder &&
         part.label != "no stall";
}

const StackPart* largest_of(const Stack& stack) {
  const StackPart* largest = nullptr;
  for (const StackPart& part : stack.parts) {
    if (is_cause(part) && (largest == nullptr || part.share > largest->share)) largest = &part;
  }
  return largest;
}

/// "main memory" of "memory data: main memory".
std::string short_name(const std::string& label) {
  constexpr std::string_view between = ": ";
  const std::size_t at = label.find(between);
  return at == std::string::npos ? label : label.substr(at + between.size());
}

/// "38–59 %", or "52 %" where both are that.
std::string percent_text(const Cause& cause) {
  constexpr double percent = 100.0;
  const std::string from = fmt::format("{:.0f}", percent * cause.low);
  const std::string to = fmt::format("{:.0f}", percent * cause.high);
  return from == to ? to + " %" : fmt::format("{}–{} %", from, to);
}

/// Of several kernels how many they are; the word for them stands once.
std::string text_of(const std::vector<Cause>& causes) {
  std::string text;
  for (const Cause& each : causes) {
    std::string one = fmt::format("{} {}", percent_text(each), each.name);
    if (each.bars.size() > 1) {
      one += fmt::format(" ({}{})", each.bars.size(), text.empty() ? " kernels" : "");
    }
    if (causes.size() == 1 && each.bars.size() == 1) one += " of " + each.bars.front();
    append(text, ", ", one);
  }
  return text;
}

}  // namespace

std::string largest_causes(const ProbeResult& result) {
  const std::vector<Stack> stacks = stacks_in(result.findings);
  std::vector<Cause> causes;
  for (const Stack& stack : stacks) {
    const StackPart* const part = largest_of(stack);
    if (stack.view != stacks.front().view || part == nullptr) continue;
    const std::string name = short_name(part->label);
    auto found = std::find_if(causes.begin(), causes.end(),
                              [&](const Cause& each) { return each.name == name; });
    if (found == causes.end()) found = causes.insert(causes.end(), {.name = name});
    found->bars.push_back(stack.bar);
    found->low = std::min(found->low, part->share);
    found->high = std::max(found->high, part->share);
  }
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) {
    return std::pair(a.bars.size(), a.high) > std::pair(b.bars.size(), b.high);
  });
  return text_of(causes);
}

}  // namespace clprobe
