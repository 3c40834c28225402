// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "compare/api/compare.hpp"
#include "imported.hpp"

namespace clprobe {

TEST_CASE("clmempatterns: points of the probe stride, with its parameters") {
  const std::vector<Run> runs = import_runs(example_file("clmempatterns-0.3.txt"), hints());
  const Run& run = runs.at(0);
  CHECK(run.imported->tool == "clmempatterns 0.3git");
  CHECK(run.device.name == "gfx803");
  CHECK(run.results.at(0).probe == "stride");
  const std::vector<Point>& points = points_in(run);
  REQUIRE(points.size() == 21);
  const Point& last = points[20];
  CHECK(last.series == "read int");
  CHECK(last.parameters == Parameters{{"stride_bytes", std::int64_t{4194304}},
                                      {"stride_elements", std::int64_t{1048576}},
                                      {"pattern", std::string("grid stride")},
                                      {"operation", std::string("read")},
                                      {"type", std::string("int")},
                                      {"vector", std::int64_t{1}},
                                      {"buffer", std::string("device")},
                                      {"elements", std::int64_t{67108864}},
                                      {"working_set_bytes", std::int64_t{268435456}},
                                      {"grid", std::int64_t{1048576}},
                                      {"work_group", std::int64_t{256}}});
  CHECK(number_in(last.facts, imported_bytes_per_second) == doctest::Approx(442.735e9));
  CHECK(points[0].parameters.text("pattern") == "serial");
  CHECK(points[7].parameters.text("pattern") == "between");
  CHECK(points[8].parameters.text("pattern") == "work-group stride");
  const std::array digests{digest(run, "a.json"), digest(run, "b.json")};
  const Comparison made = compare(digests, 0, 0.03);
  REQUIRE(made.curves.size() == 1);
  CHECK(made.curves[0].matched == 21);
  CHECK(made.curves[0].unit == "bytes_per_second");
}

TEST_CASE("clmempatterns: vectors, host buffers, and what older versions do not say") {
  const auto series = [](std::string_view settings) {
    const std::string text =
        std::string(settings) + "\nStride magnitude  3: Bandwidth 7.5 GB/sec (avg time 1 msecs)\n";
    const std::vector<Run> runs = import_runs(text, hints());
    const Point& point = points_in(runs.at(0)).at(0);
    CHECK(point.parameters.integer("stride_elements") == 8);
    return std::pair(point.series, point.parameters.integer_or("stride_bytes", 0));
  };
  CHECK(series("vector length   : 4 (type: int4)") == std::pair(std::string("read int4"), 128L));
  CHECK(series("vector width    : 16 (type: int16)\nallocated buffer: host") ==
        std::pair(std::string("read int16 in host memory"), 512L));
  CHECK(series("vector width    : 17") == std::pair(std::string("read"), 0L));
  CHECK(series("") == std::pair(std::string("read"), 0L));
}

TEST_CASE("clmempatterns: lines that cannot be are refused") {
  CHECK(refusal("Stride magnitude 5: nothing\n") ==
        "line 1: expected \"Stride magnitude N: Bandwidth X GB/sec\", found 'Stride magnitude 5: "
        "nothing'");
  CHECK(refusal("Stride magnitude 49: Bandwidth 1 GB/sec\n").starts_with("line 1: expected"));
  CHECK(refusal("Stride magnitude 48: Bandwidth 1 GB/sec\n") == "accepted");
  CHECK(refusal("Stride magnitude 1.5: Bandwidth 1 GB/sec\n").starts_with("line 1: expected"));
}

}  // namespace clprobe
