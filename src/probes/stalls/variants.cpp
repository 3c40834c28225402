// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/variants.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <span>
#include <string_view>

#include "probes/stalls/cases/copy.hpp"
#include "probes/stalls/launch.hpp"

namespace clprobe::stalls {

std::vector<KernelVariant> variants() {
  std::vector<KernelVariant> all{{"-DPART=0", ""}};
  // Waiting for a unit, without and with a fence, which OpenCL C has had since 2.0.
  constexpr std::array structural{std::string_view(), std::string_view(" -DSTRUCTURAL=1"),
                                  std::string_view(" -DSTRUCTURAL=2"),
                                  std::string_view(" -cl-std=CL3.0 -DSTRUCTURAL=2")};
  for (const std::string_view each : std::span(structural).subspan(1)) {
    all.push_back({fmt::format("-DPART=0{}", each), ""});
  }
  for (const std::string_view clock : {std::string_view(), clock_without_asm}) {
    const std::string_view stamps = clock.empty() ? with_stamps : with_ends;
    for (const std::string_view each : structural) {
      all.push_back({fmt::format("-DPART=0{}{}{}", clock, stamps, each), ""});
    }
    for (std::uint32_t way = 0; way < std::size(copy::all_ways); ++way) {
      all.push_back({fmt::format("-DPART=1{}{}", clock, copy::way_option(way)), ""});
    }
    all.push_back({fmt::format("-DPART=2{}", clock), ""});
  }
  return all;
}

}  // namespace clprobe::stalls
