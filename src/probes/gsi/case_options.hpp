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
    {.name = "nodes",
     .value_name = "N",
     .summary = "nodes of the tree",
     .details = "Number of nodes of the tree that all compute units search together in `uts` and "
                "`utsd`, 1 to 65536. Default: 16384.",
     .value = Number{1, 65536}},
    {.name = "warps",
     .value_name = "N",
     .summary = "sub-groups per compute unit in a search",
     .details = "Number of sub-groups in the one work-group of each compute unit in `uts` and "
                "`utsd`, 1 to 16. Default: 4.",
     .value = Number{1, 16}},
    {.name = "local-queue",
     .value_name = "N",
     .summary = "capacity of each compute unit's own queue, in tasks",
     .details = "Number of tasks that each compute unit's own queue holds in `utsd` before tasks "
                "go to the common queue, 2 to 32. A compute unit fetches half as many from the "
                "common queue at once. Default: 32.",
     .value = Number{2, 32}},
    {.name = "back-off",
     .value_name = "CYCLES",
     .summary = "wait between two attempts to take a lock",
     .details = "Cycles that a sub-group of `uts` and `utsd` waits after a failed attempt to take "
                "a lock, 0 to 100000. Default: 0.",
     .value = Number{0, 100000}},
    {.name = "poll",
     .value_name = "WHO",
     .summary = "who takes the locks of the queues in a search",
     .details = "Who takes the locks of `uts` and `utsd`: each sub-group (`warp`), or one "
                "sub-group for its whole work-group (`group`). Default: warp.",
     .value = Choice{poll_words}},
    {.name = "what-if",
     .value_name = "LIST",
     .summary = "hardware features that make synchronization cheaper in a search",
     .details = "Comma-separated list of features to add to the machine for `uts` and `utsd`. "
                "`owned-atomics`: the first cache level serves locks that no other compute unit "
                "wants. `s-fifo`: stores after a release issue while the release flushes earlier "
                "stores. Default: only the machine's own features.",
     .value = Choices{what_if_words}},
    {.name = "steps",
     .value_name = "N",
     .summary = "steps of work per node",
     .details = "Number of steps of work per node in `uts` and `utsd`, 1 to 1000. Each step reads "
                "and writes the state that the sub-group keeps in memory. Default: 16.",
     .value = Number{1, 1000}},
    {.name = "step-operations",
     .value_name = "N",
     .summary = "dependent operations in each step of a node's work",
     .details = "Number of dependent operations in each step of a node's work in `uts` and `utsd`, "
                "1 to 1000. Default: 8.",
     .value = Number{1, 1000}},
    {.name = "state-lines",
     .value_name = "N",
     .summary = "state per sub-group in the search, in cache lines",
     .details = "State that each sub-group of `uts` and `utsd` keeps in memory, 1 to 16 cache "
                "lines. The steps of its work read and write these lines in turn. Default: 4.",
     .value = Number{1, 16}},
    {.name = "written-lines",
     .value_name = "N",
     .summary = "cache lines that the work on an inner node writes",
     .details = "Number of a node's two cache lines that the work on a node with children writes "
                "in `uts` and `utsd`, 0 to 2. Default: 2.",
     .value = Number{0, 2}},
    {.name = "operations",
     .value_name = "N",
     .summary = "operations on each word of the array",
     .details = "Number of dependent operations of `implicit` on each word between its load and "
                "its store, 0 to 1000. Default: 16.",
     .value = Number{0, 1000}},
    {.name = "groups",
     .value_name = "N",
     .summary = "work-groups in the pass over the array",
     .details = "Number of work-groups of `implicit`, 1 to 256; local memory limits how many run "
                "at once. Default: 6.",
     .value = Number{1, 256}},
    {.name = "block",
     .value_name = "N",
     .summary = "sub-groups per work-group in the pass over the array",
     .details = "Number of sub-groups per work-group of `implicit`, 1 to 32. Default: 4.",
     .value = Number{1, 32}},
    {.name = "elements",
     .value_name = "N",
     .summary = "array words per work-item",
     .details =
         "Number of array words that each work-item of `implicit` processes, 1 to 64. Default: 2.",
     .value = Number{1, 64}},
    {.name = "address-operations",
     .value_name = "N",
     .summary = "operations per address calculation",
     .details = "Number of operations in which `implicit` calculates an address in global memory, "
                "0 to 100; an address in local memory takes one. Default: 12.",
     .value = Number{0, 100}},
    {.name = "object-bytes",
     .value_name = "N",
     .summary = "bytes per object in the array",
     .details = "Size in bytes of the array's objects, of which `implicit` uses one word each: 4, "
                "8, 16, 32 or 64. Default: 32.",
     .value = Choice{object_words}},
    {.name = "mshrs",
     .value_name = "LIST",
     .summary = "numbers of MSHRs; one bar for each",
     .details = "Comma-separated list of numbers of MSHRs, which also set the number of "
                "store-buffer entries: one bar for each in every case except `compute`. The "
                "machine must have MSHRs. Default: 32, 64, 128, 256 and the machine's own number "
                "for `implicit`, only the machine's own number for the searches.",
     .value = Numbers{1, 4096}},
    {.name = "store-buffer",
     .value_name = "N",
     .summary = "entries of the store buffer",
     .details =
         "Number of store-buffer entries in every case except `compute`, 1 to 4096. Default: the "
         "number of MSHRs in bars that set it, otherwise the machine's own number of entries.",
     .value = Number{1, 4096}},
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
