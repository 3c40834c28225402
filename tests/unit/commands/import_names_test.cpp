// SPDX-License-Identifier: Apache-2.0
// What an importer hands to a probe has the names under which the probe itself finds it: under
// others nothing stands beside it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/commands/analyse_again.hpp"
#include "app/commands/stored_runs.hpp"
#include "clprobe/registry.hpp"
#include "compare/api/compare.hpp"
#include "import/api/import.hpp"
#include "unit/golden.hpp"

namespace clprobe {
namespace {

using Names = std::set<std::pair<std::string, std::string>>;  // of findings, and their series

Names names_in(const Run& run, std::string_view probe) {
  Names names;
  for (const ProbeResult& result : run.results) {
    if (result.probe != probe) continue;
    for (const Finding& each : result.findings) names.emplace(each.name, each.series);
  }
  return names;
}

Names measured_names(std::string_view probe) {
  const auto path =
      std::filesystem::path(CLPROBE_RESULTS) / "nvidia/h200/580.159.04_2026-11-26.json";
  return names_in(commands::read_runs(path.string()).front(), probe);
}

/// All that nvbandwidth measures of one GPU, and a transfer is.
Run run_of_nvbandwidth() {
  std::string tests;
  for (const char* const way : {"host_to_device", "device_to_host"}) {
    for (const char* const kind : {"memcpy_ce", "bidirectional_memcpy_ce", "memcpy_sm"}) {
      tests += std::string(tests.empty() ? "" : ",") + R"({"name":")" + way + "_" + kind +
               R"(","bandwidth_matrix":[["7.5"]]})";
    }
  }
  return import_runs(R"({"nvbandwidth":{"testcases":[)" + tests + "]}}", {}).front();
}

bool has_series(const Probe& probe, std::string_view series) {
  if (probe.series.empty()) return true;  // its options name them, as "read int4" of stride
  return std::any_of(probe.series.begin(), probe.series.end(), [&](const Series& each) {
    // One for each other device: "to-peer-1".
    return each.name == series || series.starts_with(std::string(each.name) + "-");
  });
}

bool has_finding(const Probe& probe, std::string_view name) {
  return std::any_of(probe.findings.begin(), probe.findings.end(),
                     [&](const FindingSpec& each) { return each.name == name; });
}

}  // namespace

TEST_CASE("transfers of nvbandwidth have the names of those that are measured") {
  const Names measured = measured_names("transfer");
  const Names imported = names_in(run_of_nvbandwidth(), "transfer");
  CHECK(imported.size() == 6);
  for (const auto& each : imported) {
    CAPTURE(each.first);
    CAPTURE(each.second);
    // A kernel of that H200 finds on the device what nvbandwidth's copies over the link.
    const bool is_by_kernel = each.second.ends_with("-kernel");
    const bool is_there = measured.contains(each);
    CHECK(is_there != is_by_kernel);
    if (is_by_kernel) CHECK(measured.contains({"device_bandwidth", each.second}));
  }
}

TEST_CASE("whatever an example file hands to a probe, the probe declares") {
  const auto folder = std::filesystem::path(CLPROBE_GOLDEN_FOLDER) / ".." / "import";
  std::size_t findings = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    CAPTURE(entry.path().string());
    std::vector<Run> runs;
    try {
      runs = import_runs(read_text(entry.path()), {.file = entry.path().filename().string()});
    } catch (const RunFormatError&) {
      continue;  // it asks for what its units are
    }
    for (Run& run : runs) {
      commands::analyse_again(run);
      for (const ProbeResult& result : run.results) {
        const Probe* const probe = find_probe(result.probe);
        if (probe == nullptr) continue;
        for (const Finding& each : result.findings) {
          CAPTURE(each.name);
          CAPTURE(each.series);
          CHECK(has_finding(*probe, each.name));
          CHECK((each.series.empty() || has_series(*probe, each.series)));
          const bool is_exact = each.low && each.high && !(*each.high > *each.low);
          CHECK_FALSE((is_exact && each.role != Role::remark));  // only remarks are not compared
          ++findings;
        }
      }
    }
  }
  CHECK(findings > 20);
}

TEST_CASE("equal printed values are not exact: changes below 25 % are no change") {
  const auto run_of = [](double ns_of_far) {
    std::string text = "size_KiB,latency_ns\n";
    for (int kib = 1; kib <= 65536; kib *= 2) {
      text += fmt::format("{},{}\n", kib, kib <= 64 ? 18.0 : ns_of_far);
    }
    Run run = import_runs(text, {}).front();
    commands::analyse_again(run);
    return run;
  };
  const Run baseline = run_of(125.0);
  for (const Finding& each : baseline.results.at(0).findings) {
    CAPTURE(each.name);
    const bool is_known = each.name == "capacity";
    CHECK((each.low && each.high) == (is_known && each.value));
  }
  const auto verdict = [&](double ns_of_far) {
    const std::vector<RunDigest> runs{digest(baseline, "a"), digest(run_of(ns_of_far), "b")};
    const Comparison found = compare(runs, 0, 0.03);
    const auto row = std::ranges::find_if(found.rows, [](const ComparedRow& each) {
      return each.baseline->finding.name == "latency" && each.baseline->finding.level == 2;
    });
    REQUIRE(row != found.rows.end());
    return row->cells.at(1).judgement.verdict;
  };
  CHECK(verdict(145.0) == Verdict::same);
  CHECK(verdict(160.0) == Verdict::worse);
}

}  // namespace clprobe
