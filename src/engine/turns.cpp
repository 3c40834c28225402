// SPDX-License-Identifier: Apache-2.0
#include "clprobe/turns.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "clprobe/estimate.hpp"
#include "engine/sampler.hpp"

namespace clprobe {
namespace {

/// One side at one point, prepared.
class PreparedSide {
 public:
  PreparedSide(const Probe& probe, const TurnSide& side, const Point& point)
      : side_(side),
        prepared_(side.backend->prepare(probe, point)),
        point_(point),
        visits_(visits_of(point)) {
    point_.samples.clear();
  }

  /// The logarithm of the time of an access, in ns, now; nothing where the samples give none.
  std::optional<double> visit(const Budget& budget) {
    point_.samples.clear();
    sample_visit(prepared_, side_.device, budget, visits_++, point_);
    all_.insert(all_.end(), point_.samples.begin(), point_.samples.end());
    const auto found = estimate(point_, side_.device);
    if (!found || !(found->ns > 0.0)) return std::nullopt;
    return std::log(found->ns);
  }

  [[nodiscard]] std::vector<Sample> take_samples() { return std::move(all_); }

 private:
  static std::uint64_t visits_of(const Point& point) {
    std::uint64_t visits = 0;
    for (const Sample& sample : point.samples) visits = std::max(visits, sample.visit + 1);
    return visits;
  }

  const TurnSide& side_;
  PreparedPoint prepared_;
  Point point_;
  std::uint64_t visits_;
  std::vector<Sample> all_{};
};

std::size_t core_of(int block) { return static_cast<std::size_t>(block) / 2; }

/// Sets `failed` while the action runs, so that who catches knows whose failure it was.
template <typename Action>
auto on_behalf(int side, int& failed, Action action) -> decltype(action()) {
  failed = side;
  auto result = action();
  failed = -1;
  return result;
}

}  // namespace

Round take_round(const Probe& probe, const TurnSide& baseline, const Point& baseline_point,
                 const TurnSide& other, const Point& other_point, bool is_mirrored,
                 const TurnBudget& budget, const std::function<bool()>& cancelled, int& failed) {
  const auto prepare = [&](int side) {
    return on_behalf(side, failed, [&] {
      return side == 0 ? PreparedSide(probe, baseline, baseline_point)
                       : PreparedSide(probe, other, other_point);
    });
  };
  const int early = is_mirrored ? 1 : 0;
  PreparedSide one = prepare(early);
  PreparedSide two = prepare(1 - early);
  PreparedSide& a = is_mirrored ? two : one;
  PreparedSide& b = is_mirrored ? one : two;
  const auto visit = [&](int side) {
    return on_behalf(side, failed,
                     [&] { return side == 0 ? a.visit(budget.visit) : b.visit(budget.visit); });
  };
  Round round;
  // The first one after a while finds clocks and caches as somebody else left them.
  visit(early);
  visit(1 - early);
  const auto begin = baseline.backend->now();
  const auto is_over = [&](int blocks) {
    const std::chrono::duration<double> spent = baseline.backend->now() - begin;
    return blocks >= budget.max_blocks ||
           (blocks >= budget.min_blocks && spent * (blocks + 1) > budget.time * blocks);
  };
  const auto choose_core = [&](int side, const TurnSide& at, int block) {
    on_behalf(side, failed, [&] {
      at.backend->use_core(core_of(block));
      return true;
    });
  };
  for (int blocks = 0; !is_over(blocks) && !cancelled(); ++blocks) {
    // Two blocks a core, so that each core has both orders.
    choose_core(0, baseline, blocks);
    choose_core(1, other, blocks);
    const int first = (blocks + early) % 2;
    const auto outer_before = visit(first);
    const auto inner_before = visit(1 - first);
    const auto inner_after = visit(1 - first);
    const auto outer_after = visit(first);
    if (!outer_before || !inner_before || !inner_after || !outer_after) continue;
    TurnBlock block{{*outer_before, *outer_after}, {*inner_before, *inner_after}};
    if (first == 1) std::swap(block.baseline, block.other);
    round.blocks.push_back(block);
  }
  round.baseline_samples = a.take_samples();
  round.other_samples = b.take_samples();
  return round;
}

}  // namespace clprobe
