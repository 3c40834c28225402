// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulator/far_memory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace clprobe::simulator {
namespace {

std::uint64_t cost_of(std::uint64_t bytes, double bytes_per_cycle) {
  const double cycles = static_cast<double>(bytes) / bytes_per_cycle;
  return std::max<std::uint64_t>(1,
                                 static_cast<std::uint64_t>(std::llround(cycles * Port::fraction)));
}

/// Returns a hash of `value`: the finaliser of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

std::uint64_t count_of(std::uint32_t sectors) {
  return static_cast<std::uint64_t>(std::popcount(sectors));
}

// Salts of the hash of a line. The salts make the latencies of a line to different levels and
// compute units independent of each other.
constexpr std::uint64_t memory_salt = 0x6d656d6f7279U;
constexpr std::uint64_t remote_salt = 0x72656d6f7465U;
constexpr std::uint64_t unit_salt = 0x9e3779b97f4a7c15U;

}  // namespace

std::uint64_t draw(const Latency& range, std::uint64_t place, std::uint64_t seed) {
  return range.low + mix(place + mix(seed)) % (range.high - range.low + 1);
}

FarMemory::FarMemory(const Machine& machine, std::uint64_t units)
    : atomic_cycles_(machine.l2.atomic_cycles),
      is_shared_(units > 1),
      l2_(machine.l2.bytes, machine.l1.line_bytes, machine.l2.ways),
      banks_(is_shared_ ? machine.l2_banks.count : 0) {}

std::uint64_t FarMemory::enter_bank(std::uint64_t now, std::uint64_t line) {
  if (banks_.empty()) return now;
  std::uint64_t& free = banks_[line % banks_.size()];
  const std::uint64_t start = std::max(free, now);
  free = start + 1;
  return start;
}

std::uint64_t FarMemory::perform_atomic(std::uint64_t arrival, std::uint64_t line) {
  std::uint64_t& next = atomics_[line];
  const std::uint64_t performed = std::max(arrival, next);
  next = performed + atomic_cycles_;
  return performed;
}

bool FarMemory::take_ownership(std::size_t unit, std::uint64_t line) {
  if (!is_shared_) return false;
  const auto [owner, is_new] = owners_.try_emplace(line, unit);
  if (is_new || owner->second == unit) return false;
  l1s_[owner->second]->drop(line);
  owner->second = unit;
  return true;
}

void FarMemory::end_ownership(std::size_t unit, std::uint64_t line) {
  const auto owner = owners_.find(line);
  if (owner != owners_.end() && owner->second == unit) owners_.erase(owner);
}

FarLink::FarLink(const Machine& machine, FarMemory& far, std::size_t unit, std::uint64_t seed)
    : far_(far),
      unit_(unit),
      l2_latency_(machine.l2.latency_cycles),
      memory_latency_(machine.memory.latency_cycles),
      remote_latency_(machine.sharing.remote_latency_cycles),
      seed_(seed + unit * unit_salt),
      page_lines_(
          std::max<std::uint64_t>(1, machine.translation.page_bytes / machine.l1.line_bytes)),
      walk_cycles_(machine.translation.miss_cycles),
      pages_(machine.translation.entries, 1,
             std::max<std::uint64_t>(1, machine.translation.entries)),
      port_{.sector_cost = cost_of(machine.l1.sector_bytes, machine.l2.bytes_per_cycle)},
      memory_port_{.sector_cost =
                       cost_of(machine.l1.sector_bytes, machine.memory.bytes_per_cycle)} {}

std::uint64_t FarLink::memory_cycles_to(std::uint64_t line) const {
  return draw(memory_latency_, line, seed_ ^ memory_salt);
}

std::uint64_t FarLink::remote_cycles_to(std::uint64_t line) const {
  return draw(remote_latency_, line, seed_ ^ remote_salt);
}

std::uint64_t FarLink::translate(std::uint64_t line) {
  if (!pages_.exists() || pages_.find(line / page_lines_) != nullptr) return 0;
  CacheLine evicted;
  pages_.insert(line / page_lines_, evicted);
  return walk_cycles_;
}

CacheLine* FarLink::find_or_allocate(std::uint64_t now, std::uint64_t line) {
  if (CacheLine* const found = far_.l2().find(line)) return found;
  CacheLine evicted;
  CacheLine* const place = far_.l2().insert(line, evicted);
  if (evicted.is_dirty) memory_port_.pass(now, count_of(evicted.sectors));
  return place;
}

Service FarLink::read(std::uint64_t now, std::uint64_t line, std::uint32_t sectors,
                      bool is_remote) {
  const std::uint64_t start =
      far_.enter_bank(port_.pass(now, count_of(sectors)) + translate(line), line);
  if (is_remote || far_.is_owned_elsewhere(unit_, line)) {
    return {start + remote_cycles_to(line), Level::remote_l1};
  }
  const CacheLine* const found = far_.l2().find(line);
  const std::uint32_t missing = found == nullptr ? sectors : sectors & ~found->sectors;
  if (found != nullptr && missing == 0) {
    const std::uint64_t l2_ready = start + l2_cycles_to(line);
    const bool is_on_its_way = found->ready > l2_ready;
    return {std::max(l2_ready, found->ready), is_on_its_way ? Level::memory : Level::l2};
  }
  const std::uint64_t ready = memory_port_.pass(start, count_of(missing)) + memory_cycles_to(line);
  if (CacheLine* const place = find_or_allocate(start, line)) {
    place->sectors |= missing;
    place->ready = std::max(place->ready, ready);
  }
  return {ready, Level::memory};
}

std::uint64_t FarLink::write(std::uint64_t now, std::uint64_t line, std::uint32_t sectors) {
  const auto count = count_of(sectors);
  const std::uint64_t start = far_.enter_bank(port_.pass(now, count) + translate(line), line);
  CacheLine* const place = find_or_allocate(start, line);
  if (place == nullptr) return memory_port_.pass(start, count) + memory_cycles_to(line);
  place->sectors |= sectors;
  place->is_dirty = true;
  return start + l2_cycles_to(line);
}

std::uint64_t FarLink::write_back(std::uint64_t now, std::uint64_t line, std::uint32_t sectors) {
  far_.end_ownership(unit_, line);
  return write(now, line, sectors);
}

std::uint64_t FarLink::take_ownership(std::uint64_t now, std::uint64_t line, bool is_remote) {
  const std::uint64_t start = far_.enter_bank(port_.pass(now, 1), line);
  const bool was_owned = far_.take_ownership(unit_, line);
  return start + (is_remote || was_owned ? remote_cycles_to(line) : l2_cycles_to(line));
}

std::uint64_t FarLink::atomic(std::uint64_t now, std::uint64_t line) {
  const AtomicWay way = send_atomic(now, now, line);
  return far_.perform_atomic(way.arrival, line) + way.back_cycles;
}

AtomicWay FarLink::send_atomic(std::uint64_t now, std::uint64_t earliest, std::uint64_t line) {
  const std::uint64_t latency = l2_cycles_to(line);
  const std::uint64_t sent = std::max(port_.pass(now, 1), earliest);
  return {.arrival = sent + latency / 2, .back_cycles = latency - latency / 2};
}

void FarLink::make_resident(std::uint64_t line, std::uint32_t sectors) {
  translate(line);
  if (CacheLine* const place = find_or_allocate(0, line)) place->sectors |= sectors;
}

}  // namespace clprobe::simulator
