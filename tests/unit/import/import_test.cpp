// SPDX-License-Identifier: Apache-2.0
// What holds for all formats: how they are told apart, and what none of them takes.
#include <array>

#include "imported.hpp"

namespace clprobe {
namespace {

struct Example {
  const char* file;
  const char* format;
};

constexpr std::array examples{Example{"chase.csv", "size-latency"},
                              Example{"clpeak-1.1.2.xml", "clpeak-xml"},
                              Example{"clpeak-2.xml", "clpeak-xml"},
                              Example{"clpeak-2.json", "clpeak-json"},
                              Example{"clpeak-3.json", "clpeak-json"},
                              Example{"clpeak.csv", "clpeak-csv"},
                              Example{"clpeak.txt", "clpeak-text"},
                              Example{"nvbandwidth.txt", "nvbandwidth-text"},
                              Example{"clmempatterns-0.3.txt", "clmempatterns"},
                              Example{"clmempatterns-h200.txt", "clmempatterns"},
                              Example{"gpu-cache.txt", "gpu-cache"},
                              Example{"gpu-l2-cache.txt", "gpu-cache"},
                              Example{"cuda-memcpy.txt", "cuda-memcpy"},
                              Example{"gpu-latency-5.txt", "gpu-latency"},
                              Example{"gpu-latency-8.txt", "gpu-latency"},
                              Example{"lat_mem_rd.txt", "lat_mem_rd"},
                              Example{"MemoryLatency.csv", "chips-and-cheese"},
                              Example{"GpuMemLatency.txt", "chips-and-cheese"},
                              Example{"mt4g.json", "mt4g-json"},
                              Example{"nvbandwidth.json", "nvbandwidth-json"}};

std::string with_carriage_returns(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\r');
  }
  return text;
}

}  // namespace

TEST_CASE("every format is told by the text itself, and its runs survive writing and reading") {
  for (const Example& example : examples) {
    CAPTURE(example.file);
    const std::string text = example_file(example.file);
    const std::vector<Run> runs = import_runs(text, hints());
    REQUIRE_FALSE(runs.empty());
    for (const Run& run : runs) {
      CHECK(run.imported->format == example.format);
      CHECK(run.imported->file == "file.txt");
      CHECK(run.device.timer == Timer::imported);
    }
    CHECK(runs_from_json(to_json(runs)) == runs);
    // As editors and Windows write it.
    CHECK(import_runs("\xef\xbb\xbf" + text, hints()) == runs);
    CHECK(import_runs(with_carriage_returns(text), hints()) == runs);
  }
}

TEST_CASE("the person's name of the device is stronger than the file's") {
  for (const Example& example : examples) {
    CAPTURE(example.file);
    ImportHints named = hints();
    named.device_name = "Mine";
    for (const Run& run : import_runs(example_file(example.file), named)) {
      CHECK(run.device.name.starts_with("Mine"));
    }
  }
}

TEST_CASE("a hint that a format has no use for is refused") {
  ImportHints series = hints();
  series.series = "local";
  ImportHints cycles = hints();
  cycles.in_cycles = true;
  const std::string peak = example_file("clpeak-2.json");
  CHECK(refusal(peak, series) == "--series does not apply to results of clpeak: leave it out");
  CHECK(refusal(peak, clock_hints(1e9))
            .starts_with("--clock-rate does not apply to results of clpeak"));
  CHECK(refusal(peak, hints(kibi)).starts_with("--size-unit does not apply to results of clpeak"));
  const std::string mt4g = example_file("mt4g.json");
  CHECK(refusal(mt4g, series).starts_with("--series does not apply to results of mt4g"));
  CHECK(refusal(mt4g, clock_hints(1e9)) == "accepted");
  const std::string chase = example_file("gpu-latency-5.txt");
  CHECK(refusal(chase, series) == "accepted");
  CHECK(refusal(chase, clock_hints(1e9)) == "accepted");
  CHECK(refusal(chase, cycles).starts_with("--time-unit does not apply to results of gpu-latency"));
  CHECK(refusal(chase, hints(0.0, 1.0))
            .starts_with("--time-unit does not apply to results of gpu-latency"));
}

TEST_CASE("what is of no known tool is refused with those that are read") {
  const std::string refused = refusal("hello\n");
  CHECK(refused.starts_with("document: expected output of clpeak, nvbandwidth, clmempatterns, "));
  CHECK(refused.ends_with(" or a pointer chase (lines with a size and a latency), found none"));
  CHECK(refusal("") == refused);
  CHECK(refusal("{}") ==
        "the JSON is not from a known tool: expected results of clpeak, mt4g or nvbandwidth");
  CHECK(refusal("[1, 2]").starts_with("the JSON is not from a known tool"));
  CHECK(refusal("[Bandwidth Test] - Starting...\n done\n") == refused);
  CHECK(refusal("<other/>") == "document: expected the root element <clpeak>, found another");
  CHECK(refusal("<clpeak><platform>").starts_with("document: expected XML, found an error at"));
  CHECK(refusal("{\"entries\": [\n1,\n2").find("JSON") != std::string::npos);
  CHECK(refusal("\xff\xfe"
                "1\0,\0"
                "2\0") == "document: expected UTF-8, found UTF-16: save the file as UTF-8");
}

TEST_CASE("a run of clprobe is no foreign result, however it is laid out") {
  Run run;
  run.device.name = "d";
  for (const std::string& text :
       {to_json(std::vector{run}), std::string(R"({"schema":"clprobe-run"})")}) {
    CHECK(refusal(text) ==
          "the file is already a clprobe run: use `clprobe report` or `clprobe compare`");
  }
}

}  // namespace clprobe
