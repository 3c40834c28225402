// SPDX-License-Identifier: Apache-2.0
// All words of a transfer, on either side: what the marks of samples, which are few, may miss.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "probes/transfer/places.hpp"
#include "probes/transfer/series.hpp"

namespace clprobe::transfer {

/// What is moved from one place to another.
struct Whole {
  std::function<std::uint64_t()> source{};  ///< the sum of the words there
  std::function<std::uint64_t()> target{};
  std::function<void()> clear{};  ///< the target
};

/// Of a transfer between host and device, or on the device: one, or each way.
std::vector<Whole> wholes_of(Places& places, const Shape& shape);
/// Of a copy from the device of `from` to that of `to`.
Whole whole_between(Places& from, Places& to, const Shape& shape);

}  // namespace clprobe::transfer
