// SPDX-License-Identifier: Apache-2.0
#include "simulator/locks.hpp"

#include <algorithm>

namespace clprobe::simulator {

void Locks::send(LockRequest request) {
  request.order = ++order_;
  requests_.push_back(request);
  std::push_heap(requests_.begin(), requests_.end());
}

LockRequest Locks::take_first() {
  std::pop_heap(requests_.begin(), requests_.end());
  const LockRequest first = requests_.back();
  requests_.pop_back();
  return first;
}

void Locks::process(std::uint64_t now) {
  while (!requests_.empty() && requests_.front().way.arrival <= now) serve(take_first());
}

void Locks::serve(const LockRequest& request) {
  const std::uint64_t performed = far_.perform_atomic(request.way.arrival, request.line);
  const bool has_lock = !request.is_release && take(request.lock, performed);
  if (request.is_release) free(request.lock, performed);
  const bool is_in_vain = !request.is_release && !has_lock;
  const std::uint64_t ready = performed + request.way.back_cycles;
  answers_[request.unit].push_back({.request = request,
                                    .ready = is_in_vain ? ready + next_delay() : ready,
                                    .has_lock = has_lock});
}

bool Locks::take(std::uint32_t lock, std::uint64_t cycle) {
  State& state = states_[lock];
  if (state.is_held || cycle < state.free_from) return false;
  state.is_held = true;
  return true;
}

void Locks::free(std::uint32_t lock, std::uint64_t cycle) {
  State& state = states_[lock];
  state.is_held = false;
  state.free_from = cycle + draw(locks_[lock].held_elsewhere, ++state.releases, seed_ + lock);
}

std::uint64_t Locks::next_delay() {
  constexpr Latency delay{0, 7};
  return draw(delay, ++delays_, seed_);
}

}  // namespace clprobe::simulator
