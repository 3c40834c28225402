// SPDX-License-Identifier: Apache-2.0
// Limits that drivers and the system report: memory interface and PCI Express link.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "system/api/host.hpp"
#include "system/nvml.hpp"

namespace clprobe::system {
namespace {

using Folder = std::filesystem::path;
using Query = int (*)(Nvml::Device, unsigned*);

// Transfer rates of a lane by generation, in GT/s.
constexpr std::array generations{2.5, 5.0, 8.0, 16.0, 32.0, 64.0, 128.0};

/// Returns the link if both numbers are plausible. A virtual machine may report generation 0, and
/// sysfs reports 255 lanes for an unknown link.
std::optional<Link> plausible_link(unsigned generation, unsigned lanes) {
  constexpr unsigned max_lanes = 32;
  const bool is_plausible =
      generation >= 1 && generation <= generations.size() && lanes >= 1 && lanes <= max_lanes;
  return is_plausible ? std::optional(Link{generation, lanes}) : std::nullopt;
}

std::optional<Link> query_link(const Nvml& nvml, const char* generation_name,
                               const char* width_name) {
  Query generation_of{nullptr};
  Query width_of{nullptr};
  unsigned generation = 0;
  unsigned lanes = 0;
  const bool is_read =
      nvml.take(generation_name, generation_of) && nvml.take(width_name, width_of) &&
      generation_of(nvml.device, &generation) == 0 && width_of(nvml.device, &lanes) == 0;
  return is_read ? plausible_link(generation, lanes) : std::nullopt;
}

/// Returns the link in a device's PCI folder, where speeds have the form "16.0 GT/s PCIe".
/// `which`: "current" or "max".
std::optional<Link> link_in(const Folder& folder, const std::string& which) {
  std::ifstream speed(folder / (which + "_link_speed"));
  std::ifstream width(folder / (which + "_link_width"));
  double rate = 0.0;
  unsigned lanes = 0;
  if (!(speed >> rate) || !(width >> lanes)) return std::nullopt;
  const auto* const next = std::upper_bound(generations.begin(), generations.end(), rate);
  return plausible_link(static_cast<unsigned>(next - generations.begin()), lanes);
}

}  // namespace

std::string link_text(const Link& link) {
  return "PCIe " + std::to_string(link.generation) + ".0 x" + std::to_string(link.lanes);
}

DeviceLimits read_device_limits(const DeviceTarget& target, const DevicePlaces& places) {
  constexpr int memory_clock = 2;  // NVML_CLOCK_MEM
  DeviceLimits limits;
  const Nvml nvml = open_nvml(target, places.nvml);
  const auto nvml_link = [nvml] {
    return query_link(nvml, "nvmlDeviceGetCurrPcieLinkGeneration",
                      "nvmlDeviceGetCurrPcieLinkWidth");
  };
  if (nvml.reason.empty()) {
    Query width_of{nullptr};
    int (*max_clock_of)(Nvml::Device, int, unsigned*){nullptr};
    if (nvml.take("nvmlDeviceGetMemoryBusWidth", width_of)) {
      width_of(nvml.device, &limits.memory_bus_bits);
    }
    if (nvml.take("nvmlDeviceGetMaxClockInfo", max_clock_of)) {
      max_clock_of(nvml.device, memory_clock, &limits.memory_clock_mhz);
    }
    limits.max_link =
        query_link(nvml, "nvmlDeviceGetMaxPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkWidth");
    if (limits.max_link && nvml_link()) {
      limits.read_link = nvml_link;
      return limits;
    }
  }
  if (target.pci.empty()) return limits;
  const Folder folder = Folder(places.sys) / "bus/pci/devices" / target.pci;
  limits.max_link = link_in(folder, "max");
  if (limits.max_link && link_in(folder, "current")) {
    limits.read_link = [folder] { return link_in(folder, "current"); };
  }
  return limits;
}

}  // namespace clprobe::system
