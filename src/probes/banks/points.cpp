// SPDX-License-Identifier: Apache-2.0
// The planned points of the probe `banks`.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "probes/banks/access.hpp"
#include "probes/banks/findings.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::banks {
namespace {

// Sub-group size if the driver does not report one.
constexpr std::int64_t default_lanes = 32;
constexpr std::int64_t max_lanes = 128;
// Enough sub-groups to saturate any local memory; also the maximum in the model's source.
constexpr std::int64_t max_sub_groups = 32;

std::vector<int> powers_of_two(std::int64_t last) {
  std::vector<int> numbers;
  for (int number = 1; number <= last; number *= 2) numbers.push_back(number);
  return numbers;
}

/// Returns true if the pattern fits the reserved local memory.
bool fits(const Shape& shape) {
  return footprint_of(shape.pattern, shape.word_bytes, shape.lanes) + padding_bytes <=
         shape.local_bytes;
}

/// Thins out the numbers of a conflict model, but keeps the first and the last: a line needs only
/// some of the products.
std::vector<int> thinned_for(Effort effort, std::vector<int> numbers) {
  const std::size_t step = effort == Effort::quick ? 3 : 2;
  if (effort == Effort::thorough || numbers.size() <= step) return numbers;
  std::vector<int> some{numbers.front()};
  for (std::size_t i = (numbers.size() - 1) % step; i < numbers.size(); i += step) {
    if (i != 0) some.push_back(numbers[i]);
  }
  return some;
}

/// Returns the word size of the conflict model: the width of a bank. Wider words take several
/// passes, and narrower ones share a row.
int word_of_model(const Options& requested, const Model& model) {
  const bool is_a_word =
      std::find(all_words.begin(), all_words.end(), model.width_bytes) != all_words.end();
  return requested.words.empty() && is_a_word ? model.width_bytes : words_of(requested).front();
}

}  // namespace

Options::Options(const Request& request)
    : effort(request.effort),
      max_memory(request.max_memory),
      series(request.series),
      words(numbers_in(request.own.words("words"))),
      strides(request.own.numbers("strides")),
      ways(request.own.numbers("ways")),
      sub_groups(request.own.numbers("sub-groups")),
      instructions(request.own.numbers("instructions")) {}

std::int64_t lanes_of(const DeviceInfo& device) {
  const std::int64_t reported = device.sub_group_size;
  const std::int64_t lanes = reported >= 2 && reported <= max_lanes ? reported : default_lanes;
  return std::clamp<std::int64_t>(lanes, 1, std::max<std::int64_t>(device.max_work_group_size, 1));
}

std::int64_t sub_groups_of(const DeviceInfo& device) {
  if (runs_items_in_turn(device)) return 1;
  return std::clamp<std::int64_t>(device.max_work_group_size / lanes_of(device), 1, max_sub_groups);
}

std::vector<int> requested_or(const std::vector<int>& requested,
                              const std::vector<int>& otherwise) {
  return requested.empty() ? otherwise : requested;
}

std::vector<int> words_of(const Options& requested) {
  return requested_or(requested.words, {all_words.begin(), all_words.end()});
}

std::vector<int> words_of(const AccessKind& kind, const DeviceInfo& device,
                          const Options& requested) {
  if (runs_items_in_turn(device) && !kind.is_chain) {
    return requested_or(requested.words, {all_words[0]});
  }
  return words_of(requested);
}

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

std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points) {
  const Options requested(request);
  std::vector<Point> more;
  const std::optional<Verdict> verdict = find_verdict(device, points);
  if (!verdict || device.timer != Timer::clock) return more;
  // Without visible banks, requested ways use rows that share a bank in all candidates.
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

}  // namespace clprobe::banks
