// SPDX-License-Identifier: Apache-2.0
// Options of the cases, and the points that they select. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/gsi/cases.hpp"
#include "probes/shared/fields.hpp"
#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::gsi {

inline constexpr std::string_view implicit_case = "implicit";
inline constexpr std::string_view compute_case = "compute";
inline constexpr std::string_view trace_case =
    "trace";  ///< value of the parameter `case` in points of a trace
inline constexpr std::array<std::string_view, 4> case_words{"uts", "utsd", implicit_case,
                                                            compute_case};
inline constexpr std::string_view owned_atomics_word = "owned-atomics";
inline constexpr std::string_view fifo_word = "s-fifo";
inline constexpr std::array<std::string_view, 2> what_if_words{owned_atomics_word, fifo_word};
/// Words of the stall types in the order of `Stall`.
inline constexpr std::array<std::string_view, simulator::Priorities::count> stall_words{
    "idle",         "control",           "synchronization", "memory-data", "memory-structural",
    "compute-data", "compute-structural"};

inline constexpr Option case_options[]{
    {.name = "case",
     .value_name = "LIST",
     .summary = "kernels to simulate",
     .details = "Comma-separated list of kernels to simulate: a tree search with one queue (`uts`) "
                "or with one queue per compute unit (`utsd`), work on an array in local memory "
                "(`implicit`), and kernels without memory accesses (`compute`). Default: all "
                "kernels that the machine can run.",
     .value = Choices{case_words}},
    {.name = "compute-units",
     .value_name = "N",
     .summary = "number of compute units to simulate for a search or a whole launch",
     .details = "Number of compute units, 1 to 64, that clprobe simulates together for `uts`, "
                "`utsd` and traces of a whole launch. With 1, clprobe simulates only the first "
                "compute unit's share of a trace. Default: the machine's number, at most 16.",
     .value = Number{1, 64}},
    {.name = "what-if",
     .value_name = "LIST",
     .summary = "hardware features that make synchronization cheaper in a search",
     .details = "Comma-separated list of features to add to the machine for `uts` and `utsd`. "
                "`owned-atomics`: the first cache level serves locks that no other compute unit "
                "requests. `s-fifo`: while a release flushes earlier stores, later stores can "
                "issue. Default: only the machine's own features.",
     .value = Choices{what_if_words}},
    {.name = "set",
     .value_name = "NAME=VALUE,...",
     .summary = "parameters for the cases, such as nodes=1000,poll=group",
     .details =
         "Comma-separated list of parameters for the cases, such as `nodes=1000,poll=group`. "
         "Parameters of `uts` and `utsd`: `nodes` (number of nodes of the tree, 1 to 65536, "
         "default 16384), `warps` (sub-groups per compute unit, 1 to 16, default 4), `back-off` "
         "(cycles between two attempts to take a lock, 0 to 100000, default 0), `poll` (which "
         "sub-groups take locks, either each `warp` or one warp per `group`, default warp), "
         "`steps` (steps of work per node, 1 to 1000, default 16), `step-operations` (dependent "
         "operations per step, 1 to 1000, default 8), `state-lines` (cache lines of state per "
         "sub-group, 1 to 16, default 4) and `written-lines` (cache lines written per inner node, "
         "0 to 2, default 2). Parameter of `utsd`: `local-queue` (tasks in a compute unit's own "
         "queue, 2 to 32, default 32). Parameters of `implicit`: `operations` (operations on each "
         "word, 0 to 1000, default 16), `groups` (number of work-groups, 1 to 256, default 6), "
         "`block` (sub-groups per work-group, 1 to 32, default 4), `elements` (words per "
         "work-item, 1 to 64, default 2), `address-operations` (operations per address in global "
         "memory, 0 to 100, default 12) and `object-bytes` (bytes per object, 4, 8, 16, 32 or 64, "
         "default 32). Parameter of all cases except `compute`: `store-buffer` (entries of the "
         "store buffer, 1 to 4096; default: the number of MSHRs in the bar's name if there is one, "
         "otherwise the machine's own number).",
     .value = Choices{}},
    {.name = "mshrs",
     .value_name = "LIST",
     .summary = "numbers of MSHRs, one bar for each",
     .details = "Comma-separated list of numbers of MSHRs. Each number also sets the number of "
                "store-buffer entries. Every case except `compute` gets one bar for each number. "
                "The machine must have MSHRs. Default: 32, 64, 128, 256 and the machine's own "
                "number for `implicit`, only the machine's own number for the searches.",
     .value = Numbers{1, 4096}},
    {.name = "priority",
     .value_name = "LIST",
     .summary = "stall types for a cycle, highest priority first",
     .details =
         "Comma-separated list of stall types, highest priority first. A cycle in which no "
         "instruction issues gets the first type that any waiting instruction has (Algorithm 2 of "
         "Alsop's thesis). Types left out follow in the thesis's order: memory-structural, "
         "memory-data, synchronization, compute-structural, compute-data, control, idle.",
     .value = Choices{stall_words}},
    {.name = "instruction-priority",
     .value_name = "LIST",
     .summary = "stall types for an instruction, highest priority first",
     .details =
         "Comma-separated list of stall types, highest priority first. An instruction that waits "
         "for several reasons gets the first type that applies (Algorithm 1 of Alsop's thesis). "
         "Types left out follow in the thesis's order: idle, control, synchronization, "
         "memory-data, memory-structural, compute-data, compute-structural.",
     .value = Choices{stall_words}},
    {.name = "relative-to",
     .value_name = "N",
     .summary = "scale all bars so that the time of bar N is 1",
     .details = "Number, as printed next to the bars, of the bar whose time becomes 1. All other "
                "bars show multiples of this time, as in the figures of Alsop's thesis. Default: "
                "all bars are equally long.",
     .value = Number{1, 1000}},
    {.name = "trace",
     .value_name = "FILE",
     .summary = "trace of your own kernel to simulate",
     .details =
         "Trace of a kernel to simulate: a text file with one line per instruction of a sub-group, "
         "as docs/trace.md describes. The built-in cases then run only if `--case` names them.",
     .value = TracePath{}},
};

/// Numeric parameter of `--set` for the tree search or for the pass over an array. The number of
/// store-buffer entries is a parameter of the machine and applies to both kernels.
struct Setting {
  std::string_view name{};
  std::string_view parameter{};  ///< name of the parameter in a point
  Bounds bounds{};
  std::uint64_t TreeSearch::*search{nullptr};
  std::uint64_t Implicit::*implicit{nullptr};
  bool is_always_told{false};  ///< true if points have the parameter even if it was not given
  bool is_of_utsd{false};      ///< true if the parameter applies only to `utsd`
  bool is_power_of_two{false};
};
inline constexpr Setting case_settings[]{
    {"store-buffer", "store_entries", {1, 4096}},
    {"nodes", "nodes", {1, 65536}, &TreeSearch::nodes, nullptr, true},
    {"warps", "warps", {1, 16}, &TreeSearch::warps, nullptr, true},
    {"local-queue", "local_queue", {2, 32}, &TreeSearch::local_capacity, nullptr, true, true},
    {"back-off", "backoff_cycles", {0, 100000}, &TreeSearch::backoff_cycles, nullptr, true},
    {"steps", "steps", {1, 1000}, &TreeSearch::steps},
    {"step-operations", "step_operations", {1, 1000}, &TreeSearch::operations},
    {"state-lines", "state_lines", {1, 16}, &TreeSearch::state_lines},
    {"written-lines", "written_lines", {0, 2}, &TreeSearch::written_lines},
    {"operations", "operations", {0, 1000}, nullptr, &Implicit::operations},
    {"groups", "groups", {1, 256}, nullptr, &Implicit::groups},
    {"block", "block_warps", {1, 32}, nullptr, &Implicit::warps},
    {"elements", "elements", {1, 64}, nullptr, &Implicit::elements},
    {"address-operations", "address_operations", {0, 100}, nullptr, &Implicit::address_operations},
    {"object-bytes", "object_bytes", {4, 64}, nullptr, &Implicit::object_bytes, false, false, true},
};
inline constexpr std::string_view poll_setting = "poll";  ///< parameter whose value is a word

/// Values in the order of `case_settings`. Without a value, the default of the case or machine
/// applies.
using Settings = std::array<std::optional<std::uint64_t>, std::size(case_settings)>;

/// Options as given. Without a value, the default of the machine or of the case applies.
struct CaseOptions {
  /// Cases to simulate: the requested cases, or all if neither cases nor traces are requested.
  std::vector<std::string> cases{};
  bool has_launch{false};  ///< true if a trace covers a whole launch
  std::string problem{};   ///< problem with `--set`: "--set: ..."; empty: no problem
  Settings settings{};
  std::optional<Polls> polls_by{};
  std::optional<std::uint64_t> units{};
  bool owns_atomics{false};  ///< true adds the feature; false keeps the machine's own
  bool stores_pass_releases{false};
  std::vector<std::uint64_t> mshrs{};
  std::optional<std::string> cycle_priority{};        ///< comma-separated words
  std::optional<std::string> instruction_priority{};  ///< comma-separated words
  std::optional<std::uint64_t> relative_to{};  ///< number of the bar that all bars are scaled by
};
CaseOptions read_options(const Request& request);

/// Returns the first option that is invalid or has no effect, with the reason: "--mshrs: ...".
/// Returns an empty text if all options apply.
std::string find_option_problem(const CaseOptions& read);

struct Shape {
  std::string name{};  ///< name of the case, or trace_case
  simulator::Coherence coherence{};
  std::string timer{to_word(Timer::event)};  ///< word of `Timer`; one access is one launch
  std::string trace_sha256{};                ///< hash of the trace's text
  std::uint64_t groups{1};                   ///< number of work-groups of the trace
  std::uint64_t simulated_groups{1};         ///< number of work-groups that the simulated units run
  Settings settings{};
  /// Number of compute units that are simulated together. Without a value, the case's default
  /// applies.
  std::optional<std::uint64_t> units{};
  Polls polls_by{Polls::warp};
  /// 1 adds the feature. Without a value, the machine's own feature applies.
  std::optional<std::uint64_t> owns_atomics{};
  std::optional<std::uint64_t> stores_pass_releases{};
  LocalCopy copy{LocalCopy::scratchpad};
  ComputeWork work{ComputeWork::chain};
  std::optional<std::uint64_t> mshr_entries{};
  std::optional<std::string> cycle_priority{};
  std::optional<std::string> instruction_priority{};

  [[nodiscard]] std::optional<TaskQueues> queues() const {
    return value_in(task_queues_words, name);
  }
  [[nodiscard]] bool has(const Setting& setting) const {
    if (setting.search != nullptr) return queues().has_value();
    return name == implicit_case || (setting.implicit == nullptr && queues());
  }

  template <class Visitor>
  void visit(Visitor& fields) {
    constexpr Bounds only_1{.min = 1, .max = 1};
    fields.text("case", name);
    fields.word("coherence", coherence, EnumWords<simulator::Coherence>::table);
    fields.text("timer", timer);
    if (name == trace_case) {
      fields.text("trace_sha256", trace_sha256);
      fields.whole("groups", groups, count_from_1);
      fields.whole("simulated_groups", simulated_groups, count_from_1);
    }
    for (std::size_t i = 0; i < settings.size(); ++i) {
      const Setting& each = case_settings[i];
      if (has(each)) fields.whole(each.parameter, settings[i], each.bounds);
    }
    fields.whole("units", units, Bounds{.min = 1, .max = 64});
    if (queues()) {
      fields.word("poll", polls_by, polls_words);
      fields.whole("owns_atomics", owns_atomics, only_1);
      fields.whole("stores_pass_releases", stores_pass_releases, only_1);
    }
    if (name == implicit_case) fields.word("copy", copy, local_copy_words);
    if (name == compute_case) fields.word("work", work, compute_work_words);
    fields.whole("mshr_entries", mshr_entries, count_from_0);
    fields.text("cycle_priority", cycle_priority);
    fields.text("instruction_priority", instruction_priority);
  }
};

/// Returns the shape of a point of a case or a trace, with the given options.
Shape shape_for(std::string_view name, const CaseOptions& options);

std::vector<Point> case_points(const simulator::Machine& machine, std::string_view name,
                               const CaseOptions& options);

TreeSearch search_of(const Shape& shape);
Implicit implicit_of(const Shape& shape);
simulator::Machine machine_for(const simulator::Machine& machine, const Shape& shape);
/// Returns the priorities of the thesis, with the types that the point names moved to the front.
simulator::Priorities priorities_of(const Shape& shape);

}  // namespace clprobe::gsi
