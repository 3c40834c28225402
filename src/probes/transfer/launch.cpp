// SPDX-License-Identifier: Apache-2.0
// Transfers through OpenCL: their routes, and the launches of cl/transfer.cl that check the arrival
// of the bytes. Uses OpenCL.
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "measure/api/engine.hpp"
#include "probes/shared/host_effects.hpp"
#include "probes/shared/opencl.hpp"
#include "probes/transfer/memories.hpp"
#include "system/api/host.hpp"

namespace clprobe::transfer {
namespace {

using Action = std::function<void()>;

/// Transfer: its ends, and the action that moves the bytes.
struct Route {
  struct Part {
    End from;
    End to;
  };

  std::vector<Part> parts;  ///< one part per direction
  Action move;              ///< moves the bytes, and returns when the bytes have arrived
  Action end{};             ///< waits for other work, untimed; may be null
  /// True if the marks must change before each move: the driver may skip a move of unchanged
  /// bytes.
  bool is_marked_anew{false};

  void mark(const Marks& marks) const {
    for (const Part& each : parts) each.from.mark(marks);
  }
  /// Returns the checksum of the marks that arrived, over all parts.
  [[nodiscard]] std::uint64_t sum(const Marks& marks) const {
    std::uint64_t all = 0;
    for (const Part& each : parts) all += each.to.sum(marks);
    return all;
  }
  [[nodiscard]] std::uint64_t expected_sum(const Marks& marks) const {
    return marks.expected_sum() * parts.size();
  }
};

Action copy_by_kernel(Memories& memories, const cl::Buffer& from, const cl::Buffer& to,
                      std::uint64_t bytes) {
  cl::Kernel kernel = spec.kernel(memories.session(), "transfer_copy");
  const std::uint64_t vectors = bytes / sizeof(cl_uint4);
  set_arguments(kernel, 0, from, to, cl_ulong{vectors});
  const LaunchSize size = spread_over(memories.session().info(), vectors);
  return [&memories, kernel, size] {
    memories.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(size.items),
                                          cl::NDRange(size.group));
    memories.queue().finish();
  };
}

/// Returns an action that maps the memory, runs `action` on the host and unmaps the memory.
Action by_mapping(Memories& memories, Direction direction, std::uint64_t bytes,
                  std::function<void(void*)> action) {
  const cl_map_flags flags =
      direction == Direction::to_device ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_READ;
  return [&memories, flags, bytes, action = std::move(action)] {
    void* const begin =
        memories.queue().enqueueMapBuffer(memories.mappable(), CL_TRUE, flags, 0, bytes);
    action(begin);
    memories.queue().enqueueUnmapMemObject(memories.mappable(), begin);
    memories.queue().finish();
  };
}

/// Returns the route between host and device in one direction.
Route one_way(Memories& memories, const Shape& shape) {
  const bool is_there = shape.direction == Direction::to_device;
  const std::uint64_t bytes = shape.transfer_bytes;
  const cl::CommandQueue& queue = memories.queue();
  const auto route = [&](const End& host, const End& device, Action move) {
    return Route{{is_there ? Route::Part{host, device} : Route::Part{device, host}},
                 std::move(move)};
  };
  if (shape.way == Way::kernel) {
    const cl::Buffer& host = memories.mappable();
    const cl::Buffer& device = memories.device();
    return route(
        End::mapped(memories), End::of_buffer(memories, device),
        copy_by_kernel(memories, is_there ? host : device, is_there ? device : host, bytes));
  }
  // One-way pinned copies in either direction use the same buffer.
  void* const host = shape.way == Way::pinned ? memories.pinned_source() : memories.ordinary();
  const End at_host = End::on_host(memories, host);
  if (shape.way == Way::map) {
    return route(at_host, End::of_buffer(memories, memories.mappable()),
                 by_mapping(memories, shape.direction, bytes, [=](void* mapped) {
                   std::memcpy(is_there ? mapped : host, is_there ? host : mapped, bytes);
                 }));
  }
  if (shape.way == Way::svm) {
    void* const device = memories.shared_virtual();
    return route(at_host, End::of_shared_virtual(memories), [=] {
      expect_success(clEnqueueSVMMemcpy(queue(), CL_TRUE, is_there ? device : host,
                                        is_there ? host : device, bytes, 0, nullptr, nullptr),
                     "clEnqueueSVMMemcpy");
      queue.finish();
    });
  }
  const cl::Buffer& device = memories.device();
  const cl_bool blocking = shape.way == Way::pinned ? CL_FALSE : CL_TRUE;
  return route(at_host, End::of_buffer(memories, device), [=] {
    if (is_there) {
      queue.enqueueWriteBuffer(device, blocking, 0, bytes, host);
    } else {
      queue.enqueueReadBuffer(device, blocking, 0, bytes, host);
    }
    // Some drivers return from a blocking call before the device has received all bytes.
    queue.finish();
  });
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it loses track of std::function

/// Returns the route of both directions at once: one queue writes to a buffer of the device, and
/// the other queue reads another buffer. If only one direction is timed, the other direction makes
/// two copies, so that both directions are busy until the end.
Route both_ways(Memories& memories, Direction timed, std::uint64_t bytes) {
  const cl::Buffer& device = memories.device();
  const cl::Buffer& other = memories.other();
  void* const from = memories.pinned_source();
  void* const to = memories.pinned_target();
  constexpr int more = 2;
  const int writes = timed == Direction::from_device ? more : 1;
  const int reads = timed == Direction::to_device ? more : 1;
  const cl::CommandQueue& there = memories.queue();
  const cl::CommandQueue& back = memories.second_queue();
  const cl::CommandQueue& first = timed == Direction::from_device ? back : there;
  const cl::CommandQueue& second = timed == Direction::from_device ? there : back;
  return {{{End::on_host(memories, from), End::of_buffer(memories, device)},
           {End::of_buffer(memories, other), End::on_host(memories, to)}},
          [=] {
            for (int i = 0; i < writes; ++i) {
              there.enqueueWriteBuffer(device, CL_FALSE, 0, bytes, from);
            }
            for (int i = 0; i < reads; ++i) back.enqueueReadBuffer(other, CL_FALSE, 0, bytes, to);
            second.flush();
            first.flush();
            first.finish();
            if (timed == Direction::both) second.finish();
          },
          [=] { second.finish(); }};
}

/// Returns a copy by the queue of the receiving device. The receiving device has all bytes when
/// this queue has finished.
Route by_copy(Memories& from, const cl::Buffer& source, Memories& to, const cl::Buffer& target,
              std::uint64_t bytes) {
  return {{{End::of_buffer(from, source), End::of_buffer(to, target)}}, [=, &to] {
            to.queue().enqueueCopyBuffer(source, target, 0, 0, bytes);
            to.queue().finish();
          }};
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it loses track of std::function

Route route_of(PeerMemories& memories, const Shape& shape) {
  const bool is_there = shape.direction == Direction::to_peer;
  Memories& from = is_there ? memories.here() : memories.there();
  Memories& to = is_there ? memories.there() : memories.here();
  Route route = by_copy(from, from.device(), to, to.device(), shape.transfer_bytes);
  route.is_marked_anew = true;
  return route;
}

Route route_of(Memories& memories, const Shape& shape) {
  if (shape.way == Way::duplex || shape.direction == Direction::both) {
    return both_ways(memories, shape.direction, shape.transfer_bytes);
  }
  if (shape.direction == Direction::on_device) {
    return by_copy(memories, memories.other(), memories, memories.device(), shape.transfer_bytes);
  }
  return one_way(memories, shape);
}

/// Returns the minimum time of three mappings without a copy, in ns.
std::uint64_t mapping_time(Memories& memories, const Shape& shape) {
  constexpr int times = 3;
  const Action mapping = by_mapping(memories, shape.direction, shape.transfer_bytes, [](void*) {});
  std::uint64_t least = host_ns_of(mapping);
  for (int i = 1; i < times; ++i) least = std::min(least, host_ns_of(mapping));
  return least;
}

/// Fields that identify a point.
using Visited = std::tuple<Direction, Way, std::uint64_t, std::uint64_t>;

Visited visited(const Shape& shape) {
  return {shape.direction, shape.way, shape.transfer_bytes, shape.peer};
}

/// Number of transfers in a sample, so that a sample is long enough for the host's clock, and
/// number of samples in a visit. With 0 samples the budget decides. Long transfers get one sample
/// per visit: the host copies the bytes, and visits differ more than the samples of a visit.
struct Counts {
  std::uint64_t transfers{1};
  int samples{0};
};

/// State that all points share while the probe runs.
struct State {
  explicit State(Session& used) : session(used) {}

  Session& session;
  std::map<std::uint64_t, std::unique_ptr<Memories>> memories{};  ///< key: size of the buffers
  std::map<std::uint64_t, std::unique_ptr<PeerMemories>> peers{};
  std::uint32_t launches{0};
  std::map<Visited, Counts> counts{};
  std::optional<system::DeviceLimits> limits{};

  Memories& memories_for(Bytes size) {
    std::unique_ptr<Memories>& of_size = memories[size.count];
    if (of_size == nullptr) of_size = std::make_unique<Memories>(session, size);
    return *of_size;
  }

  PeerMemories& memories_with(std::uint64_t peer, Bytes size) {
    std::unique_ptr<PeerMemories>& both = peers[peer];
    if (both == nullptr) both = std::make_unique<PeerMemories>(session, peer);
    both->hold(size);
    return *both;
  }
};

/// Returns the sum of the times of all moves. The time to write the marks before each move is
/// excluded.
std::uint64_t time_marked_anew(const Route& route, const Marks& marks, std::uint64_t iterations) {
  std::uint64_t ns = host_ns_of(route.move);
  for (std::uint64_t i = 1; i < iterations; ++i) {
    route.mark(marks);
    ns += host_ns_of(route.move);
  }
  return ns;
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
  measurement.expected_witness = route.expected_sum(marks);
  return measurement;
}

Counts find_counts(State& state, const Shape& shape, const Route& route) {
  constexpr std::uint64_t long_ns = 2'500'000;
  // Length of a sample in ns. The engine would lengthen samples below a millisecond.
  constexpr std::uint64_t usual_ns = 1'250'000;
  constexpr std::uint64_t max_transfers = 4096;
  // The first transfer of a buffer takes longer, since the driver makes the buffer's pages known
  // to the device. A second run gives the time, except for long transfers.
  const std::uint64_t first_ns = run(state, shape, route, 1).sample.host_ns + 1;
  if (first_ns >= usual_ns) return {1, first_ns >= long_ns ? 1 : 0};
  const std::uint64_t few = std::clamp<std::uint64_t>(usual_ns / 4 / first_ns, 1, 64);
  const std::uint64_t few_ns = run(state, shape, route, few).sample.host_ns;
  return {std::clamp<std::uint64_t>(usual_ns * few / (few_ns + 1), 1, max_transfers)};
}

/// Returns the counts of a point. The counts are determined only at the first visit, which takes
/// the time of a sample.
Counts counts_of_visit(State& state, const Shape& shape, const Route& route) {
  const auto known = state.counts.find(visited(shape));
  if (known == state.counts.end()) {
    return state.counts.emplace(visited(shape), find_counts(state, shape, route)).first->second;
  }
  // Between visits, other points have used the caches, so an untimed transfer runs first. Long
  // transfers exceed the caches. Buffers between devices are new, so that their first transfer is
  // slow.
  if (known->second.samples == 0 || shape.way == Way::peer) run(state, shape, route, 1);
  return known->second;
}

/// Stores the link directly after transfers, since an idle link may be slower. A device that shares
/// its memory with the host has no link.
void add_link_fact(State& state, const Shape& shape, Parameters& facts) {
  // Shorter transfers may end before the link has its full speed.
  constexpr Bytes loads_link = mebibytes(16);
  const DeviceInfo& device = state.session.info();
  if (shape.way != Way::pinned || shape.transfer_bytes < loads_link.count ||
      shares_memory_with_host(device)) {
    return;
  }
  if (!state.limits) {
    state.limits = system::read_device_limits({.uuid = device.uuid, .pci = device.pci});
  }
  const auto link = state.limits->read_link ? state.limits->read_link() : std::nullopt;
  facts.set(link_fact, link ? system::link_text(*link) : std::string(unknown_link));
}

Work prepare(const std::shared_ptr<State>& state, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  const Bytes size{std::max(shape.buffer_bytes, shape.transfer_bytes)};
  state->session.use_all_cores();
  Work work;
  if (shape.way == Way::peer) {
    const DeviceInfo& peer = state->memories_with(shape.peer, size).peer();
    work.facts.set(peer_name, peer.name);
    work.facts.set(peer_shares_memory, std::int64_t{shares_memory_with_host(peer)});
  }
  const Route route = shape.way == Way::peer
                          ? route_of(state->memories_with(shape.peer, size), shape)
                          : route_of(state->memories_for(size), shape);
  work.accesses_per_iteration = shape.moved_bytes();
  const Counts counts = counts_of_visit(*state, shape, route);
  work.iterations = counts.transfers;
  work.max_samples = counts.samples;
  add_link_fact(*state, shape, work.facts);
  work.build = spec.build(state->session);
  if (shape.way == Way::map) {
    work.facts.set(mapping_ns,
                   static_cast<std::int64_t>(mapping_time(state->memories_for(size), shape)));
  }
  // Core and node of the thread that requests the transfer. Rates depend on the node if the host
  // has more than one.
  if (const auto place = system::place_of_thread()) {
    work.facts.set("host_core", std::int64_t{place->core});
    work.facts.set("host_node", std::int64_t{place->node});
  }
  work.run = [state, shape, route](std::uint64_t iterations) {
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

std::vector<KernelVariant> builds(const DeviceInfo& /*device*/, std::uint64_t /*seed*/,
                                  const Point& /*point*/) {
  return {KernelVariant{}};
}

}  // namespace clprobe::transfer
