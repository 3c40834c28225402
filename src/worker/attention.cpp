// SPDX-License-Identifier: Apache-2.0
#include "worker/attention.hpp"

#include "clprobe/estimate.hpp"

namespace clprobe {

bool is_of_host(const Point& point, const DeviceInfo& device) {
  const Timer timer = timer_of(point, device);
  return is_gpu(device) && (timer == Timer::wait || timer == Timer::host);
}

bool may_look(const DeviceInfo& device, std::size_t host_cores) {
  constexpr std::size_t enough_cores = 4;
  return is_gpu(device) && host_cores >= enough_cores;
}

}  // namespace clprobe
