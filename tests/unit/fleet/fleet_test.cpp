// SPDX-License-Identifier: Apache-2.0
// Made-up fleets with known slow devices.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fleet/api/fleet.hpp"

namespace clprobe::fleet {
namespace {

struct Sample {
  std::string name;
  std::string unit;
  double value;
};

// Numbers of an H200, with names of docs/describe.md.
const std::vector<Sample> usual{{"L1.latency", "seconds", 16.2e-9},
                                {"L1.latency_cycles", "cycles", 32.0},
                                {"L2.latency", "seconds", 141e-9},
                                {"L2.latency_cycles", "cycles", 280.0},
                                {"memory.latency", "seconds", 344e-9},
                                {"memory.latency_cycles", "cycles", 681.0},
                                {"memory.read_bandwidth", "bytes_per_second", 4.55e12},
                                {"L2.read_bandwidth", "bytes_per_second", 9.1e12},
                                {"to_device.bandwidth", "bytes_per_second", 54.9e9},
                                {"from_device.bandwidth", "bytes_per_second", 55.2e9},
                                {"launch.round_trip", "seconds", 9.7e-6},
                                {"clock.loaded", "hertz", 1.977e9}};

/// Makes fleets of nodes with eight devices. Each value has 0.5 % normal noise, and with a tail an
/// exponential loss of 0.5 % on average.
class Maker {
 public:
  explicit Maker(std::uint64_t seed, bool has_tail = false) : random_(seed), has_tail_(has_tail) {}

  Folder make(std::size_t devices) {
    Folder folder;
    for (std::size_t i = 0; i < devices; ++i) folder.devices.push_back(device(i));
    return folder;
  }

  Device device(std::size_t index) {
    constexpr std::size_t per_node = 8;
    constexpr double noise = 0.005;
    Device made{.node = fmt::format("a{:03}", index / per_node + 1),
                .slot = fmt::format("{}", index % per_node),
                .name = "H200",
                .driver = "580.1",
                .uuid = fmt::format("uuid-{}", index),
                .started = "2026-11-28T10:00:00Z"};
    made.file = fmt::format("{}-{}.json", made.node, made.uuid);
    for (const Sample& each : usual) {
      double loss = normal_(random_) * noise;
      if (has_tail_) loss += tail_(random_);
      const bool is_rate = each.unit == "bytes_per_second" || each.unit == "hertz";
      const double value = each.value * std::exp(is_rate ? -loss : loss);
      made.numbers.push_back({each.name, each.unit, value, 0.001});
    }
    return made;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_{};
  std::exponential_distribution<double> tail_{200.0};
  bool has_tail_;
};

void slow_down(Device& device, std::string_view begin, double share, std::string_view end = "") {
  for (Number& each : device.numbers) {
    if (!each.name.starts_with(begin) || !each.name.ends_with(end)) continue;
    const bool is_rate = each.unit == "bytes_per_second" || each.unit == "hertz";
    each.value *= is_rate ? 1.0 / (1.0 + share) : 1.0 + share;
  }
}

Report report_on(Folder folder, const Wishes& wishes = {}) {
  return analyse(std::move(folder), {}, wishes);
}

Standing standing_of(const Report& report, std::string_view uuid) {
  for (const Offender& each : report.offenders) {
    if (report.devices[each.device].uuid == uuid) return each.worst.standing;
  }
  return Standing::usual;
}

struct Rates {
  double slow{0.0};     ///< share of slowed devices that are slow
  double suspect{0.0};  ///< share of slowed devices that are slow or suspect
  double false_slow{0.0};
  double false_suspects{0.0};  ///< healthy slow or suspect devices per fleet
};

/// Slows one device in 64, but at least one, in one number, and counts what is found.
Rates rates(std::size_t devices, double share, bool has_tail, std::size_t fleets) {
  Rates sum;
  double slowed = 0.0;
  for (std::size_t fleet = 0; fleet < fleets; ++fleet) {
    Folder folder = Maker(fleet + 1, has_tail).make(devices);
    const std::size_t count = std::max<std::size_t>(1, devices / 64);
    for (std::size_t i = 0; i < count && share > 0.0; ++i) {
      const std::size_t at = i * 64 % devices;
      slow_down(folder.devices[at], usual[(i + fleet) % usual.size()].name, share);
    }
    const Report report = report_on(std::move(folder));
    for (std::size_t i = 0; i < devices; ++i) {
      const bool is_slowed = share > 0.0 && i % 64 == 0 && i / 64 < count;
      const Standing standing = standing_of(report, fmt::format("uuid-{}", i));
      const double is_slow = standing == Standing::slow ? 1.0 : 0.0;
      const double is_found = standing >= Standing::suspect ? 1.0 : 0.0;
      (is_slowed ? sum.slow : sum.false_slow) += is_slow;
      (is_slowed ? sum.suspect : sum.false_suspects) += is_found;
      slowed += is_slowed ? 1.0 : 0.0;
    }
  }
  const auto count = static_cast<double>(fleets);
  if (slowed > 0.0) {
    sum.slow /= slowed;
    sum.suspect /= slowed;
  }
  sum.false_slow /= count;
  sum.false_suspects /= count;
  return sum;
}

TEST_CASE("slow devices are found, and healthy devices are not") {
  // Rows of the table in docs/fleet.md: `fleet_test -tc="slow devices*" -s` prints them.
  struct Row {
    std::size_t devices;
    bool has_tail;
    std::size_t fleets;
  };
  for (const Row& row : {Row{8, false, 100}, Row{32, false, 50}, Row{256, false, 10},
                         Row{256, true, 10}, Row{1024, true, 2}}) {
    const Rates healthy = rates(row.devices, 0.0, row.has_tail, row.fleets);
    const Rates at_5 = rates(row.devices, 0.05, row.has_tail, row.fleets);
    const Rates at_12 = rates(row.devices, 0.12, row.has_tail, row.fleets);
    INFO(
        fmt::format("{} devices{}: healthy {:.2f} slow, {:.2f} suspect; 5 %: {:.2f} slow, {:.2f} "
                    "found; 12 %: {:.2f} slow",
                    row.devices, row.has_tail ? ", tail" : "", healthy.false_slow,
                    healthy.false_suspects, at_5.slow, at_5.suspect, at_12.slow));
    CHECK(healthy.false_slow <= 1.0);
    CHECK(healthy.false_suspects <=
          (row.has_tail ? 0.15 : 0.02) * static_cast<double>(row.devices));
    CHECK(at_5.suspect >= 0.9);
    CHECK(at_12.slow >= 0.95);
  }
}

TEST_CASE("a cause is named by the pattern of slow numbers") {
  const auto cause = [](std::string_view begin, std::string_view end) {
    Folder folder = Maker(7).make(32);
    slow_down(folder.devices[3], begin, 0.15, end);
    if (begin == "L1.latency") {
      slow_down(folder.devices[3], "L2.latency", 0.15, "latency");
      slow_down(folder.devices[3], "clock.", 0.15);
    }
    const Report report = report_on(std::move(folder));
    REQUIRE(report.offenders.size() == 1);
    CHECK(report.devices[report.offenders[0].device].uuid == "uuid-3");
    return report.offenders[0].cause;
  };
  CHECK(cause("L1.latency", "latency").starts_with("low core clock"));
  CHECK(cause("memory.", "").starts_with("memory"));
  CHECK(cause("to_device.", "").starts_with("link"));
  CHECK(cause("launch.", "").starts_with("host"));
}

TEST_CASE("a second run makes a slow device sure") {
  Folder folder = Maker(7).make(32);
  slow_down(folder.devices[5], "memory.read", 0.15);
  CHECK(!report_on(folder).offenders.at(0).worst.is_sure);
  Device again = folder.devices[5];
  again.started = "2026-11-28T11:00:00Z";
  folder.devices.push_back(again);
  const Report report = report_on(folder);
  CHECK(report.devices.size() == 32);
  CHECK(report.older == 1);
  CHECK(report.offenders.at(0).worst.is_sure);
  CHECK(report.offenders.at(0).worst.centre == doctest::Approx(4.55e12).epsilon(0.01));
}

TEST_CASE("kinds, groups and places are told apart") {
  Folder folder = Maker(7).make(64);
  for (std::size_t i = 0; i < 64; ++i) {
    if (i % 8 == 3) slow_down(folder.devices[i], "to_device.", 0.04);
    if (i >= 32) folder.devices[i].driver = "580.2";
    if (i >= 32) slow_down(folder.devices[i], "launch.", 0.2);
  }
  const Report report = report_on(folder);
  CHECK(report.kinds.size() == 1);
  CHECK(report.count(Standing::slow) == 0);
  std::string remarks;
  for (const Remark& each : report.remarks) remarks += each.text + "\n";
  CHECK(remarks.find("launch.round_trip: 32 and 32 devices") != std::string::npos);
  CHECK(remarks.find("separated by driver") != std::string::npos);
  CHECK(remarks.find("slot 3 is 4") != std::string::npos);
  folder.devices.resize(5);
  CHECK(report_on(folder).kinds.at(0).note.starts_with("too few for statistics"));
}

TEST_CASE("few devices are compared with a reference") {
  Folder folder = Maker(7).make(3);
  slow_down(folder.devices[1], "memory.read", 0.15);
  const std::vector<Device> reference = Maker(8).make(2).devices;
  const Report report = analyse(folder, reference, {});
  CHECK(standing_of(report, "uuid-1") == Standing::slow);
  CHECK(standing_of(report, "uuid-0") == Standing::usual);
}

TEST_CASE("drift is a change against the own history that the fleet does not share") {
  Folder folder;
  for (int month = 1; month <= 6; ++month) {
    Folder campaign = Maker(static_cast<std::uint64_t>(month)).make(16);
    for (Device& each : campaign.devices) {
      each.campaign = fmt::format("2026-0{}", month);
      each.started = fmt::format("2026-0{}-01T10:00:00Z", month);
      if (month == 6) slow_down(each, "launch.", 0.3);
    }
    if (month == 6) slow_down(campaign.devices[2], "memory.read", 0.06);
    for (Device& each : campaign.devices) folder.devices.push_back(std::move(each));
  }
  const Report report = report_on(folder);
  CHECK(report.campaign == "2026-06");
  CHECK(report.older == 80);
  std::vector<std::string> drift;
  for (const Remark& each : report.remarks) {
    if (each.about == "drift") drift.push_back(each.text);
  }
  REQUIRE(drift.size() == 2);
  CHECK(drift[0].starts_with("launch.round_trip: the whole fleet changed by -2"));
  CHECK(drift[1].starts_with("memory.read_bandwidth: a001 2 is 6"));
}

TEST_CASE("missing nodes, failed runs and bad files are named") {
  Folder folder = Maker(7).make(16);
  folder.bad_files.push_back({"x.json", "broken"});
  folder.devices[0].failure = "interrupted";
  const Report report = report_on(folder, {.nodes = expand_hosts("a[001-003],b")});
  CHECK(report.missing == std::vector<std::string>{"a003", "b"});
  CHECK(report.failed.size() == 2);
  CHECK(offending_hosts(report, false) == "b,a[001,003]");
  CHECK(report_on(folder, {.expected = 20}).missing_devices == 5);
}

TEST_CASE("host lists") {
  CHECK(expand_hosts("a[001-003,7],b").size() == 5);
  CHECK(expand_hosts("a[08-10]x") == std::vector<std::string>{"a08x", "a09x", "a10x"});
  CHECK_THROWS_AS(expand_hosts("a[1-"), std::invalid_argument);
  CHECK_THROWS_AS(expand_hosts("a[3-1]"), std::invalid_argument);
  CHECK_THROWS_AS(expand_hosts("a[1-99999999]"), std::invalid_argument);
  CHECK(compress_hosts({"a017", "a003", "a004", "a1", "a10", "login"}) ==
        "login,a[1,10],a[003-004,017]");
  CHECK(compress_hosts({"$(reboot)", "a b", "c;d", "e\x1b[31m"}).empty());
}

}  // namespace
}  // namespace clprobe::fleet
