// SPDX-License-Identifier: Apache-2.0
// The memory behind the first levels: a second-level cache and main memory that all compute units
// share, and each unit's way there. Banks and ports have a limited bandwidth, and a latency depends
// on the place of the line. Requests come in the order of time, so that their answers' times are
// known at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"
#include "simulation/simulator/cache.hpp"

namespace clprobe::simulator {

/// A value uniform within the range, the same for the same place and seed.
std::uint64_t draw(const Latency& range, std::uint64_t place, std::uint64_t seed);

/// The cycle in which a value is at the core, and the level that it comes from.
struct Service {
  std::uint64_t ready{0};
  Level level{Level::l2};
};

/// The cycle in which an atomic reaches the second level, and the time that its answer takes.
struct AtomicWay {
  std::uint64_t arrival{0};
  std::uint64_t back_cycles{0};
};

/// Passes bytes at a rate; times within it are in 1/1024 of a cycle.
struct Port {
  static constexpr std::uint64_t fraction = 1024;

  std::uint64_t sector_cost{0};
  std::uint64_t free{0};

  std::uint64_t pass(std::uint64_t now, std::uint64_t sectors) {
    const std::uint64_t start = std::max(free, now * fraction);
    free = start + sectors * sector_cost;
    // The last sector begins one cost before the port is free again.
    return (free - sector_cost) / fraction;
  }
};

/// The part that all compute units share: the second level, its banks, and the owners of lines.
class FarMemory {
 public:
  /// `units`: the number of those that share it.
  FarMemory(const Machine& machine, std::uint64_t units);

  /// The first level of the next compute unit, from which others take what they come to own.
  void add_unit(Cache& l1) { l1s_.push_back(&l1); }

  Cache& l2() { return l2_; }
  /// Returns the cycle in which the line's bank takes a request.
  std::uint64_t enter_bank(std::uint64_t now, std::uint64_t line);
  /// Returns the cycle in which an atomic that arrives then is performed. Atomics on one line are
  /// performed one after another.
  std::uint64_t perform_atomic(std::uint64_t arrival, std::uint64_t line);

  /// True if another unit than this one owns the line.
  [[nodiscard]] bool is_owned_elsewhere(std::size_t unit, std::uint64_t line) const {
    const auto owner = owners_.find(line);
    return owner != owners_.end() && owner->second != unit;
  }
  /// Makes `unit` the owner. Returns true if another one was it, whose first level loses the line.
  bool take_ownership(std::size_t unit, std::uint64_t line);
  void end_ownership(std::size_t unit, std::uint64_t line);

 private:
  std::uint64_t atomic_cycles_;
  bool is_shared_;
  Cache l2_;
  std::vector<std::uint64_t> banks_;  // when each takes the next request; empty: all at once
  std::vector<Cache*> l1s_{};
  std::unordered_map<std::uint64_t, std::uint64_t> atomics_{};  // line: when the next may be done
  std::unordered_map<std::uint64_t, std::size_t> owners_{};     // line: unit
};

/// One compute unit's way to far memory: its ports, its translations, and its distance to each
/// line.
class FarLink {
 public:
  /// Keeps a reference. `unit`: its place among those that share the memory.
  FarLink(const Machine& machine, FarMemory& far, std::size_t unit, std::uint64_t seed);

  /// `is_remote`: a compute unit that is not simulated owns the line.
  Service read(std::uint64_t now, std::uint64_t line, std::uint32_t sectors, bool is_remote);
  /// Returns the cycle in which the core knows that the write has arrived.
  std::uint64_t write(std::uint64_t now, std::uint64_t line, std::uint32_t sectors);
  /// Writes a line of its own, which it keeps no longer.
  std::uint64_t write_back(std::uint64_t now, std::uint64_t line, std::uint32_t sectors);
  /// Registers a line as this unit's own, which moves no data.
  std::uint64_t take_ownership(std::uint64_t now, std::uint64_t line, bool is_remote);
  /// Returns the cycle in which the core has the answer.
  std::uint64_t atomic(std::uint64_t now, std::uint64_t line);
  /// Sends an atomic that is known now at `earliest` or later.
  AtomicWay send_atomic(std::uint64_t now, std::uint64_t earliest, std::uint64_t line);
  void make_resident(std::uint64_t line, std::uint32_t sectors);

 private:
  [[nodiscard]] std::uint64_t l2_cycles_to(std::uint64_t line) const {
    return draw(l2_latency_, line, seed_);
  }
  [[nodiscard]] std::uint64_t memory_cycles_to(std::uint64_t line) const;
  [[nodiscard]] std::uint64_t remote_cycles_to(std::uint64_t line) const;
  /// Cycles until the line's page is translated, which it is from then on.
  std::uint64_t translate(std::uint64_t line);
  /// The line in the second level, or a place for it there; null where there is no second level.
  /// A line that is evicted for it passes this unit's port.
  CacheLine* find_or_allocate(std::uint64_t now, std::uint64_t line);

  FarMemory& far_;
  std::size_t unit_;
  Latency l2_latency_;
  Latency memory_latency_;
  Latency remote_latency_;
  std::uint64_t seed_;
  std::uint64_t page_lines_;
  std::uint64_t walk_cycles_;
  Cache pages_;
  Port port_;
  Port memory_port_;
};

}  // namespace clprobe::simulator
