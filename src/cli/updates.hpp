// SPDX-License-Identifier: Apache-2.0
// What each flag does to the options. They have one form, so that the flag table can name them.
#pragma once

#include <array>
#include <string_view>

#include "cli/options.hpp"

namespace clprobe::cli {

// Each in the order of its enumerators, so that a word's place is its value.
inline constexpr std::array<std::string_view, 3> colour_words{"auto", "always", "never"};
// "auto", then the words of ClockKind (run.hpp).
inline constexpr std::array<std::string_view, 8> clock_words{"auto",
                                                             "none",
                                                             "khr-device",
                                                             "khr-sub-group",
                                                             "nvidia-clock64",
                                                             "amd-cycle-counter",
                                                             "intel-cycle-counter",
                                                             "cpu-cycle-counter"};
inline constexpr std::array<std::string_view, 3> fail_on_words{"never", "worse", "changed"};
inline constexpr std::array<std::string_view, 4> size_unit_words{"auto", "B", "KiB", "MiB"};
inline constexpr std::array<std::string_view, 4> time_unit_words{"auto", "ns", "us", "cycles"};
inline constexpr std::array<std::string_view, 5> generate_words{"man", "bash", "zsh", "fish",
                                                                "schema"};

/// Each stores `value`, or throws UsageError without the flag's name.
void update_device(Options& options, std::string_view value);
void update_version(Options& options, std::string_view value);
void update_generate(Options& options, std::string_view value);
void update_max_memory(Options& options, std::string_view value);
void update_time_budget(Options& options, std::string_view value);
void update_quick(Options& options, std::string_view value);
void update_thorough(Options& options, std::string_view value);
void update_timeout(Options& options, std::string_view value);
void update_clock(Options& options, std::string_view value);
void update_builds(Options& options, std::string_view value);
void update_seed(Options& options, std::string_view value);
void update_dry_run(Options& options, std::string_view value);
void update_label(Options& options, std::string_view value);
void update_output(Options& options, std::string_view value);
void update_format(Options& options, std::string_view value);
void update_json(Options& options, std::string_view value);
void update_color(Options& options, std::string_view value);
void update_verbose(Options& options, std::string_view value);
void update_quiet(Options& options, std::string_view value);
void update_help(Options& options, std::string_view value);
void update_full(Options& options, std::string_view value);
void update_series(Options& options, std::string_view value);
void update_baseline(Options& options, std::string_view value);
void update_threshold(Options& options, std::string_view value);
void update_fail_on(Options& options, std::string_view value);
void update_live(Options& options, std::string_view value);
void update_list(Options& options, std::string_view value);
void update_kernel(Options& options, std::string_view value);
void update_keep(Options& options, std::string_view value);
void update_with_secrets(Options& options, std::string_view value);
void update_headers(Options& options, std::string_view value);
void update_kernel_file(Options& options, std::string_view value);
void update_launch(Options& options, std::string_view value);
void update_levels(Options& options, std::string_view value);
void update_b_device(Options& options, std::string_view value);
void update_a_env(Options& options, std::string_view value);
void update_b_env(Options& options, std::string_view value);
void update_runs(Options& options, std::string_view value);
void update_device_name(Options& options, std::string_view value);
void update_size_unit(Options& options, std::string_view value);
void update_time_unit(Options& options, std::string_view value);
void update_clock_rate(Options& options, std::string_view value);
void update_worker(Options& options, std::string_view value);

}  // namespace clprobe::cli
