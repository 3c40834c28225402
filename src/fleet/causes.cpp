// SPDX-License-Identifier: Apache-2.0
#include "fleet/causes.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "fleet/statistics.hpp"

namespace clprobe::fleet {
namespace {

/// Part of the device that a number measures.
enum Part : unsigned {
  core_cycles = 1U << 0U,   ///< latency of caches in cycles: independent of the clock
  core_times = 1U << 1U,    ///< latency of caches in seconds, arithmetic: proportional to the clock
  memory_times = 1U << 2U,  ///< latency and bandwidth of memory
  link_times = 1U << 3U,    ///< transfers between host and device
  launch_times = 1U << 4U,
  capacities = 1U << 5U,
};

struct Belongs {
  std::string_view begin;  ///< beginning of the number's name
  std::string_view end;    ///< end of the number's name
  Part part;
};

// The first row that matches counts.
constexpr std::array belonging{
    Belongs{"memory.", ".latency", memory_times},
    Belongs{"memory.", "_bandwidth", memory_times},
    Belongs{"memory.", ".latency_cycles", memory_times},
    Belongs{"to_device.", ".bandwidth", link_times},
    Belongs{"from_device.", ".bandwidth", link_times},
    Belongs{"launch.", "", launch_times},
    Belongs{"clock.", "", core_times},
    Belongs{"peak.", "", core_times},
    Belongs{"", ".capacity", capacities},
    Belongs{"L1.", ".latency_cycles", core_cycles},
    Belongs{"L2.", ".latency_cycles", core_cycles},
    Belongs{"local.", ".latency_cycles", core_cycles},
    Belongs{"L1.", ".latency", core_times},
    Belongs{"L2.", ".latency", core_times},
    Belongs{"local.", ".latency", core_times},
};

struct Pattern {
  unsigned worse;  ///< parts that are all slow
  unsigned equal;  ///< parts that must not be slow
  std::string_view cause;
};

// The first row that matches counts.
constexpr std::array patterns{
    Pattern{capacities, 0, "smaller cache: partition, disabled slices or another tenant"},
    Pattern{core_cycles, 0, "other work on the device"},
    Pattern{core_times, core_cycles, "low core clock: power cap, heat or application clocks"},
    Pattern{memory_times, core_times | core_cycles,
            "memory: its clock, ECC, remapped rows or a bad stack"},
    Pattern{link_times, core_times | memory_times,
            "link to the host: PCIe width or generation, NUMA node, cable"},
    Pattern{launch_times, core_times | memory_times, "host: CPU clock, governor or other work"},
};

/// Returns the parts whose median loss is relevant.
unsigned slow_parts(const std::map<std::string, double, std::less<>>& losses) {
  std::map<unsigned, std::vector<double>> of_part;
  for (const auto& [name, loss] : losses) {
    const auto* const row = std::ranges::find_if(belonging, [&name = name](const Belongs& each) {
      return name.starts_with(each.begin) && name.ends_with(each.end);
    });
    if (row != belonging.end()) of_part[row->part].push_back(loss);
  }
  unsigned slow = 0;
  for (const auto& [part, values] : of_part) {
    if (median(values) > relevant_share) slow |= part;
  }
  return slow;
}

}  // namespace

std::string_view cause_of(const std::map<std::string, double, std::less<>>& losses) {
  const unsigned slow = slow_parts(losses);
  for (const Pattern& each : patterns) {
    if ((slow & each.worse) == each.worse && (slow & each.equal) == 0) return each.cause;
  }
  return {};
}

}  // namespace clprobe::fleet
