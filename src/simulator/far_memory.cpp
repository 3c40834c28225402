// SPDX-License-Identifier: Apache-2.0
#include "simulator/far_memory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace clprobe::simulator {
namespace {

constexpr std::uint64_t fraction = 1024;

std::uint64_t cost_of(std::uint64_t bytes, double bytes_per_cycle) {
  const double cycles = static_cast<double>(bytes) / bytes_per_cycle;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(cycles * fraction)));
}

/// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

// So that a line's latencies at different levels have nothing to do with each other.
constexpr std::uint64_t memory_salt = 0x6d656d6f7279U;
constexpr std::uint64_t remote_salt = 0x72656d6f7465U;

}  // namespace

std::uint64_t draw(const Latency& range, std::uint64_t place, std::uint64_t seed) {
  if (range.low == range.high) return range.low;
  return range.low + mix(place + mix(seed)) % (range.high - range.low + 1);
}

std::uint64_t FarMemory::Port::pass(std::uint64_t now, std::uint64_t sectors) {
  const std::uint64_t start = std::max(free, now * fraction);
  free = start + sectors * sector_cost;
  // The last sector begins one cost before the port is free again.
  return (free - sector_cost) / fraction;
}

FarMemory::FarMemory(const Machine& machine, std::uint64_t seed)
    : l2_latency_(machine.l2.latency_cycles),
      memory_latency_(machine.memory.latency_cycles),
      remote_latency_(machine.sharing.remote_latency_cycles),
      atomic_cycles_(machine.l2.atomic_cycles),
      seed_(seed),
      page_lines_(
          std::max<std::uint64_t>(1, machine.translation.page_bytes / machine.l1.line_bytes)),
      walk_cycles_(machine.translation.miss_cycles),
      pages_(machine.translation.entries, 1,
             std::max<std::uint64_t>(1, machine.translation.entries)),
      l2_(machine.l2.bytes, machine.l1.line_bytes, machine.l2.ways),
      l2_port_{.sector_cost = cost_of(machine.l1.sector_bytes, machine.l2.bytes_per_cycle)},
      memory_port_{.sector_cost =
                       cost_of(machine.l1.sector_bytes, machine.memory.bytes_per_cycle)} {}

CacheLine* FarMemory::allocate(std::uint64_t now, std::uint64_t line) {
  CacheLine evicted;
  CacheLine* const place = l2_.insert(line, evicted);
  if (evicted.is_dirty) {
    memory_port_.pass(now, static_cast<std::uint64_t>(std::popcount(evicted.sectors)));
  }
  return place;
}

std::uint64_t FarMemory::translate(std::uint64_t line) {
  if (!pages_.exists() || pages_.find(line / page_lines_) != nullptr) return 0;
  CacheLine evicted;
  pages_.insert(line / page_lines_, evicted);
  return walk_cycles_;
}

Service FarMemory::read(std::uint64_t now, std::uint64_t line, std::uint32_t sectors,
                        bool is_remote) {
  const auto count = static_cast<std::uint64_t>(std::popcount(sectors));
  const std::uint64_t start = l2_port_.pass(now, count) + translate(line);
  if (is_remote) {
    return {start + draw(remote_latency_, line, seed_ ^ remote_salt), Level::remote_l1};
  }
  const std::uint64_t l2_ready = start + draw(l2_latency_, line, seed_);
  CacheLine* found = l2_.find(line);
  const std::uint32_t missing = found == nullptr ? sectors : sectors & ~found->sectors;
  if (found != nullptr && missing == 0) {
    const bool is_on_its_way = found->ready > l2_ready;
    return {std::max(l2_ready, found->ready), is_on_its_way ? Level::memory : Level::l2};
  }
  const std::uint64_t sent =
      memory_port_.pass(start, static_cast<std::uint64_t>(std::popcount(missing)));
  const std::uint64_t ready = sent + draw(memory_latency_, line, seed_ ^ memory_salt);
  if (found == nullptr) found = allocate(start, line);
  if (found != nullptr) {
    found->sectors |= missing;
    found->ready = std::max(found->ready, ready);
  }
  return {ready, Level::memory};
}

std::uint64_t FarMemory::write(std::uint64_t now, std::uint64_t line, std::uint32_t sectors) {
  const auto count = static_cast<std::uint64_t>(std::popcount(sectors));
  const std::uint64_t start = l2_port_.pass(now, count) + translate(line);
  CacheLine* found = l2_.find(line);
  if (found == nullptr) found = allocate(start, line);
  if (found != nullptr) {
    found->sectors |= sectors;
    found->is_dirty = true;
    return start + draw(l2_latency_, line, seed_);
  }
  return memory_port_.pass(start, count) + draw(memory_latency_, line, seed_ ^ memory_salt);
}

std::uint64_t FarMemory::take_ownership(std::uint64_t now, std::uint64_t line, bool is_remote) {
  const std::uint64_t start = l2_port_.pass(now, 1);
  if (is_remote) return start + draw(remote_latency_, line, seed_ ^ remote_salt);
  return start + draw(l2_latency_, line, seed_);
}

AtomicService FarMemory::atomic(std::uint64_t now, std::uint64_t line) {
  const std::uint64_t latency = draw(l2_latency_, line, seed_);
  const std::uint64_t arrival = l2_port_.pass(now, 1) + latency / 2;
  std::uint64_t& next = atomics_[line];
  const std::uint64_t performed = std::max(arrival, next);
  next = performed + atomic_cycles_;
  return {performed, performed + (latency - latency / 2)};
}

AtomicService FarMemory::atomic_after(std::uint64_t now, std::uint64_t earliest,
                                      std::uint64_t line) {
  const std::uint64_t latency = draw(l2_latency_, line, seed_);
  const std::uint64_t sent = std::max(l2_port_.pass(now, 1), earliest);
  // Those that others send before it are performed before it: it holds nobody up.
  return {sent + latency / 2, sent + latency};
}

void FarMemory::make_resident(std::uint64_t line, std::uint32_t sectors) {
  translate(line);
  CacheLine* found = l2_.find(line);
  if (found == nullptr) found = allocate(0, line);
  if (found != nullptr) found->sectors |= sectors;
}

}  // namespace clprobe::simulator
