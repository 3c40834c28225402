// SPDX-License-Identifier: Apache-2.0
// Memories of two devices of a platform, between which the probe `transfer` moves bytes. Sees
// OpenCL.
#pragma once

#include <cstdint>
#include <optional>

#include "clprobe/device.hpp"
#include "probes/transfer/places.hpp"

namespace clprobe::transfer {

/// This device and another one of its platform in a context of their own: one that all devices
/// share would cost those who never copy between them.
class PeerPlaces {
 public:
  /// Throws Unsupported where the other device is gone, or the driver has no context for both.
  PeerPlaces(const Session& session, std::uint64_t peer);

  /// From now on buffers have this size: a driver may move a whole buffer for a part of it.
  void hold(Bytes size);

  /// Of the size that is held.
  [[nodiscard]] Places& here() { return here_places_.value(); }
  [[nodiscard]] Places& there() { return there_places_.value(); }
  [[nodiscard]] const DeviceInfo& peer() const { return there_.info(); }

 private:
  PeerPlaces(const Session& session, const FoundDevice& peer);
  PeerPlaces(const Session& session, const FoundDevice& peer, const cl::Context& context);

  Session here_;
  Session there_;
  std::optional<Places> here_places_{};
  std::optional<Places> there_places_{};
};

}  // namespace clprobe::transfer
