// SPDX-License-Identifier: Apache-2.0
// Causes that launches of the rewritten kernel lack, from the counts of its instructions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "probes/kernel/kernel.hpp"

namespace clprobe::kernel {
namespace {

using prelude::Possibility;

struct FactorParts {
  Factor factor;
  std::array<ptx::Part, 2> parts;
};
// In the order of factors.
constexpr std::array factor_parts{
    FactorParts{Factor::memory, {ptx::Part::loads, ptx::Part::stores}},
    FactorParts{Factor::barriers, {ptx::Part::barriers, ptx::Part::barriers}},
    FactorParts{Factor::atomics, {ptx::Part::atomics, ptx::Part::atomics}},
    FactorParts{Factor::local_memory, {ptx::Part::local_memory, ptx::Part::local_memory}}};

std::int64_t number_of(const Parameters& facts, std::string_view format, ptx::Part part) {
  return facts.integer_or(fmt::format(fmt::runtime(format), part_rows.at(ptx::index_of(part)).name),
                          0);
}

constexpr std::string_view why_kept{
    "determine addresses, branches or barriers, so clprobe keeps them"};

}  // namespace

bool can_rewrite(const Parameters& facts) {
  const std::string name = fmt::format(count_fact, part_rows.front().name);
  return facts.find(name) != nullptr;
}

std::vector<Removal> removals_in(const Parameters& facts) {
  std::vector<Removal> removals;
  for (const FactorParts& each : factor_parts) {
    Removal removal{.factor = each.factor};
    for (const ptx::Part part : each.parts) {
      if (number_of(facts, removable_fact, part) > 0) removal.parts.set(ptx::index_of(part));
    }
    if (removal.parts.any()) removals.push_back(removal);
  }
  const std::string_view functions = row_of(Factor::functions).cause.name;
  if (facts.find(absence_of(functions)) == nullptr) {
    const auto after = std::find_if(removals.begin(), removals.end(), [](const Removal& each) {
      return each.factor > Factor::functions;
    });
    removals.insert(after, {.factor = Factor::functions});
  }
  return removals;
}

Shape shape_without(std::span<const Removal> removals, std::uint32_t bits) {
  Shape shape{.variant = Variant::rewritten};
  for (std::size_t i = 0; i < removals.size(); ++i) {
    if ((bits >> i & 1U) == 0) continue;
    shape.removed |= removals[i].parts;
    if (removals[i].factor == Factor::functions) shape.setting.without_functions = true;
  }
  return shape;
}

FactorVerdicts rewriting_verdicts(const Parameters& facts) {
  FactorVerdicts verdicts;
  verdicts.fill({Possibility::not_present, {}});
  const std::string functions = facts.text_or(absence_of(row_of(Factor::functions).cause.name), "");
  if (!functions.empty() && functions != not_present) {
    verdicts.at(static_cast<std::size_t>(Factor::functions)) = {Possibility::refused, functions};
  }
  for (const FactorParts& each : factor_parts) {
    std::int64_t count = 0;
    for (const ptx::Part part : each.parts) count += number_of(facts, count_fact, part);
    if (count == 0) continue;
    const std::string_view title = each.factor == Factor::memory
                                       ? "loads and stores"
                                       : part_rows.at(ptx::index_of(each.parts.front())).title;
    std::string reason = fmt::format("all of the kernel's {} {}", title, why_kept);
    if (each.factor == Factor::barriers) reason = facts.text_or(barriers_fact, reason);
    verdicts.at(static_cast<std::size_t>(each.factor)) = {Possibility::refused, std::move(reason)};
  }
  // Only instrumentation of the text could remove these causes.
  for (const Factor each : {Factor::lanes, Factor::fences}) {
    if (facts.text_or(absence_of(row_of(each).cause.name), "") == not_present) continue;
    verdicts.at(static_cast<std::size_t>(each)) = {
        Possibility::refused,
        "in rewritten kernels, clprobe counts this cause as part of memory and local memory"};
  }
  for (const Removal& each : removals_in(facts)) {
    verdicts.at(static_cast<std::size_t>(each.factor)) = {Possibility::usable, {}};
  }
  return verdicts;
}

std::map<Factor, std::string> kept_instructions(const Parameters& facts) {
  std::map<Factor, std::string> kept;
  for (const FactorParts& each : factor_parts) {
    std::string text;
    for (const PartRow& row : part_rows) {
      if (std::find(each.parts.begin(), each.parts.end(), row.part) == each.parts.end()) continue;
      const std::int64_t all = number_of(facts, count_fact, row.part);
      const std::int64_t left = all - number_of(facts, removable_fact, row.part);
      if (left <= 0) continue;
      text += fmt::format("{}{} of {} {}", text.empty() ? "" : " and ", left, all, row.title);
    }
    if (!text.empty()) kept[each.factor] = fmt::format("at least: {} {}", text, why_kept);
  }
  return kept;
}

}  // namespace clprobe::kernel
