// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "imported.hpp"

namespace clprobe {

TEST_CASE("clpeak 1.1 as XML: a file of clpeak 1.1.2 on PoCL") {
  const std::vector<Run> runs = import_runs(example_file("clpeak-1.1.2.xml"), hints());
  REQUIRE(runs.size() == 1);
  const Run& run = runs[0];
  CHECK(run.device.platform == "Portable Computing Language");
  CHECK(run.device.driver == "3.1+debian");
  const Finding& bandwidth = finding(run, "read int4", "bandwidth");
  CHECK(bandwidth.unit == "bytes_per_second");
  CHECK(bandwidth.value == doctest::Approx(15.5525e9));
  CHECK_FALSE(bandwidth.low.has_value());
  CHECK(bandwidth.source == Source::measured);
  const Finding& latency = finding(run, "kernel_launch_latency", "time");
  CHECK(latency.unit == "seconds");
  CHECK(latency.value == doctest::Approx(8.4892e-6).scale(0));
  CHECK(finding(run, "integer_compute int16", "throughput").unit == "operations_per_second");
}

TEST_CASE("clpeak: what the probe transfer finds is its own") {
  const Run run = import_runs(example_file("clpeak-1.1.2.xml"), hints()).at(0);
  const auto of = [&](const char* probe) {
    return std::find_if(run.results.begin(), run.results.end(),
                        [&](const ProbeResult& each) { return each.probe == probe; });
  };
  REQUIRE(of("transfer") != run.results.end());
  CHECK(of("transfer")->findings.size() == 2);
  CHECK(finding(run, "to-device", "bandwidth").value == doctest::Approx(5.76632e9));
  CHECK(finding(run, "from-device", "bandwidth").value == doctest::Approx(5.71016e9));
  // Mapping and copying apart are no series there.
  REQUIRE(of("clpeak") != run.results.end());
  CHECK(finding(run, "transfer_bandwidth memcpy_to_mapped_ptr", "bandwidth").value ==
        doctest::Approx(5.90981e9));
}

TEST_CASE("clpeak 2 as JSON and XML say the same") {
  for (const char* const name : {"clpeak-2.json", "clpeak-2.xml"}) {
    CAPTURE(name);
    const std::vector<Run> runs = import_runs(example_file(name), hints());
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].imported->tool == "clpeak 2.1.2");
    CHECK(runs[0].device.name == "Example GPU");
    CHECK(finding(runs[0], "read int", "bandwidth").value == doctest::Approx(412.5e9));
    // A launch and the wait for it is a point of `launch`; START - QUEUED is nothing that it has.
    CHECK(finding(runs[0], "kernel_launch_latency dispatch", "time").value ==
          doctest::Approx(6.5e-6).scale(0));
    CHECK(runs[0].device.compute_units == 16);
    // As many bytes of the same memory as `stride` reads; the method says of which type.
    CHECK(runs[0].results[0].probe == "stride");
    CHECK(finding(runs[0], "read int", "bandwidth").method ==
          "clpeak 2.1.2, global_memory_bandwidth float");
    REQUIRE(runs[0].results.size() == 3);
    const ProbeResult& launch = runs[0].results[2];
    CHECK(launch.probe == "launch");
    REQUIRE(launch.points.size() == 1);
    CHECK(launch.points[0].series == "queued");
    CHECK(launch.points[0].parameters.integer("launches") == 1);
    REQUIRE(access_times_ns(launch.points[0], runs[0].device).size() == 1);
    CHECK(access_times_ns(launch.points[0], runs[0].device)[0] == doctest::Approx(24'250.0));
    const Finding& gap = finding(runs[0], "half_precision_compute half", "throughput");
    CHECK_FALSE(gap.value.has_value());
    CHECK(gap.reason == "unsupported: no cl_khr_fp16");
  }
}

TEST_CASE("clpeak 3 as JSON, 2 as CSV, and the printed text") {
  const Run json = import_runs(example_file("clpeak-3.json"), hints()).at(0);
  CHECK(json.imported->tool == "clpeak 3.0.0");
  CHECK(json.device.name == "Example GPU");
  CHECK(finding(json, "read int4", "bandwidth").value == doctest::Approx(419.5e9));
  const Run csv = import_runs(example_file("clpeak.csv"), hints()).at(0);
  CHECK(csv.device.driver == "1.0");
  CHECK(finding(csv, "read int", "bandwidth").value == doctest::Approx(412.5e9));
  const Run text = import_runs(example_file("clpeak.txt"), hints()).at(0);
  CHECK(text.device.name == "Example GPU");
  CHECK(text.device.platform == "Example CL");
  CHECK(text.device.driver == "1.0");
  CHECK(text.device.compute_units == 16);
  CHECK(finding(text, "read int2", "bandwidth").value == doctest::Approx(9.88e9));
  CHECK(finding(text, "from-device", "bandwidth").value == doctest::Approx(6.1e9));
  CHECK(finding(text, "kernel_launch_latency", "time").value == doctest::Approx(8.41e-6).scale(0));
  CHECK(
      finding(import_runs("Half compute (GFLOPS)\n  half : [unsupported] no fp16\n", hints()).at(0),
              "half_compute half", "throughput")
          .reason == "[unsupported] no fp16");
}

TEST_CASE("broken files of clpeak are refused on one line") {
  CHECK(refusal("<clpeak/>") ==
        "document: expected results of clpeak, found no device with results");
  CHECK(refusal(R"({"entries":[]})").starts_with("document: expected clpeak's \"format_version\""));
  CHECK(refusal(R"({"format_version":2,"entries":7})").starts_with("document: expected results"));
  CHECK(refusal(R"({"schema":"clpeak/run","format_version":4})") ==
        "format_version: expected clpeak's format 2 or 3, found 4: save results as XML");
  CHECK(refusal(R"({"format_version":2,"entries":[7]})") == "entries[0]: expected an object");
  CHECK(refusal(R"({"format_version":2,"entries":[{"test":"a"}]})")
            .starts_with("entries[0]: expected a value"));
  CHECK(
      refusal(
          R"(<clpeak><platform><device name="d"><t unit="us">abc</t></device></platform></clpeak>)")
          .starts_with("clpeak.platform.device.t: expected a number, found 'abc'"));
  CHECK(refusal(R"({"format_version":2,"entries":[{"test":"a","unit":"gbps","value":1e300}]})") ==
        "a is inf, which is impossible for a device");
}

}  // namespace clprobe
