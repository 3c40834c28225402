// SPDX-License-Identifier: Apache-2.0
// What disturbed a run, by its reference points, and by how much that widens the interval of what
// was measured meanwhile. Pure. The rule and where it comes from are in docs/method.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe {

/// Half the width of a 95 % interval, as the logarithm of a ratio, that holds what the times of a
/// reference point say of the run; nothing for fewer than two moments above 0. Of a time the least
/// counts, of the inverse of a rate what is usual, as in the estimates of points. `is_shared`: of a
/// CPU, which others change for seconds, so that less than 15 s say less of the run than elsewhere.
std::optional<double> half_width_of(std::span<const Moment> moments, bool is_rate = false,
                                    bool is_shared = true);

/// What the moments of one reference show, and by what that is multiplied.
struct SeenChange {
  double range{0.0};  ///< of those that count, as the logarithm of a ratio
  double factor{1.0};
};

/// Nothing for fewer than two moments above 0; `half_width_of` is the product of both.
std::optional<SeenChange> seen_change_of(std::span<const Moment> moments, bool is_rate = false,
                                         bool is_shared = true);

/// What stands for a probe's id where the reference point is of none of the run's.
inline constexpr std::string_view references_section = "references";

/// Of every reference point that was measured twice or more.
std::vector<Disturbance> find_disturbances(const Run& run);

/// The reference of a run that was seen to change most.
struct MostChanged {
  std::string probe{};
  std::string series{};
  ReferenceKind kind{ReferenceKind::core};
  SeenChange seen{};
};

/// Nothing without a reference that was measured twice or more.
std::optional<MostChanged> find_most_changed(const Run& run);

/// By how much a time, or a rate, is disturbed: as the reference nearest to it, of times or rates
/// where there are any; a rate without one as the most disturbed of all. `seconds`: of one access,
/// or of one byte. 0 without a reference.
double disturbance_at(std::span<const Disturbance> disturbances, double seconds, bool is_rate);

/// By how much the most disturbed reference was. 0 without one.
double max_disturbance(std::span<const Disturbance> disturbances);

/// The same among those of rates, or among the others.
double max_disturbance(std::span<const Disturbance> disturbances, bool is_rate);

/// By how much a time is disturbed of what all units do together, though nobody knows with which of
/// the rates it goes: by the root of their mean square. As the most disturbed of all where no
/// reference is a rate.
double typical_disturbance(std::span<const Disturbance> disturbances);

/// The finding with the interval that every report shows: its own and a disturbance in quadrature
/// (half a 95 % interval: a logarithm, of shares a difference). Unchanged without an interval.
Finding with_disturbance(const Finding& own, double half_width);

/// The finding with the interval that it has by itself, without what `with_disturbance` added.
Finding without_disturbance(const Finding& finding);

/// The findings of a run as their probes say them.
void forget_disturbance(Run& run);

/// Makes what disturbed the run (`Run::disturbances`) a part of the interval of every finding that
/// is compared, once: in quadrature, as `compare` does. Twice is as good as once.
void hold_disturbance(Run& run);

}  // namespace clprobe
