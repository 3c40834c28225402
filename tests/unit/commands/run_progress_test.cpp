// SPDX-License-Identifier: Apache-2.0
#include "app/commands/measure_run.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>

namespace clprobe::commands {

TEST_CASE("the share is that of the time, of all probes and of devices to come") {
  RunProgress progress;
  progress.begin_device({4.0, 6.0}, 1);
  CHECK(progress.seconds_left() == 20.0);
  CHECK(progress.share(0.0) == 0.0);
  progress.set_left(0, 1.0);
  CHECK(progress.seconds_left() == 17.0);
  CHECK(progress.share(3.0) == doctest::Approx(0.15));
  progress.set_left(0, 0.0);
  progress.set_left(1, 0.0);
  progress.begin_device({2.0}, 0);
  CHECK(progress.seconds_left() == 2.0);
  CHECK(progress.share(8.0) == doctest::Approx(0.8));
  progress.set_left(0, -1.0);
  CHECK(progress.seconds_left() == 0.0);
  CHECK(progress.share(10.0) == 0.99);
  progress.set_left(7, 5.0);  // of no probe that there is
  CHECK(progress.seconds_left() == 0.0);
}

TEST_CASE("whatever is found to be left, the share never falls and never is 1") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    RunProgress progress;
    progress.begin_device({5.0, 5.0, 5.0}, 2);
    double last = 0.0;
    double spent = 0.0;
    for (int step = 0; step < 50; ++step) {
      if (step == 25) progress.begin_device({50.0}, 1);
      progress.set_left(random() % 3, static_cast<double>(random() % 40));
      spent += static_cast<double>(random() % 100) / 100.0;
      const double share = progress.share(spent);
      REQUIRE(share >= last);
      REQUIRE(share < 1.0);
      last = share;
    }
    CHECK(last > 0.0);
  }
}

TEST_CASE("what a driver is asked for is told in words, and what takes no time is not") {
  CHECK(activity_of("try-clock") == "testing the clock");
  CHECK(activity_of("prepare") == "preparing");
  CHECK(activity_of("sample") == "measuring");
  CHECK(activity_of("core").empty());
  CHECK(activity_of("").empty());
}

TEST_CASE("a point is told by its series, and by its size where it has one") {
  const Probe over_bytes{.id = "a", .view = {.x = "working_set_bytes"}};
  const Probe over_items{.id = "b", .view = {.x = "work_items"}};
  Point point{.series = "global"};
  CHECK(describe_point(over_bytes, point) == "global");
  point.parameters.set("working_set_bytes", std::int64_t{1} << 30);
  point.parameters.set("work_items", std::int64_t{64});
  CHECK(describe_point(over_bytes, point) == "global, 1 GiB");
  CHECK(describe_point(over_items, point) == "global");
  point.parameters.set("working_set_bytes", std::string("many"));
  CHECK(describe_point(over_bytes, point) == "global");
}

}  // namespace clprobe::commands
