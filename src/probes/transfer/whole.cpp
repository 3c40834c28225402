// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/whole.hpp"

#include <cstring>
#include <span>
#include <utility>

#include "probes/transfer/marks.hpp"

namespace clprobe::transfer {
namespace {

struct Side {
  std::function<std::uint64_t()> total{};
  std::function<void()> clear{};
};

Side on_host(void* begin, std::uint64_t words) {
  const std::span<std::uint32_t> all{static_cast<std::uint32_t*>(begin), words};
  return {[all] { return sum_of_words(all); },
          [all] { std::memset(all.data(), 0, all.size_bytes()); }};
}

Side by_kernels(Places& places, const Places::Bind& bind, std::uint64_t words) {
  return {[&places, bind, words] { return places.total_in(bind, words); },
          [&places, bind, words] { places.clear(bind, words); }};
}

Whole whole(const Side& source, const Side& target) {
  return {source.total, target.total, target.clear};
}

Side device_side(Places& places, std::uint64_t words) {
  return by_kernels(places, Places::bind(places.device()), words);
}

Side other_side(Places& places, std::uint64_t words) {
  return by_kernels(places, Places::bind(places.other()), words);
}

/// The host's side of a call, or what a kernel finds there.
Side far_side(Places& places, const Shape& shape) {
  if (shape.way == Way::kernel) {
    return by_kernels(places, Places::bind(places.mappable()), shape.words());
  }
  return on_host(shape.way == Way::pinned ? places.pinned_source() : places.ordinary(),
                 shape.words());
}

/// The device's side.
Side near_side(Places& places, const Shape& shape) {
  if (shape.way == Way::map) {
    return by_kernels(places, Places::bind(places.mappable()), shape.words());
  }
  if (shape.way == Way::svm) {
    return by_kernels(places, places.bind_shared_virtual(), shape.words());
  }
  return device_side(places, shape.words());
}

}  // namespace

std::vector<Whole> wholes_of(Places& places, const Shape& shape) {
  const std::uint64_t words = shape.words();
  if (shape.way == Way::duplex || shape.direction == Direction::both) {
    return {whole(on_host(places.pinned_source(), words), device_side(places, words)),
            whole(other_side(places, words), on_host(places.pinned_target(), words))};
  }
  switch (shape.direction) {
    case Direction::to_device:
      return {whole(far_side(places, shape), near_side(places, shape))};
    case Direction::from_device:
      return {whole(near_side(places, shape), far_side(places, shape))};
    case Direction::both:
    case Direction::on_device:
    case Direction::to_peer:
    case Direction::from_peer:
      break;
  }
  return {whole(other_side(places, words), device_side(places, words))};
}

Whole whole_between(Places& from, Places& to, const Shape& shape) {
  return whole(device_side(from, shape.words()), device_side(to, shape.words()));
}

}  // namespace clprobe::transfer
