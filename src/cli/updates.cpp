// SPDX-License-Identifier: Apache-2.0
#include "cli/updates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "cli/values.hpp"
#include "text/text.hpp"

namespace clprobe::cli {
namespace {

// More loads than this in one iteration leave the instruction cache of small devices.
constexpr int most_unrolled_loads = 64;
// Of one work-group; what a device takes is less, and is checked when it is known.
constexpr std::uint64_t most_work_items = 65536;
constexpr std::uint64_t most_loads = 16;  // a register each, as cl/inflight.cl has them
// Of local memory; what a device has is less, and is checked when it is known.
constexpr std::uint64_t most_word_bytes = 16;
constexpr std::uint64_t most_stride_words = 65536;
constexpr std::uint64_t most_lanes = 128;
constexpr std::uint64_t most_sub_groups = 1024;
constexpr std::uint64_t most_instructions = 32;  // a register each, as cl/banks.cl has them
constexpr std::uint64_t most_seed = std::numeric_limits<std::uint64_t>::max();

/// The enumerator of one of `words`; the parser has checked that it is one of them.
template <typename Enum, std::size_t size>
Enum choose(const std::array<std::string_view, size>& words, std::string_view value) {
  return static_cast<Enum>(std::find(words.begin(), words.end(), value) - words.begin());
}

/// Each word of a comma list once, as its enumerator; the parser has checked them.
template <typename Enum>
void choose_all(std::vector<Enum>& chosen, std::string_view list) {
  for (const std::string_view word : split_list(list)) {
    const std::optional<Enum> value = from_word<Enum>(word);
    if (value && std::find(chosen.begin(), chosen.end(), *value) == chosen.end()) {
      chosen.push_back(*value);
    }
  }
}

/// Each word of a comma list once, as it is; the parser has checked them.
void add_words(std::vector<std::string>& words, std::string_view list) {
  for (const std::string_view word : split_list(list)) {
    if (std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
  }
}

}  // namespace

void update_device(Options& options, std::string_view value) {
  if (value.empty()) throw UsageError("the value is empty: write a word of `clprobe list`");
  options.device = value;
}

void update_step(Options& options, std::string_view value) {
  constexpr std::uint64_t pointer_bytes = 8;  // the widest form of an address, which is aligned
  const Bytes step = parse_size(value);
  if (step.count % pointer_bytes != 0) {
    throw UsageError(fmt::format(
        "{} is no multiple of 8 bytes, a pointer: write one such as 64 or 128", quote(value)));
  }
  options.limits.step = step;
}

void update_series(Options& options, std::string_view value) {
  for (const std::string_view word : split_list(value)) {
    auto& series = options.limits.series;
    if (std::find(series.begin(), series.end(), word) == series.end()) series.emplace_back(word);
  }
}

void update_version(Options& options, std::string_view /*value*/) {
  if (options.command != Command::help) options.command = Command::version;
}

void update_generate(Options& options, std::string_view value) {
  if (options.command == Command::measure) options.command = Command::generate;
  options.words = {std::string(value)};
}

void update_sizes(Options& options, std::string_view value) {
  options.limits.sizes = parse_sizes(value);
}

void update_unroll(Options& options, std::string_view value) {
  options.limits.unroll = static_cast<int>(parse_whole(value, 1, most_unrolled_loads));
}

void update_address(Options& options, std::string_view value) {
  options.limits.address = choose<AddressForm>(address_words, value);
}

void update_words(Options& options, std::string_view value) {
  options.limits.word_bytes = parse_wholes(value, 1, most_word_bytes);
}

void update_strides(Options& options, std::string_view value) {
  options.limits.strides = parse_wholes(value, 0, most_stride_words);
}

void update_ways(Options& options, std::string_view value) {
  options.limits.ways = parse_wholes(value, 1, most_lanes);
}

void update_sub_groups(Options& options, std::string_view value) {
  options.limits.sub_groups = parse_wholes(value, 1, most_sub_groups);
}

void update_instructions(Options& options, std::string_view value) {
  options.limits.instructions = parse_wholes(value, 1, most_instructions);
}

void update_max_memory(Options& options, std::string_view value) {
  options.limits.max_memory = parse_size(value);
}

void update_time_budget(Options& options, std::string_view value) {
  options.time_budget = parse_duration(value);
}

void update_quick(Options& options, std::string_view /*value*/) {
  options.limits.effort = Effort::quick;
}

void update_thorough(Options& options, std::string_view /*value*/) {
  options.limits.effort = Effort::thorough;
}

void update_timeout(Options& options, std::string_view value) {
  options.timeout = std::chrono::ceil<std::chrono::milliseconds>(parse_duration(value));
}

void update_clock(Options& options, std::string_view value) {
  // "auto" is no kind of clock, and so leaves the ladder.
  options.clock = from_word<ClockKind>(value);
}

void update_seed(Options& options, std::string_view value) {
  options.limits.seed = parse_whole(value, 0, most_seed);
}

void update_dry_run(Options& options, std::string_view /*value*/) { options.dry_run = true; }

void update_output(Options& options, std::string_view value) {
  options.outputs.push_back(parse_output(value));
}

void update_format(Options& options, std::string_view value) {
  options.format = choose<Format>(format_words, value);
}

void update_json(Options& options, std::string_view /*value*/) { options.format = Format::json; }

void update_color(Options& options, std::string_view value) {
  options.colour = choose<ColourMode>(colour_words, value);
}

void update_verbose(Options& options, std::string_view /*value*/) { options.verbosity = 1; }

void update_quiet(Options& options, std::string_view /*value*/) { options.verbosity = -1; }

void update_help(Options& options, std::string_view /*value*/) { options.command = Command::help; }

void update_builds(Options& options, std::string_view /*value*/) {
  options.command = Command::builds;
}

void update_baseline(Options& options, std::string_view value) {
  if (value.empty()) throw UsageError("the value is empty: write the name of a file");
  options.baseline = value;
}

void update_threshold(Options& options, std::string_view value) {
  options.threshold = parse_share(value);
}

void update_fail_on(Options& options, std::string_view value) {
  options.fail_on = choose<FailOn>(fail_on_words, value);
}

void update_device_name(Options& options, std::string_view value) {
  if (value.empty()) throw UsageError("the value is empty: write the device's name");
  options.device_name = value;
}

void update_size_unit(Options& options, std::string_view value) {
  options.size_unit = choose<SizeUnit>(size_unit_words, value);
}

void update_time_unit(Options& options, std::string_view value) {
  options.time_unit = choose<TimeUnit>(time_unit_words, value);
}

void update_worker(Options& options, std::string_view /*value*/) {
  options.command = Command::worker;
}

void update_elements(Options& options, std::string_view value) {
  options.limits.stream.elements = parse_count(value);
}

void update_grid(Options& options, std::string_view value) {
  options.limits.stream.grid = parse_count(value);
}

void update_work_group(Options& options, std::string_view value) {
  options.limits.stream.work_group = parse_count(value);
}

void update_type(Options& options, std::string_view value) {
  choose_all(options.limits.stream.types, value);
}

void update_vector(Options& options, std::string_view value) {
  constexpr std::uint64_t widest = 16;
  std::vector<int>& vectors = options.limits.stream.vectors;
  for (const std::string_view word : split_list(value)) {
    const auto width = static_cast<int>(parse_whole(word, 1, widest));
    if (std::find(vectors.begin(), vectors.end(), width) == vectors.end()) {
      vectors.push_back(width);
    }
  }
}

void update_operation(Options& options, std::string_view value) {
  choose_all(options.limits.stream.operations, value);
}

void update_buffer(Options& options, std::string_view value) {
  choose_all(options.limits.stream.buffers, value);
}

void update_work_items(Options& options, std::string_view value) {
  options.limits.in_flight.work_items = parse_wholes(value, 1, most_work_items);
}

void update_loads(Options& options, std::string_view value) {
  options.limits.in_flight.loads = parse_wholes(value, 1, most_loads);
}

void update_mergers(Options& options, std::string_view value) {
  options.limits.in_flight.mergers = parse_wholes(value, 1, most_work_items);
}

void update_target(Options& options, std::string_view value) {
  add_words(options.limits.in_flight.targets, value);
}

void update_case(Options& options, std::string_view value) {
  add_words(options.limits.stalls.cases, value);
}

void update_timer(Options& options, std::string_view value) {
  options.limits.stream.timer = from_word<Timer>(value);
}

}  // namespace clprobe::cli
