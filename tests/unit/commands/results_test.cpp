// SPDX-License-Identifier: Apache-2.0
#include "app/commands/results.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/commands/commands.hpp"
#include "system/api/files.hpp"
#include "unit/golden.hpp"

namespace clprobe::commands {

TEST_CASE("a picture is of the only probe, or of the one that its name begins with") {
  const std::array<std::string, 3> probes{"latency", "bandwidth", "bandwidth_local"};
  const std::span all(probes);
  CHECK(pictured_probe("x/any.svg", all.first(1)) == "latency");
  CHECK(pictured_probe("-", all.first(1)) == "latency");
  CHECK(pictured_probe("any.svg", {}).empty());
  CHECK(pictured_probe("x/latency.svg", all) == "latency");
  CHECK(pictured_probe("latency-h200.svg", all) == "latency");
  CHECK(pictured_probe("bandwidth.v2.svg", all) == "bandwidth");
  CHECK(pictured_probe("latency_2.svg", all) == "latency");
  CHECK(pictured_probe("bandwidth_local.svg", all) == "bandwidth_local");
  for (const char* const path : {"latencies.svg", "-", "x.svg", "latency/x.svg"}) {
    CAPTURE(path);
    CHECK_THROWS_WITH_AS(
        pictured_probe(path, all),
        doctest::Contains("name one, as in `clprobe report FILE latency`, or begin the file name "
                          "with one, as in latency.svg or latency-2.svg"),
        cli::UsageError);
  }
}

TEST_CASE("a picture is of a chart that a probe of the run declares, if its name begins with it") {
  const std::array<std::string, 2> probes{"latency", "bandwidth"};
  const std::span all(probes);
  for (const char* const path : {"x/roofline.svg", "roofline-h200.svg"}) {
    const std::optional<PicturedPlot> plot = pictured_plot(path, all);
    REQUIRE(plot);
    CHECK(plot->probe == "bandwidth");
    CHECK(plot->plot.title == "roofline");
  }
  CHECK_FALSE(pictured_plot("bandwidth.svg", all));
  CHECK_FALSE(pictured_plot("rooflines.svg", all));
  CHECK_FALSE(pictured_plot("roofline.svg", all.first(1)));
}

TEST_CASE("a stored run without the chart of a picture is refused, with what the chart needs") {
  const system::TemporaryFolder own;
  cli::Options options;
  options.command = cli::Command::report;
  options.outputs = {{own.path() + "/roofline.svg", find_writer("svg")}};
  Run run;
  run.results.push_back({.probe = "bandwidth"});
  CHECK_THROWS_WITH_AS(
      Results(options).finish({&run, 1}),
      doctest::Contains("roofline.svg: no run has a roofline, which needs bandwidths measured by "
                        "`bandwidth`, and arithmetic peaks measured by `compute`: measure both in "
                        "one run"),
      cli::UsageError);
}

TEST_CASE("a target that fails is told of once, and costs neither the others nor the renderings") {
  const system::TemporaryFolder own;
  const std::string& folder = own.path();
  cli::Options options;
  options.command = cli::Command::report;
  options.outputs = {{folder + "/gone/a.json", find_writer("json")},
                     {"/dev/full", find_writer("csv")},
                     {folder + "/b.md", find_writer("markdown")},
                     {folder + "/kept.json", find_writer("json")}};
  std::filesystem::create_directory(folder + "/gone");
  std::vector<std::string> told;
  Results results(options, [&](std::string_view message) { told.emplace_back(message); });
  std::filesystem::remove(folder + "/gone");
  for (int saved = 0; saved < 3; ++saved) results.save({});
  CHECK(told.size() == 1);

  const auto render = [](const Writer& format, const TableStyle&) -> std::string {
    if (format.name == "markdown") throw std::runtime_error("no memory for it");
    return format.name == "table" ? "" : "text";  // the table goes to stdout
  };
  CHECK(results.finish(render) == exit_failed);
  REQUIRE(told.size() == 3);
  CHECK(told[0].find("gone/a.json': No such file or directory") != std::string::npos);
  CHECK(told[1].find("b.md': no memory for it") != std::string::npos);
  CHECK(told[2].find("'/dev/full': No space left on device") != std::string::npos);
  CHECK(read_text(folder + "/kept.json") == "text");

  // What fails at first and is whole at last is no failure.
  std::filesystem::create_directory(folder + "/gone");
  options.outputs.resize(1);
  Results again(options, [&](std::string_view message) { told.emplace_back(message); });
  std::filesystem::remove(folder + "/gone");
  again.save({});
  CHECK(told.size() == 4);
  std::filesystem::create_directory(folder + "/gone");
  CHECK(again.finish(render) == exit_ok);
}

}  // namespace clprobe::commands
