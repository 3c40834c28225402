// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "imported.hpp"

namespace clprobe {

TEST_CASE("nvbandwidth: a finding for each cell of a matrix, and the sums of bandwidths") {
  const std::vector<Run> runs = import_runs(example_file("nvbandwidth.json"), hints());
  REQUIRE(runs.size() == 1);
  const Run& run = runs[0];
  CHECK(run.imported->tool == "nvbandwidth v0.8");
  CHECK(run.device.name == "2 x Example GPU");
  CHECK(run.device.driver == "580.0");
  CHECK(to_json(runs).find("somewhere") == std::string::npos);  // the name of the host
  CHECK(finding(run, "host_to_device_memcpy_ce GPU 1", "bandwidth").value ==
        doctest::Approx(54.5e9));
  CHECK(finding(run, "device_to_device_memcpy_read_ce GPU 1, GPU 0", "bandwidth").value ==
        doctest::Approx(271.5e9));
  CHECK(finding(run, "device_to_device_memcpy_read_ce sum", "bandwidth").value ==
        doctest::Approx(541.75e9));
  const Finding& latency = finding(run, "host_device_latency_sm GPU 0", "latency");
  CHECK(latency.value == doctest::Approx(650e-9).scale(0));
  CHECK(latency.unit == "seconds");
  CHECK(latency.better == Better::less);
  const Finding& waived = finding(run, "multinode_device_to_device_memcpy_read_ce", "bandwidth");
  CHECK_FALSE(waived.value.has_value());
  CHECK(waived.reason == "Waived");
  // A GPU and itself have none, and a sum of latencies means nothing.
  const auto its_own = std::find_if(run.results.begin(), run.results.end(),
                                    [](const auto& each) { return each.probe == "nvbandwidth"; });
  REQUIRE(its_own != run.results.end());
  CHECK(its_own->findings.size() == 9);
}

TEST_CASE("nvbandwidth: what transfer and latency find is theirs, of several GPUs with its range") {
  const Run several = import_runs(example_file("nvbandwidth.json"), hints()).at(0);
  const Finding& middle = finding(several, "to-device-pinned", "bandwidth");
  CHECK(middle.value == doctest::Approx(55e9));
  CHECK(middle.low == doctest::Approx(54.5e9));
  CHECK(middle.high == doctest::Approx(55.5e9));
  CHECK(finding(several, "host", "link_latency").value == doctest::Approx(652.5e-9).scale(0));
  // A level would be set beside the same level of a probe: there the first one is a cache.
  CHECK_FALSE(finding(several, "host", "link_latency").level.has_value());
  struct Known {
    const char* test;
    const char* series;
    const char* name{"bandwidth"};
  };
  constexpr Known bandwidths[]{
      {"host_to_device_memcpy_ce", "to-device-pinned"},
      {"device_to_host_memcpy_ce", "from-device-pinned"},
      {"host_to_device_bidirectional_memcpy_ce", "to-device-duplex", "one_way_bandwidth"},
      {"device_to_host_bidirectional_memcpy_ce", "from-device-duplex", "one_way_bandwidth"},
      {"device_local_copy", "on-device"},
      {"host_to_device_memcpy_sm", "to-device-kernel"},
      {"device_to_host_memcpy_sm", "from-device-kernel"}};
  for (const Known& known : bandwidths) {
    const Run one = import_runs(std::string(R"({"nvbandwidth":{"testcases":[{"name":")") +
                                    known.test + R"(","bandwidth_matrix":[["7.5"]]}]}})",
                                hints())
                        .at(0);
    REQUIRE(one.results.size() == 1);
    CHECK(one.results[0].probe == "transfer");
    REQUIRE(one.results[0].findings.size() == 1);
    const Finding& found = finding(one, known.series, known.name);
    CHECK(found.value == doctest::Approx(7.5e9));
    CHECK(found.unit == "bytes_per_second");
    CHECK_FALSE(found.low.has_value());
  }
  CHECK(refusal(R"({"nvbandwidth":{"testcases":[{"name":"host_to_device_memcpy_ce",)"
                R"("bandwidth_matrix":[["N/A"]]}]}})") ==
        "nvbandwidth.testcases: expected a bandwidth, found none");
  CHECK(refusal(R"({"nvbandwidth":{"testcases":[{"name":"host_to_device_memcpy_ce",)"
                R"("bandwidth_matrix":[7]}]}})") ==
        "nvbandwidth.testcases[0].bandwidth_matrix[0]: expected a list");
}

TEST_CASE("nvbandwidth: the first GPU's row is what goes to and comes from each other one") {
  const auto read = [](const char* way) {
    return import_runs(
               std::string(R"({"nvbandwidth":{"testcases":[{"name":)"
                           R"("device_to_device_memcpy_)") +
                   way +
                   R"x(","bandwidth_description":"memcpy CE GPU(row) to GPU(column) bandwidth (GB/s)",)x"
                   R"("bandwidth_matrix":[["N/A","7.5","8"],["9","N/A","10"],)"
                   R"(["11","12","N/A"]]}]}})",
               hints())
        .at(0);
  };
  const Run written = read("write_ce");
  CHECK(finding(written, "to-peer-1", "bandwidth").value == doctest::Approx(7.5e9));
  CHECK(finding(written, "to-peer-2", "bandwidth").value == doctest::Approx(8e9));
  CHECK(finding(written, "device_to_device_memcpy_write_ce GPU 1, GPU 0", "bandwidth").value ==
        doctest::Approx(9e9));
  CHECK(finding(read("read_ce"), "from-peer-2", "bandwidth").value == doctest::Approx(8e9));
  // By kernels it is another way.
  CHECK(read("read_sm").results.size() == 1);
}

TEST_CASE("nvbandwidth: one GPU, numbers as numbers, and GPUs that differ") {
  const auto read = [](std::string_view devices, std::string_view matrix) {
    return import_runs(std::string(R"({"nvbandwidth":{"GPU Device list":)") + std::string(devices) +
                           R"(,"testcases":[{"name":"t","sum":7,"bandwidth_matrix":)" +
                           std::string(matrix) + "}]}}",
                       hints())
        .at(0);
  };
  const Run one = read(R"json(["0: A (bus)"])json", "[[7.5]]");
  CHECK(one.device.name == "A");
  CHECK(one.results.at(0).findings.size() == 1);  // no sum of one
  CHECK(finding(one, "t GPU 0", "bandwidth").value == doctest::Approx(7.5e9));
  CHECK(read(R"json(["0: A (bus)", "1: B (bus)"])json", "[[7.5]]").device.name == "A, B");
  CHECK(read("[]", "[[7.5]]").device.name == "file.txt");
}

TEST_CASE("nvbandwidth: rows of several matrices are ways of a copy, not GPUs, in JSON and text") {
  constexpr std::string_view test = "device_to_device_bidirectional_memcpy_read_ce";
  const auto of = [&](const Run& run, std::string_view way_and_pair) {
    return finding(run, std::string(test) + " " + std::string(way_and_pair), "bandwidth").value;
  };
  const Run json =
      import_runs(
          R"x({"nvbandwidth":{"testcases":[{"name":"device_to_device_bidirectional_)x"
          R"x(memcpy_read_ce","bandwidth_description":"memcpy CE GPU(row) <-> GPU(column) )x"
          R"x(Total bandwidth (GB/s)","bandwidth_matrix":[["N/A","180.1"],["180.3","N/A"],)x"
          R"x(["N/A","181.2"],["181.4","N/A"],["N/A","361.3"],["361.7","N/A"]],)x"
          R"x("sum":723.0}]}})x",
          hints())
          .at(0);
  const Run text = import_runs(example_file("nvbandwidth.txt"), hints()).at(0);
  for (const Run& run : {json, text}) {
    CHECK(of(run, "first way GPU 0, GPU 1") == doctest::Approx(180.1e9));
    CHECK(of(run, "second way GPU 1, GPU 0") == doctest::Approx(181.4e9));
    CHECK(of(run, "both ways GPU 1, GPU 0") == doctest::Approx(361.7e9));
    CHECK(of(run, "both ways sum") == doctest::Approx(723e9));
  }
  CHECK(text.device.name == "2 x Example GPU");
  CHECK(finding(text, "to-device-pinned", "bandwidth").value == doctest::Approx(55e9));
  CHECK(to_json(std::vector{text}).find("somewhere") == std::string::npos);
  CHECK(
      refusal(
          R"x({"nvbandwidth":{"testcases":[{"name":"t","bandwidth_description":)x"
          R"x("GPU(row) GPU(column) (GB/s)","bandwidth_matrix":[["1","2"],["3","4"],["5","6"]]}]}})x") ==
      "nvbandwidth.testcases: 3 rows cannot be divided into square matrices of 2 columns");
}

TEST_CASE("nvbandwidth: what cannot be read") {
  CHECK(refusal(R"({"nvbandwidth":{}})") ==
        "nvbandwidth.testcases: expected a list of tests, found none");
  CHECK(refusal(R"({"nvbandwidth":{"error":"no CUDA"}})") == "nvbandwidth failed: no CUDA");
  CHECK(refusal(R"({"nvbandwidth":{"testcases":[7]}})") ==
        "nvbandwidth.testcases[0]: expected the name of a test");
  CHECK(refusal(R"({"nvbandwidth":{"testcases":[{"name":"t","bandwidth_matrix":[7]}]}})") ==
        "nvbandwidth.testcases[0].bandwidth_matrix[0]: expected a list");
  CHECK(refusal(R"({"nvbandwidth":{"testcases":[{"name":"t","bandwidth_matrix":[["N/A"]]}]}})") ==
        "nvbandwidth.testcases: expected a bandwidth, found none");
}

}  // namespace clprobe
