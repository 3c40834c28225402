// SPDX-License-Identifier: Apache-2.0
// The cases as options of the command line and as points. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/stalls.hpp"
#include "probes/gsi/cases.hpp"
#include "probes/shared/bounds.hpp"

namespace clprobe::gsi {

inline constexpr std::string_view implicit_case = "implicit";
inline constexpr std::string_view compute_case = "compute";
inline constexpr std::array<std::string_view, 4> case_words{"uts", "utsd", implicit_case,
                                                            compute_case};
inline constexpr std::string_view owned_atomics_word = "owned-atomics";
inline constexpr std::string_view fifo_word = "s-fifo";
inline constexpr std::array<std::string_view, 2> what_if_words{owned_atomics_word, fifo_word};
inline constexpr std::string_view units_word = "units";
inline constexpr std::string_view sub_groups_word = "sub-groups";
inline constexpr std::string_view timeline_word = "timeline";
inline constexpr std::array<std::string_view, 3> view_words{units_word, sub_groups_word,
                                                            timeline_word};
inline constexpr std::array<std::string_view, simulator::Priorities::count> stall_words{
    "idle",         "control",           "synchronization", "memory-data", "memory-structural",
    "compute-data", "compute-structural"};

/// The probe's options, that of traces included.
inline constexpr Option case_options[]{
    {.name = "case",
     .value_name = "LIST",
     .summary = "kernels to simulate",
     .details = "Comma-separated list of kernels to simulate: a tree search with one queue (`uts`) "
                "or with one queue per compute unit (`utsd`), a pass over an array through local "
                "memory (`implicit`), and kernels without memory accesses (`compute`). Default: "
                "all that fit the machine.",
     .value = Choices{case_words}},
    {.name = "units",
     .value_name = "N",
     .summary = "compute units to simulate in a search or a launch",
     .details = "Number of compute units simulated together in `uts`, `utsd` and traces of a whole "
                "launch, 1 to 64; with 1, a trace runs only the first compute unit's share. "
                "Default: the machine's number, at most 16.",
     .value = Number{1, 64}},
    {.name = "what-if",
     .value_name = "LIST",
     .summary = "hardware features that make synchronization cheaper in a search",
     .details = "Comma-separated list of features to add to the machine for `uts` and `utsd`. "
                "`owned-atomics`: the first cache level serves locks that no other compute unit "
                "wants. `s-fifo`: stores after a release issue while the release flushes earlier "
                "stores. Default: only the machine's own features.",
     .value = Choices{what_if_words}},
    {.name = "set",
     .value_name = "NAME=VALUE,...",
     .summary = "parameters of the cases",
     .details =
         "Comma-separated list of parameters of the cases, such as `nodes=1000,poll=group`. Of "
         "`uts` and `utsd`: `nodes` of the tree (1 to 65536, default 16384), `warps` (sub-groups "
         "per compute unit, 1 to 16, default 4), `back-off` (cycles between two attempts to take a "
         "lock, 0 to 100000, default 0), `poll` (who takes the locks: each `warp`, or one for its "
         "`group`; default warp), `steps` (of work per node, 1 to 1000, default 16), "
         "`step-operations` (dependent operations per step, 1 to 1000, default 8), `state-lines` "
         "(cache lines of state per sub-group, 1 to 16, default 4) and `written-lines` (of an "
         "inner node, 0 to 2, default 2). Of `utsd`: `local-queue` (tasks in a compute unit's own "
         "queue, 2 to 32, default 32). Of `implicit`: `operations` (on each word, 0 to 1000, "
         "default 16), `groups` (work-groups, 1 to 256, default 6), `block` (sub-groups per "
         "work-group, 1 to 32, default 4), `elements` (words per work-item, 1 to 64, default 2), "
         "`address-operations` (per address in global memory, 0 to 100, default 12) and "
         "`object-bytes` (4, 8, 16, 32 or 64, default 32). Of all cases but `compute`: "
         "`store-buffer` (entries, 1 to 4096; default: the number of MSHRs in bars that set it, "
         "otherwise the machine's own number).",
     .value = Choices{}},
    {.name = "mshrs",
     .value_name = "LIST",
     .summary = "numbers of MSHRs; one bar for each",
     .details = "Comma-separated list of numbers of MSHRs, which also set the number of "
                "store-buffer entries: one bar for each in every case except `compute`. The "
                "machine must have MSHRs. Default: 32, 64, 128, 256 and the machine's own number "
                "for `implicit`, only the machine's own number for the searches.",
     .value = Numbers{1, 4096}},
    {.name = "priority",
     .value_name = "LIST",
     .summary = "stall types that take priority for a cycle",
     .details = "Comma-separated list of stall types, highest priority first: a cycle that issues "
                "no instruction is assigned the first type that any of its instructions has "
                "(Algorithm 2). Types left out follow in the thesis's order: memory-structural, "
                "memory-data, synchronization, compute-structural, compute-data, control, idle.",
     .value = Choices{stall_words}},
    {.name = "instruction-priority",
     .value_name = "LIST",
     .summary = "stall types that take priority for an instruction",
     .details =
         "Comma-separated list of stall types, highest priority first, for an instruction with "
         "several types (Algorithm 1). Types left out follow in the thesis's order: idle, control, "
         "synchronization, memory-data, memory-structural, compute-data, compute-structural.",
     .value = Choices{stall_words}},
    {.name = "view",
     .value_name = "LIST",
     .summary = "extra bars per kernel",
     .details = "Comma-separated list of extra bars per kernel: one for each compute unit "
                "(`units`), for each sub-group (`sub-groups`), or for each of 24 to 48 consecutive "
                "time windows (`timeline`). Default: none.",
     .value = Choices{view_words}},
    {.name = "relative-to",
     .value_name = "N",
     .summary = "number of the bar to which the others are scaled",
     .details = "Number, as printed next to the bars, of the bar whose time is 1. The lengths of "
                "the other bars are multiples of it, as in the figures of the thesis. Default: all "
                "bars are equally long.",
     .value = Number{1, 1000}},
    {.name = "trace",
     .value_name = "FILE",
     .summary = "trace of your own kernel to simulate",
     .details =
         "Trace of a kernel to simulate: a text file with one line per instruction of a sub-group, "
         "as docs/trace.md describes. The built-in cases then run only if `--case` names them.",
     .value = TracePath{}},
};

/// The cases that a setting belongs to.
enum class SettingOf { searches, distributed_search, implicit, memory };

/// A number of a case that `--set` sets. It is a field of the case; the store buffer's is one of
/// the machine.
struct Setting {
  std::string_view name{};
  std::string_view parameter{};  ///< in a point
  Bounds bounds{};
  std::uint64_t TreeSearch::*search{nullptr};
  std::uint64_t Implicit::*implicit{nullptr};
  SettingOf of{SettingOf::searches};
  bool is_always_told{false};  ///< points have it where it was not typed, too
  bool is_power_of_two{false};
};
inline constexpr Setting case_settings[]{
    {.name = "store-buffer",
     .parameter = "store_entries",
     .bounds = {1, 4096},
     .of = SettingOf::memory},
    {.name = "nodes",
     .parameter = "nodes",
     .bounds = {1, 65536},
     .search = &TreeSearch::nodes,
     .of = SettingOf::searches,
     .is_always_told = true},
    {.name = "warps",
     .parameter = "warps",
     .bounds = {1, 16},
     .search = &TreeSearch::warps,
     .of = SettingOf::searches,
     .is_always_told = true},
    {.name = "local-queue",
     .parameter = "local_queue",
     .bounds = {2, 32},
     .search = &TreeSearch::local_capacity,
     .of = SettingOf::distributed_search,
     .is_always_told = true},
    {.name = "back-off",
     .parameter = "backoff_cycles",
     .bounds = {0, 100000},
     .search = &TreeSearch::backoff_cycles,
     .of = SettingOf::searches,
     .is_always_told = true},
    {.name = "steps",
     .parameter = "steps",
     .bounds = {1, 1000},
     .search = &TreeSearch::steps,
     .of = SettingOf::searches},
    {.name = "step-operations",
     .parameter = "step_operations",
     .bounds = {1, 1000},
     .search = &TreeSearch::operations,
     .of = SettingOf::searches},
    {.name = "state-lines",
     .parameter = "state_lines",
     .bounds = {1, 16},
     .search = &TreeSearch::state_lines,
     .of = SettingOf::searches},
    {.name = "written-lines",
     .parameter = "written_lines",
     .bounds = {0, 2},
     .search = &TreeSearch::written_lines,
     .of = SettingOf::searches},
    {.name = "operations",
     .parameter = "operations",
     .bounds = {0, 1000},
     .implicit = &Implicit::operations,
     .of = SettingOf::implicit},
    {.name = "groups",
     .parameter = "groups",
     .bounds = {1, 256},
     .implicit = &Implicit::groups,
     .of = SettingOf::implicit},
    {.name = "block",
     .parameter = "block_warps",
     .bounds = {1, 32},
     .implicit = &Implicit::warps,
     .of = SettingOf::implicit},
    {.name = "elements",
     .parameter = "elements",
     .bounds = {1, 64},
     .implicit = &Implicit::elements,
     .of = SettingOf::implicit},
    {.name = "address-operations",
     .parameter = "address_operations",
     .bounds = {0, 100},
     .implicit = &Implicit::address_operations,
     .of = SettingOf::implicit},
    {.name = "object-bytes",
     .parameter = "object_bytes",
     .bounds = {4, 64},
     .implicit = &Implicit::object_bytes,
     .of = SettingOf::implicit,
     .is_power_of_two = true},
};
inline constexpr std::string_view poll_setting = "poll";  ///< the one that is a word

/// What was typed. What was not is nothing, and then the machine's or the case's own.
struct CaseOptions {
  std::vector<std::string> cases{};  ///< all where none was typed, and no trace
  bool has_launch{false};            ///< a trace of all units
  std::string problem{};             ///< of `--set`: "--set: ..."; empty without one
  std::map<std::string_view, std::uint64_t> settings{};  ///< by name
  std::optional<Polls> polls_by{};
  std::optional<std::uint64_t> units{};
  bool owns_atomics{false};  ///< false: as the machine has it, and so for the next one
  bool stores_pass_releases{false};
  std::vector<std::uint64_t> mshrs{};
  std::optional<std::string> cycle_priority{};        ///< words, with commas between
  std::optional<std::string> instruction_priority{};  ///< the same
  std::optional<std::string> views{};                 ///< the same
  std::optional<std::uint64_t> relative_to{};         ///< the number of a bar
};
CaseOptions read_options(const Request& request);

/// What was typed and cannot be, or has no effect on what is simulated: "--units: ..."; empty when
/// there is none.
std::string find_option_problem(const CaseOptions& read);

/// The bars of a case.
std::vector<Point> case_points(const simulator::Machine& machine, std::string_view name,
                               const CaseOptions& options);

/// Nothing where the point is of another case. These throw PointError for what no plan made.
std::optional<TreeSearch> search_of(const Point& point);
std::optional<ComputeWork> compute_of(const Point& point);
Implicit implicit_of(const Point& point);
/// `machine` as the point has it.
simulator::Machine machine_for(const simulator::Machine& machine, const Point& point);

/// Whether a view of parts of the kernel was asked for: one of view_words.
bool shows(const Point& point, std::string_view view);
/// By which priorities, and with which timeline.
simulator::Accounting accounting_of(const Point& point);
/// What was asked for of these, as parameters.
void write_accounting(const CaseOptions& options, Point& point);

/// The bar that the others are shown relative to, as a parameter of each point; and which it is,
/// empty where none was chosen.
void write_baseline(const std::string& bar, std::vector<Point>& points);
std::string baseline_in(std::span<const Point> points);

/// The first number or word that no point of a case can have.
std::optional<PointProblem> find_case_problem(const Point& point);

}  // namespace clprobe::gsi
