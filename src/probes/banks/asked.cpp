// SPDX-License-Identifier: Apache-2.0
#include "probes/banks/asked.hpp"

#include <algorithm>

#include "probes/shared/choices.hpp"

namespace clprobe::banks {
namespace {

// Where the driver does not say how many lanes go together.
constexpr std::int64_t default_lanes = 32;
constexpr std::int64_t max_lanes = 128;
// Enough to keep any local memory busy, and what the model's source goes to.
constexpr std::int64_t max_sub_groups = 32;

}  // namespace

Asked::Asked(const Request& request)
    : effort(request.effort),
      max_memory(request.max_memory),
      series(request.series),
      words(numbers_in(request.own.words("words"))),
      strides(request.own.numbers("strides")),
      ways(request.own.numbers("ways")),
      sub_groups(request.own.numbers("sub-groups")),
      instructions(request.own.numbers("instructions")) {}

std::int64_t lanes_of(const DeviceInfo& device) {
  const std::int64_t said = device.sub_group_size;
  const std::int64_t lanes = said >= 2 && said <= max_lanes ? said : default_lanes;
  return std::clamp<std::int64_t>(lanes, 1, std::max<std::int64_t>(device.max_work_group_size, 1));
}

/// A CPU runs the work-items of a group one after another: one sub-group is all there is.
std::int64_t sub_groups_of(const DeviceInfo& device) {
  if (runs_items_in_turn(device)) return 1;
  return std::clamp<std::int64_t>(device.max_work_group_size / lanes_of(device), 1, max_sub_groups);
}

std::vector<int> asked_or(const std::vector<int>& asked, const std::vector<int>& otherwise) {
  return asked.empty() ? otherwise : asked;
}

std::vector<int> words_of(const Asked& asked) {
  return asked_or(asked.words, {all_words.begin(), all_words.end()});
}

/// Each word is a build, of which a CPU's driver makes two a second; where no banks are to be
/// expected, chains show all words.
std::vector<int> words_of(const AccessKind& kind, const DeviceInfo& device, const Asked& asked) {
  if (runs_items_in_turn(device) && !kind.is_chain) return asked_or(asked.words, {all_words[0]});
  return words_of(asked);
}

}  // namespace clprobe::banks
