// SPDX-License-Identifier: Apache-2.0
// The ways of a transfer: what moves the bytes, and what shows that they have arrived.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "probes/transfer/marks.hpp"
#include "probes/transfer/peer.hpp"
#include "probes/transfer/places.hpp"
#include "probes/transfer/series.hpp"
#include "probes/transfer/whole.hpp"

namespace clprobe::transfer {

using MarkedBy = std::function<void(const Marks&)>;
using SummedBy = std::function<std::uint64_t(const Marks&)>;

/// One way to move bytes: from a place that can be marked to one in which the marks are found.
struct Route {
  MarkedBy mark{};
  SummedBy sum{};
  std::function<void()> move{};  ///< returns when the bytes are there
  std::function<void()> end{};   ///< waits for what is no part of the time; may be null
  std::uint64_t sums{1};         ///< how many times the marks are added up
  /// Whether the marks are written anew before each move: who has moved them once may know that
  /// they are there, and not move them again.
  bool is_marked_anew{false};
  std::vector<Whole> wholes{};
};

Route route_of(Places& places, const Shape& shape);
Route route_of(PeerPlaces& places, const Shape& shape);

/// What a mapping takes in which nobody copies: the quickest of a few.
std::uint64_t mapping_time(Places& places, const Shape& shape);

}  // namespace clprobe::transfer
