// SPDX-License-Identifier: Apache-2.0
#include "cli/updates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

#include "cli/values.hpp"
#include "text/text.hpp"

namespace clprobe::cli {
namespace {

constexpr std::uint64_t max_seed = std::numeric_limits<std::uint64_t>::max();

/// The enumerator of one of `words`; the parser has checked that it is one of them.
template <typename Enum, std::size_t size>
Enum choose(const std::array<std::string_view, size>& words, std::string_view value) {
  return static_cast<Enum>(std::find(words.begin(), words.end(), value) - words.begin());
}

/// `what`: to be written instead.
std::string_view not_empty(std::string_view value, std::string_view what) {
  if (value.empty()) throw UsageError(fmt::format("the value is empty: write {}", what));
  return value;
}

/// "NAME=VALUE", of which the value may be empty. What is typed twice counts as typed last.
void add_variable(Options& options, std::size_t side, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw UsageError(fmt::format("{} has no {}: write NAME=VALUE", quote(text),
                                 equals == 0 ? "name before '='" : "'='"));
  }
  options.environments.at(side).emplace_back(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace

void update_device(Options& options, std::string_view value) {
  options.device = not_empty(value, "a device of `clprobe list`");
}

void update_version(Options& options, std::string_view /*value*/) {
  if (options.command != Command::help) options.command = Command::version;
}

void update_generate(Options& options, std::string_view value) {
  if (options.command == Command::measure) options.command = Command::generate;
  options.words = {std::string(value)};
}

void update_max_memory(Options& options, std::string_view value) {
  options.max_memory = parse_size(value);
}

void update_time_budget(Options& options, std::string_view value) {
  options.time_budget = parse_duration(value);
}

void update_quick(Options& options, std::string_view /*value*/) { options.effort = Effort::quick; }

void update_thorough(Options& options, std::string_view /*value*/) {
  options.effort = Effort::thorough;
}

void update_timeout(Options& options, std::string_view value) {
  options.timeout = std::chrono::ceil<std::chrono::milliseconds>(parse_duration(value));
}

void update_clock(Options& options, std::string_view value) {
  // "auto" is no kind of clock, and so leaves the ladder.
  options.clock = from_word<ClockKind>(value);
}

void update_seed(Options& options, std::string_view value) {
  options.seed = parse_whole(value, 0, max_seed);
}

void update_dry_run(Options& options, std::string_view /*value*/) { options.dry_run = true; }

void update_label(Options& options, std::string_view value) {
  options.labels.emplace_back(not_empty(value, "a name"));
}

void update_output(Options& options, std::string_view value) {
  options.outputs.push_back(parse_output(value));
}

void update_format(Options& options, std::string_view value) {
  options.format = find_writer(value);
}

void update_json(Options& options, std::string_view /*value*/) {
  options.format = find_writer("json");
}

void update_color(Options& options, std::string_view value) {
  options.colour = choose<ColourMode>(colour_words, value);
}

void update_verbose(Options& options, std::string_view /*value*/) { options.verbosity = 1; }

void update_quiet(Options& options, std::string_view /*value*/) { options.verbosity = -1; }

void update_help(Options& options, std::string_view /*value*/) { options.command = Command::help; }

void update_full(Options& options, std::string_view /*value*/) { options.full = true; }

void update_builds(Options& options, std::string_view /*value*/) {
  options.command = Command::builds;
}

void update_series(Options& options, std::string_view value) {
  options.series = not_empty(value, "the name of a series");
}

void update_baseline(Options& options, std::string_view value) {
  options.baseline = not_empty(value, "the name of a file");
}

void update_threshold(Options& options, std::string_view value) {
  options.threshold = parse_share(value);
}

void update_fail_on(Options& options, std::string_view value) {
  options.fail_on = choose<FailOn>(fail_on_words, value);
}

void update_live(Options& /*options*/, std::string_view /*value*/) {
  // It makes another command of `compare`, which is known when all words are.
}

void update_list(Options& options, std::string_view /*value*/) { options.list_kernels = true; }

void update_kernel(Options& options, std::string_view value) {
  const std::size_t colon = value.find(':');
  options.kernel = value.substr(0, colon);
  if (options.kernel.empty()) throw UsageError("the name is empty: write NAME or NAME:N");
  if (colon == std::string_view::npos) return;
  const std::string_view digits = value.substr(colon + 1);
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, options.kernel_launch);
  if (error != std::errc{} || rest != end || options.kernel_launch == 0) {
    throw UsageError(fmt::format("{} is not a launch number: write {}:1 for the first launch",
                                 quote(digits), printable(options.kernel)));
  }
}

void update_keep(Options& options, std::string_view value) {
  options.keep_folder = not_empty(value, "the name of a folder");
}

void update_with_secrets(Options& options, std::string_view /*value*/) {
  options.with_secrets = true;
}

void update_headers(Options& options, std::string_view value) {
  options.headers_folder = not_empty(value, "the name of a folder");
}

void update_kernel_file(Options& options, std::string_view value) {
  options.kernel_file = not_empty(value, "the name of a file");
}

void update_launch(Options& options, std::string_view value) {
  options.launch_file = not_empty(value, "the name of a file");
}

void update_levels(Options& options, std::string_view value) {
  options.levels_file = not_empty(value, "the name of a file");
}

void update_b_device(Options& options, std::string_view value) {
  options.other_device = not_empty(value, "a device of `clprobe list`");
}

void update_a_env(Options& options, std::string_view value) { add_variable(options, 0, value); }

void update_b_env(Options& options, std::string_view value) { add_variable(options, 1, value); }

void update_runs(Options& options, std::string_view value) {
  options.runs_file = not_empty(value, "the name of a file");
}

void update_device_name(Options& options, std::string_view value) {
  options.device_name = not_empty(value, "the device's name");
}

void update_size_unit(Options& options, std::string_view value) {
  options.size_unit = choose<SizeUnit>(size_unit_words, value);
}

void update_time_unit(Options& options, std::string_view value) {
  options.time_unit = choose<TimeUnit>(time_unit_words, value);
}

void update_clock_rate(Options& options, std::string_view value) {
  options.clock_hertz = parse_frequency(value);
}

void update_worker(Options& options, std::string_view /*value*/) {
  options.command = Command::worker;
}

}  // namespace clprobe::cli
