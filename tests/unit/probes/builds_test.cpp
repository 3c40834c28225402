// SPDX-License-Identifier: Apache-2.0
// What probes say that their points are built from, beside what a device built in a stored run.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "clprobe/registry.hpp"
#include "golden.hpp"
#include "measure/api/engine.hpp"

namespace clprobe {
namespace {

std::vector<Run> stored(const std::string& path) {
  const auto root = std::filesystem::path(CLPROBE_GOLDEN_FOLDER).parent_path().parent_path();
  return runs_from_json(read_text(root / "results" / path));
}

TEST_CASE("what a GPU built for its points is what their probes said") {
  for (const Run& run : stored("nvidia/h200/580.159.04_2026-11-23.json")) {
    for (const ProbeResult& result : run.results) {
      CAPTURE(result.probe);
      const Probe* const probe = find_probe(result.probe);
      REQUIRE(probe != nullptr);
      std::set<std::string> said;
      for (const Program& each : programs_for(*probe, run.device, run.seed, result.points)) {
        CHECK(each.file == result.probe + ".cl");
        said.insert(fmt::format("-DCLOCK={} {}", static_cast<int>(run.device.clock.kind),
                                each.variant.options));
      }
      REQUIRE_FALSE(result.kernels.empty());
      for (const KernelBuild& built : result.kernels) {
        CAPTURE(built.options);
        CHECK(said.contains(built.options));
      }
    }
  }
}

TEST_CASE("a table of constants is a program of its own, by the seed") {
  const Run run = stored("nvidia/h200/580.159.04_2026-11-23.json").front();
  const Probe& latency = *find_probe("latency");
  std::set<std::string> sizes;
  std::vector<Point> points;
  for (const Point& point : run.results.front().points) {
    if (point.series != "constant-program") continue;
    sizes.insert(std::to_string(point.parameters.integer("working_set_bytes")));
    points.push_back(point);
  }
  const auto programs = programs_for(latency, run.device, 42, points);
  CHECK(programs.size() == sizes.size());
  CHECK(programs != programs_for(latency, run.device, 43, points));
  for (const Program& each : programs) {
    CHECK(each.variant.preamble.find("constant uint table[") != std::string::npos);
  }
}

}  // namespace
}  // namespace clprobe
