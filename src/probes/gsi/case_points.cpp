// SPDX-License-Identifier: Apache-2.0
#include "probes/gsi/case_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "probes/shared/fields.hpp"
#include "simulation/api/simulator.hpp"
#include "text/api/text.hpp"

namespace clprobe::gsi {
namespace {

using simulator::Coherence;
using simulator::Machine;
using simulator::PendingKind;
using simulator::Priorities;
using simulator::Stall;

std::optional<std::string> joined(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(words, ","));
}

/// Moves stall types to the front of an order. `words`: comma-separated; unknown words are ignored.
void put_first(std::string_view words, std::array<Stall, Priorities::count>& order) {
  while (!words.empty()) {
    const std::size_t comma = words.rfind(',');
    const std::string_view word = words.substr(comma == std::string_view::npos ? 0 : comma + 1);
    const auto* const known = std::find(stall_words.begin(), stall_words.end(), word);
    auto* const stall =
        std::find(order.begin(), order.end(), static_cast<Stall>(known - stall_words.begin()));
    if (stall != order.end()) std::rotate(order.begin(), stall, stall + 1);
    words.remove_suffix(std::min(word.size() + 1, words.size()));
  }
}

const Setting* find_setting(std::string_view name) {
  const auto* const found = std::find_if(std::begin(case_settings), std::end(case_settings),
                                         [name](const Setting& each) { return each.name == name; });
  return found == std::end(case_settings) ? nullptr : found;
}

std::size_t index_of(const Setting& setting) {
  return static_cast<std::size_t>(&setting - std::begin(case_settings));
}

std::string unknown_setting(std::string_view name) {
  std::vector<std::string_view> names{poll_setting};
  names.reserve(1 + std::size(case_settings));
  for (const Setting& each : case_settings) names.push_back(each.name);
  const auto meant = nearest(name, names);
  return fmt::format("--set: unknown parameter '{}'{}; choose {}", name,
                     meant ? fmt::format(" (did you mean {}?)", *meant) : "",
                     fmt::join(names, ", "));
}

/// Adds a setting such as "nodes=1000" to `read`. Returns the problem with `text`; empty if none.
std::string read_setting(std::string_view text, CaseOptions& read) {
  const std::size_t mark = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, mark);
  const std::string_view value = text.substr(std::min(mark + 1, text.size()));
  const Setting* const setting = find_setting(name);
  if (setting == nullptr && name != poll_setting) return unknown_setting(name);
  if (setting == nullptr) {
    if (read.polls_by) return "--set: poll is given twice: leave one out";
    read.polls_by = value_in(polls_words, value);
    return read.polls_by ? "" : fmt::format("--set: poll must be warp or group, not '{}'", value);
  }
  std::uint64_t number = 0;
  const char* const last = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), last, number);
  const bool is_whole = error == std::errc{} && rest == last;
  const auto [min, max] = setting->bounds;
  const bool is_within = is_whole && std::cmp_greater_equal(number, min) &&
                         std::cmp_less_equal(number, max) &&
                         (!setting->is_power_of_two || std::has_single_bit(number));
  if (!is_within) {
    return fmt::format("--set: {} must be a {} from {} to {}, not '{}'", name,
                       setting->is_power_of_two ? "power of two" : "whole number", min, max, value);
  }
  std::optional<std::uint64_t>& field = read.settings.at(index_of(*setting));
  if (field) return fmt::format("--set: {} is given twice: leave one out", name);
  field = number;
  return {};
}

constexpr std::array coherences{Coherence::gpu, Coherence::ownership};

/// Returns the numbers of MSHRs to simulate: the numbers of `--mshrs`, or by default the thesis's
/// numbers and the machine's own number. 0 stands for a machine without MSHRs.
std::vector<std::uint64_t> mshr_sizes(const Machine& machine, const CaseOptions& options) {
  if (machine.pending.kind != PendingKind::mshr) return {0};
  if (!options.mshrs.empty()) return options.mshrs;
  std::vector<std::uint64_t> sizes(std::begin(thesis_mshrs), std::end(thesis_mshrs));
  const std::uint64_t own = machine.pending.entries;
  if (own != 0 && std::find(sizes.begin(), sizes.end(), own) == sizes.end()) sizes.push_back(own);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

Point point_of(std::string bar, Shape shape, std::uint64_t mshr_entries = 0) {
  if (mshr_entries != 0) shape.mshr_entries = mshr_entries;
  Point point;
  point.series = std::move(bar);
  write_shape(shape, point);
  return point;
}

std::vector<Point> search_points(const Machine& machine, Shape shape, const CaseOptions& options) {
  shape.units = options.units.value_or(std::min(machine.core.compute_units, max_default_units));
  shape.polls_by = options.polls_by.value_or(Polls::warp);
  if (options.owns_atomics) shape.owns_atomics = 1;
  if (options.stores_pass_releases) shape.stores_pass_releases = 1;
  const std::vector<std::uint64_t> own{0};
  std::vector<Point> points;
  for (const std::uint64_t entries : options.mshrs.empty() ? own : options.mshrs) {
    for (const Coherence coherence : coherences) {
      shape.coherence = coherence;
      points.push_back(point_of(bar_name(*shape.queues(), coherence, entries), shape, entries));
    }
  }
  return points;
}

std::vector<Point> implicit_points(const Machine& machine, Shape shape,
                                   const CaseOptions& options) {
  shape.coherence = Coherence::ownership;
  std::vector<Point> points;
  for (const auto& copy : local_copy_words) {
    shape.copy = copy.value;
    for (const std::uint64_t entries : mshr_sizes(machine, options)) {
      points.push_back(point_of(bar_name(copy.value, entries), shape, entries));
    }
  }
  return points;
}

std::vector<Point> compute_points(Shape shape) {
  std::vector<Point> points;
  points.reserve(std::size(compute_work_words));
  for (const auto& work : compute_work_words) {
    shape.work = work.value;
    points.push_back(point_of(bar_name(work.value), shape));
  }
  return points;
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
  read.units = own.number("compute-units");
  for (const std::string& each : own.words("set")) {
    if (read.problem.empty()) read.problem = read_setting(each, read);
  }
  const std::vector<std::string> what_if = own.words("what-if");
  const auto asks = [&](std::string_view word) {
    return std::find(what_if.begin(), what_if.end(), word) != what_if.end();
  };
  read.owns_atomics = asks(owned_atomics_word);
  read.stores_pass_releases = asks(fifo_word);
  for (const int each : own.numbers("mshrs")) {
    read.mshrs.push_back(static_cast<std::uint64_t>(each));
  }
  read.cycle_priority = joined(own.words("priority"));
  read.instruction_priority = joined(own.words("instruction-priority"));
  read.relative_to = own.number("relative-to");
  return read;
}

std::string find_option_problem(const CaseOptions& read) {
  if (!read.problem.empty()) return read.problem;
  const auto has = [&](std::string_view name) {
    return std::find(read.cases.begin(), read.cases.end(), name) != read.cases.end();
  };
  const bool searches = has("uts") || has("utsd");
  if (read.units && !searches && !read.has_launch) {
    return "--compute-units: applies only to uts, utsd and traces of a whole launch";
  }
  if (!searches && (read.owns_atomics || read.stores_pass_releases)) {
    return "--what-if: applies only to uts and utsd";
  }
  if (!searches && read.polls_by) return "--set poll: applies only to uts and utsd";
  const bool uses_memory = searches || has(implicit_case);
  const std::string_view why_not_memory =
      read.cases.empty()
          ? "does not apply to traces, which use the machine's numbers of MSHRs and store-buffer "
            "entries"
          : "does not apply to compute, which accesses no memory";
  if (!read.mshrs.empty() && !uses_memory) return fmt::format("--mshrs: {}", why_not_memory);
  for (const Setting& each : case_settings) {
    if (!read.settings.at(index_of(each))) continue;
    std::string_view problem;
    if (each.search != nullptr && !searches) problem = "applies only to uts and utsd";
    if (each.is_of_utsd && !has("utsd")) problem = "applies only to utsd";
    if (each.implicit != nullptr && !has(implicit_case)) problem = "applies only to implicit";
    const bool is_of_memory = each.search == nullptr && each.implicit == nullptr;
    if (is_of_memory && !uses_memory) problem = why_not_memory;
    if (!problem.empty()) return fmt::format("--set {}: {}", each.name, problem);
  }
  return {};
}

Shape shape_for(std::string_view name, const CaseOptions& options) {
  Shape shape{.name = std::string(name)};
  shape.cycle_priority = options.cycle_priority;
  shape.instruction_priority = options.instruction_priority;
  for (const Setting& each : case_settings) {
    std::optional<std::uint64_t>& field = shape.settings.at(index_of(each));
    field = options.settings.at(index_of(each));
    if (!field && each.is_always_told) field = TreeSearch{}.*each.search;
  }
  return shape;
}

std::vector<Point> case_points(const Machine& machine, std::string_view name,
                               const CaseOptions& options) {
  Shape shape = shape_for(name, options);
  if (name == compute_case) return compute_points(std::move(shape));
  if (name == implicit_case) return implicit_points(machine, std::move(shape), options);
  return search_points(machine, std::move(shape), options);
}

TreeSearch search_of(const Shape& shape) {
  TreeSearch search{.queues = shape.queues().value_or(TaskQueues::one),
                    .units = shape.units.value_or(1),
                    .polls_by = shape.polls_by};
  for (const Setting& each : case_settings) {
    const auto& typed = shape.settings.at(index_of(each));
    if (typed && each.search != nullptr) search.*each.search = *typed;
  }
  return search;
}

Implicit implicit_of(const Shape& shape) {
  Implicit implicit{.copy = shape.copy};
  for (const Setting& each : case_settings) {
    const auto& typed = shape.settings.at(index_of(each));
    if (typed && each.implicit != nullptr) implicit.*each.implicit = *typed;
  }
  return implicit;
}

Machine machine_for(const Machine& machine, const Shape& shape) {
  Machine changed = adapt(machine, shape.coherence, shape.mshr_entries.value_or(0));
  if (const auto entries = shape.settings.front()) changed.store_buffer.entries = *entries;
  if (shape.owns_atomics) changed.synchronization.owns_atomics = true;
  if (shape.stores_pass_releases) changed.synchronization.stores_pass_releases = true;
  return changed;
}

Priorities priorities_of(const Shape& shape) {
  Priorities priorities;
  put_first(shape.cycle_priority.value_or(""), priorities.cycle);
  put_first(shape.instruction_priority.value_or(""), priorities.instruction);
  return priorities;
}

}  // namespace clprobe::gsi
