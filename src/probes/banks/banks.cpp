// SPDX-License-Identifier: Apache-2.0
// What an access to local memory costs, by which lanes meet in which bank. Method: docs/banks.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/banks/access.hpp"
#include "probes/banks/findings.hpp"
#include "probes/shared/asked_numbers.hpp"
#include "probes/shared/limits.hpp"

namespace clprobe::banks {

extern const Probe probe;

namespace {

constexpr std::array all_words{4, 8, 16};
// Where the driver does not say how many lanes go together.
constexpr std::int64_t usual_lanes = 32;
constexpr std::int64_t most_lanes = 128;
// Enough to keep any local memory busy, and what the model's source goes to.
constexpr std::int64_t most_sub_groups = 32;
// Independent accesses of one work-item where only the rate counts. A processor's compiler takes
// long for many, and one core needs few.
constexpr int usual_instructions = 16;
constexpr int instructions_of_cpu = 4;

std::int64_t lanes_of(const DeviceInfo& device) {
  const std::int64_t said = device.sub_group_size;
  const std::int64_t lanes = said >= 2 && said <= most_lanes ? said : usual_lanes;
  return std::clamp<std::int64_t>(lanes, 1, std::max<std::int64_t>(device.max_work_group_size, 1));
}

/// A processor runs the work-items of a group one after another: one sub-group is all there is.
std::int64_t sub_groups_of(const DeviceInfo& device) {
  if (runs_items_in_turn(device)) return 1;
  return std::clamp<std::int64_t>(device.max_work_group_size / lanes_of(device), 1,
                                  most_sub_groups);
}

std::vector<int> powers_of_two(std::int64_t last) {
  std::vector<int> numbers;
  for (int number = 1; number <= last; number *= 2) numbers.push_back(number);
  return numbers;
}

std::vector<int> chosen(const std::vector<int>& asked, const std::vector<int>& usual) {
  return asked.empty() ? usual : asked;
}

std::vector<int> words_of(const Limits& limits) {
  return chosen(limits.word_bytes, {all_words.begin(), all_words.end()});
}

/// Each word is a build, of which a processor's driver makes two a second; where no banks are to be
/// expected, chains show all words.
std::vector<int> words_of(const BankSeries& series, const DeviceInfo& device,
                          const Limits& limits) {
  if (runs_items_in_turn(device) && !series.is_chain)
    return chosen(limits.word_bytes, {all_words[0]});
  return words_of(limits);
}

bool is_wanted(std::string_view series, const Limits& limits) {
  return limits.series.empty() ||
         std::find(limits.series.begin(), limits.series.end(), series) != limits.series.end();
}

/// The model alone needs to know the banks as well.
bool is_measured(const BankSeries& series, const Limits& limits) {
  if (is_wanted(series.name, limits)) return true;
  const auto is_survey = [&](const BankSeries& each) {
    return !each.is_single && is_wanted(each.name, limits);
  };
  const auto is_model = [&](const BankSeries& each) {
    return each.is_single && is_wanted(each.name, limits);
  };
  const auto all = all_bank_series();
  return series.name == "load-throughput" && std::none_of(all.begin(), all.end(), is_survey) &&
         std::any_of(all.begin(), all.end(), is_model);
}

/// Local memory for patterns.
std::uint64_t room_of(const DeviceInfo& device) {
  constexpr std::uint64_t used = behind_footprint_bytes + beside_array_bytes;
  return device.local_memory.count > used ? device.local_memory.count - used : 0;
}

/// The patterns of a word that the local memory holds.
std::vector<BankPattern> patterns_for(const DeviceInfo& device, const Limits& limits, int word) {
  const bool is_whole = limits.effort != Effort::quick && !runs_items_in_turn(device);
  std::vector<BankPattern> patterns =
      survey_patterns(chosen(limits.strides, survey_strides(is_whole)));
  const int lanes = static_cast<int>(lanes_of(device));
  std::erase_if(patterns, [&](const BankPattern& pattern) {
    return footprint_of(pattern, word, lanes) > room_of(device);
  });
  return patterns;
}

/// One array for all patterns of a word, so that one build serves them.
std::uint64_t array_bytes(const DeviceInfo& device, const Limits& limits, int word) {
  std::uint64_t footprint = pattern_block_bytes;
  for (const BankPattern& pattern : patterns_for(device, limits, word)) {
    footprint =
        std::max(footprint, footprint_of(pattern, word, static_cast<int>(lanes_of(device))));
  }
  return footprint + behind_footprint_bytes;
}

/// The parameters that say what the pattern is; the others follow from the device.
void set_pattern(Point& point, const BankPattern& pattern) {
  point.parameters.set("pattern", std::string(to_word(pattern.kind)));
  switch (pattern.kind) {
    case PatternKind::stride:
      point.parameters.set("stride_words", std::int64_t{pattern.number});
      break;
    case PatternKind::pairs:
      break;
    case PatternKind::rows:
    case PatternKind::blocks:
      point.parameters.set("rows", std::int64_t{pattern.number});
      break;
    case PatternKind::congestion:
      point.parameters.set("ways", std::int64_t{pattern.number});
      point.parameters.set("span_bytes", std::int64_t{pattern.span_bytes});
      point.parameters.set("banks", std::int64_t{pattern.banks});
      break;
  }
}

Point point_of(const BankSeries& series, int word, const BankPattern& pattern) {
  Point point;
  point.series = series.name;
  point.parameters.set("word_bytes", std::int64_t{word});
  set_pattern(point, pattern);
  return point;
}

void set_shape(Point& point, std::int64_t sub_groups, std::int64_t lanes, std::int64_t instructions,
               std::uint64_t local_bytes) {
  point.parameters.set("sub_groups", sub_groups);
  point.parameters.set("lanes", lanes);
  point.parameters.set("instructions", instructions);
  point.parameters.set("local_bytes", static_cast<std::int64_t>(local_bytes));
}

Plan plan(const DeviceInfo& device, const Limits& limits) {
  Plan result;
  const std::int64_t lanes = lanes_of(device);
  if (lanes < 2 || room_of(device) < pattern_block_bytes) {
    const char* const why = lanes < 2 ? "its work-groups have one work-item"
                                      : "the device has less than 8 KiB of local memory";
    result.findings.push_back(no_bank_finding("banks", "local memory", why));
    return result;
  }
  const std::vector<int> sub_groups = chosen(limits.sub_groups, {});
  const std::vector<int> instructions = chosen(
      limits.instructions, {runs_items_in_turn(device) ? instructions_of_cpu : usual_instructions});
  const std::int64_t most_together = sub_groups.empty()
                                         ? sub_groups_of(device)
                                         : *std::max_element(sub_groups.begin(), sub_groups.end());
  for (const BankSeries& series : all_bank_series()) {
    if (!is_measured(series, limits)) continue;
    if (series.is_single) {
      if (device.timer != Timer::clock) {
        result.findings.push_back(no_bank_finding(
            "c1", series.name, "few accesses can only be timed by a clock in the kernel"));
      }
      continue;
    }
    for (const int word : words_of(series, device, limits)) {
      for (const BankPattern& pattern : patterns_for(device, limits, word)) {
        Point point = point_of(series, word, pattern);
        set_shape(point, series.is_chain ? 1 : most_together, lanes,
                  series.is_chain ? 1 : *std::max_element(instructions.begin(), instructions.end()),
                  array_bytes(device, limits, word));
        result.points.push_back(std::move(point));
      }
    }
  }
  return result;
}

/// Whether the local memory holds so many rows of one bank.
bool fits(const BankPattern& pattern, int word, const DeviceInfo& device, std::uint64_t local) {
  const int lanes = static_cast<int>(lanes_of(device));
  return footprint_of(pattern, word, lanes) + behind_footprint_bytes <= local;
}

/// The model is a line through products of three numbers: some of each, and the largest, say as
/// much as all.
std::vector<int> thinned_for(Effort effort, std::vector<int> numbers) {
  const std::size_t step = effort == Effort::quick ? 3 : 2;
  if (effort == Effort::thorough || numbers.size() <= step) return numbers;
  std::vector<int> some{numbers.front()};
  for (std::size_t i = (numbers.size() - 1) % step; i < numbers.size(); i += step) {
    if (i != 0) some.push_back(numbers[i]);
  }
  return some;
}

/// Exactly k lanes on k rows of one bank, now that it is known which places share a bank.
std::vector<Point> refine(const DeviceInfo& device, const Limits& limits,
                          std::span<const Point> points) {
  std::vector<Point> more;
  const std::optional<BankVerdict> verdict = verdict_of(device, points);
  if (!verdict || device.timer != Timer::clock) return more;
  // Where none are visible, and congestion was asked for: rows that any candidate has in one bank.
  if (!verdict->is_visible && limits.ways.empty()) return more;
  const BankModel model =
      verdict->is_visible ? verdict->ranking.front().model : BankModel{128, 8, 1};
  const int word = words_of(limits).front();
  const std::int64_t lanes = lanes_of(device);
  const std::uint64_t local = array_bytes(device, limits, word);
  const auto thinned = [&](std::vector<int> numbers) {
    return thinned_for(limits.effort, std::move(numbers));
  };
  const auto ways = chosen(limits.ways, thinned(powers_of_two(lanes)));
  const auto sub_groups = chosen(limits.sub_groups, thinned(powers_of_two(sub_groups_of(device))));
  const auto instructions = chosen(limits.instructions, thinned(powers_of_two(most_instructions)));
  for (const BankSeries& series : all_bank_series()) {
    if (!series.is_single || !is_wanted(series.name, limits)) continue;
    for (const int k : ways) {
      const BankPattern pattern{PatternKind::congestion, k,
                                static_cast<std::uint32_t>(model.banks * model.width_bytes),
                                model.banks};
      if (!fits(pattern, word, device, local)) continue;
      for (const int w : sub_groups) {
        for (const int l : instructions) {
          Point point = point_of(series, word, pattern);
          set_shape(point, w, lanes, l, local);
          more.push_back(std::move(point));
        }
      }
    }
  }
  return more;
}

/// The largest stride for which the local memory holds a sub-group's words.
int largest_stride(const DeviceInfo& device, int word) {
  const auto lanes = static_cast<int>(lanes_of(device));
  int largest = 0;
  while (footprint_of({PatternKind::stride, largest + 1}, word, lanes) <= room_of(device)) {
    ++largest;
  }
  return largest;
}

std::string check(const DeviceInfo& device, const Limits& limits) {
  const std::int64_t lanes = lanes_of(device);
  if (const auto k = find_beyond(limits.ways, lanes)) {
    return fmt::format("--ways: {} lanes are more than a sub-group has: choose 1 to {}", *k, lanes);
  }
  const std::int64_t groups = std::max<std::int64_t>(device.max_work_group_size / lanes, 1);
  if (const auto w = find_beyond(limits.sub_groups, groups)) {
    return fmt::format(
        "--sub-groups: {} of {} lanes are more than the {} work-items of a group: choose 1 to {}",
        *w, lanes, device.max_work_group_size, groups);
  }
  if (room_of(device) < pattern_block_bytes || limits.strides.empty()) return {};
  for (const int word : words_of(limits)) {
    const int most = largest_stride(device, word);
    if (const auto stride = find_beyond(limits.strides, most)) {
      return fmt::format(
          "--strides: {} words of {} bytes need more than the {} of local memory: choose 0 to {}",
          *stride, word, format_bytes(device.local_memory), most);
    }
  }
  return {};
}

// Some hundreds of short points: one visit is enough where time is short.
constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(2), .min_visits = 1, .max_visits = 1},
    .normal = {.probe_time = std::chrono::milliseconds(2800), .max_visits = 3},
    .thorough = {.probe_time = std::chrono::seconds(60),
                 .relative_interval = 0.003,
                 .max_visits = 20,
                 .samples_per_visit = 5}};

}  // namespace

namespace {

constexpr std::array<std::string_view, 3> word_words{"4", "8", "16"};
constexpr Option options[]{
    {.name = "words",
     .value_name = "LIST",
     .summary = "bytes of one access to local memory",
     .details = "Bytes of one access to local memory, as a comma list; all of them without it. "
                "The first is that of the model of conflicts.",
     .value = Choices{word_words}},
    {.name = "strides",
     .value_name = "LIST",
     .summary = "words from lane to lane in local memory: 0-65 or 1,2,4",
     .details = "Words from one lane of a sub-group to the next in local memory: numbers and "
                "ranges such as `0-65` or `1,2,4`. Without it, 0 to 65.",
     .value = Numbers{0, 65536}},
    {.name = "ways",
     .value_name = "LIST",
     .summary = "lanes that meet in one bank: 1-32 or 1,2,4",
     .details = "How many lanes of a sub-group meet in one bank of local memory, each at a word "
                "of its own: numbers and ranges. Without it, the powers of two up to the "
                "sub-group's size.",
     .value = Numbers{1, 128}},
    {.name = "sub-groups",
     .value_name = "LIST",
     .summary = "sub-groups that access local memory together: 1-32",
     .details = "How many sub-groups of one work-group access local memory together: numbers "
                "and ranges. Without it, the powers of two up to what a work-group holds, at "
                "most 32.",
     .value = Numbers{1, 1024}},
    {.name = "instructions",
     .value_name = "LIST",
     .summary = "accesses that do not wait for each other: 1-32",
     .details = "How many accesses to local memory each work-item makes that do not wait for "
                "each other: numbers and ranges from 1 to 32. Without it, 16 where only the "
                "rate counts, and the powers of two in the model of conflicts.",
     .value = Numbers{1, 32}},
};
constexpr Series all_series[]{{.name = "load-latency"},
                              {.name = "load-throughput"},
                              {.name = "store-throughput"},
                              {.name = "load-model"},
                              {.name = "store-model"}};
constexpr FindingSpec findings[]{
    {.name = "banks", .unit = "count", .role = Role::headline},
    {.name = "bank_width", .unit = "bytes"},
    {.name = "lanes_together", .unit = "count"},
    {.name = "conflict_free", .unit = "cycles|seconds"},
    {.name = "cost_a_way", .unit = "cycles|seconds"},
    {.name = "bandwidth", .unit = "bytes_per_second"},
    {.name = "bytes_a_cycle", .unit = "bytes_per_cycle"},
    {.name = "c1", .unit = "cycles|seconds"},
    {.name = "c2", .unit = "cycles|seconds"},
    {.name = "behind", .role = Role::remark},
    {.name = "runner_up", .role = Role::remark},
    {.name = "line_r2", .role = Role::remark},
    {.name = "model_r2", .role = Role::remark},
    {.name = "as_share", .unit = "share", .role = Role::remark},
    {.name = "largest_deviation", .unit = "cycles|seconds", .role = Role::remark},
};

}  // namespace

const Probe probe{
    .id = "banks",
    .title = "Local-memory banks",
    .question = "How many banks has the local memory, and what does a conflict cost?",
    .options = options,
    .series = all_series,
    .findings = findings,
    .view = {.kind = ViewKind::heat_map, .x = "stride_words", .y = "word_bytes"},
    .budgets = budgets,
    .check = [](const DeviceInfo& device,
                const Request& request) { return check(device, limits_of(request)); },
    .plan = [](const DeviceInfo& device,
               const Request& request) { return plan(device, limits_of(request)); },
    .refine =
        [](const DeviceInfo& device, const Request& request, std::span<const Point> points) {
          return refine(device, limits_of(request), points);
        },
    .open = [](Session& session) -> Preparer {
      return [&session](const Point& point) { return prepare_bank_access(session, point); };
    },
    .trace = trace_bank_access,
    .variants = bank_variants,
    .analyse = banks_findings,
};

}  // namespace clprobe::banks
