// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/twin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "probes/shared/fields.hpp"
#include "probes/shared/mixed.hpp"

namespace clprobe::stalls {

std::uint32_t load_lines(std::uint32_t& state, std::uint32_t mask, int count) {
  std::uint32_t sum = 0;
  for (int k = 0; k < count; ++k) {
    sum += mixed((state >> 8U) & mask);
    state = next_state(state);
  }
  return sum;
}

std::uint32_t load_tile(std::uint32_t place, std::uint32_t& turned) {
  std::uint32_t sum = 0;
  for (int k = 0; k < 4; ++k) sum += mixed(~((place + turned++) & (tile_words - 1)));
  return sum;
}

void step_all(std::array<std::uint32_t, 4>& values, std::uint32_t count, std::uint32_t addend) {
  for (std::uint32_t k = 0; k < count; ++k) {
    for (std::uint32_t& each : values) each = step(each, addend);
  }
}

std::uint32_t folded(const std::array<std::uint32_t, 4>& values) {
  return mixed(values[0] ^ mixed(values[1])) + mixed(values[2] ^ mixed(values[3]));
}

std::uint32_t place_of_noise(std::string_view word) {
  const auto* const found = std::find(std::begin(all_noise), std::end(all_noise), word);
  if (found == std::end(all_noise)) throw std::out_of_range(fmt::format("noise of {}", word));
  return static_cast<std::uint32_t>(found - std::begin(all_noise));
}

Resource resource_of_noise(std::string_view word) {
  constexpr std::array resources{Resource::arithmetic, Resource::local_memory, Resource::cache,
                                 Resource::memory};
  return resources.at(place_of_noise(word));
}

std::optional<NoiseShape> noise_of(const Point& point) {
  if (point.parameters.text_or("noise", "").empty()) return std::nullopt;
  return shape_of<NoiseShape>(point);
}

std::vector<Point> noise_points(const Point& usual, const DeviceInfo& device, Effort effort) {
  // On a CPU noise is only more work, and all amounts would take most of the probe's time.
  const bool has_few =
      effort == Effort::quick || (effort == Effort::normal && runs_items_in_turn(device));
  const std::vector<std::uint32_t> amounts =
      has_few ? std::vector<std::uint32_t>{0, 2, 8} : std::vector<std::uint32_t>{0, 1, 2, 4, 8, 16};
  std::vector<Point> points;
  for (const std::string_view kind : all_noise) {
    for (const std::uint32_t amount : amounts) {
      Point point = usual;
      write_shape(NoiseShape{.kind = std::string(kind), .amount = amount}, point);
      points.push_back(std::move(point));
    }
  }
  return points;
}

void make_noise(const Noise& noise, std::uint32_t lane, NoiseItem& item) {
  if (noise.kind == 0) {
    step_all(item.y, noise.amount, noise.addend);
    return;
  }
  for (std::uint32_t k = 0; k < noise.amount; ++k) {
    item.sum +=
        noise.kind == 1 ? load_tile(lane, item.turned) : load_lines(item.near, noise.mask, 4);
  }
}

}  // namespace clprobe::stalls
