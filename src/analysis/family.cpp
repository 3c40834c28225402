// SPDX-License-Identifier: Apache-2.0
// Which changes hold when all findings are looked at together. Of 200 findings of which none
// changed ten have a p-value below 5 %.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "analysis/judge.hpp"
#include "clprobe/compare.hpp"

namespace clprobe {

// Holm (1979), "A simple sequentially rejective multiple test procedure": the i-th smallest of m
// p-values is held against level / (m - i), and the first that is above it ends it.
std::vector<ComparedPlace> find_sure_changes(const Comparison& comparison) {
  constexpr double level = 0.05;
  std::vector<std::pair<double, ComparedPlace>> family;
  for (std::size_t row = 0; row < comparison.rows.size(); ++row) {
    const std::vector<ComparedCell>& cells = comparison.rows[row].cells;
    for (std::size_t run = 0; run < cells.size(); ++run) {
      const Judgement& judged = cells[run].judgement;
      const bool is_judged = cells[run].finding != nullptr && !judged.reason.empty();
      if (run == comparison.baseline || !is_judged) continue;
      // A word that is another one, or a series that the device reports gone, has no p-value.
      const double p = is_change(judged.verdict) ? judged.p_value.value_or(0.0) : 1.0;
      family.push_back({p, {row, run}});
    }
  }
  std::stable_sort(family.begin(), family.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ComparedPlace> sure;
  for (std::size_t i = 0; i < family.size(); ++i) {
    if (!(family[i].first < level / static_cast<double>(family.size() - i))) break;
    sure.push_back(family[i].second);
  }
  return sure;
}

}  // namespace clprobe
