// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/launch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>

#include "clprobe/device.hpp"
#include "probes/shared/host_time.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/one_memory.hpp"
#include "probes/transfer/peer.hpp"
#include "probes/transfer/places.hpp"
#include "probes/transfer/series.hpp"
#include "system/cores.hpp"

namespace clprobe::transfer {
namespace {

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
};

void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS) throw cl::Error(code, call);
}

MarkedBy mark_host(void* begin) {
  return [begin](const Marks& marks) {
    marks.write_to({static_cast<std::uint32_t*>(begin), marks.words()});
  };
}

SummedBy sum_host(void* begin) {
  return [begin](const Marks& marks) {
    return marks.sum_in({static_cast<const std::uint32_t*>(begin), marks.words()});
  };
}

MarkedBy mark_device(Places& places, Places::Bind bind) {
  return [&places, bind = std::move(bind)](const Marks& marks) { places.mark(bind, marks); };
}

SummedBy sum_device(Places& places, Places::Bind bind) {
  return
      [&places, bind = std::move(bind)](const Marks& marks) { return places.sum_in(bind, marks); };
}

std::function<void()> copy_by_kernel(Places& places, const cl::Buffer& from, const cl::Buffer& to,
                                     std::uint64_t bytes) {
  cl::Kernel kernel = places.session().kernel(file, "transfer_copy", "");
  const std::uint64_t vectors = bytes / sizeof(cl_uint4);
  kernel.setArg(0, from);
  kernel.setArg(1, to);
  kernel.setArg(2, cl_ulong{vectors});
  const LaunchSize size = spread_over(places.session().info(), vectors);
  return [&places, kernel, size] {
    places.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(size.items),
                                        cl::NDRange(size.group));
    places.queue().finish();
  };
}

/// A mapping, what the host does meanwhile, and its end.
std::function<void()> by_mapping(Places& places, cl_map_flags flags, std::uint64_t bytes,
                                 std::function<void(void*)> action) {
  return [&places, flags, bytes, action = std::move(action)] {
    void* const begin =
        places.queue().enqueueMapBuffer(places.mappable(), CL_TRUE, flags, 0, bytes);
    action(begin);
    places.queue().enqueueUnmapMemObject(places.mappable(), begin);
    places.queue().finish();
  };
}

constexpr cl_map_flags map_flags_of(Direction direction) {
  return direction == Direction::to_device ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_READ;
}

Route to_device(Places& places, Way way, std::uint64_t bytes) {
  const cl::CommandQueue& queue = places.queue();
  const cl::Buffer& device = places.device();
  const SummedBy on_device = sum_device(places, Places::bind(device));
  switch (way) {
    case Way::pinned: {
      void* const from = places.pinned_source();
      return {mark_host(from), on_device, [=] {
                queue.enqueueWriteBuffer(device, CL_FALSE, 0, bytes, from);
                queue.finish();
              }};
    }
    case Way::map: {
      void* const from = places.ordinary();
      return {mark_host(from), sum_device(places, Places::bind(places.mappable())),
              by_mapping(places, map_flags_of(Direction::to_device), bytes,
                         [=](void* mapped) { std::memcpy(mapped, from, bytes); })};
    }
    case Way::svm: {
      void* const from = places.ordinary();
      void* const to = places.shared_virtual();
      return {mark_host(from), sum_device(places, places.bind_shared_virtual()), [=] {
                check(clEnqueueSVMMemcpy(queue(), CL_TRUE, to, from, bytes, 0, nullptr, nullptr),
                      "clEnqueueSVMMemcpy");
                queue.finish();
              }};
    }
    case Way::kernel:
      return {[&places](const Marks& marks) { places.mark_mapped(marks); }, on_device,
              copy_by_kernel(places, places.mappable(), device, bytes)};
    case Way::pageable:
    case Way::duplex:
    case Way::device:
    case Way::peer:
      break;
  }
  void* const from = places.ordinary();
  // Some drivers come back before the device has all of it.
  return {mark_host(from), on_device, [=] {
            queue.enqueueWriteBuffer(device, CL_TRUE, 0, bytes, from);
            queue.finish();
          }};
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it loses track of std::function

Route from_device(Places& places, Way way, std::uint64_t bytes) {
  const cl::CommandQueue& queue = places.queue();
  const cl::Buffer& device = places.device();
  const MarkedBy on_device = mark_device(places, Places::bind(device));
  switch (way) {
    case Way::pinned: {
      void* const to = places.pinned_source();  // no other buffer than the other way's
      return {on_device, sum_host(to), [=] {
                queue.enqueueReadBuffer(device, CL_FALSE, 0, bytes, to);
                queue.finish();
              }};
    }
    case Way::map: {
      void* const to = places.ordinary();
      return {mark_device(places, Places::bind(places.mappable())), sum_host(to),
              by_mapping(places, map_flags_of(Direction::from_device), bytes,
                         [=](void* mapped) { std::memcpy(to, mapped, bytes); })};
    }
    case Way::svm: {
      void* const from = places.shared_virtual();
      void* const to = places.ordinary();
      return {mark_device(places, places.bind_shared_virtual()), sum_host(to), [=] {
                check(clEnqueueSVMMemcpy(queue(), CL_TRUE, to, from, bytes, 0, nullptr, nullptr),
                      "clEnqueueSVMMemcpy");
                queue.finish();
              }};
    }
    case Way::kernel:
      return {on_device, [&places](const Marks& marks) { return places.sum_in_mapped(marks); },
              copy_by_kernel(places, device, places.mappable(), bytes)};
    case Way::pageable:
    case Way::duplex:
    case Way::device:
    case Way::peer:
      break;
  }
  void* const to = places.ordinary();
  return {on_device, sum_host(to), [=] {
            queue.enqueueReadBuffer(device, CL_TRUE, 0, bytes, to);
            queue.finish();
          }};
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it loses track of std::function

/// To the device by one queue, and from another buffer of it by the other. Either way alone is
/// timed while the other one goes on, which is why that has more to do.
Route both_ways(Places& places, Direction timed, std::uint64_t bytes) {
  const cl::Buffer& device = places.device();
  const cl::Buffer& other = places.other();
  void* const from = places.pinned_source();
  void* const to = places.pinned_target();
  const MarkedBy mark_source = mark_host(from);
  const MarkedBy mark_other = mark_device(places, Places::bind(other));
  const SummedBy sum_target = sum_host(to);
  const SummedBy sum_written = sum_device(places, Places::bind(device));
  constexpr int more = 2;
  const int writes = timed == Direction::from_device ? more : 1;
  const int reads = timed == Direction::to_device ? more : 1;
  const cl::CommandQueue& there = places.queue();
  const cl::CommandQueue& back = places.second_queue();
  const cl::CommandQueue& first = timed == Direction::from_device ? back : there;
  const cl::CommandQueue& second = timed == Direction::from_device ? there : back;
  return {[=](const Marks& marks) {
            mark_source(marks);
            mark_other(marks);
          },
          [=](const Marks& marks) { return sum_target(marks) + sum_written(marks); },
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
          [=] { second.finish(); }, 2};
}

Route on_device(Places& places, std::uint64_t bytes) {
  const cl::Buffer& device = places.device();
  const cl::Buffer& other = places.other();
  return {mark_device(places, Places::bind(other)), sum_device(places, Places::bind(device)),
          [=, &places] {
            places.queue().enqueueCopyBuffer(other, device, 0, 0, bytes);
            places.queue().finish();
          }};
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it loses track of std::function

/// By the queue of the device that gets them: only then does a driver surely have them there.
Route between_devices(Places& from, Places& to, std::uint64_t bytes) {
  const cl::Buffer& source = from.device();
  const cl::Buffer& target = to.device();
  Route route{mark_device(from, Places::bind(source)), sum_device(to, Places::bind(target)),
              [=, &to] {
                to.queue().enqueueCopyBuffer(source, target, 0, 0, bytes);
                to.queue().finish();
              }};
  route.is_marked_anew = true;
  return route;
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it loses track of std::function

Route route_of(PeerPlaces& places, const Shape& shape) {
  return shape.direction == Direction::to_peer
             ? between_devices(places.here(), places.there(), shape.transfer_bytes)
             : between_devices(places.there(), places.here(), shape.transfer_bytes);
}

Route route_of(Places& places, const Shape& shape) {
  if (shape.way == Way::duplex) return both_ways(places, shape.direction, shape.transfer_bytes);
  switch (shape.direction) {
    case Direction::to_device:
      return to_device(places, shape.way, shape.transfer_bytes);
    case Direction::from_device:
      return from_device(places, shape.way, shape.transfer_bytes);
    case Direction::both:
      return both_ways(places, shape.direction, shape.transfer_bytes);
    case Direction::on_device:
    case Direction::to_peer:
    case Direction::from_peer:
      break;
  }
  return on_device(places, shape.transfer_bytes);
}

/// What a mapping takes in which nobody copies: the quickest of a few.
std::uint64_t mapping_time(Places& places, const Shape& shape) {
  constexpr int times = 3;
  const auto mapping =
      by_mapping(places, map_flags_of(shape.direction), shape.transfer_bytes, [](void*) {});
  std::uint64_t least = host_ns_of(mapping);
  for (int i = 1; i < times; ++i) least = std::min(least, host_ns_of(mapping));
  return least;
}

/// What all points share while the probe runs.
struct State {
  explicit State(Session& used) : session(used) {}

  Session& session;
  std::map<std::uint64_t, std::unique_ptr<Places>> places{};  // by the size of their buffers
  std::map<std::uint64_t, std::unique_ptr<PeerPlaces>> peers{};
  std::uint32_t launches{0};

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

/// How many transfers a sample has: so many that it is long enough for the host's clock, and not
/// four times as long because it was a little too short.
std::uint64_t transfers_of_sample(State& state, const Shape& shape, const Route& route) {
  constexpr std::uint64_t usual_ns = 1'250'000;
  constexpr std::uint64_t max_transfers = 4096;
  // The first transfer of a buffer makes its pages known to the device.
  const std::uint64_t first_ns = run(state, shape, route, 1).sample.host_ns + 1;
  if (first_ns >= usual_ns) return 1;
  const std::uint64_t few = std::clamp<std::uint64_t>(usual_ns / 4 / first_ns, 1, 64);
  const std::uint64_t few_ns = run(state, shape, route, few).sample.host_ns;
  return std::clamp<std::uint64_t>(usual_ns * few / (few_ns + 1), 1, max_transfers);
}

Work prepare(const std::shared_ptr<State>& state, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  const Bytes size{std::max(shape.buffer_bytes, shape.transfer_bytes)};
  state->session.use_all_cores();
  Work work;
  Route route;
  if (shape.way == Way::peer) {
    PeerPlaces& places = state->places_with(shape.peer, size);
    route = route_of(places, shape);
    work.facts.set(peer_name, places.peer().name);
    work.facts.set(peer_shares_memory, std::int64_t{shares_memory_with_host(places.peer())});
  } else {
    route = route_of(state->places_for(size), shape);
  }
  work.accesses_per_iteration = shape.moved_bytes();
  work.iterations = transfers_of_sample(*state, shape, route);
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
      {"transfer_mark", 0},
      {"transfer_gather", 0}};
  if (shape.way == Way::kernel) {
    found.push_back({"transfer_copy", turns_of(shape.transfer_bytes / sizeof(cl_uint4))});
  }
  return found;
}

}  // namespace clprobe::transfer
