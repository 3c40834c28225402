// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/inflight.hpp"

#include <doctest/doctest.h>

#include "probes/inflight/loaded.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::inflight {

TEST_CASE("the largest bound stands on the card, and the limit where it was seen") {
  ProbeResult result;
  const auto add = [&](std::string_view name, std::string_view series, double value,
                       std::string_view unit) {
    result.findings.push_back(finding_of(name, series, unit, "", value, value, value));
  };
  add("requests_at_least", unit_series, 349.0, "count");
  add("in_flight_at_least", unit_series, 548.0, "count");
  add("bytes_in_flight_at_least", device_series, 1048576.0, "bytes");
  Card bounds = card(result);
  REQUIRE(bounds.lines.size() == 1);
  CHECK(bounds.lines[0].text == "at least 548 loads per compute unit, at least 1 MiB (streams)");
  CHECK(bounds.unseen.empty());
  add("requests", unit_series, 128.0, "count");
  result.findings.push_back(finding_of("limit", unit_series, "", ""));
  result.findings.back().label = "MSHR";
  const Card limit = card(result);
  CHECK(limit.lines[0].text == "128 requests per compute unit (MSHR), at least 1 MiB (streams)");
  CHECK(limit.unseen.empty());
  CHECK(card({}).lines.empty());
  result.findings.erase(result.findings.begin(), result.findings.end() - 1);
  CHECK(card(result).unseen == std::vector<std::string>{"loads in flight"});
}

TEST_CASE("a limit of instructions that load is one as well") {
  ProbeResult result;
  const auto add = [&](std::string_view name, double value) {
    result.findings.push_back(finding_of(name, unit_series, "count", "", value, value, value));
  };
  add("in_flight_at_least", 1373.0);
  add("instructions", 44.0);
  result.findings.push_back(finding_of("limit", unit_series, "", ""));
  result.findings.back().label = "PRT";
  const Card found = card(result);
  CHECK(found.lines[0].text == "44 load instructions per compute unit (PRT)");
  CHECK(found.unseen.empty());
}

TEST_CASE("the loaded latency is drawn over the bandwidth of lines that streamed") {
  ProbeResult result;
  CHECK(card(result).plots.size() == 1);  // the plot of chains is drawn without points
  result.points.push_back(
      {.series = std::string(loaded_traffic_series), .parameters = {{"line_bytes", 64}}});
  const Card with_loaded = card(result);
  REQUIRE(with_loaded.plots.size() == 2);
  CHECK(with_loaded.plots[0].series == std::vector<std::string>{"loaded-latency"});
  CHECK(with_loaded.plots[0].across == loaded_traffic_series);
  CHECK(with_loaded.plots[0].across_bytes == 64.0);
}

}  // namespace clprobe::inflight
