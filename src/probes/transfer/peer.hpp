// SPDX-License-Identifier: Apache-2.0
// Memories of two devices of a platform, between which the probe `transfer` moves bytes. Sees
// OpenCL.
#pragma once

#include <cstdint>

#include "clprobe/device.hpp"
#include "probes/transfer/places.hpp"

namespace clprobe::transfer {

/// This device and another one of its platform in a context of their own: one that all devices
/// share would cost those who never copy between them.
class PeerPlaces {
 public:
  /// Throws Unsupported where the other device is gone, or the driver has no context for both.
  PeerPlaces(const Session& session, std::uint64_t peer, Bytes size);

  [[nodiscard]] Places& here() { return here_places_; }
  [[nodiscard]] Places& there() { return there_places_; }
  [[nodiscard]] const DeviceInfo& peer() const { return there_.info(); }
  [[nodiscard]] Bytes size() const { return here_places_.size(); }

 private:
  PeerPlaces(const Session& session, const FoundDevice& peer, Bytes size);
  PeerPlaces(const Session& session, const FoundDevice& peer, const cl::Context& context,
             Bytes size);

  Session here_;
  Session there_;
  Places here_places_;
  Places there_places_;
};

}  // namespace clprobe::transfer
