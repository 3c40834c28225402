// SPDX-License-Identifier: Apache-2.0
#include "clprobe/registry.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

namespace clprobe {

#define PROBE(id)           \
  namespace id {            \
  extern const Probe probe; \
  }
#include "probes/probes.def"
#undef PROBE
namespace arithmetic {
extern const Probe probe;
}

namespace {

constexpr std::array probes{
#define PROBE(id) &id::probe,
#include "probes/probes.def"
#undef PROBE
};

}  // namespace

std::span<const Probe* const> all_probes() {
  static const std::vector<const Probe*> of_device = [] {
    std::vector<const Probe*> found;
    std::copy_if(probes.begin(), probes.end(), std::back_inserter(found),
                 [](const Probe* probe) { return !probe->replays_launches; });
    return found;
  }();
  return of_device;
}

const Probe* replay_probe() {
  const auto* const found = std::find_if(
      probes.begin(), probes.end(), [](const Probe* probe) { return probe->replays_launches; });
  return found == probes.end() ? nullptr : *found;
}

const Probe& arithmetic_probe() { return arithmetic::probe; }

const Probe* find_probe(std::string_view id) {
  const auto* const found = std::find_if(probes.begin(), probes.end(),
                                         [&](const Probe* probe) { return probe->id == id; });
  return found == probes.end() ? nullptr : *found;
}

}  // namespace clprobe
