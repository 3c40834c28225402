// SPDX-License-Identifier: Apache-2.0
#include "imported.hpp"

namespace clprobe {
namespace {

const Finding& level(const Run& run, std::string_view series, int number, std::string_view name,
                     std::size_t result = 0) {
  for (const Finding& each : run.results.at(result).findings) {
    if (each.series == series && each.level == number && each.name == name) return each;
  }
  REQUIRE_MESSAGE(false, series, " ", number, " ", name);
  return run.results.at(result).findings.front();
}

std::string with_l1(std::string_view l1, std::string_view clock = R"({"unit":"kHz","value":1e6})") {
  return std::string(R"({"general":{"clockRate":)") + std::string(clock) + R"(},"memory":{"l1":)" +
         std::string(l1) + "}}";
}

}  // namespace

TEST_CASE("mt4g: what `latency` finds as well are levels of it, by the clock of the file") {
  const std::vector<Run> runs = import_runs(example_file("mt4g.json"), hints());
  const Run& run = runs.at(0);
  CHECK(run.imported->tool == "mt4g 5cfff0a");
  CHECK(run.device.name == "Example GPU");
  CHECK(run.device.driver == "12020");
  CHECK(run.device.compute_units == 40);
  CHECK(level(run, "global", 1, "step").label == "cache");
  CHECK(level(run, "global", 3, "step").label == "memory");
  CHECK(to_json(runs).find("somewhere") == std::string::npos);  // the name of the host
  REQUIRE(run.results.size() == 3);
  CHECK(run.results[0].probe == "latency");
  CHECK(run.results[1].probe == "mt4g");
  CHECK(run.results[2].probe == "bandwidth");
  const Finding& l2 = level(run, "global", 2, "latency");
  CHECK(l2.value == doctest::Approx(125e-9).scale(0));  // 250 cycles, the median; the mean is 248
  CHECK(l2.better == Better::less);
  CHECK_FALSE(l2.low.has_value());
  CHECK(level(run, "global", 2, "cycles").value == 250.0);
  CHECK(level(run, "global", 3, "latency").value == doctest::Approx(310e-9).scale(0));
  CHECK(level(run, "global", 1, "capacity").value == 131072.0);
  CHECK(level(run, "global", 1, "capacity").method == "mt4g, confidence 0.97");
  // The part that one unit sees, not the 48 MiB that the driver reports.
  CHECK(level(run, "global", 2, "capacity").value == 25165824.0);
  CHECK(level(run, "constant-program", 1, "latency").value == doctest::Approx(10e-9).scale(0));
  const Finding& beyond = level(run, "constant-program", 2, "capacity");
  CHECK_FALSE(beyond.value.has_value());
  CHECK(beyond.reason == "mt4g reports no confidence in the value of 65537 bytes");
  CHECK(level(run, "local", 1, "latency").value == doctest::Approx(15e-9).scale(0));
  CHECK(level(run, "image", 1, "latency").value == doctest::Approx(20e-9).scale(0));
}

TEST_CASE("mt4g: what `bandwidth` finds as well has the levels of latency") {
  const std::vector<Run> runs = import_runs(example_file("mt4g.json"), hints());
  const Run& run = runs.at(0);
  CHECK(run.results.at(2).findings.size() == 5);
  constexpr double gibi = 1073741824.0;
  CHECK(level(run, "write-one-unit", 1, "bandwidth", 2).value == doctest::Approx(90.0 * gibi));
  CHECK(level(run, "read-one-unit", 1, "bandwidth", 2).value == doctest::Approx(200.0 * gibi));
  const Finding& l2 = level(run, "read", 2, "bandwidth", 2);
  CHECK(l2.value == doctest::Approx(4000.0 * gibi));
  CHECK(l2.unit == "bytes_per_second");
  CHECK(l2.better == Better::more);
  CHECK_FALSE(l2.low.has_value());
  CHECK(level(run, "read", 3, "bandwidth", 2).value == doctest::Approx(1500.0 * gibi));
  CHECK(level(run, "write", 2, "bandwidth", 2).value == doctest::Approx(3000.0 * gibi));
  // Without a latency there is no level, and nothing to set beside one.
  const std::vector<Run> others =
      import_runs(with_l1(R"({"readBandwidthPerCU":{"measuredBandwidth":200.0}})"), hints());
  REQUIRE(others.at(0).results.size() == 1);
  CHECK(others.at(0).results[0].probe == "mt4g");
  CHECK(finding(others.at(0), "l1", "read_bandwidth_per_unit").value ==
        doctest::Approx(200.0 * gibi));
}

TEST_CASE("mt4g: bandwidths of other memories are findings of its own") {
  const std::string text =
      R"({"general":{"clockRate":{"unit":"kHz","value":1e6}},"memory":{"shared":{)"
      R"("latency":{"p50":30.0,"unit":"cycles"},"readBandwidth":{"value":100.0,"unit":"GiB/s"}}}})";
  const std::vector<Run> runs = import_runs(text, hints());
  REQUIRE(runs.at(0).results.size() == 2);
  CHECK(runs[0].results[1].probe == "mt4g");
  CHECK(finding(runs[0], "shared memory", "read_bandwidth").value ==
        doctest::Approx(100.0 * 1073741824.0));
}

TEST_CASE("mt4g: the rest are findings of its own") {
  const std::vector<Run> runs = import_runs(example_file("mt4g.json"), hints());
  const Run& run = runs.at(0);
  CHECK(finding(run, "l1", "line_size").value == 128.0);
  CHECK(finding(run, "l1", "line_size").source == Source::measured);
  CHECK(finding(run, "l2", "line_size").source == Source::reported);
  CHECK(finding(run, "l1", "fetch_granularity").value == 32.0);
  CHECK(finding(run, "l1", "miss_penalty").value == doctest::Approx(90.25e-9).scale(0));
  CHECK(finding(run, "l1", "amount_per_unit").value == 1.0);
  CHECK(finding(run, "read only", "time").value == doctest::Approx(18e-9).scale(0));
}

TEST_CASE("mt4g: forms that versions differ in") {
  const auto only = [](std::string_view l1) {
    return import_runs(with_l1(l1), hints()).at(0).results.at(0).findings.at(0);
  };
  CHECK(only(R"({"missPenalty":32.5})").value == doctest::Approx(32.5e-9).scale(0));
  CHECK(only(R"({"latency":{"mean":30.5,"unit":"cycles"}})").value ==
        doctest::Approx(30.5e-9).scale(0));
  // Without a latency there is no level.
  const Finding size = only(R"({"size":{"confidence":0.9,"size":4096}})");
  CHECK(size.series == "l1");
  CHECK_FALSE(size.level.has_value());
}

TEST_CASE("mt4g: the person's clock counts, and without one there are no seconds") {
  const std::string l1 = R"({"latency":{"p50":30.0,"unit":"cycles"}})";
  CHECK(refusal(with_l1(l1, "{}")) ==
        "general.clockRate: expected a rate above 0 in kHz: add --clock-rate, as in --clock-rate "
        "1.98GHz");
  const std::vector<Run> runs = import_runs(with_l1(l1, "{}"), clock_hints(2e9));
  CHECK(level(runs.at(0), "global", 1, "latency").value == doctest::Approx(15e-9).scale(0));
  CHECK(refusal(with_l1(R"({"latency":{"p50":30.0,"unit":"ns"}})")) ==
        "memory: expected latencies in cycles, found 'ns'");
  CHECK(refusal(with_l1("{}")) == "memory: expected mt4g's results for l1, l2 or main, found none");
}

}  // namespace clprobe
