// SPDX-License-Identifier: Apache-2.0
// Spans of a meter that says what a made device has used, and takes its time.
#include "system/api/host.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>

namespace clprobe::system {
namespace {

using std::chrono::milliseconds;

/// A device, its meter and the time, which goes on only when it is told to or read.
struct Made {
  PowerSpans::Clock::time_point now{};
  double watts{0.0};
  double joules{0.0};
  milliseconds read_time{0};
  milliseconds update{0};  ///< how often the meter moves; 0: all the time
  milliseconds least{0};   ///< of a span
  int readings{0};
  bool is_broken{false};

  void pass(milliseconds time) {
    now += time;
    joules += watts * std::chrono::duration<double>(time).count();
  }
  PowerSpans spans() {
    return PowerSpans(
        [this]() -> std::optional<PowerReading> {
          pass(read_time);
          ++readings;
          if (is_broken) return std::nullopt;
          if (update == milliseconds(0)) return PowerReading{.joules = joules};
          const auto since = std::chrono::duration<double>(now.time_since_epoch() % update);
          return PowerReading{.joules = joules - watts * since.count()};
        },
        least, [this] { return now; });
  }
};

TEST_CASE("each span has its power, and the time before the first is in none") {
  Made made{.watts = 500.0};
  PowerSpans spans = made.spans();
  made.pass(milliseconds(1000));
  made.watts = 100.0;
  spans.begin();
  made.pass(milliseconds(50));
  CHECK(spans.end() == doctest::Approx(100.0));
  made.watts = 300.0;
  made.pass(milliseconds(50));
  CHECK(spans.end() == doctest::Approx(300.0));
  CHECK(made.readings == 3);
}

TEST_CASE(
    "a meter that takes long is read for a fifth of the time, and a span goes on until then") {
  Made made{.watts = 200.0, .read_time = milliseconds(75)};
  PowerSpans spans = made.spans();
  spans.begin();
  int told = 0;
  for (int moment = 0; moment < 60; ++moment) {
    made.watts = moment < 30 ? 200.0 : 400.0;
    made.pass(milliseconds(50));
    const auto watts = spans.end();
    if (!watts) continue;
    ++told;
    CHECK(*watts >= 199.9);
    CHECK(*watts <= 400.1);
  }
  // A reading of 75 ms behind every sixth moment of 50.
  CHECK(told == 10);
  CHECK(made.readings == told + 1);
  CHECK(made.now.time_since_epoch() == milliseconds(3825));
}

TEST_CASE("spans are so long that a meter which moves seldom says what was drawn") {
  Made made{.watts = 700.0, .update = milliseconds(100), .least = PowerSpans::usual_span};
  made.pass(milliseconds(30));
  PowerSpans spans = made.spans();
  spans.begin();
  int told = 0;
  for (int moment = 0; moment < 33; ++moment) {
    made.pass(milliseconds(51));
    const auto watts = spans.end();
    if (!watts) continue;
    ++told;
    CHECK(*watts == doctest::Approx(700.0).epsilon(0.34));
  }
  CHECK(told == 5);
}

TEST_CASE("a reading that failed leaves out the spans that it ends and begins") {
  Made made{.watts = 100.0};
  PowerSpans spans = made.spans();
  spans.begin();
  made.pass(milliseconds(50));
  made.is_broken = true;
  CHECK_FALSE(spans.end());
  made.is_broken = false;
  made.pass(milliseconds(50));
  CHECK_FALSE(spans.end());
  made.pass(milliseconds(50));
  CHECK(spans.end() == doctest::Approx(100.0));
}

}  // namespace
}  // namespace clprobe::system
