// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/launch.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "clprobe/device.hpp"
#include "clprobe/engine.hpp"
#include "probes/shared/host_time.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/one_memory.hpp"
#include "probes/transfer/peer.hpp"
#include "probes/transfer/places.hpp"
#include "probes/transfer/routes.hpp"
#include "probes/transfer/series.hpp"
#include "system/cores.hpp"

namespace clprobe::transfer {
namespace {

/// What a point is.
using Visited = std::tuple<Direction, Way, std::uint64_t, std::uint64_t>;

Visited visited(const Shape& shape) {
  return {shape.direction, shape.way, shape.transfer_bytes, shape.peer};
}

/// How many transfers a sample has: so many that it is long enough for the host's clock, and not
/// four times as long because it was a little too short. And how many samples a visit has, 0 as
/// many as the budget wants: where one transfer takes long, the host copies, which differs from
/// visit to visit by more than within one.
struct Counts {
  std::uint64_t transfers{1};
  int samples{0};
};

/// What all points share while the probe runs.
struct State {
  explicit State(Session& used) : session(used) {}

  Session& session;
  std::map<std::uint64_t, std::unique_ptr<Places>> places{};  ///< by the size of their buffers
  std::map<std::uint64_t, std::unique_ptr<PeerPlaces>> peers{};
  std::uint32_t launches{0};
  std::map<Visited, Counts> counts{};
  std::set<Visited> proven{};  ///< whose words were all looked at, once

  Places& places_for(Bytes size) {
    std::unique_ptr<Places>& of_size = places[size.count];
    if (of_size == nullptr) of_size = std::make_unique<Places>(session, size);
    return *of_size;
  }

  PeerPlaces& places_with(std::uint64_t peer, Bytes size) {
    std::unique_ptr<PeerPlaces>& both = peers[peer];
    if (both == nullptr) both = std::make_unique<PeerPlaces>(session, peer);
    both->hold(size);
    return *both;
  }
};

/// How long the moves take one by one, without the marks between them.
std::uint64_t time_marked_anew(const Route& route, const Marks& marks, std::uint64_t iterations) {
  std::uint64_t ns = host_ns_of(route.move);
  for (std::uint64_t i = 1; i < iterations; ++i) {
    route.mark(marks);
    ns += host_ns_of(route.move);
  }
  return ns;
}

/// That one transfer brings all words, and others what has changed since.
void prove(State& state, const Shape& shape, const Route& route) {
  constexpr int more = 2;
  for (const Whole& each : route.wholes) each.clear();
  for (int i = 0; i <= more; ++i) {
    const Marks marks(shape.words(), ++state.launches);
    route.mark(marks);
    route.move();
    if (route.end) route.end();
    const bool is_right = route.sum(marks) == marks.expected_sum() * route.sums;
    const auto is_whole = [](const Whole& each) { return each.source() == each.target(); };
    if (is_right && (i > 0 || std::all_of(route.wholes.begin(), route.wholes.end(), is_whole))) {
      continue;
    }
    throw VoidedPoint(
        "wrong result: the received words differ from those sent, so the time is invalid");
  }
}

Measurement run(State& state, const Shape& shape, const Route& route, std::uint64_t iterations) {
  const Marks marks(shape.words(), ++state.launches);
  route.mark(marks);
  Measurement measurement;
  measurement.sample.accesses = iterations * shape.moved_bytes();
  const auto move_all = [&] {
    for (std::uint64_t i = 0; i < iterations; ++i) route.move();
  };
  measurement.sample.host_ns =
      route.is_marked_anew ? time_marked_anew(route, marks, iterations) : host_ns_of(move_all);
  if (route.end) route.end();
  measurement.sample.witness = route.sum(marks);
  measurement.expected_witness = marks.expected_sum() * route.sums;
  return measurement;
}

Counts find_counts(State& state, const Shape& shape, const Route& route) {
  constexpr std::uint64_t long_ns = 2'500'000;
  // The engine lengthens what lasts less than a millisecond.
  constexpr std::uint64_t usual_ns = 1'250'000;
  constexpr std::uint64_t max_transfers = 4096;
  // The first transfer of a buffer makes its pages known to the device.
  const std::uint64_t first_ns = run(state, shape, route, 1).sample.host_ns + 1;
  if (first_ns >= usual_ns) return {1, first_ns >= long_ns ? 1 : 0};
  const std::uint64_t few = std::clamp<std::uint64_t>(usual_ns / 4 / first_ns, 1, 64);
  const std::uint64_t few_ns = run(state, shape, route, few).sample.host_ns;
  return {std::clamp<std::uint64_t>(usual_ns * few / (few_ns + 1), 1, max_transfers)};
}

/// They are found once for each point: to find them again takes as long as a sample.
Counts counts_of_visit(State& state, const Shape& shape, const Route& route) {
  const auto known = state.counts.find(visited(shape));
  if (known == state.counts.end()) {
    return state.counts.emplace(visited(shape), find_counts(state, shape, route)).first->second;
  }
  // Others have had the caches meanwhile, which long transfers do not fit into; and buffers between
  // devices are made anew.
  if (known->second.samples == 0 || shape.way == Way::peer) run(state, shape, route, 1);
  return known->second;
}

Work prepare(const std::shared_ptr<State>& state, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  const Bytes size{std::max(shape.buffer_bytes, shape.transfer_bytes)};
  state->session.use_all_cores();
  Work work;
  Route route;
  // To look at all words takes the host longer than to move them, and of all series together longer
  // than a run has.
  const bool is_proven_whole = Bytes{shape.transfer_bytes} <= mebibytes(16);
  if (shape.way == Way::peer) {
    PeerPlaces& places = state->places_with(shape.peer, size);
    route = route_of(places, shape);
    const bool is_to_peer = shape.direction == Direction::to_peer;
    if (is_proven_whole) {
      route.wholes = {is_to_peer ? whole_between(places.here(), places.there(), shape)
                                 : whole_between(places.there(), places.here(), shape)};
    }
    work.facts.set(peer_name, places.peer().name);
    work.facts.set(peer_shares_memory, std::int64_t{shares_memory_with_host(places.peer())});
  } else {
    route = route_of(state->places_for(size), shape);
    if (is_proven_whole) route.wholes = wholes_of(state->places_for(size), shape);
  }
  work.accesses_per_iteration = shape.moved_bytes();
  const Counts counts = counts_of_visit(*state, shape, route);
  work.iterations = counts.transfers;
  work.max_samples = counts.samples;
  work.build = state->session.build_of(file, "");
  if (shape.way == Way::map) {
    work.facts.set(mapping_ns,
                   static_cast<std::int64_t>(mapping_time(state->places_for(size), shape)));
  }
  // Of a host with several nodes: where the thread is that moves, or asks for it.
  if (const auto place = system::place_of_thread()) {
    work.facts.set("host_core", std::int64_t{place->core});
    work.facts.set("host_node", std::int64_t{place->node});
  }
  work.run = [state, shape, route, is_proven_whole,
              point = visited(shape)](std::uint64_t iterations) {
    // A sample of one transfer is proven by its own marks.
    const bool needs_proof = is_proven_whole || iterations > 1;
    if (needs_proof && state->proven.insert(point).second) prove(*state, shape, route);
    return run(*state, shape, route, iterations);
  };
  return work;
}

}  // namespace

Preparer open(Session& session) {
  return [state = std::make_shared<State>(session)](const Point& point) {
    return prepare(state, point);
  };
}

std::vector<KernelVariant> variants() { return {KernelVariant{}}; }

std::vector<KernelVariant> builds(const DeviceInfo& /*device*/, std::uint64_t /*seed*/,
                                  const Point& /*point*/) {
  return variants();
}

std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  const auto turns_of = [&](std::uint64_t places) {
    return turns_over(spread_over(device, places), places);
  };
  std::vector<KernelLoops> found{
      {"transfer_fill", turns_of(std::max(shape.buffer_bytes, shape.transfer_bytes) / 4)},
      {"transfer_clear", turns_of(shape.words())},
      {"transfer_total", turns_of(shape.words())},
      {"transfer_mark", 0},
      {"transfer_gather", 0}};
  if (shape.way == Way::kernel) {
    found.push_back({"transfer_copy", turns_of(shape.transfer_bytes / sizeof(cl_uint4))});
  }
  return found;
}

}  // namespace clprobe::transfer
