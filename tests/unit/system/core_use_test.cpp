// SPDX-License-Identifier: Apache-2.0
#include "system/api/host.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <ctime>

namespace clprobe::system {
namespace {

double seconds_of_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Until this thread itself has run for so long.
void work(double seconds) {
  const double end = seconds_of_thread() + seconds;
  while (seconds_of_thread() < end) {
  }
}

/// A child that has worked for so long, and then does nothing until it is killed.
int child_after_work(double seconds) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const int child = fork();
  if (child == 0) {
    work(seconds);
    close(ends[0]);
    close(ends[1]);
    while (true) pause();
  }
  close(ends[1]);
  char byte = 0;
  CHECK(read(ends[0], &byte, 1) == 0);  // until the child closes it
  close(ends[0]);
  return child;
}

// Clocks that count steps of 10 ms, each of which belongs to whoever runs when it ends.
constexpr double step_s = 0.03;

}  // namespace

TEST_CASE("what a process, a child that lives and one that has ended do is its own") {
  const CoreUse before = core_use(0);
  if (before.busy_s == 0.0) {
    MESSAGE("skipped: the system does not say");
    return;
  }
  work(0.1);
  const CoreUse worked = core_use(0);
  CHECK(worked.own_s - before.own_s > 0.1 - step_s);
  const int child = child_after_work(0.2);
  const double alone = core_use(0).own_s;
  const double with_child = core_use(child).own_s;
  CHECK(with_child - alone == doctest::Approx(0.2).epsilon(0.2));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(core_use(0).own_s - with_child < step_s);
  CHECK(core_use(0).own_s - with_child > -step_s);
  CHECK(core_use(child).own_s - with_child < step_s);  // nobody has that number now
}

TEST_CASE("cores are busy or idle, and only those count that the process may use") {
  if (core_use(0).busy_s == 0.0) {
    MESSAGE("skipped: the system does not say");
    return;
  }
  using Clock = std::chrono::steady_clock;
  const auto all_s = [] {
    const CoreUse use = core_use(0);
    return use.busy_s + use.idle_s;
  };
  Cores cores;
  const auto count = static_cast<double>(cores.allowed().size());
  const auto seen_of = [&] {
    const double before = all_s();
    const auto begin = Clock::now();
    work(0.5);
    const std::chrono::duration<double> lasted = Clock::now() - begin;
    return (all_s() - before) / lasted.count();
  };
  CHECK(seen_of() == doctest::Approx(count).epsilon(0.2));
  cores.confine(cores.allowed().front());
  CHECK(seen_of() == doctest::Approx(1.0).epsilon(0.2));
  cores.release();
}

}  // namespace clprobe::system
