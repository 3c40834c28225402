// SPDX-License-Identifier: Apache-2.0
#include "analysis/keys.hpp"

#include "clprobe/one_size.hpp"
#include "clprobe/stacks.hpp"

namespace clprobe {

std::map<Key, const ComparedFinding*> keyed(const ComparedResult& result, const LevelMaps& levels) {
  std::map<Key, const ComparedFinding*> found;
  for (const ComparedFinding& each : result.findings) {
    const Finding& finding = each.finding;
    int level = finding.level.value_or(0);
    if (const auto map = levels.find(finding.series); map != levels.end() && level > 0) {
      const auto mapped = map->second.find(level);
      // A level that the baseline does not have must not take the place of one that it has.
      level = mapped == map->second.end() ? -level : mapped->second;
    }
    int repeat = 0;
    const bool is_part = is_share_of_bar(finding);
    // Values of one size each are alike only where it is the same size.
    const bool has_view = is_part || is_at_one_size(finding);
    const std::string_view view = has_view ? finding.method : std::string_view();
    const std::string_view label = is_part ? finding.label : std::string_view();
    while (!found.emplace(Key{finding.series, level, finding.name, view, label, repeat}, &each)
                .second) {
      ++repeat;
    }
  }
  return found;
}

}  // namespace clprobe
