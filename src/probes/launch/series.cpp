// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/series.hpp"

#include <algorithm>

namespace clprobe::launch {
namespace {

bool has_extension(const DeviceInfo& device, std::string_view name) {
  const std::string all = " " + device.reported.text_or("extensions", "") + " ";
  return all.find(" " + std::string(name) + " ") != std::string::npos;
}

}  // namespace

bool is_of_many(Manner manner) {
  switch (manner) {
    case Manner::plain:
    case Manner::event:
    case Manner::wait_list:
    case Manner::changed_argument:
    case Manner::two_programs:
    case Manner::out_of_order:
    case Manner::command_buffer:
      return true;
    case Manner::back_to_back:
    case Manner::start_to_start:
    case Manner::after_idling:
    case Manner::new_local_size:
    case Manner::build:
    case Manner::build_again:
      return false;
  }
  return false;
}

bool is_on_device(Manner manner) {
  return manner == Manner::back_to_back || manner == Manner::start_to_start;
}

std::string missing_in(const SeriesSpec& series, const DeviceInfo& device) {
  constexpr std::int64_t out_of_order = 1;  // CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
  if (series.manner == Manner::out_of_order &&
      (device.reported.integer_or("queue_properties", 0) & out_of_order) == 0) {
    return "the device has no out-of-order queues";
  }
  if (series.manner == Manner::command_buffer && !has_extension(device, "cl_khr_command_buffer")) {
    return "the device does not support cl_khr_command_buffer";
  }
  if (series.manner == Manner::new_local_size && device.max_work_group_size < 2) {
    return "the device's work-groups hold only one work-item";
  }
  if (is_on_device(series.manner) && device.launch_timer != Timer::event) {
    return "the driver's event times are unreliable";
  }
  return {};
}

}  // namespace clprobe::launch
