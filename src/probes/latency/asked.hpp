// SPDX-License-Identifier: Apache-2.0
// What the probe `latency` is asked for, read once. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/latency/ring_shape.hpp"

namespace clprobe::latency {

/// Of nodes: each is followed by one that is anywhere, or by the one at the next address.
inline constexpr std::string_view fixed_order = "fixed";
inline constexpr std::string_view random_order = "random";

/// What is not set is the probe's choice.
struct Asked {
  Bytes max_memory{};
  Effort effort{Effort::normal};
  std::vector<std::string> series{};
  std::vector<SizeRange> sizes{};
  Bytes step{};
  std::uint64_t unroll{};
  bool is_in_order{false};  ///< the order of addresses is measured as closely as a random one
  AddressForm address{AddressForm::automatic};

  explicit Asked(const Request& request);

  /// Whether --series names it, or nothing.
  [[nodiscard]] bool wants(std::string_view name) const;
  [[nodiscard]] bool names(std::string_view name) const;
};

}  // namespace clprobe::latency
