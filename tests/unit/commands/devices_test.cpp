// SPDX-License-Identifier: Apache-2.0
#include "app/commands/devices.hpp"

#include <doctest/doctest.h>

namespace clprobe::commands {

TEST_CASE("a second more for each 32 MiB of a launch, whose objects are read before it") {
  using std::chrono::milliseconds;
  CHECK(reading_time({}) == milliseconds(0));
  bundle::Launch launch;
  launch.objects.resize(2);
  launch.objects[0].bytes = 32U << 10U;
  CHECK(reading_time(launch) == milliseconds(0));
  launch.objects[0].bytes = 256U << 20U;
  launch.objects[1].bytes = 512U << 20U;
  CHECK(reading_time(launch) == milliseconds(24'000));
}

}  // namespace clprobe::commands
