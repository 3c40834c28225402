// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/routes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "clprobe/device.hpp"
#include "probes/shared/expect_success.hpp"
#include "probes/shared/host_time.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::transfer {
namespace {

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
                expect_success(
                    clEnqueueSVMMemcpy(queue(), CL_TRUE, to, from, bytes, 0, nullptr, nullptr),
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
                expect_success(
                    clEnqueueSVMMemcpy(queue(), CL_TRUE, to, from, bytes, 0, nullptr, nullptr),
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

}  // namespace

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

std::uint64_t mapping_time(Places& places, const Shape& shape) {
  constexpr int times = 3;
  const auto mapping =
      by_mapping(places, map_flags_of(shape.direction), shape.transfer_bytes, [](void*) {});
  std::uint64_t least = host_ns_of(mapping);
  for (int i = 1; i < times; ++i) least = std::min(least, host_ns_of(mapping));
  return least;
}

}  // namespace clprobe::transfer
