// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/peer.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace clprobe::transfer {
namespace {

FoundDevice find_peer(const DeviceInfo& device, std::uint64_t peer) {
  std::optional<FoundDevice> found = find_neighbour(device, static_cast<int>(peer));
  if (!found) throw Unsupported(fmt::format("device {} of the platform does not respond", peer));
  return std::move(*found);
}

cl::Context context_of(const cl::Device& device, const cl::Device& peer) {
  try {
    return cl::Context(std::vector<cl::Device>{device, peer});
  } catch (const cl::Error& error) {
    throw Unsupported(
        fmt::format("the driver cannot create a context for both devices ({})", describe(error)));
  }
}

}  // namespace

PeerPlaces::PeerPlaces(const Session& session, std::uint64_t peer)
    : PeerPlaces(session, find_peer(session.info(), peer)) {}

PeerPlaces::PeerPlaces(const Session& session, const FoundDevice& peer)
    : PeerPlaces(session, peer, context_of(session.device(), peer.device)) {}

PeerPlaces::PeerPlaces(const Session& session, const FoundDevice& peer, const cl::Context& context)
    : here_(session.device(), session.info(), session.seed(), context),
      there_(peer.device, peer.info, session.seed(), context) {}

void PeerPlaces::hold(Bytes size) {
  if (here_places_ && here_places_->size() == size) return;
  here_places_.reset();  // first, so that their memory is free
  there_places_.reset();
  here_places_.emplace(here_, size);
  there_places_.emplace(there_, size);
}

}  // namespace clprobe::transfer
