// SPDX-License-Identifier: Apache-2.0
// What each flag does to the options. They have one form, so that the flag table can name them.
#pragma once

#include <array>
#include <string_view>

#include "cli/options.hpp"

namespace clprobe::cli {

// Each in the order of its enumerators, so that a word's place is its value.
inline constexpr std::array<std::string_view, 6> format_words{"table",    "json", "csv",
                                                              "markdown", "html", "svg"};
inline constexpr std::array<std::string_view, 3> colour_words{"auto", "always", "never"};
inline constexpr std::array<std::string_view, 4> address_words{"auto", "pointer", "index",
                                                               "offset"};
// "auto", then the words of ClockKind (run.hpp).
inline constexpr std::array<std::string_view, 8> clock_words{"auto",
                                                             "none",
                                                             "khr-device",
                                                             "khr-sub-group",
                                                             "nvidia-clock64",
                                                             "amd-cycle-counter",
                                                             "intel-cycle-counter",
                                                             "cpu-cycle-counter"};
inline constexpr std::array<std::string_view, 3> word_words{"4", "8", "16"};
inline constexpr std::array<std::string_view, 3> fail_on_words{"never", "worse", "changed"};
inline constexpr std::array<std::string_view, 4> size_unit_words{"auto", "B", "KiB", "MiB"};
inline constexpr std::array<std::string_view, 3> time_unit_words{"auto", "ns", "us"};
inline constexpr std::array<std::string_view, 4> generate_words{"man", "bash", "zsh", "fish"};
inline constexpr std::array<std::string_view, 3> type_words{"int", "float", "double"};
inline constexpr std::array<std::string_view, 5> vector_words{"1", "2", "4", "8", "16"};
inline constexpr std::array<std::string_view, 4> operation_words{"read", "write", "copy", "update"};
inline constexpr std::array<std::string_view, 3> buffer_words{"device", "host", "svm"};
inline constexpr std::array<std::string_view, 3> target_words{"cache", "memory", "host"};
inline constexpr std::array<std::string_view, 9> case_words{
    "memory", "latency", "banks", "barrier", "chain", "divergence", "uts", "utsd", "implicit"};
inline constexpr std::array<std::string_view, 2> timer_words{"event", "host"};

/// Each stores `value`, or throws UsageError without the flag's name.
void update_device(Options& options, std::string_view value);
void update_step(Options& options, std::string_view value);
void update_series(Options& options, std::string_view value);
void update_version(Options& options, std::string_view value);
void update_generate(Options& options, std::string_view value);
void update_sizes(Options& options, std::string_view value);
void update_unroll(Options& options, std::string_view value);
void update_address(Options& options, std::string_view value);
void update_words(Options& options, std::string_view value);
void update_strides(Options& options, std::string_view value);
void update_ways(Options& options, std::string_view value);
void update_sub_groups(Options& options, std::string_view value);
void update_instructions(Options& options, std::string_view value);
void update_max_memory(Options& options, std::string_view value);
void update_time_budget(Options& options, std::string_view value);
void update_quick(Options& options, std::string_view value);
void update_thorough(Options& options, std::string_view value);
void update_timeout(Options& options, std::string_view value);
void update_clock(Options& options, std::string_view value);
void update_builds(Options& options, std::string_view value);
void update_seed(Options& options, std::string_view value);
void update_dry_run(Options& options, std::string_view value);
void update_output(Options& options, std::string_view value);
void update_format(Options& options, std::string_view value);
void update_json(Options& options, std::string_view value);
void update_color(Options& options, std::string_view value);
void update_verbose(Options& options, std::string_view value);
void update_quiet(Options& options, std::string_view value);
void update_help(Options& options, std::string_view value);
void update_baseline(Options& options, std::string_view value);
void update_threshold(Options& options, std::string_view value);
void update_fail_on(Options& options, std::string_view value);
void update_device_name(Options& options, std::string_view value);
void update_size_unit(Options& options, std::string_view value);
void update_time_unit(Options& options, std::string_view value);
void update_worker(Options& options, std::string_view value);
void update_elements(Options& options, std::string_view value);
void update_grid(Options& options, std::string_view value);
void update_work_group(Options& options, std::string_view value);
void update_type(Options& options, std::string_view value);
void update_vector(Options& options, std::string_view value);
void update_operation(Options& options, std::string_view value);
void update_buffer(Options& options, std::string_view value);
void update_work_items(Options& options, std::string_view value);
void update_loads(Options& options, std::string_view value);
void update_mergers(Options& options, std::string_view value);
void update_target(Options& options, std::string_view value);
void update_case(Options& options, std::string_view value);
void update_timer(Options& options, std::string_view value);

}  // namespace clprobe::cli
