// SPDX-License-Identifier: Apache-2.0
#include "probes/gsi/case_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "clprobe/trace_file.hpp"

namespace clprobe::gsi {
namespace {

using simulator::Priorities;
using simulator::Stall;

/// Stall types as words of the command line; the rest of the order follows in the thesis's.
struct StallWord {
  std::string_view word;
  Stall stall;
};
constexpr std::array<StallWord, Priorities::count> stalls{
    {{"idle", Stall::idle},
     {"control", Stall::control},
     {"synchronization", Stall::synchronization},
     {"memory-data", Stall::memory_data},
     {"memory-structural", Stall::memory_structural},
     {"compute-data", Stall::compute_data},
     {"compute-structural", Stall::compute_structural}}};
std::optional<std::string> joined(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(words, ","));
}

/// The stalls of these words first, then those of `order` that are none of them.
std::array<Stall, Priorities::count> put_first(std::string_view words,
                                               const std::array<Stall, Priorities::count>& order) {
  std::vector<Stall> wanted;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(','), words.size());
    const auto* const found =
        std::find_if(stalls.begin(), stalls.end(),
                     [&](const StallWord& each) { return each.word == words.substr(0, end); });
    if (found != stalls.end()) wanted.push_back(found->stall);
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  const auto place_of = [&](Stall stall) {
    return std::find(wanted.begin(), wanted.end(), stall) - wanted.begin();
  };
  std::array<Stall, Priorities::count> result = order;
  std::stable_sort(result.begin(), result.end(),
                   [&](Stall a, Stall b) { return place_of(a) < place_of(b); });
  return result;
}

}  // namespace

CaseOptions read_options(const Request& request) {
  const OptionValues& own = request.own;
  CaseOptions read;
  read.cases = own.words("case");
  if (read.cases.empty() && request.traces.empty()) {
    read.cases = {case_words.begin(), case_words.end()};
  }
  read.has_launch = std::any_of(
      request.traces.begin(), request.traces.end(),
      [](const AskedTrace& each) { return each.file->groups_of == simulator::GroupsOf::launch; });
  read.nodes = own.number("nodes");
  read.units = own.number("units");
  read.warps = own.number("warps");
  read.local_capacity = own.number("local-queue");
  read.backoff_cycles = own.number("back-off");
  if (own.has("poll")) read.polls_by = own.word("poll");
  const std::vector<std::string> what_if = own.words("what-if");
  const auto asks = [&](std::string_view word) {
    return std::find(what_if.begin(), what_if.end(), word) != what_if.end();
  };
  read.owns_atomics = asks(owned_atomics_word);
  read.stores_pass_releases = asks(fifo_word);
  read.steps = own.number("steps");
  read.step_operations = own.number("step-operations");
  read.state_lines = own.number("state-lines");
  read.written_lines = own.number("written-lines");
  read.operations = own.number("operations");
  read.groups = own.number("groups");
  read.block_warps = own.number("block");
  read.elements = own.number("elements");
  read.address_operations = own.number("address-operations");
  if (own.has("object-bytes")) read.object_bytes = std::stoull(own.word("object-bytes"));
  for (const int each : own.numbers("mshrs")) {
    read.mshrs.push_back(static_cast<std::uint64_t>(each));
  }
  read.store_entries = own.number("store-buffer");
  read.cycle_priority = joined(own.words("priority"));
  read.instruction_priority = joined(own.words("instruction-priority"));
  read.views = joined(own.words("view"));
  read.relative_to = own.number("relative-to");
  return read;
}

std::string find_idle_option(const CaseOptions& read) {
  const auto has = [&](std::string_view name) {
    return std::find(read.cases.begin(), read.cases.end(), name) != read.cases.end();
  };
  const bool searches = has("uts") || has("utsd");
  if (read.units && !searches && !read.has_launch) {
    return "--units: applies only to uts, utsd and traces of a whole launch";
  }
  const bool has_units = searches || has(compute_case) || read.has_launch;
  if (read.views && read.views->find(units_word) != std::string::npos && !has_units) {
    return "--view units: applies only to uts, utsd, compute and traces of a whole launch";
  }
  const std::array of_searches{std::pair("nodes", read.nodes.has_value()),
                               std::pair("warps", read.warps.has_value()),
                               std::pair("back-off", read.backoff_cycles.has_value()),
                               std::pair("poll", read.polls_by.has_value()),
                               std::pair("what-if", read.owns_atomics || read.stores_pass_releases),
                               std::pair("steps", read.steps.has_value()),
                               std::pair("step-operations", read.step_operations.has_value()),
                               std::pair("state-lines", read.state_lines.has_value()),
                               std::pair("written-lines", read.written_lines.has_value())};
  for (const auto& [name, is_typed] : of_searches) {
    if (is_typed && !searches) return fmt::format("--{}: applies only to uts and utsd", name);
  }
  const std::array of_implicit{std::pair("operations", read.operations.has_value()),
                               std::pair("groups", read.groups.has_value()),
                               std::pair("block", read.block_warps.has_value()),
                               std::pair("elements", read.elements.has_value()),
                               std::pair("address-operations", read.address_operations.has_value()),
                               std::pair("object-bytes", read.object_bytes.has_value())};
  for (const auto& [name, is_typed] : of_implicit) {
    if (is_typed && !has(implicit_case)) return fmt::format("--{}: applies only to implicit", name);
  }
  if (read.local_capacity && !has("utsd")) return "--local-queue: applies only to utsd";
  const std::array of_memory{std::pair("mshrs", !read.mshrs.empty()),
                             std::pair("store-buffer", read.store_entries.has_value())};
  for (const auto& [name, is_typed] : of_memory) {
    if (!is_typed || searches || has(implicit_case)) continue;
    if (read.cases.empty()) {
      return fmt::format("--{}: does not apply to traces, which use the machine's own value", name);
    }
    return fmt::format("--{}: does not apply to {}, which uses no memory", name, compute_case);
  }
  return {};
}

Priorities priorities_of(std::string_view cycle, std::string_view instruction) {
  const Priorities published;
  return {.instruction = put_first(instruction, published.instruction),
          .cycle = put_first(cycle, published.cycle)};
}

}  // namespace clprobe::gsi
