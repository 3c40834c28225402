// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "imported.hpp"

namespace clprobe {
namespace {

/// The last point of a text.
std::pair<std::int64_t, double> last_of(std::string_view text, const ImportHints& with = hints()) {
  const std::vector<Run> runs = import_runs(text, with);
  return size_and_ns(runs.at(0), points_in(runs.at(0)).size() - 1);
}

/// The columns that a text is said to have beside those that were read.
std::string ignored_in(std::string_view text) {
  const std::vector<Run> runs = import_runs(text, hints());
  const std::vector<Warning>& warnings = runs.at(0).results.at(0).warnings;
  if (warnings.empty()) return "none";
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].code == "columns_ignored");
  return warnings[0].facts.text("ignored");
}

using SizeAndNs = std::pair<std::int64_t, double>;

}  // namespace

TEST_CASE("a list with a header, with commas, blanks and remarks") {
  const std::string text =
      "# chase of somebody\nRegion (KB),Latency (ns)\r\n1,1.5\r\n2.5, 1.75e0\n\n  4,   2\n"
      "8 K would exceed the device's limit, stopping here.\n";
  const std::vector<Run> runs = import_runs(text, hints());
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].device.name == "file.txt");
  const std::vector<Point>& points = points_in(runs[0]);
  REQUIRE(points.size() == 3);
  CHECK(points[1].parameters.integer("working_set_bytes") == 2560);
  CHECK(points[1].samples.empty());
  CHECK(points[1].series == "global");
  CHECK(estimate(points[1], runs[0].device)->ns == 1.75);
  CHECK(latency_curve(points, "global", runs[0].device).size() == 3);
  CHECK(ignored_in(text) == "none");
}

TEST_CASE("units are read or given, never guessed") {
  CHECK(refusal("1,2\n") ==
        "line 1: no header gives the unit of sizes: add --size-unit B, KiB or MiB");
  CHECK(refusal("1,2\n", hints(kibi)) ==
        "line 1: no header gives the unit of latencies: add --time-unit ns, us or cycles");
  CHECK(refusal("size in KiB, time\n1,2\n")
            .starts_with("line 2: no header gives the unit of latencies"));
  CHECK(last_of("1 2\n", hints(kibi * kibi, 1e3)) == SizeAndNs(1048576, 2000.0));
  // What the person says is stronger than the header.
  CHECK(last_of("KiB,ns\n1,2\n", hints(1.0)) == SizeAndNs(1, 2.0));
  CHECK(last_of("KiB,ns\n1,2\n", hints(0.0, 1e3)) == SizeAndNs(1024, 2000.0));
}

TEST_CASE("units in a comment that names the columns, and beside the numbers") {
  CHECK(last_of("# chase -s 128\n# size(KiB) latency_ns\n4\t1.24\n# 9\n8\t1.25\n") ==
        SizeAndNs(8192, 1.25));
  CHECK(last_of("4K 1.24ns\n1.5 MiB, 14 ns\n") == SizeAndNs(1572864, 14.0));
  CHECK(last_of("1.5 MiB   14 ns\n") == SizeAndNs(1572864, 14.0));
  CHECK(last_of("2GB;0.5us\n") == SizeAndNs(std::int64_t{1} << 31, 500.0));
  CHECK(last_of("Size (KiB)  Latency (ns)\n4   1.5\n") == SizeAndNs(4096, 1.5));
  // A comment about something else gives no units, and a unit that nobody knows is none.
  CHECK(refusal("# pages of 4 KB, 10 ns a step\n4 1\n").starts_with("line 2: no header"));
  CHECK(refusal("4K 1.24 parsecs\n").starts_with("line 1: no header gives the unit of latencies"));
  CHECK(refusal("4 parsecs,1.24 ns\n") ==
        "line 1: expected a size and a latency above 0, found '4 parsecs,1.24 ns'");
}

TEST_CASE("cycles become seconds by a clock rate, and are shown as cycles again") {
  const std::string text = "Size (KiB),Latency (cycles)\n4,36\n";
  CHECK(refusal(text) ==
        "line 2: latencies are in cycles: add --clock-rate, as in --clock-rate 1.98GHz");
  const std::vector<Run> runs = import_runs(text, clock_hints(2e9));
  CHECK(size_and_ns(runs.at(0), 0) == SizeAndNs(4096, 18.0));
  CHECK(estimate(points_in(runs[0])[0], runs[0].device)->cycles == 36.0);
  // By the option, which is stronger than the header, and beside a number.
  ImportHints in_cycles = clock_hints(1e9);
  in_cycles.in_cycles = true;
  CHECK(last_of("KiB,ns\n4,36\n", in_cycles) == SizeAndNs(4096, 36.0));
  CHECK(last_of("4 KiB 36 cycles\n", clock_hints(4e9)) == SizeAndNs(4096, 9.0));
  for (const char* const word : {"clk", "clocks", "cyc"}) {
    CAPTURE(word);
    CHECK(last_of("KiB," + std::string(word) + "\n4,36\n", clock_hints(4e9)) ==
          SizeAndNs(4096, 9.0));
  }
  // Of a list in seconds, too.
  const std::vector<Run> timed = import_runs("KiB,ns\n4,36\n", clock_hints(2e9));
  CHECK(estimate(points_in(timed.at(0))[0], timed[0].device)->cycles == 72.0);
  CHECK_FALSE(estimate(points_in(import_runs("KiB,ns\n4,36\n", hints()).at(0))[0],
                       import_runs("KiB,ns\n4,36\n", hints()).at(0).device)
                  ->cycles.has_value());
}

TEST_CASE("of more columns the header's are read, else the first two, and the others are named") {
  const std::string spread = "bytes,latency_ns,stddev\n64,1.5,0.1\n128,1.6,0.1\n";
  CHECK(last_of(spread) == SizeAndNs(128, 1.6));
  CHECK(ignored_in(spread) == "stddev");
  const std::string behind = "gpu;loads;size_kib;min_ns;latency_ns\nx;100;4;0.9;1.5\n";
  CHECK(last_of(behind) == SizeAndNs(4096, 1.5));
  CHECK(ignored_in(behind) == "gpu, loads, min_ns");
  // Minima and the like are no latencies, whatever their unit.
  CHECK(last_of("KiB,min (ns),p95 (ns),mean (ns)\n4,0.9,3,1.5\n") == SizeAndNs(4096, 1.5));
  // A bandwidth has a unit of sizes, and is none.
  CHECK(last_of("GB/s\tlatency (ns)\tworking set (MiB)\n3\t5\t1\n") == SizeAndNs(1048576, 5.0));
  // Both in cycles and in ns: the first.
  CHECK(last_of("size (B),latency (ns),latency (cycles)\n64,1.5,3\n") == SizeAndNs(64, 1.5));
  CHECK(ignored_in("4 KiB 1.5 ns 7 8\n") == "column 3, column 4");
  CHECK(last_of("4 KiB 1.5 ns 7 8\n") == SizeAndNs(4096, 1.5));
  // A line that is too short is no row.
  CHECK(refusal("id,B,ns\na,64,1\n128,2\n") ==
        "line 3: expected a size and a latency above 0, found '128,2'");
}

TEST_CASE("a table of Markdown") {
  const std::string text =
      "| size | latency |\n|-----:|:-------|\n| 4 KiB | 1.5 ns |\n| 8 KiB | 2 ns |\n";
  CHECK(last_of(text) == SizeAndNs(8192, 2.0));
  CHECK(points_in(import_runs(text, hints()).at(0)).size() == 2);
  CHECK(last_of("| KiB | n | ns |\n|--|--|--|\n| 4 | 7 | 1.5 |\n") == SizeAndNs(4096, 1.5));
}

TEST_CASE("lines that are no pair are refused with their number") {
  CHECK(refusal("B,ns\n64,1\n128,x\n") ==
        "line 3: expected a size and a latency above 0, found '128,x'");
  CHECK(refusal("B,ns\n64,1\n128,-1\n").starts_with("line 3: expected"));
  CHECK(refusal("B,ns\n64,1\n128,nan\n").starts_with("line 3: expected"));
  CHECK(refusal("B,ns\n64,1\n128\n").starts_with("line 3: expected"));
  CHECK(refusal("B,ns\n1e30,1\n").starts_with("line 2: expected a size from 1 to 10^18 bytes"));
  CHECK(refusal("B,ns\n1e18,1\n") == "accepted");
  CHECK(refusal("B,ns\n0.4,1\n").starts_with("line 2: expected a size from 1 to 10^18 bytes"));
  CHECK(refusal("B,ns\n64,1e16\n").starts_with("line 2: expected a size from 1 to 10^18 bytes"));
  CHECK(refusal("B,ns\n64,1\n\x1b[31m,7\n") ==
        "line 3: expected a size and a latency above 0, found '?[31m,7'");
  // Numbers alone, none of which is a pair.
  CHECK(refusal("1\n2\n").starts_with("line 1: expected a size and a latency above 0, found '1'"));
}

TEST_CASE("decimal commas, thousands and quotes are told from columns") {
  CHECK(last_of("KiB;ns\n4;1,25\n") == SizeAndNs(4096, 1.25));
  CHECK(last_of("KiB ns\n4 1,25\n") == SizeAndNs(4096, 1.25));
  CHECK(last_of("KiB;ns\n512;1,2\n1.024;12,5\n") == SizeAndNs(1048576, 12.5));
  CHECK(last_of("| KiB | ns |\n|--:|--:|\n| 512 | 3 |\n| 1,024 | 12 |\n") ==
        SizeAndNs(1048576, 12.0));
  CHECK(last_of("\"Size, KiB\",\"ns\"\n\"1,024\",\"12.5\"\n") == SizeAndNs(1048576, 12.5));
  CHECK(last_of("KiB;ns\n1\xc2\xa0"
                "024;12\n") == SizeAndNs(1048576, 12.0));
  // Both marks give a time that a load can take.
  CHECK(refusal("KiB;ns\n4;1,200\n8;1,250\n")
            .starts_with("line 2: the comma may be a decimal mark or a thousands separator"));
}

TEST_CASE("rates are neither sizes nor latencies") {
  CHECK(refusal("Inject\tLatency\tBandwidth\nDelay\t(ns)\tMB/sec\n=====\n2\t330.7\t159225.6\n")
            .starts_with("line 4: the header names no column for sizes, only 'Inject Delay'"));
  CHECK(refusal("Size  Bandwidth\n4 KiB  1200 GB/s\n")
            .starts_with("line 2: the header names no column for latencies"));
  CHECK(last_of("GB per s;loads/ns;size [MiB];ns per load\n3;7;1;5\n") == SizeAndNs(1048576, 5.0));
}

TEST_CASE("micro signs, seconds, and units in a line of their own") {
  CHECK(last_of("size_kb,latency (\xc2\xb5s)\n4,0.00125\n") == SizeAndNs(4096, 1.25));
  CHECK(last_of("size_kb,latency (\xce\xbcs)\n4,0.00125\n") == SizeAndNs(4096, 1.25));
  CHECK(last_of("bytes,seconds per load\n4096,1.25e-9\n").second == doctest::Approx(1.25));
  CHECK(last_of("Working set\tLatency\nKiB\tns\n4\t1.25\n") == SizeAndNs(4096, 1.25));
  CHECK(last_of("Level;Size;Latency\nL2;256 KiB;3.8 ns\n") == SizeAndNs(262144, 3.8));
}

TEST_CASE("several curves of a list are runs, with their titles") {
  const auto names_in = [](std::string_view text) {
    std::vector<std::string> names;
    for (const Run& run : import_runs(text, hints())) names.push_back(run.device.name);
    return names;
  };
  using Names = std::vector<std::string>;
  // Next to each other; the second ends earlier.
  const std::string wide = "KiB,A (ns),B (ns),std (ns)\n4,1,20,0.1\n8,1.5,,0.1\n";
  CHECK(names_in(wide) == Names{"file.txt, A (ns)", "file.txt, B (ns)"});
  CHECK(last_of(wide) == SizeAndNs(8192, 1.5));
  CHECK(points_in(import_runs(wide, hints()).at(1)).size() == 1);
  // One after the other, told apart by a column, and without any name.
  CHECK(names_in("GPU 1\nKiB ns\n4 1\n8 1\n\n# GPU 2\nKiB ns\n16 20\n") ==
        Names{"file.txt, GPU 1", "file.txt, GPU 2"});
  CHECK(names_in("stride,KiB,ns\n64,4,1\n128,4,2\n64,8,1\n128,8,2\n") ==
        Names{"file.txt, stride 64", "file.txt, stride 128"});
  CHECK(names_in("device,KiB,ns\nA,4,1.5\nB,4,2\n") == Names{"file.txt, A", "file.txt, B"});
  CHECK(names_in("KiB,ns\n4,1\n8,1\n4,2\n8,2\n") ==
        Names{"file.txt, curve 1", "file.txt, curve 2"});
  // Repeats of a size, and a remark between rows, are of one curve.
  CHECK(names_in("KiB,ns\n4,1\n4,1.1\n8,1\n") == Names{"file.txt"});
  CHECK(names_in("KiB,ns\n4,1\nnow with huge pages\n8,1\n") == Names{"file.txt"});
  const std::vector<Run> titled = import_runs("[Pointer chase] of A\nKiB ns\n4 1\n", hints());
  CHECK(titled.at(0).device.reported.text("title") == "[Pointer chase] of A");
}

TEST_CASE("times of copies and of whole loops are no latencies of loads") {
  constexpr std::string_view refused = "look like times of copies or whole loops";
  const auto is_refused = [&](std::string_view text) {
    return refusal(text).find(refused) != std::string::npos;
  };
  CHECK(is_refused("KB,time (us)\n1,5.4\n64,7.5\n"));
  CHECK(is_refused("MB,time (ms)\n1,0.0015\n512,20\n"));
  CHECK(is_refused("KB,time (ns)\n1,60\n2,120\n4,240\n8,480\n16,960\n"));
  CHECK_FALSE(is_refused("KB,ns\n1,1\n2,1\n32,1\n64,5\n1024,20\n65536,90\n"));
  // An edge of a cache in steps of two is no proportion.
  CHECK_FALSE(is_refused("KB,ns\n16,1.2\n32,1.2\n64,3\n128,9\n256,12\n512,12\n"));
}

TEST_CASE("no row is lost before the first one that can be read") {
  CHECK(refusal("B,ns\n64,x1\n128,1\n") ==
        "line 2: expected a size and a latency above 0, found '64,x1'");
  CHECK(refusal("B,ns\n64,-1\n128,1\n").starts_with("line 2: expected"));
}

TEST_CASE("the curve of another tool has levels") {
  const std::vector<Run> runs = import_runs(example_file("chase.csv"), hints());
  const std::vector<Level> levels = levels_in(runs.at(0));
  REQUIRE(levels.size() >= 2);
  CHECK(levels[0].latency == doctest::Approx(1.4).epsilon(0.1));
}

}  // namespace clprobe
