// SPDX-License-Identifier: Apache-2.0
#include "system/api/host.hpp"

#include <doctest/doctest.h>
#include <sched.h>

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

}  // namespace clprobe::system
