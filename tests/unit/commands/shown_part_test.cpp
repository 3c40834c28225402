// SPDX-License-Identifier: Apache-2.0
#include "app/commands/stored_runs.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "app/cli/options.hpp"
#include "example_runs.hpp"

namespace clprobe::commands {
namespace {

std::string refusal(std::vector<Run> runs, const std::vector<std::string>& probes,
                    const std::string& series) {
  try {
    keep_shown_part(runs, probes, series);
  } catch (const cli::UsageError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("of runs the probes and series that were asked for are left") {
  const std::vector<Run> all{example_gpu_run(), example_broken_run()};
  std::vector<Run> runs = all;
  keep_shown_part(runs, {}, "");
  CHECK(runs == all);
  keep_shown_part(runs, {"stride"}, "");
  REQUIRE(runs.size() == 1);  // the other run has no such probe
  REQUIRE(runs[0].results.size() == 1);
  CHECK(runs[0].results[0].probe == "stride");

  runs = {example_gpu_run()};
  keep_shown_part(runs, {"latency"}, "local,constant-program");
  REQUIRE(runs.size() == 1);
  REQUIRE(!runs[0].results[0].points.empty());
  for (const Point& each : runs[0].results[0].points) {
    CHECK((each.series == "local" || each.series == "constant-program"));
  }
  for (const Finding& each : runs[0].results[0].findings) {
    CHECK((each.series == "local" || each.series == "constant-program"));
  }
}

TEST_CASE("how two probes disagree is told with either of them, what disturbed the run with all") {
  const auto codes_with = [](const std::string& probe) {
    Run run = example_gpu_run();
    run.warnings = {{"end_not_shared", {{"probe", "bandwidth"}, {"other_probe", "latency"}}},
                    {"reference_changed", {{"probe", "stride"}}}};
    run.results = {{.probe = "bandwidth"}, {.probe = "latency"}, {.probe = "banks"}};
    std::vector<Run> runs{run};
    keep_shown_part(runs, {probe}, "");
    std::vector<std::string> codes;
    for (const Warning& each : runs.at(0).warnings) codes.push_back(each.code);
    return codes;
  };
  const std::vector<std::string> both{"end_not_shared", "reference_changed"};
  CHECK(codes_with("bandwidth") == both);
  CHECK(codes_with("latency") == both);
  CHECK(codes_with("banks") == std::vector<std::string>{"reference_changed"});
}

TEST_CASE("what no run has is refused with what there is") {
  const std::vector<Run> runs{example_gpu_run()};
  CHECK(refusal(runs, {"banks"}, "") == "no run contains the probe 'banks': choose from 'latency'");
  CHECK(refusal(runs, {}, "globall")
            .starts_with(
                "no run contains the series 'globall': choose from 'global, constant-argument"));
  CHECK(refusal(runs, {}, "global,").starts_with("no run contains the series ''"));
  CHECK(refusal(runs, {"latency"}, "global").empty());
}

}  // namespace clprobe::commands
