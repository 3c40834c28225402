// SPDX-License-Identifier: Apache-2.0
#include "clprobe/import.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>

#include "clprobe/compare.hpp"
#include "clprobe/estimate.hpp"
#include "clprobe/levels.hpp"
#include "golden.hpp"

namespace clprobe {
namespace {

constexpr double kibi = 1024.0;

ImportHints hints(double bytes_per_size_unit = 0.0, double ns_per_time_unit = 0.0) {
  ImportHints made;
  made.file = "file.txt";
  made.bytes_per_size_unit = bytes_per_size_unit;
  made.ns_per_time_unit = ns_per_time_unit;
  return made;
}

std::string example_file(const char* name) {
  return read_text(std::filesystem::path(CLPROBE_GOLDEN_FOLDER) / ".." / "import" / name);
}

std::string refusal(std::string_view text, const ImportHints& with = hints()) {
  try {
    static_cast<void>(import_runs(text, with));
  } catch (const RunFormatError& error) {
    return error.what();
  }
  return "accepted";
}

const Finding& finding(const Run& run, std::string_view series) {
  const std::vector<Finding>& all = run.results.at(0).findings;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Finding& each) { return each.series == series; });
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("a list with a header, with commas, blanks and remarks") {
  const std::string text =
      "# chase of somebody\nRegion (KB),Latency (ns)\r\n1,1.5\r\n2.5;1.75e0\n\n  4   2\n"
      "8 K would exceed the device's limit, stopping here.\n";
  const std::vector<Run> runs = import_runs(text, hints());
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].imported->format == "size-latency");
  CHECK(runs[0].device.name == "file.txt");
  CHECK(runs[0].device.timer == Timer::imported);
  const std::vector<Point>& points = runs[0].results.at(0).points;
  REQUIRE(points.size() == 3);
  CHECK(points[1].parameters.integer("working_set_bytes") == 2560);
  CHECK(points[1].samples.empty());
  CHECK(estimate(points[1], runs[0].device)->ns == 1.75);
  CHECK(latency_curve(points, "global", runs[0].device).size() == 3);
}

TEST_CASE("units are read or given, never guessed") {
  CHECK(refusal("1,2\n") ==
        "line 1: no header gives the sizes' unit: add --size-unit B, KiB or MiB");
  CHECK(refusal("1,2\n", hints(kibi)) ==
        "line 1: no header gives the latencies' unit: add --time-unit ns or us");
  CHECK(refusal("size in KiB, time\n1,2\n").starts_with("line 2: no header gives the latencies'"));
  const std::vector<Run> runs = import_runs("1 2\n", hints(kibi * kibi, 1e3));
  const Point& point = runs.at(0).results.at(0).points.at(0);
  CHECK(point.parameters.integer("working_set_bytes") == 1048576);
  CHECK(number_in(point.facts, imported_ns) == 2000.0);
  // What the person says is stronger than the header.
  CHECK(import_runs("KiB,ns\n1,2\n", hints(1.0))
            .at(0)
            .results.at(0)
            .points.at(0)
            .parameters.integer("working_set_bytes") == 1);
}

TEST_CASE("units in a comment that names the columns, and beside the numbers") {
  const auto point_of = [](std::string_view text) {
    const std::vector<Run> runs = import_runs(text, hints());
    const Point point = runs.at(0).results.at(0).points.back();
    return std::pair(point.parameters.integer("working_set_bytes"),
                     estimate(point, runs[0].device)->ns);
  };
  CHECK(point_of("# chase -s 128\n# size(KiB) latency_ns\n4\t1.24\n# 9\n8\t1.25\n") ==
        std::pair(std::int64_t{8192}, 1.25));
  CHECK(point_of("4K 1.24ns\n1.5 MiB, 14 ns\n") == std::pair(std::int64_t{1572864}, 14.0));
  CHECK(point_of("2GB;0.5us\n") == std::pair(std::int64_t{1} << 31, 500.0));
  // A comment about something else gives no units, and a unit that nobody knows is none.
  CHECK(refusal("# pages of 4 KB, 10 ns a step\n4 1\n").starts_with("line 2: no header"));
  CHECK(refusal("4K 1.24 parsecs\n").starts_with("document: expected"));
}

TEST_CASE("lines that are no pair are refused with their number") {
  CHECK(refusal("B,ns\n64,1\n128,x\n") ==
        "line 3: expected a size and a latency above 0, found '128,x'");
  CHECK(refusal("B,ns\n64,1\n128,-1\n").starts_with("line 3: expected"));
  CHECK(refusal("B,ns\n64,1\n128,nan\n").starts_with("line 3: expected"));
  CHECK(refusal("B,ns\n64,1\n128,2,3\n").starts_with("line 3: expected"));
  CHECK(refusal("B,ns\n1e30,1\n").starts_with("line 2: expected a size from 1 byte"));
  CHECK(refusal("B,ns\n64,1\n\x1b[31m,7\n") ==
        "line 3: expected a size and a latency above 0, found '?[31m,7'");
  CHECK(refusal("").ends_with("found none"));
  CHECK(refusal("hello\n").ends_with("found none"));
}

TEST_CASE("the curve of another tool has levels") {
  const std::vector<Run> runs = import_runs(example_file("chase.csv"), hints());
  const Run& run = runs.at(0);
  const std::vector<Level> levels =
      find_levels(latency_curve(run.results.at(0).points, "global", run.device));
  REQUIRE(levels.size() >= 2);
  CHECK(levels[0].latency == doctest::Approx(1.4).epsilon(0.1));
}

TEST_CASE("clpeak 1.1 as XML: a file of clpeak 1.1.2 on PoCL") {
  const std::vector<Run> runs = import_runs(example_file("clpeak-1.1.2.xml"), hints());
  REQUIRE(runs.size() == 1);
  const Run& run = runs[0];
  CHECK(run.device.platform == "Portable Computing Language");
  CHECK(run.device.driver == "3.1+debian");
  CHECK(run.imported->format == "clpeak-xml");
  const Finding& bandwidth = finding(run, "global_memory_bandwidth float4");
  CHECK(bandwidth.name == "bandwidth");
  CHECK(bandwidth.unit == "bytes_per_second");
  CHECK(bandwidth.value == doctest::Approx(15.5525e9));
  CHECK_FALSE(bandwidth.low.has_value());
  CHECK(bandwidth.source == Source::measured);
  const Finding& latency = finding(run, "kernel_launch_latency");
  CHECK(latency.unit == "seconds");
  CHECK(latency.value == doctest::Approx(8.4892e-6));
  CHECK(finding(run, "integer_compute int16").unit == "operations_per_second");
}

TEST_CASE("clpeak 2 as JSON and XML say the same") {
  for (const char* const name : {"clpeak-2.json", "clpeak-2.xml"}) {
    CAPTURE(name);
    const std::vector<Run> runs = import_runs(example_file(name), hints());
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].imported->tool == "clpeak 2.1.2");
    CHECK(runs[0].device.name == "Example GPU");
    CHECK(finding(runs[0], "global_memory_bandwidth float").value == doctest::Approx(412.5e9));
    const Finding& gap = finding(runs[0], "half_precision_compute half");
    CHECK_FALSE(gap.value.has_value());
    CHECK(gap.reason == "unsupported: no cl_khr_fp16");
  }
}

TEST_CASE("clmempatterns: a bandwidth for each stride, and its settings") {
  const std::vector<Run> runs = import_runs(example_file("clmempatterns-0.3.txt"), hints());
  const Run& run = runs.at(0);
  CHECK(run.imported->tool == "clmempatterns 0.3git");
  CHECK(run.device.name == "gfx803");
  const std::vector<Point>& points = run.results.at(0).points;
  REQUIRE(points.size() == 21);
  CHECK(points[20].parameters.integer("stride_elements") == 1048576);
  CHECK(points[20].parameters.integer("grid") == 1048576);
  CHECK(number_in(points[20].facts, imported_bytes_per_second) == doctest::Approx(442.735e9));
  const std::array digests{digest(run, "a.json"), digest(run, "b.json")};
  const Comparison made = compare(digests, 0, 0.03);
  REQUIRE(made.curves.size() == 1);
  CHECK(made.curves[0].matched == 21);
  CHECK(made.curves[0].unit == "bytes_per_second");
  CHECK(refusal("Stride magnitude 5: nothing\n").starts_with("line 1: expected \"Stride"));
  CHECK(refusal("Stride magnitude 99: Bandwidth 1 GB/sec\n").starts_with("line 1: expected"));
}

TEST_CASE("broken files of other tools are refused on one line") {
  CHECK(refusal("<clpeak><platform>").starts_with("document: expected XML, found an error at"));
  CHECK(refusal("<other/>") == "document: expected XML of clpeak, found another root");
  CHECK(refusal("<clpeak/>") == "document: expected results of clpeak, found no device with any");
  CHECK(refusal("{}") ==
        "it is JSON of no known tool: expected clpeak's \"format_version\" and \"entries\"");
  CHECK(refusal(R"({"format_version":3,"entries":[]})") == "format_version: expected 2, found 3");
  CHECK(refusal(R"({"format_version":2,"entries":[7]})") == "entries[0]: expected an object");
  CHECK(refusal(R"({"format_version":2,"entries":[{"test":"a"}]})")
            .starts_with("entries[0]: expected a value"));
  CHECK(
      refusal(
          R"(<clpeak><platform><device name="d"><t unit="us">abc</t></device></platform></clpeak>)")
          .starts_with("clpeak.platform.device.t: expected a number, found 'abc'"));
}

TEST_CASE("imported documents survive writing and reading") {
  for (const char* const name :
       {"clpeak-1.1.2.xml", "clpeak-2.json", "clmempatterns-0.3.txt", "chase.csv"}) {
    CAPTURE(name);
    const std::vector<Run> runs = import_runs(example_file(name), hints());
    CHECK(runs_from_json(to_json(runs)) == runs);
  }
}

}  // namespace clprobe
