// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <limits>

#include "example_runs.hpp"
#include "golden.hpp"
#include "run/api/json.hpp"

namespace clprobe {
namespace {

using json::Json;

// One of everything, so small that a broken document is its text with one piece replaced.
Run small_run() {
  Run run = example_gpu_run();
  ProbeResult& result = run.results.front();
  result.points.resize(2);
  result.findings.resize(1);
  result.points[1].failure = "it broke";
  run.warnings = {{"clock_refused", {{"clock", std::string("intel")}}}};
  return run;
}

std::string one_document(const Run& run) { return json::one_line(json::encode(run)); }

// The message of the refusal, or "accepted".
std::string refusal(std::string_view text) {
  try {
    static_cast<void>(runs_from_json(text));
  } catch (const RunFormatError& error) {
    return error.what();
  }
  return "accepted";
}

bool is_one_plain_line(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return c >= 0x20U && c < 0x7FU; });
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, std::string(from));
  return text.replace(at, from.size(), to);
}

struct Broken {
  const char* from;
  const char* to;
  const char* message;
};

constexpr std::array broken{
    Broken{R"("schema":"clprobe-run")", R"("schema":"other-run")",
           R"(schema: expected "clprobe-run", found the string "other-run")"},
    Broken{R"("schema":"clprobe-run")", R"("schema":"clprobe-survey")",
           "it is a survey of a program's kernels (profile --list), which no command reads; "
           "`clprobe profile` without --list writes runs"},
    Broken{R"("schema":"clprobe-run")", R"("schema":"clprobe-launch")",
           "it is a launch of a kernel, not a run: `clprobe profile FOLDER` replays it"},
    Broken{
        R"("schema":"clprobe-run",)", "",
        R"(schema: expected "clprobe-run", as in every run of clprobe (`clprobe import` reads other tools' files), found nothing)"},
    Broken{R"("schema_version":2)", R"("schema_version":3)",
           "schema_version: expected at most 2 (a newer clprobe wrote this file), found 3"},
    Broken{R"("schema_version":2)", R"("schema_version":0)",
           "schema_version: expected an integer of at least 2, found 0"},
    Broken{R"("schema_version":2)", R"("schema_version":2.0)",
           "schema_version: expected an integer, found 2.0"},
    Broken{R"("tool":{)", R"("tool":{"build":1,)",
           "tool.build: expected no key of this name, found 1"},
    Broken{R"("commit":"97142c5",)", "", "tool.commit: expected a string, found nothing"},
    Broken{R"("started":)", R"("begun":)",
           R"(begun: expected no key of this name, found the string "2026-01-02T03:04:05Z")"},
    Broken{R"("started":)", R"("a\u001b[31m\nb":)",
           R"(["a\u001b[31m\nb"]: expected no key of this name, found the string )"
           R"("2026-01-02T03:04:05Z")"},
    Broken{R"("arguments":["latency")", R"("arguments":[7)",
           "arguments[0]: expected a string, found 7"},
    Broken{R"("seed":42)", R"("seed":-42)", "seed: expected a non-negative integer, found -42"},
    Broken{R"("seed":42)", R"("seed":42.0)", "seed: expected a non-negative integer, found 42.0"},
    Broken{R"("seed":42)", R"("seed":1e999)", "seed: expected a number that a double can hold"},
    Broken{R"("seed":42)", R"("seed":18446744073709551616)",
           "seed: expected a non-negative integer, found 1.8446744073709552e+19"},
    Broken{R"("interrupted":false)", R"("interrupted":0)",
           "interrupted: expected true or false, found 0"},
    Broken{R"("interrupted":false)", R"("interrupted":null)",
           "interrupted: expected true or false, found null"},
    Broken{R"("logical_cpus":16)", R"("logical_cpus":"16")",
           R"(host.logical_cpus: expected an integer, found the string "16")"},
    Broken{R"("device":{"index":0)", R"("device":{"index":-1)",
           "device.index: expected an integer of at least 0, found -1"},
    Broken{R"("device":{"index":0)", R"("device":{"index":4294967296)",
           "device.index: expected an integer below 2^31, found 4294967296"},
    Broken{R"("compute_units":132)", R"("compute_units":9223372036854775808)",
           "device.compute_units: expected an integer below 2^63, found 9223372036854775808"},
    Broken{R"("pointers_stay_valid":true)", R"("pointers_stay_valid":"true")",
           R"(device.pointers_stay_valid: expected true or false, found the string "true")"},
    Broken{R"("kind":"nvidia-clock64")", R"("kind":"sundial")",
           "device.clock.kind: expected one of none, khr-device, khr-sub-group, nvidia-clock64, "
           "amd-cycle-counter, intel-cycle-counter, cpu-cycle-counter, simulated-cycles, "
           "found the string "
           R"("sundial")"},
    Broken{R"("ticks_per_ns":1.98)", R"("ticks_per_ns":[])",
           "device.clock.ticks_per_ns: expected a number, found an array"},
    Broken{
        R"("timer":"clock")", R"("timer":"wall")",
        R"(device.timer: expected one of clock, event, host, wait, imported, found the string "wall")"},
    Broken{R"("max_clock_frequency_mhz":1980)", R"("max_clock_frequency_mhz":true)",
           "device.reported.max_clock_frequency_mhz: expected a number or a string, found true"},
    Broken{R"("warnings":[{"code":"clock_refused")", R"("warnings":[{"code":null)",
           "warnings[0].code: expected a string, found null"},
    Broken{R"("facts":{"clock":"intel"})", R"("facts":[])",
           "warnings[0].facts: expected an object, found an array"},
    Broken{R"("source":"engine")", R"("source":"rumour")",
           R"(warnings[0].source: expected one of engine, analysis, found the string "rumour")"},
    Broken{R"(,"source":"engine")", "", "warnings[0].source: expected a string, found nothing"},
    Broken{R"("type":"gpu")", R"("type":"abacus")",
           "device.type: expected one of gpu, cpu, accelerator, other, simulated, found the string "
           R"("abacus")"},
    Broken{R"("launch_timer":"host",)", "",
           "device.launch_timer: expected a string, found nothing"},
    Broken{R"("results":[)", R"("results":[3,)", "results[0]: expected an object, found 3"},
    Broken{R"("unit":"seconds",)", "", "results[0].unit: expected a string, found nothing"},
    Broken{R"("unit":"seconds")", R"("quantity":"seconds_per_access")",
           "results[0].quantity: expected no key of this name, found the string "
           R"("seconds_per_access")"},
    Broken{
        R"("kind":"curve")", R"("kind":"pie")",
        R"(results[0].view.kind: expected one of curve, heat-map, stacks, found the string "pie")"},
    Broken{R"("status":"ok")", R"("status":"fine")",
           "results[0].status: expected one of ok, unsupported, unobservable, failed, "
           R"(interrupted, found the string "fine")"},
    Broken{R"("elapsed_seconds":5.214)", R"("elapsed_seconds":null)",
           "results[0].elapsed_seconds: expected a number, found null"},
    Broken{R"("level":1)", R"("level":0)",
           "results[0].findings[0].level: expected an integer of at least 1, found 0"},
    Broken{R"("value":1.616e-08)", R"("value":NaN)",
           "results[0].findings[0].value: expected JSON, found a syntax error at line 1, column "},
    Broken{R"("source":"derived")", R"("source":"guessed")",
           "results[0].findings[0].source: expected one of measured, reported, derived, found the "
           R"(string "guessed")"},
    Broken{R"("kernels":[{"sha256":)", R"("kernels":[{"md5":)",
           "results[0].kernels[0].md5: expected no key of this name, found the string "
           R"("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b...")"},
    Broken{R"("points":[{)", R"("points":{"0":{)", "results[0].points.0: expected JSON, found "},
    Broken{R"("series":"global","parameters")", R"("series":["global"],"parameters")",
           "results[0].points[0].series: expected a string, found an array"},
    Broken{R"("working_set_bytes":1024)", R"("working_set_bytes":null)",
           "results[0].points[0].parameters.working_set_bytes: expected a number or a string, "
           "found null"},
    Broken{R"("samples":[{"accesses":65536)", R"("samples":[{"accesses":"65536")",
           "results[0].points[0].samples[0].accesses: expected a non-negative integer, found the "
           R"(string "65536")"},
    Broken{R"(,"visit":1})", R"(,"visit":1,"visit":2})",
           "results[0].points[0].samples[1].visit: expected this key only once"},
    Broken{R"(,"visit":1})", "}",
           "results[0].points[0].samples[1].visit: expected a non-negative integer, found nothing"},
    Broken{
        R"("facts":{"buffer_bytes":1024})", R"("facts":{"buffer_bytes":[]})",
        "results[0].points[0].facts.buffer_bytes: expected a number or a string, found an array"},
    Broken{R"("role":"headline")", R"("role":"star")",
           "results[0].findings[0].role: expected one of fact, headline, lower-bound, passing, "
           R"(remark, advice, found the string "star")"},
    Broken{R"("better":"less")", R"("better":"worse")",
           "results[0].findings[0].better: expected one of unknown, less, more, found the string "
           R"("worse")"},
    Broken{R"("failure":"it broke")", R"("failure":false)",
           "results[0].points[1].failure: expected a string, found false"},
    Broken{R"("unroll":16)", R"("unroll":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]])",
           "results[0].points[0].parameters.unroll[0][0][0][0][0][0][0][0][0][0]: expected at most "
           "16 levels of nesting"},
};

}  // namespace

TEST_CASE("a natural number may be 0 however it is written, and is never below") {
  const auto accesses = [](const std::string& number) {
    const std::string text = R"({"accesses":)" + number + R"(,"host_ns":7,"witness":1,"visit":0})";
    return json::decode<Sample>(json::parse(text)).accesses;
  };
  CHECK(accesses("0") == 0);
  CHECK(accesses("-0") == 0);
  CHECK(accesses("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  CHECK_THROWS_AS(accesses("-1"), RunFormatError);
  // Both readers agree: the fast one of whole documents, and the one that says what is wrong.
  const std::string document = one_document(small_run());
  CHECK(runs_from_json(replaced(document, R"("seed":42)", R"("seed":-0)")).front().seed == 0);
}

TEST_CASE("a document reads back as the run that it was made from") {
  for (const Run& run : {example_gpu_run(), example_cpu_run(), example_broken_run(), small_run()}) {
    CHECK(runs_from_json(to_json(std::span(&run, 1))) == std::vector<Run>{run});
  }
  const std::vector<Run> several{example_gpu_run(), example_cpu_run()};
  CHECK(runs_from_json(to_json(several)) == several);
  CHECK(runs_from_json(to_json({})).empty());
}

TEST_CASE("the largest and the smallest values survive") {
  Run run = small_run();
  run.seed = std::numeric_limits<std::uint64_t>::max();
  Point& point = run.results[0].points[0];
  point.samples[0].witness = std::numeric_limits<std::uint64_t>::max();
  point.parameters.set("least", std::numeric_limits<std::int64_t>::min());
  point.parameters.set("whole", 3.0);
  point.parameters.set("tiny", min_magnitude);
  point.parameters.set("third", 1.0 / 3.0);
  CHECK(runs_from_json(to_json(std::span(&run, 1))) == std::vector<Run>{run});
}

TEST_CASE("a sample is one line, and a run of 300 points of 6 samples is below 300 KB") {
  Run run = example_gpu_run();
  std::vector<Point>& points = run.results[0].points;
  points.resize(150);
  points.insert(points.end(), points.begin(), points.end());
  for (Point& point : points) {
    point.samples.insert(point.samples.end(), point.samples.begin(), point.samples.end());
  }
  const std::string text = to_json(std::span(&run, 1));
  CHECK(text.size() < 300'000);
  CHECK(text.find("\n      {\"accesses\":65536,\"ticks\":") != std::string::npos);
  CHECK(text.ends_with("}\n"));
}

TEST_CASE("numbers that are not finite are not written") {
  Run run = small_run();
  run.results[0].findings[0].value = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(to_json(std::span(&run, 1)), "value is not finite", std::invalid_argument);
  run = small_run();
  run.device.clock.r_squared = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(to_json(std::span(&run, 1)), std::invalid_argument);
  run = small_run();
  run.results[0].points[0].parameters.set("share", -std::numeric_limits<double>::infinity());
  CHECK_THROWS_WITH_AS(to_json(std::span(&run, 1)), "share is not finite", std::invalid_argument);
}

TEST_CASE("a driver's text is written in ASCII, whatever its bytes") {
  const Run run = example_hostile_run();
  const std::string text = to_json(std::span(&run, 1));
  CHECK(std::all_of(text.begin(), text.end(),
                    [](unsigned char c) { return c == '\n' || (c >= 0x20U && c < 0x7FU); }));
  const std::vector<Run> back = runs_from_json(text);
  REQUIRE(back.size() == 1);
  CHECK(back[0].device.driver == run.device.driver);
  CHECK(back[0].device.name.find("\xEF\xBF\xBD") != std::string::npos);  // for bytes of no UTF-8
}

TEST_CASE("every broken document is refused with its path and what was expected") {
  const std::string good = one_document(small_run());
  REQUIRE(refusal(good) == "accepted");
  for (const Broken& each : broken) {
    const std::string message = refusal(replaced(good, each.from, each.to));
    CAPTURE(each.to);
    CHECK(message.substr(0, std::string_view(each.message).size()) == each.message);
    CHECK(is_one_plain_line(message));
  }
}

TEST_CASE("what is no document is refused") {
  const std::string good = one_document(small_run());
  CHECK(refusal("") == "document: expected JSON, found an empty file");
  CHECK(refusal(" \n") == "document: expected JSON, found an empty file");
  CHECK(refusal("7") == "document: expected a run (an object) or an array of runs, found 7");
  CHECK(refusal("null").starts_with("document: expected a run"));
  CHECK(
      refusal("{}") ==
      R"(schema: expected "clprobe-run", as in every run of clprobe (`clprobe import` reads other tools' files), found nothing)");
  CHECK(refusal("[7]") == "[0]: expected an object, found 7");
  CHECK(refusal("{\n  oops") ==
        "document: expected JSON, found a syntax error at line 2, column 3");
  CHECK(refusal(good + "{}").starts_with("document: expected JSON, found a syntax error"));
  CHECK(refusal(good.substr(0, good.find("\"failure\""))) ==
        "results[0].points[1].samples: expected more JSON, found the end of the file, which may be "
        "truncated");
  CHECK(refusal("[" + good + "," + replaced(good, "\"seed\":42", "\"seed\":[]") + "]") ==
        "[1].seed: expected a non-negative integer, found an array");
  CHECK(refusal(std::string(100'000, '[')).ends_with("expected at most 16 levels of nesting"));
  CHECK(refusal("\"\xff\"").starts_with("document: expected JSON"));
}

TEST_CASE("a repeated key is refused; a byte order mark and blanks around a document are not") {
  const std::string good = one_document(small_run());
  CHECK(refusal(replaced(good, R"("reported":{)", R"("reported":{"a":1,"a":2,)")) ==
        "device.reported.a: expected this key only once");
  CHECK(refusal(replaced(good, R"("tool":{)", R"("tool":{"version":"9",)")) ==
        "tool.version: expected this key only once");
  CHECK(runs_from_json(replaced(good, R"("seed":42)", R"("seed":-0)")).at(0).seed == 0);
  // A byte order mark and blanks around are no part of the document.
  CHECK(runs_from_json("\xEF\xBB\xBF" + good).size() == 1);
  CHECK(runs_from_json(" \n" + good + "\r\n\t").size() == 1);
  std::string members = "\"reported\":{";
  for (int i = 0; i < 5000; ++i) members += "\"k" + std::to_string(i) + "\":1,";
  CHECK(refusal(replaced(good, R"("reported":{)", members)) ==
        "device.reported.k4096: expected at most 4096 keys in an object");
}

TEST_CASE("an imported run says so, and one that was measured does not") {
  Run run = small_run();
  CHECK(one_document(run).find("\"imported\"") == std::string::npos);
  run.imported = ImportInfo{"clpeak 2.1.2", "clpeak-json", "a.json"};
  run.device.timer = Timer::imported;
  const std::string text = one_document(run);
  CHECK(runs_from_json(text) == std::vector<Run>{run});
  CHECK(refusal(replaced(text, R"("imported":{)", R"("imported":{"url":"x",)")) ==
        R"(imported.url: expected no key of this name, found the string "x")");
}

TEST_CASE("no mutation of a document does more than be refused") {
  const std::string good = one_document(small_run());
  std::uint64_t state = 1;
  const auto random_below = [&](std::size_t limit) {
    state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
    return static_cast<std::size_t>((state >> 33U) % limit);
  };
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (std::size_t edits = 1 + random_below(4); edits > 0; --edits) {
      const std::size_t at = random_below(text.size());
      switch (random_below(5)) {
        case 0:
          text[at] = static_cast<char>(random_below(256));
          break;
        case 1:
          text.erase(at, 1 + random_below(20));
          break;
        case 2:
          text.resize(at + 1);
          break;
        case 3:
          text.insert(at, text.substr(random_below(text.size()), random_below(60)));
          break;
        default:
          text[at] = "{}[]\",:-0123456789.eE\\"[random_below(22)];
      }
    }
    const std::string message = refusal(text);
    refused += message == "accepted" ? 0 : 1;
    CAPTURE(round);
    REQUIRE((message == "accepted" || is_one_plain_line(message)));
  }
  CHECK(refused > 1500);
}

TEST_CASE("the locale changes nothing") {
  const Run run = example_cpu_run();
  const std::string before = to_json(std::span(&run, 1));
  const bool has_comma = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  if (!has_comma) MESSAGE("the locale de_DE.UTF-8 is not installed, so C is tried alone");
  CHECK(to_json(std::span(&run, 1)) == before);
  CHECK(runs_from_json(before) == std::vector<Run>{run});
  CHECK(std::setlocale(LC_ALL, "C") != nullptr);
}

TEST_CASE("the parts that the worker's protocol speaks read back too") {
  const Run run = small_run();
  CHECK(json::decode<DeviceInfo>(json::encode(run.device)) == run.device);
  const Point& point = run.results[0].points[0];
  CHECK(json::decode<Point>(json::encode(point)) == point);
  CHECK(json::decode<Sample>(json::encode(point.samples[0])) == point.samples[0]);
  const KernelBuild build{"ab", "-cl-std=CL1.2"};
  CHECK(json::decode<KernelBuild>(json::encode(build)) == build);
  const Clock clock = json::decode<Clock>(json::encode(run.device).at("clock"));
  CHECK(clock == run.device.clock);
  CHECK_THROWS_WITH_AS(json::decode<Sample>(Json::parse(R"({"accesses":-1})")),
                       "accesses: expected a non-negative integer, found -1", RunFormatError);
}

TEST_CASE("the document is what it was") {
  const Run run = example_gpu_run();
  check_golden("run.json", to_json(std::span(&run, 1)));
}

TEST_CASE(
    "run: a text of 50 MB is cut, between two characters, and shown in the time of a short one") {
  Run run = small_run();
  for (int i = 0; i < 25'000'000; ++i) run.device.name += "\xc3\xa4";
  const std::string cut = runs_from_json(one_document(run)).front().device.name;
  CHECK(cut.size() > 16000);
  CHECK(cut.size() < 17000);
  CHECK(cut.ends_with("\xc3\xa4..."));
  run.device.name = std::string(4000, 'x');
  CHECK(runs_from_json(one_document(run)).front().device.name == run.device.name);
}

}  // namespace clprobe
