// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/series.hpp"

namespace clprobe::launch {

bool is_by_count(Manner manner) {
  switch (manner) {
    case Manner::plain:
    case Manner::event:
    case Manner::wait_list:
    case Manner::changed_argument:
    case Manner::two_programs:
    case Manner::out_of_order:
      return true;
    case Manner::back_to_back:
    case Manner::after_idling:
    case Manner::build:
    case Manner::build_again:
      return false;
  }
  return false;
}

std::string missing_in(const SeriesSpec& series, const DeviceInfo& device) {
  constexpr std::int64_t out_of_order = 1;  // CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
  if (series.manner == Manner::out_of_order &&
      (device.reported.integer_or("queue_properties", 0) & out_of_order) == 0) {
    return "the device has no queues without order";
  }
  if (series.manner == Manner::back_to_back && device.launch_timer != Timer::event) {
    return "the times of the driver's events are not true";
  }
  return {};
}

}  // namespace clprobe::launch
