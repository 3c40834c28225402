// SPDX-License-Identifier: Apache-2.0
#include "system/usable_cores.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include "system/cores.hpp"

namespace clprobe::system {

TEST_CASE("a thread that may be on one core has one, whatever the machine has") {
  const Cores before;
  const std::size_t cores = usable_cores();
  CHECK(cores >= 1);
  CHECK(cores <= before.allowed().size());
  const cpu_set_t one = set_of({before.allowed().back()});
  sched_setaffinity(0, sizeof one, &one);
  CHECK(usable_cores() == 1);
  const cpu_set_t all = set_of(before.allowed());
  sched_setaffinity(0, sizeof all, &all);
  CHECK(usable_cores() == cores);
}

TEST_CASE("a control group grants whole cores, and one of which it grants a part") {
  CHECK(cores_of_quota("200000 100000\n") == 2);
  CHECK(cores_of_quota("200001 100000\n") == 3);
  CHECK(cores_of_quota("10000 100000\n") == 1);
  CHECK(cores_of_quota("max 100000\n") == std::nullopt);
  for (const char* none : {"", "7", "7 ", "7 x", "0 100000", "7 0", "-1 100000"}) {
    CAPTURE(none);
    CHECK(cores_of_quota(none) == std::nullopt);
  }
}

}  // namespace clprobe::system
