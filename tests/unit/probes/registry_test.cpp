// SPDX-License-Identifier: Apache-2.0
// What every probe promises, whichever it is.
#include "clprobe/registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <memory>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

#include "clprobe/run.hpp"
#include "golden.hpp"
#include "text/api/embedded.hpp"

namespace clprobe {
namespace {

std::filesystem::path source_folder() {
  return std::filesystem::path(CLPROBE_GOLDEN_FOLDER).parent_path().parent_path();
}

bool has_kernel(const Probe& probe) { return probe.open != nullptr; }

/// What sha256sum says of the files one after the other, as a person would check a run document.
std::string sha256_of(const std::string& files) {
  const std::string command =
      "cd '" + source_folder().string() + "' && cat " + files + " | sha256sum";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  const bool is_running = pipe != nullptr;
  REQUIRE(is_running);
  std::array<char, 65> digits{};
  const std::size_t count = std::fread(digits.data(), 1, 64, pipe.get());
  return {digits.data(), count};
}

/// " cl/NAME" for each header that the kernel file includes.
std::string headers_of(const std::string& kernel) {
  const std::string text = read_text(source_folder() / "cl" / kernel);
  const std::regex include("#include \"([a-z_]+\\.clh)\"");
  std::string headers;
  for (std::sregex_iterator at(text.begin(), text.end(), include); at != std::sregex_iterator();
       ++at) {
    headers += " cl/" + (*at)[1].str();
  }
  return headers;
}

DeviceInfo device_of(Bytes memory) {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 4;
  device.max_work_group_size = 256;
  device.global_memory = memory;
  device.max_allocation = memory / 4;
  device.local_memory = kibibytes(32);
  device.constant_buffer = kibibytes(64);
  device.cache_line = Bytes{64};
  device.image_buffer_pixels = 65536;
  device.clock.kind = ClockKind::nvidia;
  device.clock.rate = ClockRate::core_cycles;
  return device;
}

TEST_CASE("ids are words, and no two probes share one") {
  std::set<std::string_view> ids;
  for (const Probe* const probe : all_probes()) {
    CHECK(ids.insert(probe->id).second);
    CHECK_FALSE(probe->id.empty());
    CHECK(std::all_of(probe->id.begin(), probe->id.end(),
                      [](unsigned char c) { return std::islower(c) != 0 || c == '_'; }));
    CHECK(find_probe(probe->id)->id == probe->id);
  }
  CHECK(ids.contains("latency"));
  const bool is_found = find_probe("") != nullptr || find_probe("Latency") != nullptr;
  CHECK_FALSE(is_found);
}

TEST_CASE("every probe has a title, a question, a quantity and the functions that it needs") {
  for (const Probe* const probe : all_probes()) {
    CAPTURE(probe->id);
    CHECK_FALSE(probe->title.empty());
    CHECK(probe->question.ends_with('?'));
    CHECK_FALSE(to_word(probe->unit).empty());
    const bool can_run = has_kernel(*probe) || probe->trace != nullptr;
    const bool is_whole = probe->plan != nullptr && can_run && probe->analyse != nullptr;
    REQUIRE(is_whole);
  }
}

TEST_CASE("every probe's kernel and page are in the program, byte for byte") {
  for (const Probe* const probe : all_probes()) {
    const std::string kernel = std::string(probe->id) + ".cl";
    const std::string page = std::string(probe->id) + ".md";
    CHECK(has_embedded_file(kernel) == has_kernel(*probe));
    if (has_kernel(*probe)) {
      // No comparison of nothing with nothing: each file begins with this line.
      CHECK(embedded_file(kernel).starts_with("// SPDX-License-Identifier: Apache-2.0\n"));
      CHECK(embedded_file(kernel) == read_text(source_folder() / "cl" / kernel));
    }
    CHECK_FALSE(embedded_file(page).empty());
    CHECK(embedded_file(page) == read_text(source_folder() / "docs" / page));
  }
  CHECK(embedded_file("clock.clh") == read_text(source_folder() / "cl" / "clock.clh"));
}

TEST_CASE("the hash of a kernel is the one that sha256sum gives") {
  for (const Probe* const probe : all_probes()) {
    if (!has_kernel(*probe)) continue;
    const std::string kernel = std::string(probe->id) + ".cl";
    CHECK(kernel_sha256(kernel) ==
          sha256_of("cl/clock.clh" + headers_of(kernel) + " cl/" + kernel));
  }
}

TEST_CASE("a driver gets the clock, what is put before the file, and headers where they stand") {
  CHECK(kernel_source("stride.cl", "before\n") == std::string(embedded_file("clock.clh")) +
                                                      "before\n" +
                                                      std::string(embedded_file("stride.cl")));
  CHECK(headers_of("stride.cl").empty());
  CHECK(headers_of("inflight.cl") == " cl/places.clh");
  // Nothing is missing but the words of the line, and nothing moves.
  const std::string_view inflight = embedded_file("inflight.cl");
  constexpr std::string_view line = "#include \"places.clh\"";
  const std::size_t at = inflight.find(line);
  REQUIRE(at != std::string_view::npos);
  CHECK(kernel_source("inflight.cl") == std::string(embedded_file("clock.clh")) +
                                            std::string(inflight.substr(0, at)) +
                                            std::string(embedded_file("places.clh")) +
                                            std::string(inflight.substr(at + line.size())));
  CHECK(kernel_source("stalls.cl").find("#include") == std::string::npos);
  CHECK_THROWS_AS(static_cast<void>(kernel_source("nothing.cl")), std::out_of_range);
}

TEST_CASE("files that are not in the program are an error") {
  CHECK_THROWS_AS(static_cast<void>(embedded_file("nothing.cl")), std::out_of_range);
  CHECK_THROWS_AS(static_cast<void>(kernel_sha256("nothing.cl")), std::out_of_range);
  CHECK_THROWS_AS(static_cast<void>(kernel_sha256("latency.md")), std::out_of_range);
}

TEST_CASE("plans keep to small and to huge devices, and to what a person allows") {
  for (const Bytes memory : {mebibytes(64), gibibytes(256)}) {
    for (const Bytes most : {Bytes{}, mebibytes(1)}) {
      const DeviceInfo device = device_of(memory);
      Request request;
      request.max_memory = most;
      // A quarter of the memory is left to others; a buffer of more than 1 GiB is never needed
      // here.
      const Bytes all = most.count != 0 ? most : memory / 4;
      const Bytes buffer = most.count != 0 ? most : std::min(gibibytes(1), memory / 4);
      for (const Probe* const probe : all_probes()) {
        CAPTURE(probe->id);
        const Plan plan = probe->plan(device, request);
        // A probe of simulated machines says so of others.
        if (!has_kernel(*probe)) CHECK_FALSE(plan.findings.empty());
        CHECK(plan.points.empty() == !has_kernel(*probe));
        for (const Point& point : plan.points) {
          CHECK_FALSE(point.series.empty());
          for (const auto& [name, allowed] :
               {std::pair("working_set_bytes", all), std::pair("buffer_bytes", buffer)}) {
            const auto bytes = point.facts.integer_or(name, point.parameters.integer_or(name, 0));
            CHECK(bytes >= 0);
            CHECK(static_cast<std::uint64_t>(bytes) <= allowed.count);
          }
        }
      }
    }
  }
}

TEST_CASE("a plan is the same each time, and no two of its points are alike") {
  const DeviceInfo device = device_of(gibibytes(8));
  for (const Probe* const probe : all_probes()) {
    const Plan plan = probe->plan(device, {});
    CHECK(plan.points == probe->plan(device, {}).points);
    for (auto point = plan.points.begin(); point != plan.points.end(); ++point) {
      CHECK(std::find(std::next(point), plan.points.end(), *point) == plan.points.end());
    }
  }
}

/// "cycles|seconds" has "seconds".
bool has_unit(const FindingSpec& spec, const std::string& unit) {
  return ("|" + std::string(spec.unit) + "|").find("|" + unit + "|") != std::string::npos;
}

/// What is wrong with a finding in view of what its probe declares; empty when nothing is.
std::string undeclared(const Probe& probe, const Finding& finding) {
  const auto spec =
      std::find_if(probe.findings.begin(), probe.findings.end(),
                   [&](const FindingSpec& each) { return each.name == finding.name; });
  if (spec == probe.findings.end()) return "no such finding";
  if (finding.value && !has_unit(*spec, finding.unit)) return "no such unit: " + finding.unit;
  return {};
}

TEST_CASE("every finding is declared, of plans and of the stored runs") {
  const DeviceInfo device = device_of(gibibytes(8));
  for (const Probe* const probe : all_probes()) {
    CAPTURE(probe->id);
    for (const Finding& finding : probe->plan(device, {}).findings) {
      CAPTURE(finding.name);
      CHECK(undeclared(*probe, finding).empty());
    }
  }
  std::set<std::string> seen;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(source_folder() / "results")) {
    if (file.path().extension() != ".json") continue;
    for (Run& run : runs_from_json(read_text(file.path()))) {
      for (ProbeResult& result : run.results) {
        const Probe* const probe = find_probe(result.probe);
        REQUIRE(probe != nullptr);
        analyse_again(*probe, run.device, result);
        seen.insert(result.probe);
        for (const Finding& finding : result.findings) {
          CAPTURE(result.probe);
          CAPTURE(finding.name);
          CHECK(undeclared(*probe, finding).empty());
        }
      }
    }
  }
  CHECK(seen.size() >= 5);
}

TEST_CASE("declared findings and options have unique names, and one finding is the answer") {
  for (const Probe* const probe : all_probes()) {
    CAPTURE(probe->id);
    std::set<std::string_view> names;
    bool has_headline = false;
    for (const FindingSpec& spec : probe->findings) {
      CAPTURE(spec.name);
      CHECK(names.insert(spec.name).second);
      has_headline |= spec.role == Role::headline;
    }
    CHECK(has_headline);
    for (const FindingSpec& spec : probe->findings) {
      const auto is_whole = [&](const FindingSpec& each) {
        return each.name == spec.part_of && each.unit == spec.unit && each.part_of.empty();
      };
      const auto count = std::count_if(probe->findings.begin(), probe->findings.end(), is_whole);
      CHECK(count == (spec.part_of.empty() ? 0 : 1));
    }
    std::set<std::string_view> options;
    for (const Option& option : probe->options) CHECK(options.insert(option.name).second);
  }
}

TEST_CASE("a plan says how much memory it takes, within what is allowed") {
  for (const Bytes most : {Bytes{}, mebibytes(8), mebibytes(64)}) {
    const DeviceInfo device = device_of(gibibytes(8));
    Request request;
    request.max_memory = most;
    for (const Probe* const probe : all_probes()) {
      CAPTURE(probe->id);
      const Plan plan = probe->plan(device, request);
      CHECK((plan.memory.count > 0) == !plan.points.empty());
      if (most.count != 0) CHECK(plan.memory <= most);
    }
  }
}

TEST_CASE("nothing measured is nothing found") {
  for (const Probe* const probe : all_probes()) {
    const DeviceInfo device = device_of(gibibytes(8));
    CHECK(probe->analyse(device, {}).findings.empty());
    CHECK(probe->analyse(device, probe->plan(device, {}).points).findings.empty());
  }
}

}  // namespace
}  // namespace clprobe
