// SPDX-License-Identifier: Apache-2.0
// What is left of a kernel, replayed with copies of it and with loads beside it.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "measure/api/device.hpp"
#include "probes/kernel/replay.hpp"
#include "profile/api/bundle.hpp"

namespace clprobe::kernel {
namespace {

/// With a replay of that launch, on each device that there is.
void on_each_device(const std::string& launch, const std::function<void(Replay&)>& look) {
  const std::string folder = REPLAY_FOLDER;
  const bundle::Bundle made = bundle::read_source({.launch = folder + "/" + launch + ".json",
                                                   .kernel_file = folder + "/stepping.cl",
                                                   .headers = {}});
  const Enumeration found = enumerate_devices();
  REQUIRE_FALSE(found.devices.empty());
  for (const FoundDevice& each : found.devices) {
    CAPTURE(each.info.name);
    Session session(each.device, each.info, 1);
    Replay replay(session, made, std::uint64_t{1} << 20U);
    look(replay);
  }
}

constexpr const char* longer = "each launch changes its data, so later launches take";

/// The number of launches or loads that a prepared replay has next to the kernel.
std::int64_t amount_of(Replay& replay, const Shape& shape) {
  return replay.prepare(shape).integer(noise_amount_fact);
}

}  // namespace

TEST_CASE("replay: copies run side by side, and one by itself before and behind them") {
  on_each_device("steady", [](Replay& replay) {
    const Shape copies{.variant = Variant::copies};
    const std::int64_t amount = amount_of(replay, copies);
    CHECK(amount >= 1);
    CHECK(amount <= 64);
    try {
      const LaunchTimes times = replay.run(copies);
      CHECK(times.event_ns.value_or(0) > 0);
      CHECK(times.host_ns > 0);
    } catch (const Unsupported& refusal) {
      // On a host that others use.
      const std::string why = refusal.what();
      const bool is_told = why.starts_with(longer) || why.ends_with("too few copies run at once");
      CHECK_MESSAGE(is_told, why);
    }
  });
}

TEST_CASE("replay: copies that make each other longer are not compared") {
  on_each_device("growing", [](Replay& replay) {
    const Shape copies{.variant = Variant::copies};
    replay.prepare(copies);
    // Others who come and go may hide what a launch adds, and each time it begins anew.
    constexpr int tries = 8;
    std::string why;
    for (int i = 0; i < tries && !why.starts_with(longer); ++i) {
      try {
        static_cast<void>(replay.run(copies));
      } catch (const Unsupported& refusal) {
        why = refusal.what();
      }
    }
    CHECK_MESSAGE(why.starts_with(longer), why);
  });
}

TEST_CASE("replay: a kernel ends beside loads, or is said to run behind them") {
  on_each_device("steady", [](Replay& replay) {
    const Shape loads{.variant = Variant::next_to_loads};
    CHECK(replay.prepare(loads).integer(noise_ns_fact) > 600'000);
    try {
      const LaunchTimes times = replay.run(loads);
      CHECK(times.event_ns.value_or(0) > 0);
    } catch (const Unsupported& refusal) {
      CHECK(std::string(refusal.what()).starts_with("the device does not run two kernels at once"));
    }
  });
}

}  // namespace clprobe::kernel
