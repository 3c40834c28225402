// SPDX-License-Identifier: Apache-2.0
// What something takes by the host's clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace clprobe {

/// In nanoseconds, by a clock that nobody sets.
template <typename Action>
std::uint64_t host_ns_of(const Action& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  const auto took = std::chrono::steady_clock::now() - begin;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
}

}  // namespace clprobe
