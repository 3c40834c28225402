// SPDX-License-Identifier: Apache-2.0
// Findings of one probe that nobody can compare, and the one row that speaks for them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/compare.hpp"

namespace clprobe {

class Unresolved {
 public:
  struct Cell {
    const ComparedFinding* baseline{nullptr};
    const ComparedFinding* other{nullptr};
    Judgement judgement{};
  };

  /// `kind`: what they are, in the plural. `why`: what follows "3 of 7 ... are unclear: ".
  Unresolved(std::string_view kind, std::string why) : kind_(kind), why_(std::move(why)) {}

  /// Counts a finding. Returns whether it is unclear, and is then kept.
  bool takes(const ComparedFinding& baseline, const ComparedFinding* other,
             const Judgement& judged);

  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }

  /// How many there are, how many are resolved, and why the others are not.
  [[nodiscard]] ComparedFinding all() const { return counted(total_); }
  [[nodiscard]] ComparedFinding resolved() const { return counted(total_ - cells_.size()); }
  [[nodiscard]] Judgement judgement() const;

 private:
  [[nodiscard]] ComparedFinding counted(std::size_t count) const;

  std::string_view kind_;
  std::string why_;
  std::vector<Cell> cells_{};
  std::size_t total_{0};
};

/// Shares of a whole: on a noisy machine they are hundreds.
Unresolved unresolved_shares();

/// What one run a side cannot tell of a device, however often it is asked.
Unresolved unresolved_passing();

}  // namespace clprobe
