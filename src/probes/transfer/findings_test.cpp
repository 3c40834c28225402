// SPDX-License-Identifier: Apache-2.0
// What made transfers say.
#include "probes/transfer/transfer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::transfer {

namespace {

constexpr std::uint64_t small_size = 64;
constexpr std::uint64_t large_size = mebibytes(64).count;

DeviceInfo gpu() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  return device;
}

const SeriesSpec& spec_of(std::string_view series) {
  return *std::find_if(all_series.begin(), all_series.end(),
                       [&](const SeriesSpec& each) { return each.name == series; });
}

Point measured(std::string_view series, std::uint64_t bytes, double start_ns, double rate) {
  const SeriesSpec& spec = spec_of(series);
  Point point;
  point.series = series;
  const Shape shape{.transfer_bytes = bytes, .direction = spec.direction, .way = spec.way};
  write_shape(shape, point);
  for (std::uint64_t visit = 0; visit < 3; ++visit) {
    Sample sample;
    sample.accesses = 100 * shape.moved_bytes();
    sample.host_ns = static_cast<std::uint64_t>(
        100 * (start_ns + static_cast<double>(shape.moved_bytes()) / rate));
    sample.visit = visit;
    point.samples.push_back(sample);
  }
  return point;
}

using Points = std::vector<Point>;

/// Adds points of a series at all sizes. Series without a start-up have only large sizes.
void add(Points& points, std::string_view series, double start_ns, double rate) {
  for (std::uint64_t bytes = small_size; bytes <= large_size; bytes *= 4) {
    if (is_of_large_ones(spec_of(series)) && bytes * large_part < large_size) continue;
    points.push_back(measured(series, bytes, start_ns, rate));
  }
}

void add_mapping(Points& points, std::string_view series, std::uint64_t bytes, double took_ns) {
  points.push_back(measured(series, bytes, 20e3 + took_ns, 5.0));
  points.back().facts.set(mapping_ns, static_cast<std::int64_t>(took_ns));
}

/// Returns points of a GPU whose link carries 50 bytes per ns to the device and 40 bytes per ns
/// back.
Points behind_link() {
  Points points;
  add(points, "to-device", 20e3, 10.0);
  add(points, "from-device", 25e3, 8.0);
  add(points, "to-device-pinned", 8e3, 50.0);
  add(points, "from-device-pinned", 9e3, 40.0);
  add(points, both_series, 12e3, 80.0);
  return points;
}

const Finding& found_in(const Findings& found, std::string_view name,
                        std::string_view series = {}) {
  const Finding* const finding = find_finding(found.findings, name, series);
  REQUIRE_MESSAGE(finding != nullptr, name << " of " << series);
  return *finding;
}

bool has(const Findings& found, std::string_view name, std::string_view series = {}) {
  return find_finding(found.findings, name, series) != nullptr;
}

}  // namespace

TEST_CASE("transfer: rate, start-up and the size for half of the rate") {
  const Findings found = analyse(gpu(), behind_link());
  CHECK(*found_in(found, "bandwidth", "to-device-pinned").value ==
        doctest::Approx(50e9).epsilon(0.001));
  CHECK(*found_in(found, "start_up", "to-device-pinned").value ==
        doctest::Approx(8e-6).scale(0).epsilon(0.001));
  CHECK(*found_in(found, "half_size", "to-device-pinned").value ==
        doctest::Approx(400e3).epsilon(0.002));
  for (const Finding& each : found.findings) {
    if (!each.value) continue;
    CHECK(*each.low <= *each.value);
    CHECK(*each.high >= *each.value);
  }
}

TEST_CASE("transfer: what the host copies is known to a third, what it begins to a tenth") {
  const auto width = [](const DeviceInfo& device, std::string_view name, std::string_view series) {
    const Findings found = analyse(device, behind_link());
    const Finding& finding = found_in(found, name, series);
    return (*finding.high - *finding.low) / *finding.value;
  };
  CHECK(width(gpu(), "start_up", "to-device-pinned") == doctest::Approx(0.2).epsilon(0.01));
  CHECK(width(gpu(), "bandwidth", "to-device") == doctest::Approx(0.64).epsilon(0.01));
  CHECK(width(gpu(), "start_up", "to-device") == doctest::Approx(0.64).epsilon(0.01));
  CHECK(width(gpu(), "bandwidth", "to-device-pinned") < 0.01);
  // On a CPU device the interval is narrower, since the reference points of a run show the
  // disturbances of the host.
  DeviceInfo cpu = gpu();
  cpu.type = DeviceType::cpu;
  CHECK(width(cpu, "bandwidth", "to-device") == doctest::Approx(0.24).epsilon(0.01));
  CHECK(width(cpu, "start_up", "to-device") == doctest::Approx(0.4).epsilon(0.01));
}

TEST_CASE("transfer: both ways at once beside each way alone") {
  const Findings found = analyse(gpu(), behind_link());
  CHECK(*found_in(found, "duplex").value == doctest::Approx(80.0 / 90.0).epsilon(0.002));
  // The result does not depend on which direction is faster.
  Points turned = behind_link();
  for (Point& each : turned) {
    if (each.series == "to-device-pinned") {
      each.series = "from-device-pinned";
    } else if (each.series == "from-device-pinned") {
      each.series = "to-device-pinned";
    }
  }
  CHECK(*found_in(analyse(gpu(), turned), "duplex").value ==
        doctest::Approx(80.0 / 90.0).epsilon(0.002));
  // With only one direction alone, the share is unknown.
  Points points = behind_link();
  std::erase_if(points, [](const Point& each) { return each.series == "from-device-pinned"; });
  CHECK_FALSE(has(analyse(gpu(), points), "duplex"));
}

TEST_CASE("transfer: each way at once has a rate of its own, and no start-up") {
  Points points = behind_link();
  add(points, "to-device-duplex", 10e3, 25.0);
  add(points, "from-device-duplex", 10e3, 11.0);
  const Findings found = analyse(gpu(), points);
  CHECK(*found_in(found, "one_way_bandwidth", "to-device-duplex").value ==
        doctest::Approx(25e9).epsilon(0.02));
  CHECK(*found_in(found, "one_way_bandwidth", "from-device-duplex").value ==
        doctest::Approx(11e9).epsilon(0.02));
  CHECK_FALSE(has(found, "start_up", "to-device-duplex"));
  CHECK_FALSE(has(found, "half_size", "to-device-duplex"));
}

TEST_CASE("transfer: without small transfers there is a rate, and why there is no start-up") {
  Points points;
  points.push_back(measured("to-device", large_size, 20e3, 10.0));
  const Findings found = analyse(gpu(), points);
  CHECK(found_in(found, "bandwidth").value.has_value());
  const Finding& start = found_in(found, "start_up");
  CHECK_FALSE(start.value.has_value());
  CHECK(start.reason == "no transfer is small enough for the start-up to dominate");
  CHECK_FALSE(has(found, "half_size"));
}

TEST_CASE(
    "transfer: a mapping that takes no time is a zero copy, and one that moves bytes is not") {
  const auto zero_copy_by = [](double mapping_rate) {
    Points points = behind_link();
    add_mapping(points, "to-device-map", large_size,
                static_cast<double>(large_size) / mapping_rate);
    return found_in(analyse(gpu(), points), "zero_copy").label;
  };
  CHECK(zero_copy_by(1e4) == is_zero_copy);
  // The threshold is three times the fastest call that moves bytes, 50 bytes per ns.
  CHECK(zero_copy_by(155.0) == is_zero_copy);
  CHECK(zero_copy_by(145.0) == is_no_zero_copy);
  CHECK(zero_copy_by(50.0) == is_no_zero_copy);
  // A mapping counts as a copy if one direction moves bytes, here the direction from the device.
  Points points = behind_link();
  add_mapping(points, "to-device-map", large_size, 1000.0);
  add_mapping(points, "from-device-map", large_size, static_cast<double>(large_size) / 50.0);
  const Findings found = analyse(gpu(), points);
  const Finding& finding = found_in(found, "zero_copy");
  CHECK(finding.label == is_no_zero_copy);
  CHECK(finding.series == "from-device-map");
}

TEST_CASE("transfer: a mapping is told from a copy by large transfers beside it alone") {
  // At 50 bytes per ns, transfers below 10 MB take less than 200 us.
  for (const std::uint64_t bytes : {mebibytes(1).count, mebibytes(4).count}) {
    Points points = behind_link();
    add_mapping(points, "to-device-map", bytes, 10.0);
    const Findings found = analyse(gpu(), points);
    const Finding& finding = found_in(found, "zero_copy");
    CHECK(finding.label.empty());
    CHECK(finding.reason == "no transfer is large enough to stand out from the overhead of a call");
  }
  Points large = behind_link();
  add_mapping(large, "to-device-map", mebibytes(16).count, 10.0);
  CHECK(found_in(analyse(gpu(), large), "zero_copy").label == is_zero_copy);
  // Without a large transfer there is no rate for comparison. A small transfer mostly consists of
  // start-up, and the copy in a mapping may not move bytes over the link.
  Points small;
  add_mapping(small, "to-device-map", large_size, static_cast<double>(large_size) / 50.0);
  small.push_back(measured("to-device", small_size, 20e3, 10.0));
  const Findings found = analyse(gpu(), small);
  CHECK(found_in(found, "zero_copy").label.empty());
  CHECK(found_in(found, "zero_copy").reason ==
        "no other transfer of this size was measured for comparison");
  CHECK_FALSE(has(analyse(gpu(), behind_link()), "zero_copy"));
}

TEST_CASE("transfer: what a kernel reads faster than the link carries is on the device") {
  const auto kept = [](const DeviceInfo& device, double rate) {
    Points points = behind_link();
    add(points, "to-device-kernel", 20e3, rate);
    const Findings found = analyse(device, points);
    const Finding* const finding = find_finding(found.findings, "host_memory");
    return finding == nullptr ? std::string("nothing") : finding->label;
  };
  CHECK(kept(gpu(), 2000.0) == kept_on_device);
  CHECK(kept(gpu(), 52.0) == kept_on_host);
  CHECK(kept(gpu(), 20.0) == kept_on_host);
  DeviceInfo cpu;
  cpu.type = DeviceType::cpu;
  CHECK(kept(cpu, 2000.0) == "nothing");
  DeviceInfo integrated = gpu();
  integrated.reported.set("host_unified_memory", std::int64_t{1});
  CHECK(kept(integrated, 2000.0) == "nothing");
  Points small = behind_link();
  small.push_back(measured("to-device-kernel", mebibytes(1).count, 20e3, 2000.0));
  CHECK(found_in(analyse(gpu(), small), "host_memory").label.empty());
}

TEST_CASE("transfer: a kernel in device memory has no rate or start-up of the link") {
  Points points = behind_link();
  add(points, "to-device-kernel", 20e3, 2000.0);
  add(points, "from-device-kernel", 20e3, 1000.0);
  ProbeResult result{.probe = "transfer", .points = points};
  analyse_again(probe, gpu(), result);
  result.card = probe.card(result);
  for (const char* const series : {"to-device-kernel", "from-device-kernel"}) {
    const Finding* const memory = find_finding(result.findings, "host_memory", series);
    REQUIRE(memory != nullptr);
    CHECK(memory->label == kept_on_device);
    CHECK(find_finding(result.findings, "device_bandwidth", series) != nullptr);
    for (const char* const name : {"bandwidth", "start_up", "half_size"}) {
      CHECK(find_finding(result.findings, name, series) == nullptr);
    }
  }
  const auto row = [&](std::string_view topic) {
    const auto found = std::find_if(result.card.rows.begin(), result.card.rows.end(),
                                    [&](const auto& each) { return each.topic == topic; });
    return found == result.card.rows.end() ? std::string() : found->text;
  };
  CHECK(row("to-device-kernel") == "1.59 TB/s in device memory");
  CHECK(row("from-device-kernel") == "956 GB/s in device memory");
  // The host memory of each direction is judged separately: the series that crosses the link has
  // all findings of a link.
  std::erase_if(points, [](const Point& each) { return each.series == "from-device-kernel"; });
  add(points, "from-device-kernel", 20e3, 40.0);
  const Findings found = analyse(gpu(), points);
  CHECK(found_in(found, "host_memory", "from-device-kernel").label == kept_on_host);
  CHECK(has(found, "bandwidth", "from-device-kernel"));
  CHECK(has(found, "half_size", "from-device-kernel"));
}

TEST_CASE("transfer: failed points and those of other versions count for nothing") {
  Points points = behind_link();
  for (Point& each : points) {
    if (each.series == "to-device") each.failure = "clEnqueueWriteBuffer: out of memory";
  }
  points.push_back(measured("from-device", large_size, 0.0, 1000.0));
  points.back().parameters = {};
  const Findings found = analyse(gpu(), points);
  CHECK_FALSE(has(found, "bandwidth", "to-device"));
  CHECK(*found_in(found, "bandwidth", "from-device").value == doctest::Approx(8e9).epsilon(0.01));
  CHECK(analyse(gpu(), {}).findings.empty());
}

TEST_CASE("transfer: the card has both ways, what was not seen, and fits a narrow terminal") {
  Points points = behind_link();
  add_mapping(points, "to-device-map", large_size, 1000.0);
  add(points, "to-device-duplex", 10e3, 25.0);
  ProbeResult result{.probe = "transfer", .unit = Unit::bytes_per_second, .points = points};
  analyse_again(probe, gpu(), result);
  result.findings.push_back(not_measured("bandwidth", "to-device-svm", "the device has none"));
  result.card = probe.card(result);
  REQUIRE(result.card.lines.size() == 1);
  CHECK(result.card.lines[0].topic == "transfer");
  CHECK(result.card.lines[0].text ==
        "host to device 50.0 GB/s, back 40.0, both at once 80.0; ordinary memory 10.0 and 8.00; "
        "zero copy");
  REQUIRE(result.card.rows.size() == 7);
  CHECK(result.card.rows[0].topic == "to-device");
  CHECK(result.card.rows[0].text == "10.0 GB/s, start-up 20.0 µs, half the bandwidth at 195 KiB");
  CHECK(result.card.rows[6].text == "24.8 GB/s");
  CHECK(result.card.unseen.empty());
  CHECK(probe.card({}).lines.empty());
}

TEST_CASE("transfer: a unit that changes is said, and what was not measured is left out") {
  ProbeResult result;
  const auto add = [&](std::string_view series, double rate) {
    result.findings.push_back(
        finding_of("bandwidth", series, "bytes_per_second", "", rate, rate, rate));
  };
  const auto text = [&] { return probe.card(result).lines.at(0).text; };
  add("from-device", 8e6);
  CHECK(text() == "back 8.00 MB/s (ordinary memory)");
  add("to-device", 9e6);
  CHECK(text() == "host to device 9.00 MB/s, back 8.00 (ordinary memory)");
  add("to-device-pinned", 5e9);
  CHECK(text() == "host to device 5.00 GB/s; ordinary memory 9.00 MB/s and 8.00");
  add("from-device-pinned", 6e8);
  CHECK(text() == "host to device 5.00 GB/s, back 600 MB/s; ordinary memory 9.00 and 8.00");
  result.findings.erase(result.findings.begin());
  CHECK(text() == "host to device 5.00 GB/s, back 600 MB/s; ordinary memory there 9.00");
}

DeviceInfo gpu_on_link() {
  DeviceInfo device = gpu();
  device.reported.set("max_link", std::string("PCIe 5.0 x16"));
  return device;
}

void set_link(Point& point, std::string_view link) {
  point.facts.set(link_fact, std::string(link));
}

TEST_CASE("transfer: the link, and the share of it that transfers to the device reach") {
  Points points;
  // An H200 transfers 55.3 GB/s over a link of 32 GT/s and 16 lanes, which carries 63.015 GB/s.
  add(points, "to-device-pinned", 8e3, 55.3);
  set_link(points[points.size() - 2], "PCIe 1.0 x16");  // idle until its first transfers
  set_link(points.back(), "PCIe 5.0 x16");
  const Findings found = analyse(gpu_on_link(), points);
  CHECK(found_in(found, "link").label == "PCIe 5.0 x16");
  CHECK(found_in(found, "link").source == Source::reported);
  const Finding& share = found_in(found, "share_of_link");
  CHECK(*share.value == doctest::Approx(55.3 / 63.015).epsilon(0.005));
  CHECK(found.warnings.empty());
  ProbeResult result{.points = points, .findings = found.findings};
  const Card card = probe.card(result);
  CHECK(card.lines.at(0).text == "host to device 55.3 GB/s; to the device 88 % of PCIe 5.0 x16");
  CHECK(card.rows.at(0).text.starts_with("55.3 GB/s, 88 % of PCIe 5.0 x16, "));
  // The interval stays that of the bandwidth.
  for (Finding& each : result.findings) {
    if (each.name == "bandwidth") each.high = 1.25 * *each.value;
  }
  combine(result.findings);
  CHECK(*find_finding(result.findings, "share_of_link")->high ==
        doctest::Approx(1.25 * *share.value));
}

TEST_CASE("transfer: a link below its maximum under load is a warning") {
  struct Row {
    std::string_view link;
    double gb_per_s;  // rate of the link
    bool is_narrow;
  };
  for (const Row& row : {Row{"PCIe 5.0 x16", 63.015, false}, Row{"PCIe 4.0 x16", 31.508, true},
                         Row{"PCIe 5.0 x8", 31.508, true}, Row{"PCIe 3.0 x16", 15.754, true},
                         Row{"PCIe 2.0 x16", 8.0, true}, Row{"PCIe 1.0 x4", 1.0, true},
                         Row{"PCIe 6.0 x16", 121.0, false}}) {
    CAPTURE(row.link);
    Points points;
    add(points, "to-device-pinned", 8e3, 0.8 * row.gb_per_s);
    set_link(points.back(), row.link);
    const Findings found = analyse(gpu_on_link(), points);
    CHECK(*found_in(found, "share_of_link").value == doctest::Approx(0.8).epsilon(0.005));
    REQUIRE(found.warnings.size() == (row.is_narrow ? 1U : 0U));
    if (!row.is_narrow) continue;
    CHECK(found.warnings[0].code == "narrow_link");
    CHECK(found.warnings[0].facts.text_or("max_link", "") == "PCIe 5.0 x16");
  }
}

TEST_CASE("transfer: without a link there is a reason, or nothing in older runs") {
  Points points;
  add(points, "to-device-pinned", 8e3, 400.0);
  CHECK(find_finding(analyse(gpu(), points).findings, "link") == nullptr);
  for (const std::string_view hidden :
       {unknown_link, std::string_view("PCIe 8.0 x16"), std::string_view("PCIe 5.0 x16 lanes")}) {
    set_link(points.back(), hidden);
    const Findings found = analyse(gpu_on_link(), points);
    CHECK(found_in(found, "link").label.empty());
    CHECK(found_in(found, "link").reason ==
          "neither NVML nor the system reports the link; virtual machines often hide it");
    CHECK(find_finding(found.findings, "share_of_link") == nullptr);
    CHECK(found.warnings.empty());
  }
  // A device on NVLink-C2C also has a PCI Express link.
  set_link(points.back(), "PCIe 5.0 x16");
  const Findings found = analyse(gpu_on_link(), points);
  CHECK_FALSE(found_in(found, "share_of_link").value.has_value());
  CHECK(found_in(found, "share_of_link").reason ==
        "transfers exceed this link's peak rate, so they take another path");
}

}  // namespace clprobe::transfer
