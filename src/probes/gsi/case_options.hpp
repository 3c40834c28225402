// SPDX-License-Identifier: Apache-2.0
// What of the cases can be chosen on the command line. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/stalls.hpp"
#include "probes/gsi/cases.hpp"

namespace clprobe::gsi {

inline constexpr std::string_view implicit_case = "implicit";
inline constexpr std::string_view compute_case = "compute";
inline constexpr std::array<std::string_view, 4> case_words{"uts", "utsd", implicit_case,
                                                            compute_case};
inline constexpr std::array<std::string_view, 2> poll_words{"warp", "group"};
inline constexpr std::string_view owned_atomics_word = "owned-atomics";
inline constexpr std::string_view fifo_word = "s-fifo";
inline constexpr std::array<std::string_view, 2> what_if_words{owned_atomics_word, fifo_word};
inline constexpr std::array<std::string_view, 5> object_words{"4", "8", "16", "32", "64"};
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
     .details =
         "Kernels to simulate, as a comma list: a tree search with one queue (`uts`), with a "
         "queue per compute unit (`utsd`), a pass over an array by way of local memory "
         "(`implicit`), and kernels without memory (`compute`). Default: all that fit the machine.",
     .value = Choices{case_words}},
    {.name = "units",
     .value_name = "N",
     .summary = "compute units of a search or a launch",
     .details =
         "Compute units that are simulated together in `uts` and `utsd`, and of a trace of a "
         "whole launch (1: the first one's share, by itself), 1 to 64. Default: the "
         "machine's, but at most 16.",
     .value = Number{1, 64}},
    {.name = "nodes",
     .value_name = "N",
     .summary = "nodes of the tree",
     .details = "Nodes of the tree of `uts` and `utsd`, which all compute units search together, 1 "
                "to 65536. Default: 16384.",
     .value = Number{1, 65536}},
    {.name = "warps",
     .value_name = "N",
     .summary = "sub-groups per compute unit in a search",
     .details = "Sub-groups of the one work-group of each compute unit in `uts` and `utsd`, 1 to "
                "16. Default: 4.",
     .value = Number{1, 16}},
    {.name = "local-queue",
     .value_name = "N",
     .summary = "tasks of a compute unit's own queue",
     .details = "Tasks that the queue of each compute unit takes in `utsd` before they go to the "
                "common one, 2 to 32; half as many are fetched from there at once. Default: 32.",
     .value = Number{2, 32}},
    {.name = "back-off",
     .value_name = "CYCLES",
     .summary = "wait between two attempts to take a lock",
     .details =
         "Cycles that a sub-group of `uts` and `utsd` waits after an attempt in vain to take "
         "a lock, 0 to 100000. Default: 0.",
     .value = Number{0, 100000}},
    {.name = "poll",
     .value_name = "WHO",
     .summary = "who goes to the queues of a search",
     .details = "Who takes the locks of `uts` and `utsd`: each sub-group (`warp`) or one of a "
                "work-group for all of it (`group`). Default: warp.",
     .value = Choice{poll_words}},
    {.name = "what-if",
     .value_name = "LIST",
     .summary = "what would make synchronization cheaper in a search",
     .details =
         "What the machine has besides in `uts` and `utsd`, as a comma list: locks that no other "
         "compute unit wants are served by the first level (`owned-atomics`), stores behind a "
         "release issue while it flushes those before it (`s-fifo`). Default: what the machine "
         "has.",
     .value = Choices{what_if_words}},
    {.name = "steps",
     .value_name = "N",
     .summary = "steps of work per node",
     .details = "Steps of the work on a node of `uts` and `utsd`, each of which reads and writes "
                "what its sub-group keeps in memory, 1 to 1000. Default: 16.",
     .value = Number{1, 1000}},
    {.name = "step-operations",
     .value_name = "N",
     .summary = "dependent operations in each step of a node's work",
     .details =
         "Operations of a step of the work on a node of `uts` and `utsd`, one after the other, "
         "1 to 1000. Default: 8.",
     .value = Number{1, 1000}},
    {.name = "state-lines",
     .value_name = "N",
     .summary = "lines of what a sub-group of a search keeps in memory",
     .details =
         "Lines of what each sub-group of `uts` and `utsd` keeps in memory: each step of its "
         "work reads and writes the next one in turn, 1 to 16. Default: 4.",
     .value = Number{1, 16}},
    {.name = "written-lines",
     .value_name = "N",
     .summary = "lines that the work on an inner node writes",
     .details = "Lines of a node's own two that the work on one with children writes in `uts` and "
                "`utsd`, 0 to 2. Default: 2.",
     .value = Number{0, 2}},
    {.name = "operations",
     .value_name = "N",
     .summary = "operations on each word of the array",
     .details = "Operations of `implicit` on each word between its load and its store, one after "
                "the other, 0 to 1000. Default: 16.",
     .value = Number{0, 1000}},
    {.name = "groups",
     .value_name = "N",
     .summary = "work-groups of the pass over the array",
     .details = "Work-groups of `implicit`, of which local memory holds some at a time, 1 to 256. "
                "Default: 6.",
     .value = Number{1, 256}},
    {.name = "block",
     .value_name = "N",
     .summary = "sub-groups of a work-group of the pass over the array",
     .details = "Sub-groups of each work-group of `implicit`, 1 to 32. Default: 4.",
     .value = Number{1, 32}},
    {.name = "elements",
     .value_name = "N",
     .summary = "words of the array for each work-item",
     .details =
         "Words of the array that each work-item of `implicit` works on, 1 to 64. Default: 2.",
     .value = Number{1, 64}},
    {.name = "address-operations",
     .value_name = "N",
     .summary = "operations for a place in the array",
     .details =
         "Operations that `implicit` needs for a place in global memory, where a place in local "
         "memory takes one, 0 to 100. Default: 12.",
     .value = Number{0, 100}},
    {.name = "object-bytes",
     .value_name = "N",
     .summary = "bytes of an object of the array",
     .details = "Bytes from a word that `implicit` works on to the next one, of objects of which "
                "the rest is not wanted: 4, 8, 16, 32 or 64. Default: 32.",
     .value = Choice{object_words}},
    {.name = "mshrs",
     .value_name = "LIST",
     .summary = "MSHRs, a bar each",
     .details = "Numbers of MSHRs, and of entries in the store buffer, as a comma list: a bar each "
                "of every case but `compute`. Default: 32, 64, 128, 256 and the machine's own for "
                "`implicit`, the "
                "machine's own for the searches. Of machines that have MSHRs.",
     .value = Numbers{1, 4096}},
    {.name = "store-buffer",
     .value_name = "N",
     .summary = "entries of the store buffer",
     .details = "Entries of the store buffer in every case but `compute`, 1 to 4096. Default: as "
                "many as there "
                "are MSHRs, where these were changed, else the machine's own.",
     .value = Number{1, 4096}},
    {.name = "priority",
     .value_name = "LIST",
     .summary = "stall types that a cycle is given first",
     .details =
         "Stall types, as a comma list: a cycle without an instruction is given the first of "
         "them that one of its instructions has (Algorithm 2). Those that are left out follow "
         "in the thesis's order: memory-structural, memory-data, synchronization, "
         "compute-structural, compute-data, control, idle.",
     .value = Choices{stall_words}},
    {.name = "instruction-priority",
     .value_name = "LIST",
     .summary = "stall types that an instruction is given first",
     .details = "The same for an instruction for which several hold (Algorithm 1). Those that are "
                "left out follow in the thesis's order: idle, control, synchronization, "
                "memory-data, memory-structural, compute-data, compute-structural.",
     .value = Choices{stall_words}},
    {.name = "view",
     .value_name = "LIST",
     .summary = "bars of parts of each kernel besides",
     .details =
         "Bars of parts of each kernel besides, as a comma list: of each compute unit (`units`), "
         "of each sub-group (`sub-groups`), of each of 24 to 48 windows of the time one after the "
         "other (`timeline`). Default: none.",
     .value = Choices{view_words}},
    {.name = "relative-to",
     .value_name = "N",
     .summary = "bar that the others are drawn relative to",
     .details =
         "Number of the bar, as it stands beside the bars, whose time is 1: the others are as long "
         "as their times are multiples of it, as in the figures of the thesis. Default: all are "
         "equally long.",
     .value = Number{1, 1000}},
    {.name = "trace",
     .value_name = "FILE",
     .summary = "trace of a kernel of your own to simulate",
     .details =
         "Trace of a kernel to simulate, in the place of the cases where `--case` names none: a "
         "text with a line per instruction of a sub-group, as docs/trace.md says.",
     .value = TracePath{}},
};

/// What was typed. What was not is nothing, and then the machine's or the case's own.
struct CaseOptions {
  std::vector<std::string> cases{};  ///< all where none was typed, and no trace
  bool has_launch{false};            ///< a trace of all units
  std::optional<std::uint64_t> nodes{};
  std::optional<std::uint64_t> units{};
  std::optional<std::uint64_t> warps{};
  std::optional<std::uint64_t> local_capacity{};
  std::optional<std::uint64_t> backoff_cycles{};
  std::optional<std::string> polls_by{};
  bool owns_atomics{false};  ///< false: as the machine has it, and so for the next one
  bool stores_pass_releases{false};
  std::optional<std::uint64_t> steps{};
  std::optional<std::uint64_t> step_operations{};
  std::optional<std::uint64_t> state_lines{};
  std::optional<std::uint64_t> written_lines{};
  std::optional<std::uint64_t> operations{};
  std::optional<std::uint64_t> groups{};
  std::optional<std::uint64_t> block_warps{};
  std::optional<std::uint64_t> elements{};
  std::optional<std::uint64_t> address_operations{};
  std::optional<std::uint64_t> object_bytes{};
  std::vector<std::uint64_t> mshrs{};
  std::optional<std::uint64_t> store_entries{};
  std::optional<std::string> cycle_priority{};        ///< words, with commas between
  std::optional<std::string> instruction_priority{};  ///< the same
  std::optional<std::string> views{};                 ///< the same
  std::optional<std::uint64_t> relative_to{};         ///< the number of a bar
};
CaseOptions read_options(const Request& request);

/// What was typed and has no effect on what is simulated: "--nodes: ..."; empty when there is none.
std::string find_idle_option(const CaseOptions& read);

/// The thesis's priorities, but these words first. A word that is none is passed over.
simulator::Priorities priorities_of(std::string_view cycle, std::string_view instruction);

}  // namespace clprobe::gsi
