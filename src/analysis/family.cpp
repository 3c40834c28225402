// SPDX-License-Identifier: Apache-2.0
// Which changes hold when all findings are looked at together. Of 200 findings of which none
// changed ten have a p-value below 5 %.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "analysis/judge.hpp"
#include "clprobe/compare.hpp"

namespace clprobe {
namespace {

struct Member {
  double p_value{1.0};
  ComparedPlace place{};
};

using ChangeOf = std::function<bool(const Judgement&)>;

/// All findings that were judged, the least p-value first.
std::vector<Member> family_of(const Comparison& comparison, const ChangeOf& is_changed) {
  std::vector<Member> family;
  for (std::size_t row = 0; row < comparison.rows.size(); ++row) {
    const std::vector<ComparedCell>& cells = comparison.rows[row].cells;
    for (std::size_t run = 0; run < cells.size(); ++run) {
      const Judgement& judged = cells[run].judgement;
      const bool is_judged =
          cells[run].finding != nullptr && !judged.reason.empty() && !judged.is_repeated;
      if (run == comparison.baseline || !is_judged) continue;
      // A word that is another one, or a series that the device reports gone, has no p-value.
      const double p = is_changed(judged) ? judged.p_value.value_or(0.0) : 1.0;
      family.push_back({p, {row, run}});
    }
  }
  std::stable_sort(family.begin(), family.end(),
                   [](const Member& a, const Member& b) { return a.p_value < b.p_value; });
  return family;
}

// The i-th smallest of m p-values is held against level / (m - i), and the first that is above it
// ends it: Holm (1979), "A simple sequentially rejective multiple test procedure".
std::size_t count_by_holm(const std::vector<Member>& family, double level) {
  std::size_t i = 0;
  while (i < family.size() && family[i].p_value < level / static_cast<double>(family.size() - i)) {
    ++i;
  }
  return i;
}

// The last of them, from 1 on, that is at most level * i / m, and all that are smaller: Benjamini
// and Hochberg (1995), "Controlling the false discovery rate".
std::size_t count_by_discoveries(const std::vector<Member>& family, double level) {
  const double step = level / static_cast<double>(family.size());
  std::size_t i = family.size();
  while (i > 0 && family[i - 1].p_value > step * static_cast<double>(i)) --i;
  return i;
}

std::vector<ComparedPlace> find_changes(const Comparison& comparison, const ChangeOf& is_changed) {
  constexpr double level = 0.05;
  const std::vector<Member> family = family_of(comparison, is_changed);
  // What one run's findings have in common, such as its moment, may move many of them at once.
  const std::size_t sure =
      comparison.are_several ? count_by_discoveries(family, level) : count_by_holm(family, level);
  std::vector<ComparedPlace> places;
  for (std::size_t i = 0; i < sure; ++i) places.push_back(family[i].place);
  return places;
}

}  // namespace

std::size_t count_compared(const Comparison& comparison) {
  return family_of(comparison, [](const Judgement&) { return false; }).size();
}

std::vector<ComparedPlace> find_sure_changes(const Comparison& comparison) {
  return find_changes(comparison,
                      [](const Judgement& judged) { return is_change(judged.verdict); });
}

std::vector<ComparedPlace> find_open_changes(const Comparison& comparison) {
  return find_changes(comparison,
                      [](const Judgement& judged) { return judged.left_open.has_value(); });
}

}  // namespace clprobe
