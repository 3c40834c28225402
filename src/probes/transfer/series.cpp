// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/series.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clprobe::transfer {

std::vector<std::uint64_t> peers_of(const DeviceInfo& device) {
  const auto own = device.platform_index.substr(device.platform_index.find(':') + 1);
  constexpr std::int64_t max_devices = 64;
  const std::int64_t count =
      std::min(max_devices, device.reported.integer_or("devices_on_platform", 1));
  std::vector<std::uint64_t> peers;
  for (std::int64_t i = 0; i < count; ++i) {
    if (fmt::to_string(i) != own) peers.push_back(static_cast<std::uint64_t>(i));
  }
  return count > 1 ? peers : std::vector<std::uint64_t>{};
}

std::string series_with_peer(const SeriesSpec& series, std::uint64_t peer) {
  return fmt::format("{}-{}", series.name, peer);
}

std::string missing_in(const SeriesSpec& series, const DeviceInfo& device) {
  constexpr std::int64_t coarse_grain_buffer = 1;  // CL_DEVICE_SVM_COARSE_GRAIN_BUFFER
  const std::int64_t svm = device.reported.integer_or("svm_capabilities", 0);
  if (series.way == Way::svm && (svm & coarse_grain_buffer) == 0) {
    return "the device has no shared virtual memory";
  }
  if (series.way == Way::peer && peers_of(device).empty()) {
    return "the platform has no other device";
  }
  return {};
}

std::uint64_t count_buffers(const std::vector<SeriesSpec>& series, const DeviceInfo& device) {
  const auto has = [&](auto is_such) { return std::any_of(series.begin(), series.end(), is_such); };
  const auto by = [&](Way way) {
    return has([way](const SeriesSpec& each) { return each.way == way; });
  };
  const bool has_other = has([](const SeriesSpec& each) {
    return each.direction == Direction::both || each.direction == Direction::on_device ||
           each.way == Way::duplex;
  });
  const bool has_ordinary = by(Way::pageable) || by(Way::map) || by(Way::svm);
  // What the host maps, a kernel reads, and what is mapped once for all are buffers of their own.
  const bool has_pinned = by(Way::pinned) || by(Way::duplex);
  // A context of two devices may have both of its buffers on both.
  const std::uint64_t of_peers = by(Way::peer) ? 2 * peers_of(device).size() : 0;
  return 1 + of_peers + (has_other ? 1U : 0U) + (has_ordinary ? 1U : 0U) + (has_pinned ? 2U : 0U) +
         (by(Way::map) || by(Way::kernel) ? 1U : 0U) + (by(Way::svm) ? 1U : 0U);
}

}  // namespace clprobe::transfer
