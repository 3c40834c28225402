// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/series.hpp"

#include <algorithm>

namespace clprobe::transfer {

std::string missing_in(const SeriesSpec& series, const DeviceInfo& device) {
  constexpr std::int64_t coarse_grain_buffer = 1;  // CL_DEVICE_SVM_COARSE_GRAIN_BUFFER
  const std::int64_t svm = device.reported.integer_or("svm_capabilities", 0);
  if (series.way == Way::svm && (svm & coarse_grain_buffer) == 0) {
    return "the device has no shared virtual memory";
  }
  return {};
}

std::uint64_t count_buffers(const std::vector<SeriesSpec>& series) {
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
  return 1 + (has_other ? 1U : 0U) + (has_ordinary ? 1U : 0U) + (has_pinned ? 2U : 0U) +
         (by(Way::map) || by(Way::kernel) ? 1U : 0U) + (by(Way::svm) ? 1U : 0U);
}

}  // namespace clprobe::transfer
