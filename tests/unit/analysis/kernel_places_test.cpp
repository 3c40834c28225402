// SPDX-License-Identifier: Apache-2.0
// Made launches whose answers are known.
#include "clprobe/kernel_causes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "random.hpp"

namespace clprobe {
namespace {

Visits around(double ns, std::uint64_t seed, double noise = 0.002) {
  Random random(seed);
  Visits visits;
  for (int i = 0; i < 9; ++i) visits.push_back({ns * (1.0 + noise * random.normal())});
  return visits;
}

/// 132 units, of 228 KiB of local memory each, that hold 8 groups at most; a kernel that waits for
/// 1 ms per 1056 groups at once, and no less than for `bound_ns`.
std::vector<ResidentTime> padded(double bound_ns) {
  std::vector<ResidentTime> times;
  for (std::uint64_t eighths = 0; eighths <= 8; ++eighths) {
    const std::uint64_t bytes = 16 + 6144 * eighths;
    const std::uint64_t per_unit = std::min<std::uint64_t>(8, 228 * 1024 / (1024 + bytes));
    const double waiting_ns = 8e6 / static_cast<double>(per_unit);
    times.push_back({132 * per_unit, bytes, around(std::max(bound_ns, waiting_ns), eighths)});
  }
  return times;
}

KernelOccupancy places_of(std::uint64_t groups, double fewer_share, double tail_share) {
  KernelOccupancy places{.groups = groups};
  places.occupancy = Occupancy{.resident_groups = 132, .fewer_groups = 66};
  places.occupancy->fewer = {.state = CauseState::found, .share = fewer_share};
  places.tail = Tail{.whole_waves = groups / 132, .rest_groups = groups % 132};
  places.tail->last_wave = {.state = CauseState::found, .share = tail_share};
  return places;
}

/// A kernel that gains `share` without barriers.
KernelCauses causes_of(double share) {
  KernelCauses causes{.is_believed = true};
  causes.causes = {{.name = "barriers",
                    .title = "barriers",
                    .state = CauseState::found,
                    .cost = {.ns = share * 1e6, .is_resolved = true},
                    .share = share}};
  causes.advice = "Without barriers.";
  return causes;
}

}  // namespace

TEST_CASE("a kernel that waits takes as much longer as fewer groups run at once") {
  const auto found = find_occupancy(padded(0.0));
  REQUIRE(found);
  CHECK(found->resident_groups == 1056);
  // 48 KiB are all that a group may have: 4 groups a unit.
  CHECK(found->fewer_groups == 528);
  CHECK(found->fewer.state == CauseState::found);
  CHECK(found->fewer.share == doctest::Approx(1.0).epsilon(0.02));
  CHECK(found->fewer.share_interval.low < 1.0);
  CHECK(found->fewer.share_interval.high > 1.0);
  CHECK(found->fewer.reason.empty());
}

TEST_CASE("a kernel that is bound by something else loses nothing by fewer groups at once") {
  const auto found = find_occupancy(padded(2e6));
  REQUIRE(found);
  CHECK(found->fewer.state == CauseState::not_resolved);
  CHECK(found->fewer.reason == "not resolved: within two sigma of 0");
}

TEST_CASE("of half of the groups or fewer those count that are most, with the least padding") {
  const std::vector<ResidentTime> times{{400, 0, around(100, 1)},    {201, 100, around(150, 2)},
                                        {200, 200, around(300, 3)},  {200, 300, around(900, 4)},
                                        {100, 400, around(1000, 5)}, {100, 500, around(2000, 6)}};
  const auto found = find_occupancy(times);
  CHECK(found->fewer_groups == 200);
  CHECK(found->fewer.share == doctest::Approx(2.0).epsilon(0.02));
}

TEST_CASE("where padding limits nothing, occupancy is refused, and a count is still one") {
  std::vector<ResidentTime> times{{264, 0, around(100, 1)}, {264, 49152, around(100, 2)}};
  auto found = find_occupancy(times);
  REQUIRE(found);
  CHECK(found->resident_groups == 264);
  CHECK(found->fewer_groups == 0);
  CHECK(found->fewer.state == CauseState::refused);
  // Less than a twentieth is another count of the same.
  times[1].resident_groups = 255;
  CHECK(find_occupancy(times)->fewer.state == CauseState::refused);
  times[1].resident_groups = 245;
  CHECK(find_occupancy(times)->fewer.state != CauseState::refused);
  CHECK(!find_occupancy({}));
  times[0].resident_groups = 0;
  times[1].resident_groups = 0;
  CHECK(!find_occupancy(times));
}

TEST_CASE("padding that costs something by itself makes an upper bound") {
  const std::vector<ResidentTime> times{
      {1000, 0, around(100, 1)}, {1000, 8192, around(110, 2)}, {500, 16384, around(150, 3)}};
  const auto found = find_occupancy(times);
  CHECK(found->fewer.state == CauseState::found);
  CHECK(found->fewer.reason.starts_with("at most: 8192 more bytes of local memory cost 10 %"));
}

TEST_CASE("a wave of one group costs what a whole one does") {
  CHECK(groups_of_whole_waves(133, 132) == 132);
  const auto tail = find_tail(133, 132, around(200, 1), around(100, 2));
  REQUIRE(tail);
  CHECK(tail->whole_waves == 1);
  CHECK(tail->rest_groups == 1);
  CHECK(tail->last_wave.state == CauseState::found);
  // The rest would have to take a 132nd of the wave.
  CHECK(tail->last_wave.share ==
        doctest::Approx((200.0 - 100.0 * 133 / 132) / 200.0).epsilon(0.02));
  CHECK(tail->last_wave.share_interval.low < tail->last_wave.share);
}

TEST_CASE("a last wave that takes its share costs nothing") {
  // Bound by memory: two thirds of the groups take two thirds of the time.
  const auto tail = find_tail(220, 132, around(100.0 * 220 / 132, 1), around(100, 2));
  REQUIRE(tail);
  CHECK(tail->last_wave.state == CauseState::not_resolved);
  CHECK(tail->last_wave.reason.starts_with("not resolved: "));
}

TEST_CASE("launches without a part of a wave have no tail") {
  const auto reason = [](std::uint64_t groups, std::uint64_t resident) {
    const auto tail = find_tail(groups, resident, around(100, 1), {});
    return tail ? tail->last_wave.reason : "nothing";
  };
  CHECK(reason(100, 132) == "all groups run at once");
  CHECK(reason(264, 132) == "264 groups fill whole waves of 132");
  CHECK(reason(64 * 132 + 1, 132) == "the last of 65 waves takes too small a share");
  CHECK(reason(63 * 132 + 1, 132) == "not all required launches were measured");
  CHECK(reason(133, 0) == "nothing");
  for (const std::uint64_t groups : {100U, 132U, 264U, 64U * 132U + 1U}) {
    CHECK(groups_of_whole_waves(groups, 132) == 0);
  }
  CHECK(groups_of_whole_waves(63 * 132 + 1, 132) == 63 * 132);
  CHECK(groups_of_whole_waves(100, 0) == 0);
}

TEST_CASE("what a kernel takes whatever its groups do is what launches that do nothing take") {
  const auto found = find_starting(around(64e3, 1), around(5e3, 2), around(45e3, 3));
  REQUIRE(found);
  CHECK(found->launch.state == CauseState::found);
  CHECK(found->launch.share == doctest::Approx(5.0 / 64).epsilon(0.02));
  CHECK(found->launch.cost.ns == doctest::Approx(5e3).epsilon(0.02));
  CHECK(found->launch.share_interval.low < 5.0 / 64);
  CHECK(found->launch.share_interval.high > 5.0 / 64);
  CHECK(found->groups.state == CauseState::found);
  CHECK(found->groups.share == doctest::Approx(40.0 / 64).epsilon(0.02));
  CHECK(found->groups.share_interval.low < 40.0 / 64);
  CHECK(found->groups.share_interval.high > 40.0 / 64);
}

TEST_CASE("a kernel of one group has none to start, and few start as fast as one") {
  const auto alone = find_starting(around(64e3, 1), around(5e3, 2), {});
  REQUIRE(alone);
  CHECK(alone->groups.state == CauseState::not_present);
  CHECK(alone->groups.reason == "the launch has only one work-group");
  const auto few = find_starting(around(64e3, 1), around(5e3, 2), around(5e3, 3));
  CHECK(few->groups.state == CauseState::not_resolved);
  CHECK(few->groups.reason == "not resolved: within two sigma of 0");
  const auto fewer = find_starting(around(64e3, 1), around(5e3, 2), around(4e3, 3));
  CHECK(fewer->groups.reason == "not resolved: all groups start as fast as one");
  // Noise lets a launch that does nothing take longer than one that does.
  CHECK(find_starting(around(5e3, 1), around(5.5e3, 2), {})->launch.share == 1.0);
  CHECK_FALSE(find_starting(around(64e3, 1), {}, around(45e3, 3)));
  CHECK_FALSE(find_starting({}, around(5e3, 2), around(45e3, 3)));
}

TEST_CASE("the sentence is about the largest share") {
  KernelOccupancy places = places_of(133, 0.5, 0.49);
  places.app_share = 0.5;
  CHECK(
      kernel_advice(causes_of(0.3), places) ==
      "132 groups run at once, so 133 groups end with a partial wave of 1, which costs 49 % of the "
      "kernel's time, 24 % of the program's device time: launch a multiple of 132, or smaller "
      "groups.");
  CHECK(kernel_advice(causes_of(0.6), places) == "Without barriers.");
  places = places_of(1320, 0.5, 0.04);
  CHECK(kernel_advice(causes_of(0.06), places) == "Without barriers.");
  CHECK(kernel_advice(causes_of(0.02), places)
            .starts_with("With 66 resident groups instead of 132 the kernel takes 50 % longer"));
  places.occupancy->fewer.share = 0.04;
  CHECK(kernel_advice(causes_of(0.02), places) == "Without barriers.");
  // Half of the places are no few of them.
  CHECK(kernel_advice(causes_of(0.02), places_of(66, 0.0, 0.0)) == "Without barriers.");
  CHECK(kernel_advice(causes_of(0.02), places_of(65, 0.5, 0.0)) ==
        "The launch has 65 groups, and the device can run 132 at once: use more, smaller groups.");
  CHECK(kernel_advice({}, {}).empty());
  places = places_of(1320, 0.5, 0.1);
  places.starting = Starting{.launch = {.state = CauseState::found, .share = 0.2},
                             .groups = {.state = CauseState::found, .share = 0.3}};
  CHECK(kernel_advice(causes_of(0.29), places) ==
        "Starting 1320 groups takes 30 % of the kernel's time, whatever they do: launch fewer "
        "groups, with more work per work-item.");
  CHECK(kernel_advice(causes_of(0.31), places) == "Without barriers.");
  places.tail->last_wave.share = 0.31;
  CHECK(kernel_advice(causes_of(0.29), places).starts_with("132 groups run at once"));
  places.tail->last_wave.share = 0.1;
  places.starting->groups.share = 0.04;
  CHECK(kernel_advice(causes_of(0.19), places) ==
        "Launching one empty group takes 20 % of the kernel's time: do more work per launch.");
  CHECK(kernel_advice(causes_of(0.21), places) == "Without barriers.");
  places.starting->groups = {.state = CauseState::not_resolved, .share = 0.5};
  CHECK(kernel_advice(causes_of(0.21), places) == "Without barriers.");
}

}  // namespace clprobe
