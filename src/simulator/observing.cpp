// SPDX-License-Identifier: Apache-2.0
// What observers are told: why each warp does not issue. Most warps are as they were in the cycle
// before, and are not looked at.
#include <algorithm>

#include "simulator/compute_unit.hpp"

namespace clprobe::simulator {
namespace {

/// When the first is free; 0 when one is.
std::uint64_t first_free(const std::vector<std::uint64_t>& units, std::uint64_t now) {
  const std::uint64_t first = *std::min_element(units.begin(), units.end());
  return first > now ? first : 0;
}

}  // namespace

ComputeUnit::Surroundings ComputeUnit::look_around(std::uint64_t now) const {
  const auto causes_for = [&](Operation operation) {
    return memory_.accepts(operation) ? Causes{0} : memory_.busy_causes(operation);
  };
  return {.for_loads = causes_for(Operation::load),
          .for_others = causes_for(Operation::store),
          .stores_held_until = memory_.stores_held_until(),
          .copies = memory_.copies().changes(),
          .is_copying_blocked = memory_.copies().is_blocked(),
          .alu_free = first_free(alu_free_, now),
          .special_free = first_free(special_free_, now)};
}

ComputeUnit::Dependences ComputeUnit::changes_of(const Surroundings& before,
                                                 const Surroundings& after) {
  const auto bit_if = [](bool has_changed, Dependences bit) {
    return has_changed ? bit : Dependences{0};
  };
  const bool for_releases = before.stores_held_until != after.stores_held_until;
  const bool for_copies =
      before.copies != after.copies || before.is_copying_blocked != after.is_copying_blocked;
  return static_cast<Dependences>(
      bit_if(before.for_loads != after.for_loads, on_loads) |
      bit_if(before.for_others != after.for_others, on_others) | bit_if(for_releases, on_releases) |
      bit_if(for_copies, on_copies) | bit_if(before.alu_free != after.alu_free, on_alu) |
      bit_if(before.special_free != after.special_free, on_special));
}

/// Whether more than the load/store units has changed, of what something depends on: a copy engine
/// may be blocked for the reasons of a unit, so that what needs a copy has both.
bool ComputeUnit::is_other(Dependences on, Dependences changes) {
  constexpr Dependences units = on_loads | on_others;
  const auto met = static_cast<Dependences>(on & changes);
  return (met & ~units) != 0 || (met != 0 && (on & on_copies) != 0);
}

ComputeUnit::Dependences ComputeUnit::dependences_of(const Warp& warp, std::uint64_t now) const {
  if (warp.held_until > now || is_at_end(warp)) return 0;
  switch (trace_.programs[warp.program][warp.at].operation) {
    case Operation::load:
      return on_loads;
    case Operation::store:
      return on_others | on_releases;
    case Operation::atomic:
    case Operation::acquire:
    case Operation::release:
      return on_others;
    case Operation::local_load:
    case Operation::local_store:
      return on_others | on_copies;
    case Operation::copy_wait:
      return on_copies;
    case Operation::alu:
      return on_alu;
    case Operation::special:
      return on_special;
    default:
      return 0;
  }
}

std::uint64_t ComputeUnit::observe_warp(std::uint32_t context, std::uint64_t now) {
  Warp& warp = warps_[context];
  WarpState state{.causes = cause::idle};
  Told& told = told_[context];
  told.on = 0;
  std::uint64_t until = never;
  if (warp.is_active) {
    const Blockage blockage = find_blockage<true>(warp, now);
    state = {.causes = blockage.causes,
             .load = blockage.load,
             .number = warp.number,
             .program = warp.program,
             .instruction = warp.at};
    told.on = dependences_of(warp, now);
    // An end that could not be settled in this cycle is in the next one.
    until = blockage.causes == 0 ? now + 1 : blockage.changes;
  }
  if (state != states_[context]) {
    states_[context] = state;
    changed_.push_back(context);
  }
  return until;
}

/// The same where nothing has changed but what keeps the load/store units busy.
void ComputeUnit::observe_units(std::uint32_t context, std::uint64_t now) {
  constexpr Causes of_units =
      cause::full_mshr | cause::full_store_buffer | cause::bank_conflict | cause::serial_requests;
  Told& told = told_[context];
  WarpState& state = states_[context];
  const Causes busy = (told.on & on_loads) != 0 ? around_.for_loads : around_.for_others;
  const Causes causes = (state.causes & ~of_units) | busy;
  if (causes == state.causes) return;
  state.causes = causes;
  changed_.push_back(context);
  if (causes == 0) told.holds_until = now + 1;
}

std::uint64_t ComputeUnit::observe(std::uint64_t now) {
  const Surroundings around = look_around(now);
  const Dependences changes = changes_of(around_, around);
  around_ = around;
  // Step by step all are looked at, so that tests see whether anything was passed over.
  const bool looks_at_all = !options_.skips_idle;
  changed_.clear();
  std::uint64_t change = memory_.has_news() ? now + 1 : memory_.next_event();
  for (std::uint32_t context = 0; context < used_contexts_; ++context) {
    Told& told = told_[context];
    if (told.issued_at == now) {
      changed_.push_back(context);
      told.holds_until = now + 1;
    } else if (told.holds_until <= now || is_other(told.on, changes) || looks_at_all) {
      told.holds_until = observe_warp(context, now);
    } else if ((told.on & changes) != 0) {
      observe_units(context, now);
    }
    change = std::min(change, told.holds_until);
  }
  return change;
}

void ComputeUnit::tell(std::uint64_t first, std::uint64_t cycles, std::uint32_t issued,
                       bool is_last_flush) {
  if (!observer_->cycles) return;
  observer_->cycles({.first = first,
                     .cycles = cycles,
                     .issued = issued,
                     .is_last_flush = is_last_flush,
                     .warps = std::span(states_).first(used_contexts_),
                     .changed = changed_});
}

void ComputeUnit::tell_until(std::uint64_t now) {
  if (observer_ == nullptr || phase_ != Phase::runs || now == told_until_) return;
  tell(told_until_, now - told_until_, issued_, false);
  told_until_ = now;
}

void ComputeUnit::tell_idle(std::uint64_t until, bool is_last_flush) {
  if (observer_ == nullptr || until == told_until_) return;
  changed_.clear();
  for (std::uint32_t context = 0; context < used_contexts_; ++context) {
    states_[context] = {.causes = cause::idle};
    changed_.push_back(context);
  }
  tell(told_until_, until - told_until_, 0, is_last_flush);
  told_until_ = until;
}

}  // namespace clprobe::simulator
