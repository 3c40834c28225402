// SPDX-License-Identifier: Apache-2.0
#include "system/api/host.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>

namespace clprobe::system {
namespace {

constexpr std::size_t whole_units(std::size_t bytes) {
  return std::max<std::size_t>(1, (bytes + Pages::unit - 1) / Pages::unit) * Pages::unit;
}

/// Maps `bytes`, a multiple of the unit, and advises the system to use huge pages. Returns null if
/// the system has no memory.
std::byte* map_units(std::size_t bytes) {
  const std::size_t mapped = bytes + Pages::unit;  // room to align the start to a unit
  void* const mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* const first = static_cast<std::byte*>(mapping);
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(first) % Pages::unit;
  const std::size_t before = beyond == 0 ? 0 : Pages::unit - beyond;
  const std::size_t behind = Pages::unit - before;
  if (before != 0) munmap(first, before);
  if (behind != 0) munmap(first + before + bytes, behind);
  madvise(first + before, bytes, MADV_HUGEPAGE);  // the system may ignore this advice
  return first + before;
}

}  // namespace

Pages::~Pages() { unmap_free(); }

void* Pages::take(std::size_t bytes) {
  bytes = std::min(bytes, SIZE_MAX / 2);  // no system has this much, and sums do not overflow
  const std::size_t wanted = whole_units(bytes);
  auto best = free_.end();
  for (auto each = free_.begin(); each != free_.end(); ++each) {
    if (each->second < wanted) continue;
    if (best == free_.end() || each->second < best->second) best = each;
  }
  if (best == free_.end()) {
    unmap_free();
    return map_units(wanted);
  }
  const auto [begin, size] = *best;
  free_.erase(best);
  if (size > wanted) free_.emplace(begin + wanted, size - wanted);
  return begin;
}

void Pages::give_back(void* begin, std::size_t bytes) {
  const auto place = free_.emplace(static_cast<std::byte*>(begin), whole_units(bytes)).first;
  if (is_kept_) {
    join_neighbours(place);
  } else {
    unmap_free();
  }
}

void Pages::keep(bool is_kept) {
  is_kept_ = is_kept;
  if (!is_kept) unmap_free();
}

void Pages::join_neighbours(Ranges::iterator place) {
  const auto next = std::next(place);
  if (next != free_.end() && place->first + place->second == next->first) {
    place->second += next->second;
    free_.erase(next);
  }
  if (place == free_.begin()) return;
  const auto previous = std::prev(place);
  if (previous->first + previous->second != place->first) return;
  previous->second += place->second;
  free_.erase(place);
}

std::size_t Pages::free_bytes() const {
  return std::accumulate(free_.begin(), free_.end(), std::size_t{0},
                         [](std::size_t sum, const auto& each) { return sum + each.second; });
}

void Pages::unmap_free() {
  for (const auto& [begin, size] : free_) munmap(begin, size);
  free_.clear();
}

Pages& pages_of_process() {
  static Pages pages;
  return pages;
}

}  // namespace clprobe::system
