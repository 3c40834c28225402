// SPDX-License-Identifier: Apache-2.0
#include "system/api/host.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <cmath>
#include <map>
#include <vector>

namespace clprobe::system {
namespace {

/// Cores that take so long, and what was asked of them.
struct Host {
  std::map<int, double> ns{};
  std::vector<int> asked{};

  QuietCore quiet_core() {
    std::vector<int> allowed;
    for (const auto& each : ns) allowed.push_back(each.first);
    return {allowed, [this](int core) {
              asked.push_back(core);
              return ns.at(core);
            }};
  }
};

TEST_CASE("the first look is at all cores, since nobody knows how fast one can be") {
  Host host{{{0, 20.0}, {1, 18.0}, {4, 10.0}, {5, 10.5}}};
  QuietCore quiet = host.quiet_core();
  CHECK(quiet.choose(1) == 4);
  CHECK(host.asked == std::vector{1, 4, 5, 0});
}

TEST_CASE("a thread stays where it is as fast as anywhere before, within 15 %") {
  Host host{{{0, 10.0}, {1, 10.0}, {2, 10.0}}};
  QuietCore quiet = host.quiet_core();
  CHECK(quiet.choose(0) == 0);
  host.ns[0] = 11.5;
  host.asked.clear();
  CHECK(quiet.choose(0) == 0);
  CHECK(host.asked == std::vector{0});
  host.ns[0] = 11.6;
  host.ns[1] = 15.0;
  host.asked.clear();
  CHECK(quiet.choose(0) == 2);
  CHECK(host.asked == std::vector{0, 1, 2});
}

TEST_CASE("where all are slow, or may not be used, it is the fastest") {
  Host host{{{0, 10.0}, {1, 10.0}, {2, 10.0}}};
  QuietCore quiet = host.quiet_core();
  quiet.choose(0);
  CHECK(quiet.found_one());
  host.ns = {{0, 20.0}, {1, HUGE_VAL}, {2, 19.0}};
  CHECK(quiet.choose(0) == 2);
  CHECK_FALSE(quiet.found_one());
  host.ns = {{0, HUGE_VAL}, {1, HUGE_VAL}, {2, HUGE_VAL}};
  CHECK(quiet.choose(1) == 1);
}

TEST_CASE("of many cores no more than sixteen are looked at") {
  Host host;
  for (int core = 0; core < 40; ++core) host.ns[core] = 20.0;
  host.ns[39] = 10.0;
  QuietCore quiet = host.quiet_core();
  CHECK(quiet.choose(30) == 39);
  CHECK(host.asked.size() == 16);
}

TEST_CASE("others get the next core in turn, or the first quiet one after it") {
  Host host{{{0, 10.0}, {1, 10.0}, {4, 10.0}}};
  QuietCore quiet = host.quiet_core();
  CHECK(quiet.next() == 0);  // the first look is at all of them
  CHECK(quiet.next() == 1);
  host.ns[4] = 16.0;
  CHECK(quiet.next() == 0);
  CHECK(quiet.next() == 0);
  host.ns[4] = 10.0;
  CHECK(quiet.next() == 1);
  CHECK(quiet.next() == 4);
  CHECK(quiet.core_of(0) == 0);
  CHECK(quiet.core_of(5) == 4);
  Host small{{{3, 10.0}}};
  QuietCore alone = small.quiet_core();
  CHECK_FALSE(alone.next());
  CHECK_FALSE(alone.core_of(1));
  CHECK(small.asked.empty());
}

TEST_CASE("a thread that moved may run on the same cores as before") {
  cpu_set_t before;
  cpu_set_t after;
  CPU_ZERO(&before);
  CPU_ZERO(&after);
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  QuietCore quiet;
  quiet.seek();
  REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
  quiet.next();
  REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace clprobe::system
