// SPDX-License-Identifier: Apache-2.0
// A host that is disturbed while two sides are measured in turns.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/api/paired.hpp"
#include "random.hpp"

namespace clprobe {

/// A host on which visits are made one after another, and what disturbs them.
class Host {
 public:
  explicit Host(std::uint64_t seed) : random_(seed) {}

  double noise{0.01};
  double drift{0.0};         ///< a visit
  double burst_chance{0.0};  ///< that one begins at a visit
  double burst{0.0};
  double between_rounds{0.0};  ///< where a round's buffers happen to lie

  /// The logarithm of the time of a visit.
  double visit(double truth) {
    ++visits_;
    if (left_ > 0) --left_;
    if (left_ == 0 && random_.chance(burst_chance)) left_ = 1 + random_.whole_log_uniform(1, 12);
    return truth + drift * visits_ + noise * random_.normal() + (left_ > 0 ? burst : 0.0);
  }

  PairBlock block(double change, bool is_mirrored) {
    PairBlock made;
    if (is_mirrored) {
      made.other[0] = visit(change);
      made.baseline = {visit(0.0), visit(0.0)};
      made.other[1] = visit(change);
    } else {
      made.baseline[0] = visit(0.0);
      made.other = {visit(change), visit(change)};
      made.baseline[1] = visit(0.0);
    }
    return made;
  }

  /// Of one point, beside others of the same round.
  VisitRatio point(double change) {
    std::vector<PairBlock> blocks;
    for (int i = 0; i < 3; ++i) blocks.push_back(block(change, (i + rounds_) % 2 == 1));
    return ratio_of_visit(blocks, true);
  }

  double round(double change) {
    const double found = point(change).log_ratio;
    ++rounds_;
    return found + between_rounds * random_.normal();
  }

 private:
  Random random_;
  int visits_{0};
  int left_{0};
  int rounds_{0};
};

inline Host disturbed_host(std::uint64_t seed) {
  Host host(seed);
  host.noise = 0.02;
  host.drift = 0.0005;
  host.burst_chance = 0.02;
  host.burst = 0.4;
  host.between_rounds = 0.01;
  return host;
}

}  // namespace clprobe
