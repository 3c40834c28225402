// SPDX-License-Identifier: Apache-2.0
// Cost of bank conflicts in accesses to local memory: options, plan and card. Method:
// docs/banks.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/banks/access.hpp"
#include "probes/banks/findings.hpp"
#include "probes/banks/transpose.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::banks {
namespace {

std::string amount(const Finding& finding) {
  return finding.unit == "seconds" ? format_seconds(*finding.value)
                                   : format_number(*finding.value) + " cycles";
}

/// Kind and word size of a series: "load-latency" and "4 B" for "load-latency 4 B".
struct Access {
  std::string kind{};
  std::string word{};
};

Access access_of(const std::string& series) {
  const std::size_t space = series.find(' ');
  if (space == std::string::npos) return {series, {}};
  return {series.substr(0, space), series.substr(space + 1)};
}

/// Removes all units from a list except the last unit: "4, 8 B" for "4 B, 8 B".
std::string without_repeats(std::string text, std::string_view unit) {
  const std::string between = std::string(unit) + ",";
  for (std::size_t at = text.find(between); at != std::string::npos; at = text.find(between, at)) {
    text.erase(at, unit.size());
  }
  return text;
}

/// Parts of the card's row for one kind of access: "23.3, 31.5, 41.4 cycles at 4, 8, 16 B; 2.00
/// more per way".
struct Kind {
  std::string name{};
  std::string times{};
  std::string words{};
  std::string cost{};
};

std::vector<CardLine> rows_of(const ProbeResult& result) {
  std::vector<Kind> kinds;
  for (const std::string& series : series_in(result.findings)) {
    const Finding* const alone = find_value(result.findings, "conflict_free", series);
    if (alone == nullptr) continue;
    const Access access = access_of(series);
    if (kinds.empty() || kinds.back().name != access.kind) {
      const Finding* const cost = find_value(result.findings, "cost_per_way", series);
      kinds.push_back({.name = access.kind});
      if (cost != nullptr) kinds.back().cost = amount(*cost);
    }
    append(kinds.back().times, ", ", amount(*alone));
    append(kinds.back().words, ", ", access.word);
  }
  std::vector<CardLine> rows;
  for (const Kind& each : kinds) {
    std::string text = fmt::format("{} at {}", without_repeats(each.times, " cycles"),
                                   without_repeats(each.words, " B"));
    if (!each.cost.empty()) {
      text += fmt::format("; {} more per way", each.cost.substr(0, each.cost.find(" cycles")));
    }
    rows.push_back({each.name, std::move(text)});
  }
  return rows;
}

constexpr std::array<std::string_view, 3> word_choices{"4", "8", "16"};
constexpr Option options[]{
    {.name = "word-size",
     .value_name = "LIST",
     .summary = "bytes per access to local memory",
     .details = "Comma-separated list of access widths in bytes. Default: all. The conflict model "
                "and the transposition use the first width in the list; without a list, the "
                "conflict model uses words as wide as a bank.",
     .value = Choices{word_choices}},
    {.name = "strides",
     .value_name = "LIST",
     .summary = "distance in words between neighbouring lanes, such as 0-65 or 1,2,4",
     .details = "Distance in words between the local-memory accesses of neighbouring lanes of a "
                "sub-group: numbers and ranges such as `0-65` or `1,2,4`. Default: 0 to 65.",
     .value = Numbers{0, 65536}},
    {.name = "ways",
     .value_name = "LIST",
     .summary = "number of lanes that access the same bank, such as 1-32 or 1,2,4",
     .details =
         "Number of lanes of a sub-group that access different words in the same bank of local "
         "memory: numbers and ranges. Default: powers of two up to the sub-group's size.",
     .value = Numbers{1, 128}},
    {.name = "sub-groups",
     .value_name = "LIST",
     .summary = "number of sub-groups that access local memory at once, such as 1-32",
     .details =
         "Number of sub-groups of one work-group that access local memory at once: numbers and "
         "ranges. Default: powers of two up to the number in the largest work-group, at most 32.",
     .value = Numbers{1, 1024}},
    {.name = "instructions",
     .value_name = "LIST",
     .summary = "number of independent accesses per work-item, such as 1-32",
     .details =
         "Number of independent accesses to local memory per work-item: numbers and ranges from 1 "
         "to 32. Default: 16 for throughput (4 on a CPU), powers of two for the conflict model.",
     .value = Numbers{1, max_instructions}},
};

constexpr Series all_series[]{
    {.name = "load-latency", .summary = "dependent loads from local memory"},
    {.name = "load-throughput", .summary = "independent loads from local memory"},
    {.name = "store-throughput", .summary = "independent stores to local memory"},
    {.name = "load-model", .summary = "bank-conflict model for loads"},
    {.name = "store-model", .summary = "bank-conflict model for stores"},
    {.name = transpose_series, .summary = "tile written by rows and read by columns"},
};

constexpr FindingSpec findings[]{
    {.name = "banks", .unit = "count", .role = Role::headline},
    {.name = "bank_width", .unit = "bytes", .role = Role::headline},
    {.name = "lanes_together", .unit = "count"},
    {.name = "second_best", .role = Role::remark},
    {.name = "bic_margin", .role = Role::remark},
    {.name = "conflict_free", .unit = "cycles|seconds"},
    {.name = "cost_per_way", .unit = "cycles|seconds", .role = Role::headline},
    {.name = "line_r2", .role = Role::remark},
    {.name = "bandwidth", .unit = "bytes_per_second"},
    {.name = "bytes_per_cycle", .unit = "bytes_per_cycle"},
    {.name = "c1", .unit = "cycles|seconds"},
    {.name = "c2", .unit = "cycles|seconds"},
    {.name = "published_c1", .unit = "cycles"},
    {.name = "published_c2", .unit = "cycles"},
    {.name = "model_r2", .role = Role::remark},
    {.name = "over_bound", .role = Role::remark},
    {.name = "deviates_most", .role = Role::remark},
    {.name = "largest_deviation", .unit = "cycles|seconds", .role = Role::remark},
    {.name = "largest_deviation_share", .unit = "share", .role = Role::remark},
    {.name = "time", .unit = "cycles|seconds"},
    {.name = "transposition", .unit = "cycles|seconds"},
    {.name = "advice", .role = Role::advice},
};

constexpr DescribedNumber described[]{
    {"local.banks", "banks", of_memory},
    {"local.bank_width", "bank_width", of_memory},
    {"local.lanes_together", "lanes_together", of_memory},
    {"local.conflict_latency", "cost_per_way", "load-latency 4 B"},
    {"local.conflict_cost", "cost_per_way", "load-throughput 4 B"},
    {"local.load_4", "conflict_free", "load-throughput 4 B"},
    {"local.load_8", "conflict_free", "load-throughput 8 B"},
    {"local.load_16", "conflict_free", "load-throughput 16 B"},
};

// The plan has hundreds of short points, so a quick run visits each point only once.
constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(2), .min_visits = 1, .max_visits = 1},
    .normal = {.probe_time = std::chrono::milliseconds(2800), .max_visits = 3},
    .thorough = {.probe_time = std::chrono::seconds(60),
                 .relative_interval = 0.003,
                 .max_visits = 20,
                 .samples_per_visit = 5}};

constexpr std::array all_words{4, 8, 16};

/// Requested options. For empty options the probe chooses values.
struct Options {
  explicit Options(const Request& request)
      : effort(request.effort),
        max_memory(request.max_memory),
        series(request.series),
        words(numbers_in(request.own.words("word-size"))),
        strides(request.own.numbers("strides")),
        ways(request.own.numbers("ways")),
        sub_groups(request.own.numbers("sub-groups")),
        instructions(request.own.numbers("instructions")) {}

  [[nodiscard]] bool wants(std::string_view name) const { return is_wanted(series, name); }

  Effort effort{};
  Bytes max_memory{};
  std::vector<std::string> series{};
  std::vector<int> words{};
  std::vector<int> strides{};
  std::vector<int> ways{};
  std::vector<int> sub_groups{};
  std::vector<int> instructions{};
};

// Sub-group size for devices whose driver reports none from 2 to `max_lanes`.
constexpr std::int64_t default_lanes = 32;
constexpr std::int64_t max_lanes = 128;
// Maximum number of sub-groups by default. This number saturates any local memory; the model's
// source has the same maximum.
constexpr std::int64_t max_sub_groups = 32;

std::vector<int> powers_of_two(std::int64_t last) {
  std::vector<int> numbers;
  for (int number = 1; number <= last; number *= 2) numbers.push_back(number);
  return numbers;
}

/// Returns true if the pattern fits the local memory that the kernel reserves.
bool fits(const Shape& shape) {
  return footprint_of(shape.pattern, shape.word_bytes, shape.lanes) + padding_bytes <=
         shape.local_bytes;
}

/// Returns every second of `numbers` (every third in a quick run, all in a thorough run), always
/// with the first and the last number. A line can be fitted without the other products.
std::vector<int> thinned_for(Effort effort, std::vector<int> numbers) {
  const std::size_t step = effort == Effort::quick ? 3 : 2;
  if (effort == Effort::thorough || numbers.size() <= step) return numbers;
  std::vector<int> some{numbers.front()};
  for (std::size_t i = (numbers.size() - 1) % step; i < numbers.size(); i += step) {
    if (i != 0) some.push_back(numbers[i]);
  }
  return some;
}

/// Returns the number of work-items in a sub-group.
std::int64_t lanes_of(const DeviceInfo& device) {
  const std::int64_t reported = device.sub_group_size;
  const std::int64_t lanes = reported >= 2 && reported <= max_lanes ? reported : default_lanes;
  return std::clamp<std::int64_t>(lanes, 1, std::max<std::int64_t>(device.max_work_group_size, 1));
}

/// Returns the number of sub-groups in the largest work-group, at most max_sub_groups. For a CPU,
/// which runs work-items one after another, the number is 1.
std::int64_t sub_groups_of(const DeviceInfo& device) {
  if (runs_items_in_turn(device)) return 1;
  return std::clamp<std::int64_t>(device.max_work_group_size / lanes_of(device), 1, max_sub_groups);
}

std::vector<int> requested_or(const std::vector<int>& requested,
                              const std::vector<int>& otherwise) {
  return requested.empty() ? otherwise : requested;
}

/// Returns the requested word sizes in bytes; all word sizes if none are requested.
std::vector<int> words_of(const Options& requested) {
  return requested_or(requested.words, {all_words.begin(), all_words.end()});
}

/// Returns the word sizes of a series in bytes. Each word size needs a build, and a CPU's driver
/// builds two kernels per second. A CPU has no banks: by default, only load-latency uses all word
/// sizes, and other series use 4 bytes.
std::vector<int> words_of(const AccessKind& kind, const DeviceInfo& device,
                          const Options& requested) {
  if (runs_items_in_turn(device) && !kind.is_chain) {
    return requested_or(requested.words, {all_words[0]});
  }
  return words_of(requested);
}

/// Returns the patterns that fit local memory for a word size.
std::vector<Pattern> patterns_for(const DeviceInfo& device, const Options& requested, int word) {
  const bool is_whole = requested.effort != Effort::quick && !runs_items_in_turn(device);
  std::vector<Pattern> patterns =
      survey_patterns(requested_or(requested.strides, survey_strides(is_whole)));
  const int lanes = static_cast<int>(lanes_of(device));
  std::erase_if(patterns, [&](const Pattern& pattern) {
    return footprint_of(pattern, word, lanes) > pattern_memory(device);
  });
  return patterns;
}

/// Returns the size of local memory in bytes that suffices for all patterns of a word size. These
/// patterns share one build.
std::uint64_t array_bytes(const DeviceInfo& device, const Options& requested, int word) {
  std::uint64_t footprint = pattern_block_bytes;
  for (const Pattern& pattern : patterns_for(device, requested, word)) {
    footprint =
        std::max(footprint, footprint_of(pattern, word, static_cast<int>(lanes_of(device))));
  }
  return footprint + padding_bytes;
}

Point point_of(const AccessKind& kind, const Shape& shape) {
  Point point;
  point.series = kind.name;
  write_shape(shape, point);
  return point;
}

/// Returns the word size of the conflict model in bytes: the first requested size, or the width of
/// a bank. Wider words would take more than one pass, and narrower words would share a row.
int word_of_model(const Options& requested, const Model& model) {
  const bool is_a_word =
      std::find(all_words.begin(), all_words.end(), model.width_bytes) != all_words.end();
  return requested.words.empty() && is_a_word ? model.width_bytes : words_of(requested).front();
}

/// Returns the points of the conflict model for the banks that the survey found.
std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points) {
  const Options requested(request);
  std::vector<Point> more;
  const std::optional<Verdict> verdict = find_verdict(device, points);
  if (!verdict || device.timer != Timer::clock) return more;
  // Without visible banks, the model is measured only if ways are requested. The rows of the model
  // then share a bank in every candidate.
  if (!verdict->is_visible && requested.ways.empty()) return more;
  const Model model = verdict->is_visible ? verdict->ranking.front().model : Model{128, 8, 1};
  const int word = word_of_model(requested, model);
  const std::int64_t lanes = lanes_of(device);
  const auto thinned_powers = [&](std::int64_t last) {
    return thinned_for(requested.effort, powers_of_two(last));
  };
  const auto ways = requested_or(requested.ways, thinned_powers(lanes));
  const auto sub_groups = requested_or(requested.sub_groups, thinned_powers(sub_groups_of(device)));
  const auto instructions = requested_or(requested.instructions, thinned_powers(max_instructions));
  Shape shape;
  shape.word_bytes = word;
  shape.lanes = static_cast<int>(lanes);
  shape.local_bytes = array_bytes(device, requested, word);
  for (const AccessKind& kind : all_kinds()) {
    if (!kind.is_single || !requested.wants(kind.name)) continue;
    for (const int k : ways) {
      shape.pattern = {PatternKind::congestion, k,
                       static_cast<std::uint32_t>(model.banks * model.width_bytes), model.banks};
      if (!fits(shape)) continue;
      for (const int w : sub_groups) {
        for (const int l : instructions) {
          shape.sub_groups = static_cast<std::uint32_t>(w);
          shape.instructions = static_cast<std::uint32_t>(l);
          more.push_back(point_of(kind, shape));
        }
      }
    }
  }
  return more;
}

// Default number of independent accesses per work-item in throughput series. A CPU core needs few
// accesses, and CPU compilers take long for many.
constexpr int default_instructions = 16;
constexpr int cpu_instructions = 4;

/// Returns true for requested kinds of access. If only the conflict model is requested, returns
/// true for load-throughput as well: the model needs the number of banks.
bool is_measured(const AccessKind& kind, const Options& requested) {
  if (requested.wants(kind.name)) return true;
  const auto is_any_wanted = [&](bool is_model) {
    const auto all = all_kinds();
    return std::any_of(all.begin(), all.end(), [&](const AccessKind& each) {
      return each.is_single == is_model && requested.wants(each.name);
    });
  };
  return kind.name == "load-throughput" && !is_any_wanted(false) && is_any_wanted(true);
}

/// Returns the reason why nothing can be measured. Returns an empty string if the device can be
/// measured.
std::string find_obstacle(const DeviceInfo& device, const Options& requested) {
  if (lanes_of(device) < 2) return "the device allows only one work-item per work-group";
  if (pattern_memory(device) < pattern_block_bytes) {
    return "the device has less than 8 KiB of local memory";
  }
  const Bytes needed = memory_of(static_cast<int>(lanes_of(device)));
  if (requested.max_memory.count != 0 && requested.max_memory < needed) {
    return fmt::format("the probe's tables need {}, more than --max-memory allows",
                       format_bytes(needed));
  }
  return {};
}

/// Adds the points of a series with all patterns of the survey.
void add_survey(const DeviceInfo& device, const Options& requested, const AccessKind& kind,
                std::vector<Point>& points) {
  const auto last = [](const std::vector<int>& numbers, std::int64_t otherwise) {
    const auto max = std::max_element(numbers.begin(), numbers.end());
    return static_cast<std::uint32_t>(max == numbers.end() ? otherwise : *max);
  };
  Shape shape;
  shape.lanes = static_cast<int>(lanes_of(device));
  if (!kind.is_chain) {
    shape.sub_groups = last(requested.sub_groups, sub_groups_of(device));
    shape.instructions = last(requested.instructions,
                              runs_items_in_turn(device) ? cpu_instructions : default_instructions);
  }
  for (const int word : words_of(kind, device, requested)) {
    shape.word_bytes = word;
    shape.local_bytes = array_bytes(device, requested, word);
    for (const Pattern& pattern : patterns_for(device, requested, word)) {
      shape.pattern = pattern;
      points.push_back(point_of(kind, shape));
    }
  }
}

Plan plan(const DeviceInfo& device, const Request& request) {
  const Options requested(request);
  Plan result;
  if (const std::string obstacle = find_obstacle(device, requested); !obstacle.empty()) {
    result.findings.push_back(not_measured("banks", of_memory, obstacle));
    return result;
  }
  for (const AccessKind& kind : all_kinds()) {
    if (!is_measured(kind, requested)) continue;
    if (!kind.is_single) {
      add_survey(device, requested, kind, result.points);
    } else if (device.timer != Timer::clock) {
      result.findings.push_back(not_measured(
          "c1", kind.name,
          "without an in-kernel clock, clprobe cannot time runs of only a few accesses"));
    }
  }
  if (requested.wants(transpose_series)) {
    add_transpositions(static_cast<int>(lanes_of(device)), device.max_work_group_size,
                       words_of(requested).front(), pattern_memory(device), result);
  }
  if (!result.points.empty()) result.memory = memory_of(static_cast<int>(lanes_of(device)));
  return result;
}

/// Returns the largest stride in words for which the words of one sub-group fit local memory.
int max_stride(const DeviceInfo& device, int word) {
  const auto lanes = static_cast<int>(lanes_of(device));
  int largest = 0;
  while (footprint_of({PatternKind::stride, largest + 1}, word, lanes) <= pattern_memory(device)) {
    ++largest;
  }
  return largest;
}

std::string check(const DeviceInfo& device, const Request& request) {
  const Options requested(request);
  const std::int64_t lanes = lanes_of(device);
  if (const auto k = find_beyond(requested.ways, lanes)) {
    return fmt::format("--ways: {} lanes exceed the sub-group's size; choose 1 to {}", *k, lanes);
  }
  const std::int64_t groups = std::max<std::int64_t>(device.max_work_group_size / lanes, 1);
  if (const auto w = find_beyond(requested.sub_groups, groups)) {
    return fmt::format(
        "--sub-groups: {} sub-groups of {} lanes exceed the maximum of {} work-items per "
        "work-group; choose 1 to {}",
        *w, lanes, device.max_work_group_size, groups);
  }
  if (pattern_memory(device) < pattern_block_bytes || requested.strides.empty()) return {};
  for (const int word : words_of(requested)) {
    const int max = max_stride(device, word);
    if (const auto stride = find_beyond(requested.strides, max)) {
      return fmt::format(
          "--strides: a distance of {} words of {} bytes needs more than the {} of local memory; "
          "choose 0 to {}",
          *stride, word, format_bytes(device.local_memory), max);
    }
  }
  return {};
}

}  // namespace

Card card(const ProbeResult& result) {
  Card card{.rows = rows_of(result), .plots = model_plots(result)};
  card.titles.emplace(of_memory, of_memory);
  const Finding* const banks = find_value(result.findings, "banks");
  if (banks == nullptr) {
    // Banks that were not found are listed only if the run looked for banks. A run with only
    // transposed tiles does not look for banks.
    const bool is_measured = std::any_of(
        result.findings.begin(), result.findings.end(),
        [](const Finding& each) { return each.name == "banks" || each.name == "conflict_free"; });
    const Finding* const why = find_finding(result.findings, "banks");
    std::string reason =
        why == nullptr ? "" : why->reason.substr(0, why->reason.find_first_of(":;"));
    if (!reason.empty()) reason = fmt::format(" ({})", reason);
    if (is_measured) card.unseen.push_back("banks of local memory" + reason);
    return card;
  }
  std::string text = fmt::format("{:.0f} banks", *banks->value);
  if (const Finding* const width = find_value(result.findings, "bank_width")) {
    text += fmt::format(" of {}", size_text(*width->value));
  }
  std::string alone = text;
  if (const Finding* const cost = find_value(result.findings, "cost_per_way")) {
    const std::string_view to =
        cost->series.starts_with("load-latency") ? "latency" : "time per access";
    text += fmt::format(", conflict {}", amount(*cost));
    alone += fmt::format("; each additional conflict way adds {} to the {}", amount(*cost), to);
  }
  card.notes.push_back({CardMemory::local, std::move(text), {"local memory", std::move(alone)}});
  return card;
}

extern const Probe probe;

const Probe probe{
    .id = "banks",
    .title = "Local-memory banks",
    .question = "How many banks does local memory have, and what does a bank conflict cost?",
    .options = options,
    .series = all_series,
    .findings = findings,
    .view = {.kind = ViewKind::heat_map, .x = "stride_words", .y = "word_bytes"},
    .budgets = budgets,
    .check = check,
    .plan = plan,
    .refine = refine,
    .open = open,
    .trace = CLPROBE_TRACE(trace),
    .builds = builds,
    .find_problem = find_problem<Shape, Tile>,
    .analyse = analyse,
    .card = card,
    .described = described,
    .is_in_checkup = true,
};

}  // namespace clprobe::banks
