// SPDX-License-Identifier: Apache-2.0
#include "app/commands/stored_runs.hpp"

#include <doctest/doctest.h>

#include <string>

namespace clprobe::commands {
namespace {

const std::string results_folder = CLPROBE_RESULTS;
const std::string h100_file = results_folder + "/nvidia/h100/580.159.04_2026-11-27.json";

cli::Options with_levels_of(const std::string& path) {
  cli::Options options;
  options.levels_file = "levels.json";
  options.levels_runs = read_levels(path);
  return options;
}

DeviceInfo called(std::string_view name) {
  DeviceInfo device;
  device.name = name;
  return device;
}

std::string complaint(const cli::Options& options, std::string_view name) {
  try {
    known_levels(options, called(name));
  } catch (const cli::UsageError& error) {
    return error.what();
  }
  return "(no complaint)";
}

}  // namespace

TEST_CASE("a stored run knows the levels of its device, and of no other") {
  const cli::Options options = with_levels_of(h100_file);
  const Known known = known_levels(options, called("NVIDIA H100 80GB HBM3  "));
  REQUIRE(known.levels.size() >= 2);
  CHECK(known.levels.front().level == 1);
  CHECK(known.levels.front().capacity >= kibibytes(128));
  CHECK(known.levels.front().capacity <= kibibytes(256));
  CHECK(known.last_cache == known.levels.back().capacity);
  CHECK(complaint(options, "NVIDIA H200") ==
        "--levels: 'levels.json' was measured on 'NVIDIA H100 80GB HBM3', not on 'NVIDIA H200': "
        "measure `latency` on this device");
  CHECK(known_levels({}, called("NVIDIA H200")) == Known{});
}

TEST_CASE("of several runs of a device the last one knows best") {
  cli::Options options = with_levels_of(h100_file);
  Run newer = options.levels_runs.front();
  for (ProbeResult& result : newer.results) {
    for (Finding& each : result.findings) {
      if (each.name == "capacity" && each.value) *each.value *= 2;
    }
  }
  const Known before = known_levels(options, called(newer.device.name));
  options.levels_runs.push_back(newer);
  const Known after = known_levels(options, called(newer.device.name));
  // A half of a byte is cut off.
  CHECK(after.last_cache.count / 2 == before.last_cache.count);
}

}  // namespace clprobe::commands
