// SPDX-License-Identifier: Apache-2.0
// Every number of a document of each probe, at every extreme: refused with one line that names its
// place, or shown by every format and compared, with no number that is none.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "app/commands/analyse_again.hpp"
#include "clprobe/registry.hpp"
#include "hostile/extremes.hpp"
#include "hostile/show.hpp"
#include "rounds.hpp"
#include "run/api/json.hpp"

namespace clprobe {
namespace {

using json::Json;

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// "latency-gpu.json" or "gsi-sim.json". Those of CPUs have the same numbers.
std::vector<std::filesystem::path> documents_of(std::string_view probe) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(CLPROBE_HOSTILE_DOCUMENTS)) {
    const std::string stem = entry.path().stem().string();
    if (stem == fmt::format("{}-gpu", probe) || stem == fmt::format("{}-sim", probe)) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The places of all numbers; of points, those of the first of each series, and of its samples,
/// those of the first and the last.
void find_numbers(const Json& value, const Json::json_pointer& here,
                  std::vector<Json::json_pointer>& found) {
  if (value.is_number()) found.push_back(here);
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) find_numbers(member, here / key, found);
  }
  if (!value.is_array()) return;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const Json& each = value[i];
    const bool is_sample = each.is_object() && each.contains("host_ns");
    if (is_sample && i != 0 && i + 1 != value.size()) continue;
    const bool is_point = each.is_object() && each.contains("samples");
    if (is_point && !seen.insert(each.at("series").get<std::string>()).second) continue;
    find_numbers(each, here / i, found);
  }
}

bool is_plain_line(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

/// What went wrong; empty when the document was refused as it should be, or shown.
std::string problem_with(const std::string& text, const Run& baseline, bool with_page,
                         bool& is_refused) {
  std::vector<Run> runs;
  try {
    runs = commands::analysed_runs_from_json(text);
  } catch (const RunFormatError& error) {
    is_refused = true;
    return is_plain_line(error.what()) ? "" : fmt::format("no plain line: {}", error.what());
  }
  is_refused = false;
  std::vector<hostile::Shown> shown = hostile::show_reports(runs, with_page);
  for (hostile::Shown& each : hostile::show_comparisons(baseline, runs, with_page)) {
    shown.push_back(std::move(each));
  }
  for (const hostile::Shown& each : shown) {
    const std::string nonsense = hostile::find_nonsense(each.text);
    if (!nonsense.empty()) return fmt::format("{}: {}", each.as, nonsense);
  }
  return {};
}

TEST_CASE("every number of a document of each probe is refused or shown at each extreme") {
  std::vector<const Probe*> probes(all_probes().begin(), all_probes().end());
  probes.push_back(replay_probe());
  for (const Probe* const probe : probes) {
    const auto documents = documents_of(probe->id);
    CAPTURE(probe->id);
    REQUIRE_FALSE(documents.empty());
    for (const std::filesystem::path& path : documents) {
      Json document = json::parse(text_of(path));
      const std::vector<Run> good = commands::analysed_runs_from_json(text_of(path));
      std::vector<Json::json_pointer> numbers;
      find_numbers(document, Json::json_pointer(), numbers);
      constexpr int pages_one_in = 16;
      int refused = 0;
      int shown = 0;
      int variant = 0;
      for (const Json::json_pointer& place : numbers) {
        const Json kept = document.at(place);
        for (const Json& extreme : hostile::extreme_numbers()) {
          // Four of ten, spread over all places: all take minutes. CLPROBE_ROUNDS=250% tries all.
          if (++variant * 37 % 100 >= rounds(40)) continue;
          document.at(place) = extreme;
          bool is_refused = false;
          const bool with_page = shown % pages_one_in == 0;
          const std::string problem =
              problem_with(document.dump(), good.front(), with_page, is_refused);
          ++(is_refused ? refused : shown);
          CHECK_MESSAGE(problem.empty(), fmt::format("{} {} = {}: {}", path.filename().string(),
                                                     place.to_string(), extreme.dump(), problem));
        }
        document.at(place) = kept;
      }
      MESSAGE(fmt::format("{}: {} refused, {} shown", path.filename().string(), refused, shown));
      CHECK(refused > 0);
      CHECK(shown > 0);
    }
  }
}

std::string refusal_of(const Json& document) {
  try {
    static_cast<void>(commands::analysed_runs_from_json(document.dump()));
  } catch (const RunFormatError& error) {
    return error.what();
  }
  return {};
}

Json document_of(std::string_view name) {
  return json::parse(text_of(std::filesystem::path(CLPROBE_HOSTILE_DOCUMENTS) / name));
}

TEST_CASE("what a point cannot be is said with its path") {
  Json banks = document_of("banks-gpu.json");
  Json& lanes = banks["results"][0]["points"][3]["parameters"]["lanes"];
  lanes = 0;
  CHECK(refusal_of(banks) == "results[0].points[3].parameters.lanes: is 0, but must be at least 1");
  lanes = 1025;
  CHECK(refusal_of(banks) ==
        "results[0].points[3].parameters.lanes: is 1025, but must be at most 1024");
  lanes = "many";
  CHECK(refusal_of(banks) == "results[0].points[3].parameters.lanes: is not a whole number");
  CHECK(refusal_of(Json::array({document_of("banks-gpu.json"), banks})) ==
        "[1].results[0].points[3].parameters.lanes: is not a whole number");
}

TEST_CASE("what the analysis cannot do without is said with its path") {
  Json inflight = document_of("inflight-gpu.json");
  Json& points = inflight["results"][0]["points"];
  std::size_t i = 0;
  while (points[i]["parameters"].value("loads", 0) == 0) ++i;
  points[i]["parameters"].erase("merger");
  CHECK(refusal_of(inflight) ==
        fmt::format("results[0].points[{}].parameters.merger: is missing", i));
}

TEST_CASE("a probe is once in a document") {
  Json run = document_of("latency-gpu.json");
  run["results"].push_back(run["results"][0]);
  CHECK(refusal_of(run) ==
        "results[1].probe: expected each probe only once, found the string \"latency\"");
}

TEST_CASE("a document has no more of anything than can be gone through in pairs") {
  const Json good = document_of("latency-gpu.json");
  const Json point = good["results"][0]["points"][0];
  const auto with_points = [&](std::size_t count, const auto& change) {
    Json run = good;
    Json& points = run["results"][0]["points"] = Json::array();
    for (std::size_t i = 0; i < count; ++i) {
      points.push_back(point);
      change(points.back(), i);
    }
    return refusal_of(run);
  };
  const auto set_series = [](Json& each, std::size_t i) { each["series"] = std::to_string(i); };
  CHECK(with_points(256, set_series).empty());
  CHECK(with_points(257, set_series) ==
        "results[0]: expected points of at most 256 series, found an object");
  const auto set_name = [&](Json& each, std::size_t i) {
    each["parameters"]["n" + std::to_string(i)] = 1;
  };
  const std::size_t own = point["parameters"].size() + point["facts"].size();
  CHECK(with_points(4096 - own, set_name).empty());
  CHECK(with_points(4097 - own, set_name) ==
        "results[0]: expected at most 4096 distinct point keys, found an object");
  Json run = good;
  const Json finding = run["results"][0]["findings"][0];
  run["results"][0]["findings"] = std::vector<Json>(32768, finding);
  CHECK(refusal_of(run).empty());
  run["results"][0]["findings"].push_back(finding);
  CHECK(refusal_of(run) == "results[0]: expected at most 32768 findings, found an object");
  run = good;
  while (run["results"].size() < 64) {
    Json other = good["results"][0];
    other["probe"] = fmt::format("other{}", run["results"].size());
    run["results"].push_back(std::move(other));
  }
  CHECK(refusal_of(run).empty());
  run["results"].push_back(good["results"][0]);
  run["results"].back()["probe"] = "last";
  CHECK(refusal_of(run) == "results: expected at most 64 results, found an array");
}

TEST_CASE("a number that no quantity of a device can be is refused") {
  Json run = document_of("latency-gpu.json");
  Json& seconds = run["results"][0]["elapsed_seconds"];
  for (const double good : {0.0, 1e-30, 1e30}) {
    seconds = good;
    CHECK(refusal_of(run).empty());
  }
  seconds = 1.1e30;
  CHECK(refusal_of(run) ==
        "results[0].elapsed_seconds: expected 0 or a magnitude from 1e-30 to 1e+30, found 1.1e+30");
  seconds = 0.9e-30;
  CHECK_FALSE(refusal_of(run).empty());
  seconds = -1.0;
  CHECK(refusal_of(run) ==
        "results[0].elapsed_seconds: expected a number from 0 to 1e+30, found -1.0");
}

TEST_CASE("findings that a document claims are not shown: they are made of its samples") {
  Json run = document_of("latency-gpu.json");
  const std::vector<Run> good = commands::analysed_runs_from_json(run.dump());
  for (Json& finding : run["results"][0]["findings"]) {
    if (finding.contains("value")) finding["value"] = finding["value"].get<double>() / 3;
  }
  const std::vector<Run> forged = commands::analysed_runs_from_json(run.dump());
  CHECK(forged == good);
}

}  // namespace
}  // namespace clprobe
