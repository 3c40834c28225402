// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "probes/shared/fields.hpp"

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
    CauseRow{Cause::divergence, "divergence", "control", Resource::arithmetic},
    CauseRow{Cause::serial_requests, "serial-requests", "memory structural: serial requests",
             Resource::cache},
    CauseRow{Cause::store_buffer, "store-buffer", "memory structural: full store buffer",
             Resource::memory},
    CauseRow{Cause::release, "release", "memory structural: pending release", Resource::waiting},
    CauseRow{Cause::function_unit, "function-unit", "compute structural", Resource::arithmetic}};

struct Order {
  Cause first;
  Cause then;
};

constexpr std::array orders{Order{Cause::main_memory, Cause::second_cache},
                            Order{Cause::serial_requests, Cause::store_buffer},
                            Order{Cause::release, Cause::store_buffer}};

const CauseRow& row_of(Cause cause) { return cause_rows.at(static_cast<std::size_t>(cause)); }

Cause cause_of(std::string_view word) {
  for (const CauseRow& row : cause_rows) {
    if (row.word == word) return row.cause;
  }
  throw std::out_of_range(fmt::format("cause {}", word));
}

}  // namespace

std::string_view label_of(Cause cause) { return row_of(cause).label; }

std::string_view to_word(Cause cause) { return row_of(cause).word; }

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

bool Ablated::has_taken(Cause cause) const {
  const std::vector<Cause> causes = causes_in(factors);
  const auto found = std::find(causes.begin(), causes.end(), cause);
  return found != causes.end() && ((idealised >> (found - causes.begin())) & 1U) != 0;
}

std::vector<std::uint32_t> needs_of(std::span<const Cause> causes) {
  std::vector<std::uint32_t> needs(causes.size(), 0);
  const auto place_of = [&](Cause cause) {
    return static_cast<std::size_t>(std::find(causes.begin(), causes.end(), cause) -
                                    causes.begin());
  };
  for (const Order& order : orders) {
    const std::size_t first = place_of(order.first);
    const std::size_t then = place_of(order.then);
    if (first < causes.size() && then < causes.size()) needs[then] |= 1U << first;
  }
  return needs;
}

std::vector<Point> with_all_sets(const Point& usual) {
  auto ablated = shape_of<Ablated>(usual);
  const std::vector<Cause> causes = causes_in(ablated.factors);
  const std::vector<std::uint32_t> needs = needs_of(causes);
  std::vector<Point> points;
  for (std::uint32_t set = 0; set < (1U << causes.size()); ++set) {
    if (!is_reachable(set, needs)) continue;
    ablated.idealised = set;
    points.push_back(usual);
    write_shape(ablated, points.back());
  }
  return points;
}

}  // namespace clprobe::stalls
