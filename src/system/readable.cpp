// SPDX-License-Identifier: Apache-2.0
#include "system/readable.hpp"

#include <poll.h>

namespace clprobe::system {

bool becomes_readable(int file, std::chrono::microseconds at_most) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + at_most;
  do {
    pollfd looked{file, POLLIN, 0};
    if (poll(&looked, 1, 0) > 0) return true;
  } while (Clock::now() < end);
  return false;
}

}  // namespace clprobe::system
