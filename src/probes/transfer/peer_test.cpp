// SPDX-License-Identifier: Apache-2.0
// Between devices: what is planned, and what it says.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/plans_test.hpp"
#include "probes/transfer/transfer.hpp"

namespace clprobe::transfer {

namespace {

DeviceInfo one_of(std::int64_t devices, const std::string& platform_index) {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.name = "card";
  device.compute_units = 132;
  device.max_work_group_size = 1024;
  device.global_memory = gibibytes(140);
  device.max_allocation = gibibytes(35);
  device.platform_index = platform_index;
  device.reported.set("devices_on_platform", devices);
  return device;
}

Request for_series(std::vector<std::string> series) {
  Request request;
  request.series = std::move(series);
  return request;
}

std::vector<std::string> names_in(const Plan& plan) {
  std::vector<std::string> names;
  for (const auto& entry : shapes_by_series<Shape>(plan)) names.push_back(entry.first);
  return names;
}

using Points = std::vector<Point>;

Point timed(const std::string& series, Shape shape, double start_ns, double rate) {
  Point point;
  point.series = series;
  write_shape(shape, point);
  for (std::uint64_t visit = 0; visit < 3; ++visit) {
    Sample sample;
    sample.accesses = 100 * shape.transfer_bytes;
    sample.host_ns = static_cast<std::uint64_t>(
        100 * (start_ns + static_cast<double>(shape.transfer_bytes) / rate));
    sample.visit = visit;
    point.samples.push_back(sample);
  }
  return point;
}

void add_all_sizes(Points& points, const std::string& series, Shape shape, double rate) {
  for (std::uint64_t bytes = 64; bytes <= mebibytes(64).count; bytes *= 4) {
    shape.transfer_bytes = bytes;
    points.push_back(timed(series, shape, 10e3, rate));
  }
}

void add_peer(Points& points, std::uint64_t peer, double rate, const std::string& name = "card",
              bool shares_memory = false) {
  const std::size_t first = points.size();
  const std::string number = std::to_string(peer);
  add_all_sizes(points, "to-peer-" + number,
                {.direction = Direction::to_peer, .way = Way::peer, .peer = peer}, rate);
  add_all_sizes(points, "from-peer-" + number,
                {.direction = Direction::from_peer, .way = Way::peer, .peer = peer}, rate);
  for (std::size_t i = first; i < points.size(); ++i) {
    points[i].facts.set(peer_name, name);
    points[i].facts.set(peer_shares_memory, std::int64_t{shares_memory});
  }
}

/// Returns points of a link that carries 50 bytes per ns to the device and 40 bytes per ns back.
/// Through the host, one direction after the other, the rate is 22.2 bytes per ns.
Points behind_link_of_own() {
  Points points;
  add_all_sizes(points, "to-device-pinned", {.direction = Direction::to_device, .way = Way::pinned},
                50.0);
  add_all_sizes(points, "from-device-pinned",
                {.direction = Direction::from_device, .way = Way::pinned}, 40.0);
  return points;
}

Finding path_by(const DeviceInfo& device, const Points& points) {
  const Findings found = analyse(device, points);
  const Finding* const path = find_finding(found.findings, "peer_path", "to-peer-1");
  REQUIRE(path != nullptr);
  return *path;
}

Finding path_at(double rate) {
  Points points = behind_link_of_own();
  add_peer(points, 1, rate);
  return path_by(one_of(2, "0:0"), points);
}

}  // namespace

TEST_CASE("transfer: each other device of the platform has series of its own, this one none") {
  CHECK(peers_of(one_of(4, "1:2")) == std::vector<std::uint64_t>{0, 1, 3});
  CHECK(peers_of(one_of(1, "0:0")).empty());
  CHECK(peers_of(one_of(0, "0:0")).empty());
  CHECK(peers_of(one_of(1'000'000, "0:0")).size() == 63);
  CHECK(peers_of({}).empty());
  const Plan plan = probe.plan(one_of(3, "0:1"), for_series({"to-peer", "from-peer"}));
  CHECK(names_in(plan) ==
        std::vector<std::string>{"from-peer-0", "from-peer-2", "to-peer-0", "to-peer-2"});
  for (const Point& each : plan.points) {
    const auto shape = shape_of<Shape>(each);
    CHECK(each.series.ends_with("-" + std::to_string(shape.peer)));
    CHECK(shape.way == Way::peer);
    CHECK(shape.buffer_bytes == shape.transfer_bytes);
    CHECK(each.series.starts_with(shape.direction == Direction::to_peer ? "to-" : "from-"));
    CHECK_FALSE(probe.find_problem(each).has_value());
  }
}

TEST_CASE("transfer: between devices there are few sizes, as large ones as all") {
  const auto sizes = [](std::int64_t devices, const Request& request) {
    const Plan plan = probe.plan(one_of(devices, "0:0"), request);
    const auto shapes = shapes_by_series<Shape>(plan);
    std::vector<std::uint64_t> found;
    for (const Shape& each : shapes.at("to-peer-1")) found.push_back(each.transfer_bytes);
    std::sort(found.begin(), found.end());
    return found;
  };
  const std::vector<std::uint64_t> few{64, 256, kibibytes(1).count, kibibytes(256).count,
                                       mebibytes(64).count};
  CHECK(sizes(2, {}) == few);
  CHECK(sizes(3, {}) == few);
  CHECK(sizes(2, with_effort(Effort::quick)) == few);
  CHECK(sizes(2, with_effort(Effort::thorough)).size() == 23);
  CHECK(sizes(3, with_effort(Effort::thorough)).size() == 6);
  // Requested sizes are all measured.
  CHECK(sizes(3, with_sizes({{kibibytes(1), mebibytes(16), 0.0}})).size() == 5);
}

TEST_CASE("transfer: other devices come last, their large transfers first") {
  const Plan plan = probe.plan(one_of(3, "0:0"), {});
  const auto is_peer = [](const Point& each) { return shape_of<Shape>(each).way == Way::peer; };
  const auto first = std::find_if(plan.points.begin(), plan.points.end(), is_peer);
  CHECK(std::all_of(first, plan.points.end(), is_peer));
  REQUIRE(plan.points.end() - first == 20);
  CHECK(std::all_of(first, first + 4, [](const Point& each) {
    return shape_of<Shape>(each).transfer_bytes == mebibytes(64).count;
  }));
  CHECK(shape_of<Shape>(*(first + 4)).transfer_bytes == 64);
  CHECK(shape_of<Shape>(plan.points.back()).transfer_bytes == kibibytes(256).count);
}

TEST_CASE("transfer: a device that is alone on its platform says so to those who ask") {
  const Plan all = probe.plan(one_of(1, "0:0"), {});
  CHECK(find_finding(all.findings, "bandwidth", "to-peer") == nullptr);
  const Plan asked = probe.plan(one_of(1, "0:0"), for_series({"to-peer"}));
  CHECK(asked.points.empty());
  const Finding* const finding = find_finding(asked.findings, "bandwidth", "to-peer");
  REQUIRE(finding != nullptr);
  CHECK(finding->reason == "the platform has no other device");
}

TEST_CASE("transfer: memory holds with many others, too") {
  Request request;
  request.max_memory = mebibytes(100);
  CHECK(probe.plan(one_of(8, "0:0"), request).memory <= mebibytes(100));
  const std::vector<SeriesSpec> all(all_series.begin(), all_series.end());
  CHECK(count_buffers(all, one_of(8, "0:0")) == count_buffers(all, one_of(1, "0:0")) + 14);
}

TEST_CASE("transfer: what is faster than the link to the host goes directly") {
  CHECK(path_at(390.0).label == path_direct);
  CHECK(path_at(56.0).label == path_direct);
  CHECK(path_at(54.0).label.empty());
}

TEST_CASE("transfer: what takes the time of both ways goes through the host") {
  CHECK(path_at(22.2).label == path_by_host);
  CHECK(path_at(18.0).label == path_by_host);
  CHECK(path_at(26.5).label == path_by_host);
  CHECK(path_at(27.0).label.empty());
  CHECK(path_at(27.0).reason.starts_with("the rate fits two paths: pipelined through the host"));
  CHECK(path_at(17.5).reason == "the transfer is slower than a transfer through the host would be");
}

TEST_CASE("transfer: a path is told where the links of both are known, and where there is one") {
  Points points = behind_link_of_own();
  add_peer(points, 1, 390.0, "another card");
  CHECK(path_by(one_of(2, "0:0"), points)
            .reason.starts_with("the other device is a different model"));
  points.clear();
  add_peer(points, 1, 390.0);
  CHECK(path_by(one_of(2, "0:0"), points).reason ==
        "no transfers to and from the host were measured for comparison");
  points = behind_link_of_own();
  add_peer(points, 1, 390.0, "card", true);
  CHECK(path_by(one_of(2, "0:0"), points).reason ==
        "one of the two devices uses the host's memory");
  DeviceInfo cpu = one_of(2, "0:0");
  cpu.type = DeviceType::cpu;
  CHECK(path_by(cpu, points).label == path_in_memory);
}

TEST_CASE("transfer: each other device has rate, start-up and path, and the card one line") {
  Points points = behind_link_of_own();
  add_peer(points, 1, 390.0);
  add_peer(points, 2, 380.0);
  ProbeResult result{.probe = "transfer", .unit = Unit::bytes_per_second, .points = points};
  const DeviceInfo device = one_of(3, "0:0");
  analyse_again(probe, device, result);
  result.card = probe.card(result);
  for (const char* const series : {"to-peer-1", "from-peer-1", "to-peer-2", "from-peer-2"}) {
    CAPTURE(series);
    const Finding* const rate = find_value(result.findings, "bandwidth", series);
    REQUIRE(rate != nullptr);
    CHECK(*rate->value ==
          doctest::Approx(std::string(series).ends_with("1") ? 390e9 : 380e9).epsilon(0.01));
    const Finding* const start = find_value(result.findings, "start_up", series);
    REQUIRE(start != nullptr);
    CHECK(*start->value == doctest::Approx(10e-6).scale(0).epsilon(0.01));
  }
  REQUIRE(result.card.lines.size() == 2);
  CHECK(result.card.lines[1].topic == "other devices");
  CHECK(result.card.lines[1].text ==
        "to 2 others: 380 GB/s to 390 GB/s, direct; from 2 others: 380 GB/s to 390 GB/s, direct");
}

TEST_CASE("transfer: points between devices of other versions and failed ones say nothing") {
  Points points = behind_link_of_own();
  add_peer(points, 1, 390.0);
  for (Point& each : points) {
    if (each.series == "to-peer-1") each.failure = "no context";
    if (each.series == "from-peer-1") each.parameters = {};
  }
  const Findings found = analyse(one_of(2, "0:0"), points);
  CHECK(find_finding(found.findings, "peer_path") == nullptr);
}

}  // namespace clprobe::transfer
