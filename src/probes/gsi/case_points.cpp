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

#include "clprobe/trace_file.hpp"
#include "probes/shared/fields.hpp"
#include "text/nearest.hpp"

namespace clprobe::gsi {
namespace {

using simulator::Coherence;
using simulator::Machine;
using simulator::PendingKind;
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

/// The thesis's priorities, but these words first. A word that is none is passed over.
Priorities priorities_of(std::string_view cycle, std::string_view instruction) {
  const Priorities published;
  return {.instruction = put_first(instruction, published.instruction),
          .cycle = put_first(cycle, published.cycle)};
}

const Setting* find_setting(std::string_view name) {
  const auto* const found = std::find_if(std::begin(case_settings), std::end(case_settings),
                                         [name](const Setting& each) { return each.name == name; });
  return found == std::end(case_settings) ? nullptr : found;
}

std::string unknown_setting(std::string_view name) {
  std::vector<std::string_view> names{poll_setting};
  for (const Setting& each : case_settings) names.push_back(each.name);
  const auto meant = nearest(name, names);
  return fmt::format("--set: no parameter is called '{}'{}: choose {}", name,
                     meant ? fmt::format(" (did you mean {}?)", *meant) : "",
                     fmt::join(names, ", "));
}

/// Reads "nodes=1000". Returns what is wrong with it; empty when nothing is.
std::string read_setting(std::string_view text, CaseOptions& read) {
  const std::size_t mark = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, mark);
  const std::string_view value = text.substr(std::min(mark + 1, text.size()));
  const Setting* const setting = find_setting(name);
  if (setting == nullptr && name != poll_setting) return unknown_setting(name);
  if (setting == nullptr) {
    if (read.polls_by) return "--set: poll is given twice: leave one out";
    read.polls_by = value_in(polls_words, value);
    return read.polls_by ? "" : fmt::format("--set: poll is warp or group, not '{}'", value);
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
    return fmt::format("--set: {} is a {} from {} to {}, not '{}'", name,
                       setting->is_power_of_two ? "power of two" : "whole number", min, max, value);
  }
  const bool is_first = read.settings.emplace(setting->name, number).second;
  return is_first ? "" : fmt::format("--set: {} is given twice: leave one out", name);
}

constexpr std::array coherences{Coherence::gpu, Coherence::ownership};
constexpr Bounds some_units{.min = 1, .max = 64};

/// What every point says.
struct Shape {
  std::string name{};  ///< of the case
  Coherence coherence{Coherence::gpu};
  std::string timer{to_word(Timer::event)};  ///< a launch is one access

  template <class Visitor>
  void visit(Visitor& fields) {
    std::string word(simulator::to_word(coherence));
    fields.text("case", name);
    fields.text("coherence", word);
    fields.text("timer", timer);
    for (const Coherence each : coherences) {
      if (simulator::to_word(each) == word) coherence = each;
    }
  }
};

constexpr bool is_of_implicit(const Setting& setting) {
  return setting.of == SettingOf::implicit || setting.of == SettingOf::memory;
}
constexpr bool is_of_search(const Setting& setting) { return setting.of != SettingOf::implicit; }

/// A point of a case with settings: those for which `belongs` holds.
template <bool (*belongs)(const Setting&)>
struct SettingsShape : Shape {
  std::array<std::optional<std::uint64_t>, std::size(case_settings)> values{};

  template <class Visitor>
  void visit(Visitor& fields) {
    Shape::visit(fields);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Setting& each = case_settings[i];
      if (belongs(each)) fields.whole(each.parameter, values[i], each.bounds);
    }
  }
  void take(const CaseOptions& options) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Setting& each = case_settings[i];
      const auto typed = options.settings.find(each.name);
      if (typed != options.settings.end()) {
        values[i] = typed->second;
      } else if (each.is_always_told) {
        values[i] = TreeSearch{}.*each.search;
      }
    }
  }
};

struct SearchShape : SettingsShape<is_of_search> {
  std::uint64_t units{1};
  Polls polls_by{Polls::warp};
  std::optional<std::uint64_t> owns_atomics{};  ///< 1, or nothing: as the machine has it
  std::optional<std::uint64_t> stores_pass_releases{};

  template <class Visitor>
  void visit(Visitor& fields) {
    SettingsShape::visit(fields);
    fields.whole("units", units, some_units);
    fields.word("poll", polls_by, polls_words);
    fields.whole("owns_atomics", owns_atomics, Bounds{.min = 1, .max = 1});
    fields.whole("stores_pass_releases", stores_pass_releases, Bounds{.min = 1, .max = 1});
  }
};

struct ImplicitShape : SettingsShape<is_of_implicit> {
  LocalCopy copy{LocalCopy::scratchpad};

  template <class Visitor>
  void visit(Visitor& fields) {
    SettingsShape::visit(fields);
    fields.word("copy", copy, local_copy_words);
  }
};

struct ComputeShape : Shape {
  ComputeWork work{ComputeWork::chain};

  template <class Visitor>
  void visit(Visitor& fields) {
    Shape::visit(fields);
    fields.word("work", work, compute_work_words);
  }
};

struct Entries {
  std::optional<std::uint64_t> mshr_entries{};

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.whole("mshr_entries", mshr_entries, count_from_0);
  }
};

constexpr std::string_view cycle_priority = "cycle_priority";
constexpr std::string_view instruction_priority = "instruction_priority";

/// As in the thesis, and with what the machine has itself, or what was asked for. 0: it has none.
std::vector<std::uint64_t> mshr_sizes(const Machine& machine, const CaseOptions& options) {
  if (machine.pending.kind != PendingKind::mshr) return {0};
  if (!options.mshrs.empty()) return options.mshrs;
  std::vector<std::uint64_t> sizes(std::begin(thesis_mshrs), std::end(thesis_mshrs));
  const std::uint64_t own = machine.pending.entries;
  if (own != 0 && std::find(sizes.begin(), sizes.end(), own) == sizes.end()) sizes.push_back(own);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

Point finish(Point point, std::uint64_t mshr_entries, const CaseOptions& options) {
  if (mshr_entries != 0) {
    point.parameters.set("mshr_entries", static_cast<std::int64_t>(mshr_entries));
  }
  write_accounting(options, point);
  return point;
}

SearchShape search_shape(const Machine& machine, TaskQueues queues, const CaseOptions& options) {
  SearchShape shape;
  shape.name = to_word(queues);
  shape.take(options);
  shape.units = options.units.value_or(std::min(machine.core.compute_units, max_default_units));
  shape.polls_by = options.polls_by.value_or(Polls::warp);
  if (options.owns_atomics) shape.owns_atomics = 1;
  if (options.stores_pass_releases) shape.stores_pass_releases = 1;
  return shape;
}

std::vector<Point> search_points(const Machine& machine, TaskQueues queues,
                                 const CaseOptions& options) {
  const std::vector<std::uint64_t> own{0};
  std::vector<Point> points;
  for (const std::uint64_t entries : options.mshrs.empty() ? own : options.mshrs) {
    for (const Coherence coherence : coherences) {
      Point point;
      point.series = bar_name(queues, coherence, entries);
      SearchShape shape = search_shape(machine, queues, options);
      shape.coherence = coherence;
      write_shape(shape, point);
      points.push_back(finish(std::move(point), entries, options));
    }
  }
  return points;
}

std::vector<Point> implicit_points(const Machine& machine, const CaseOptions& options) {
  std::vector<Point> points;
  for (const auto& copy : local_copy_words) {
    for (const std::uint64_t entries : mshr_sizes(machine, options)) {
      Point point;
      point.series = bar_name(copy.value, entries);
      ImplicitShape shape;
      shape.name = implicit_case;
      shape.coherence = Coherence::ownership;
      shape.copy = copy.value;
      shape.take(options);
      write_shape(shape, point);
      points.push_back(finish(std::move(point), entries, options));
    }
  }
  return points;
}

std::vector<Point> compute_points(const CaseOptions& options) {
  std::vector<Point> points;
  for (const auto& work : compute_work_words) {
    Point point;
    point.series = bar_name(work.value);
    ComputeShape shape;
    shape.name = compute_case;
    shape.work = work.value;
    write_shape(shape, point);
    points.push_back(finish(std::move(point), 0, options));
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
  read.units = own.number("units");
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
  read.views = joined(own.words("view"));
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
    return "--units: applies only to uts, utsd and traces of a whole launch";
  }
  const bool has_units = searches || has(compute_case) || read.has_launch;
  if (read.views && read.views->find(units_word) != std::string::npos && !has_units) {
    return "--view units: applies only to uts, utsd, compute and traces of a whole launch";
  }
  if (!searches && (read.owns_atomics || read.stores_pass_releases)) {
    return "--what-if: applies only to uts and utsd";
  }
  if (!searches && read.polls_by) return "--set poll: applies only to uts and utsd";
  const bool uses_memory = searches || has(implicit_case);
  const std::string_view why_not_memory =
      read.cases.empty() ? "does not apply to traces, which use the machine's own value"
                         : "does not apply to compute, which uses no memory";
  if (!read.mshrs.empty() && !uses_memory) return fmt::format("--mshrs: {}", why_not_memory);
  for (const auto& [name, value] : read.settings) {
    const SettingOf of = find_setting(name)->of;
    std::string_view problem;
    if (of == SettingOf::searches && !searches) problem = "applies only to uts and utsd";
    if (of == SettingOf::distributed_search && !has("utsd")) problem = "applies only to utsd";
    if (of == SettingOf::implicit && !has(implicit_case)) problem = "applies only to implicit";
    if (of == SettingOf::memory && !uses_memory) problem = why_not_memory;
    if (!problem.empty()) return fmt::format("--set {}: {}", name, problem);
  }
  return {};
}

std::vector<Point> case_points(const Machine& machine, std::string_view name,
                               const CaseOptions& options) {
  if (name == compute_case) return compute_points(options);
  const auto queues = value_in(task_queues_words, name);
  return queues ? search_points(machine, *queues, options) : implicit_points(machine, options);
}

std::optional<TreeSearch> search_of(const Point& point) {
  const auto queues = value_in(task_queues_words, point.parameters.text_or("case", ""));
  if (!queues) return std::nullopt;
  const auto shape = shape_of<SearchShape>(point);
  TreeSearch search{.queues = *queues, .units = shape.units, .polls_by = shape.polls_by};
  for (std::size_t i = 0; i < shape.values.size(); ++i) {
    const Setting& each = case_settings[i];
    if (shape.values[i] && each.search != nullptr) search.*each.search = *shape.values[i];
  }
  return search;
}

std::optional<ComputeWork> compute_of(const Point& point) {
  if (point.parameters.text_or("case", "") != compute_case) return std::nullopt;
  return shape_of<ComputeShape>(point).work;
}

Implicit implicit_of(const Point& point) {
  const auto shape = shape_of<ImplicitShape>(point);
  Implicit implicit{.copy = shape.copy};
  for (std::size_t i = 0; i < shape.values.size(); ++i) {
    const Setting& each = case_settings[i];
    if (shape.values[i] && each.implicit != nullptr) implicit.*each.implicit = *shape.values[i];
  }
  return implicit;
}

Machine machine_for(const Machine& machine, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  const auto entries_of = [&](std::string_view name) {
    return static_cast<std::uint64_t>(point.parameters.integer_or(name, 0));
  };
  Machine changed = adapt(machine, shape.coherence, entries_of("mshr_entries"));
  if (const std::uint64_t entries = entries_of("store_entries"); entries > 0) {
    changed.store_buffer.entries = entries;
  }
  if (value_in(task_queues_words, shape.name)) {
    const auto search = shape_of<SearchShape>(point);
    if (search.owns_atomics) changed.synchronization.owns_atomics = true;
    if (search.stores_pass_releases) changed.synchronization.stores_pass_releases = true;
  }
  return changed;
}

simulator::Accounting accounting_of(const Point& point) {
  // As many columns as fit a narrow terminal.
  constexpr std::size_t max_windows = 48;
  return {.priorities = priorities_of(point.parameters.text_or(cycle_priority, ""),
                                      point.parameters.text_or(instruction_priority, "")),
          .max_windows = shows(point, timeline_word) ? max_windows : 0};
}

bool shows(const Point& point, std::string_view view) {
  return point.parameters.text_or("views", "").find(view) != std::string::npos;
}

void write_accounting(const CaseOptions& options, Point& point) {
  if (options.views) point.parameters.set("views", *options.views);
  if (options.cycle_priority) {
    point.parameters.set(std::string(cycle_priority), *options.cycle_priority);
  }
  if (options.instruction_priority) {
    point.parameters.set(std::string(instruction_priority), *options.instruction_priority);
  }
}

void write_baseline(const std::string& bar, std::vector<Point>& points) {
  for (Point& point : points) point.parameters.set("relative_to", bar);
}

std::string baseline_in(std::span<const Point> points) {
  return points.empty() ? std::string() : points.front().parameters.text_or("relative_to", "");
}

std::optional<PointProblem> find_case_problem(const Point& point) {
  return find_problem<SearchShape, ImplicitShape, ComputeShape, Entries>(point);
}

}  // namespace clprobe::gsi
