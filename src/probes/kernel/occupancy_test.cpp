// SPDX-License-Identifier: Apache-2.0
// Tests of the costs of occupancy, with made-up launches whose costs are known.
#include "probes/kernel/causes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "probes/kernel/launches_test.hpp"

namespace clprobe::kernel {
namespace {

/// Returns times for 132 compute units, each with 228 KiB of local memory and at most 8 resident
/// groups. The kernel's time is 1 ms with 1056 resident groups, inversely proportional to the
/// resident groups, and at least `bound_ns`.
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

KernelOccupancy filled_by(std::uint64_t groups, double fewer_share, double tail_share) {
  KernelOccupancy filled{.groups = groups};
  filled.occupancy = Occupancy{.resident_groups = 132, .fewer_groups = 66};
  filled.occupancy->fewer = {.state = CauseState::found, .share = fewer_share};
  filled.tail = Tail{.whole_waves = groups / 132, .rest_groups = groups % 132};
  filled.tail->last_wave = {.state = CauseState::found, .share = tail_share};
  return filled;
}

/// Returns the causes of a kernel that saves `share` of its time by removing barriers.
KernelCauses causes_of(double share) {
  KernelCauses causes{.is_believed = true};
  causes.causes = {{.row = row_of(Factor::barriers).cause,
                    .state = CauseState::found,
                    .cost = {.ns = share * 1e6, .is_resolved = true},
                    .share = share}};
  return causes;
}

}  // namespace

TEST_CASE("a kernel that waits takes as much longer as fewer groups run at once") {
  const auto found = find_occupancy(padded(0.0));
  REQUIRE(found);
  CHECK(found->resident_groups == 1056);
  // With the maximum padding of 48 KiB per group, 4 groups are resident per compute unit.
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
  CHECK(found->fewer.reason == "not resolved: the interval includes 0");
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
  // A number of groups that is less than 5 % smaller counts as equal.
  times[1].resident_groups = 255;
  CHECK(find_occupancy(times)->fewer.state == CauseState::refused);
  times[1].resident_groups = 245;
  CHECK(find_occupancy(times)->fewer.state != CauseState::refused);
  CHECK(!find_occupancy({}));
  times[0].resident_groups = 0;
  times[1].resident_groups = 0;
  CHECK(!find_occupancy(times));
}

TEST_CASE("a wave of one group costs what a whole one does") {
  CHECK(groups_of_whole_waves(133, 132) == 132);
  const auto tail = find_tail(133, 132, around(200, 1), around(100, 2));
  REQUIRE(tail);
  CHECK(tail->whole_waves == 1);
  CHECK(tail->rest_groups == 1);
  CHECK(tail->last_wave.state == CauseState::found);
  // Without a cost of the partial wave, the single remaining group would take 1/132 of a wave's
  // time.
  CHECK(tail->last_wave.share ==
        doctest::Approx((200.0 - 100.0 * 133 / 132) / 200.0).epsilon(0.02));
  CHECK(tail->last_wave.share_interval.low < tail->last_wave.share);
}

TEST_CASE("a last wave that takes its share costs nothing") {
  // The kernel is bound by memory: a partial wave with two thirds of a wave's groups takes two
  // thirds of a wave's time.
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
  CHECK(reason(264, 132) ==
        "no partial wave: 264 groups are a multiple of the 132 that run at once");
  CHECK(reason(64 * 132 + 1, 132) ==
        "the last of 65 waves takes too small a share of the time to measure");
  CHECK(reason(63 * 132 + 1, 132) == "not all required launches were measured");
  CHECK(reason(133, 0) == "nothing");
  for (const std::uint64_t groups : {100U, 132U, 264U, 64U * 132U + 1U}) {
    CHECK(groups_of_whole_waves(groups, 132) == 0);
  }
  CHECK(groups_of_whole_waves(63 * 132 + 1, 132) == 63 * 132);
  CHECK(groups_of_whole_waves(100, 0) == 0);
}

TEST_CASE("what a kernel takes whatever its groups do is what a launch without work takes") {
  const auto found = find_starting(around(64e3, 1), around(45e3, 3));
  REQUIRE(found);
  CHECK(found->state == CauseState::found);
  CHECK(found->share == doctest::Approx(45.0 / 64).epsilon(0.02));
  CHECK(found->share_interval.low < 45.0 / 64);
  CHECK(found->share_interval.high > 45.0 / 64);
  // Due to noise, a launch without work takes longer than the launch with work.
  CHECK(find_starting(around(5e3, 1), around(5.5e3, 2))->share == 1.0);
  CHECK_FALSE(find_starting(around(64e3, 1), {}));
  CHECK_FALSE(find_starting({}, around(45e3, 3)));
}

TEST_CASE("the sentence is about the largest share") {
  KernelOccupancy filled = filled_by(133, 0.5, 0.49);
  CHECK(kernel_advice(causes_of(0.3), filled, 0.5) ==
        "132 groups run at once, so 133 groups end with a partial wave of 1. This wave costs 49 % "
        "of the kernel's time, 24 % of the program's device time: launch a multiple of 132 groups, "
        "or smaller groups.");
  const auto is_about_barriers = [](const std::string& advice) {
    return advice.starts_with("Removing barriers saves at most ");
  };
  CHECK(is_about_barriers(kernel_advice(causes_of(0.6), filled)));
  filled = filled_by(1320, 0.5, 0.04);
  CHECK(is_about_barriers(kernel_advice(causes_of(0.06), filled)));
  CHECK(kernel_advice(causes_of(0.02), filled)
            .starts_with("With 66 resident groups instead of 132 the kernel takes 50 % longer"));
  const std::string little = "Removing any one of the causes saves little: ";
  filled.occupancy->fewer.share = 0.04;
  CHECK(kernel_advice(causes_of(0.02), filled).starts_with(little));
  // A launch with half of the groups that the device can run is large enough, so the advice is not
  // to use more groups.
  CHECK(kernel_advice(causes_of(0.02), filled_by(66, 0.0, 0.0)).starts_with(little));
  CHECK(
      kernel_advice(causes_of(0.02), filled_by(65, 0.5, 0.0)) ==
      "The launch has 65 groups, but the device can run 132 groups at once: divide the work among "
      "more work-items.");
  CHECK(kernel_advice({}, {}).empty());
  filled = filled_by(1320, 0.5, 0.1);
  filled.starting = KernelCause{.state = CauseState::found, .share = 0.76};
  CHECK(kernel_advice(causes_of(0.29), filled) ==
        "Starting 1320 groups takes 76 % of the kernel's time, even if the groups do nothing: do "
        "more work per launch, or launch fewer groups with more work per work-item.");
  CHECK(is_about_barriers(kernel_advice(causes_of(0.77), filled)));
  // Groups start while others work, so a smaller share is not what fewer groups save.
  filled.starting->share = 0.74;
  CHECK(is_about_barriers(kernel_advice(causes_of(0.29), filled)));
  filled.tail->last_wave.share = 0.31;
  CHECK(kernel_advice(causes_of(0.29), filled).starts_with("132 groups run at once"));
  filled.tail->last_wave.share = 0.1;
  filled.starting->share = 0.04;
  CHECK(is_about_barriers(kernel_advice(causes_of(0.11), filled)));
}

TEST_CASE("without a cost, the buffers are held against the memory's bandwidth") {
  const auto said = [](double share) {
    const BufferTransfer transfer{.bytes = 64 << 20, .bytes_per_second = 57e9, .share = share};
    return kernel_advice({.doubt = "unknown"}, {}, {}, transfer);
  };
  CHECK(said(0.69) ==
        "Memory bandwidth (57.0 GB/s) limits the kernel only if the kernel transfers its 64 MiB of "
        "buffers 1.4 times. No cause reported: unknown.");
  CHECK(said(0.71).starts_with(
      "Memory bandwidth (57.0 GB/s) limits the kernel if the kernel uses all of its 64 MiB of "
      "buffers: transferring the buffers once takes 71 % of the kernel's time."));
  CHECK(said(1.24).starts_with(
      "Memory bandwidth (57.0 GB/s) limits the kernel if the kernel uses all"));
  CHECK(said(1.26).starts_with(
      "The kernel uses only a part of its 64 MiB of buffers: at the memory's bandwidth of 57.0 "
      "GB/s, transferring the whole buffers would take 1.3 times as long as the kernel."));
  CHECK(said(0.05).find("transfers its 64 MiB of buffers 20 times.") != std::string::npos);
  // A cost that was found is the answer.
  CHECK(kernel_advice(causes_of(0.6), {}, {}, BufferTransfer{1.0, 1.0, 0.5})
            .starts_with("Removing barriers saves"));
}

}  // namespace clprobe::kernel
