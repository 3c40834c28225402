// SPDX-License-Identifier: Apache-2.0
// What lies behind the first level: a second-level cache and main memory, each a port of limited
// bandwidth and a latency that depends on the place of the line. Requests come in the order of
// time, so that their answers' times are known at once.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "clprobe/machine.hpp"
#include "clprobe/simulator.hpp"
#include "simulator/cache.hpp"

namespace clprobe::simulator {

/// Uniform within the range, the same for the same place and seed.
std::uint64_t draw(const Latency& range, std::uint64_t place, std::uint64_t seed);

/// When the value is at the core, and where it came from.
struct Service {
  std::uint64_t ready{0};
  Level level{Level::l2};
};

/// When an atomic is done in the second level, and when the core knows.
struct AtomicService {
  std::uint64_t performed{0};
  std::uint64_t ready{0};
};

class FarMemory {
 public:
  FarMemory(const Machine& machine, std::uint64_t seed);

  /// `is_remote`: another compute unit owns the line.
  Service read(std::uint64_t now, std::uint64_t line, std::uint32_t sectors, bool is_remote);
  /// Returns when the core knows that the write has arrived.
  std::uint64_t write(std::uint64_t now, std::uint64_t line, std::uint32_t sectors);
  /// Registers a line as this unit's own, which moves no data.
  std::uint64_t take_ownership(std::uint64_t now, std::uint64_t line, bool is_remote);
  AtomicService atomic(std::uint64_t now, std::uint64_t line);
  /// One that is known now and sent at `earliest` or later.
  AtomicService atomic_after(std::uint64_t now, std::uint64_t earliest, std::uint64_t line);
  void make_resident(std::uint64_t line, std::uint32_t sectors);

 private:
  /// A port passes bytes at its rate; times within it are in 1/1024 of a cycle.
  struct Port {
    std::uint64_t sector_cost{0};
    std::uint64_t free{0};

    std::uint64_t pass(std::uint64_t now, std::uint64_t sectors);
  };
  CacheLine* allocate(std::uint64_t now, std::uint64_t line);
  /// Cycles until the line's page is translated, which it is from then on.
  std::uint64_t translate(std::uint64_t line);

  Latency l2_latency_;
  Latency memory_latency_;
  Latency remote_latency_;
  std::uint64_t atomic_cycles_;
  std::uint64_t seed_;
  std::uint64_t page_lines_;
  std::uint64_t walk_cycles_;
  Cache pages_;
  Cache l2_;
  Port l2_port_;
  Port memory_port_;
  std::unordered_map<std::uint64_t, std::uint64_t> atomics_{};  // line: when the next may be done
};

}  // namespace clprobe::simulator
