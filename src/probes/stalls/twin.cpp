// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/twin.hpp"

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

}  // namespace clprobe::stalls
