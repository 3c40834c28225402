// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

namespace clprobe::stalls {
namespace {

struct CauseRow {
  Cause cause;
  std::string_view word;
  std::string_view label;
  Resource resource;
};

constexpr std::array cause_rows{
    CauseRow{Cause::main_memory, "main-memory", "memory data: main memory", Resource::memory},
    CauseRow{Cause::second_cache, "second-cache", "memory data: L2", Resource::cache},
    CauseRow{Cause::beyond_first, "beyond-first", "memory data: L2 or main memory",
             Resource::memory},
    CauseRow{Cause::bank_conflict, "bank-conflict", "memory structural: bank conflict",
             Resource::local_memory},
    CauseRow{Cause::barrier, "barrier", "synchronization: barrier", Resource::waiting},
    CauseRow{Cause::chain, "chain", "compute data", Resource::waiting},
    // Lanes that are off still take the issue slots of those that are on.
    CauseRow{Cause::divergence, "divergence", "control", Resource::arithmetic}};

const CauseRow& row_of(Cause cause) { return cause_rows.at(static_cast<std::size_t>(cause)); }

}  // namespace

std::string_view label_of(Cause cause) { return row_of(cause).label; }

std::string_view to_word(Cause cause) { return row_of(cause).word; }

Cause cause_of(std::string_view word) {
  for (const CauseRow& row : cause_rows) {
    if (row.word == word) return row.cause;
  }
  throw std::out_of_range(fmt::format("cause {}", word));
}

Resource resource_of(Cause cause) { return row_of(cause).resource; }

std::vector<Cause> causes_in(std::string_view words) {
  std::vector<Cause> causes;
  while (!words.empty()) {
    const std::size_t comma = std::min(words.find(','), words.size());
    causes.push_back(cause_of(words.substr(0, comma)));
    words.remove_prefix(std::min(comma + 1, words.size()));
  }
  return causes;
}

std::string joined(std::span<const Cause> causes) {
  std::string words;
  for (const Cause cause : causes) {
    if (!words.empty()) words += ',';
    words += to_word(cause);
  }
  return words;
}

std::vector<Cause> taken_causes(const Point& point) {
  const std::vector<Cause> causes = causes_in(point.parameters.text("factors"));
  const auto set = static_cast<std::uint32_t>(point.parameters.integer("idealised"));
  std::vector<Cause> taken;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    if (((set >> i) & 1U) != 0) taken.push_back(causes[i]);
  }
  return taken;
}

}  // namespace clprobe::stalls
