// SPDX-License-Identifier: Apache-2.0
#include "system/api/host.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace clprobe::system {
namespace {

std::vector<int> cores_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  }
  return cores;
}

}  // namespace

TEST_CASE("all threads of the process are on the core whose turn it is, and then on all again") {
  const std::vector<int> before = cores_of_this_thread();
  if (before.size() < 2) {
    MESSAGE("skipped: there is one core");
    return;
  }
  std::atomic<int> step{0};
  std::vector<std::vector<int>> seen(3);
  // One that was there before, as a driver's are.
  std::jthread other([&] {
    for (std::size_t i = 0; i < seen.size(); ++i) {
      step.wait(static_cast<int>(2 * i));
      seen[i] = cores_of_this_thread();
      ++step;
      step.notify_all();
    }
  });
  const auto look = [&](int i) {
    step = 2 * i + 1;
    step.notify_all();
    step.wait(2 * i + 1);
  };
  Cores cores;
  CHECK(cores.allowed() == before);
  cores.confine(before[1]);
  CHECK(cores_of_this_thread() == std::vector{before[1]});
  look(0);
  cores.confine(before[0]);
  CHECK(cores_of_this_thread() == std::vector{before[0]});
  look(1);
  cores.release();
  look(2);
  CHECK(cores_of_this_thread() == before);
  CHECK(seen[0] == std::vector{before[1]});
  CHECK(seen[1] == std::vector{before[0]});
  CHECK(seen[2] == before);
}

TEST_CASE("a thread that has a core of its own has it again") {
  const std::vector<int> before = cores_of_this_thread();
  if (before.size() < 2) {
    MESSAGE("skipped: there is one core");
    return;
  }
  Cores cores;
  CHECK(cores.has_all() == (static_cast<long>(before.size()) == sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(static_cast<std::size_t>(before[1]), &own);
  sched_setaffinity(0, sizeof own, &own);
  CHECK_FALSE(Cores().has_all());
  cores.confine(before[0]);
  cores.confine(before[1]);
  cores.confine(before[0]);
  CHECK(cores_of_this_thread() == std::vector{before[0]});
  cores.release();
  CHECK(cores_of_this_thread() == std::vector{before[1]});
  for (const int core : before) CPU_SET(static_cast<std::size_t>(core), &own);
  sched_setaffinity(0, sizeof own, &own);
}

TEST_CASE("a thread that may be on one core alone is said to be there") {
  Cores cores;
  if (cores.allowed().empty()) return;
  for (const int core : cores.allowed()) {
    cores.confine(core);
    const std::vector<int> here = cores_of_this_thread();
    const auto place = place_of_thread();
    REQUIRE(place.has_value());
    CHECK(std::find(here.begin(), here.end(), place->core) != here.end());
    CHECK(place->node >= 0);
  }
  cores.release();
}

}  // namespace clprobe::system
