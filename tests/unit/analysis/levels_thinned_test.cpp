// SPDX-License-Identifier: Apache-2.0
// Curves of few points: synthetic ones whose truth is known, and recorded ones beside all of their
// own points. Levels may be lost there, but none is called what it is not.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/run.hpp"
#include "random.hpp"
#include "rounds.hpp"
#include "synthetic_memories.hpp"

namespace clprobe {
namespace {

// Whatever is found, a level's capacity does not begin where the curve has left it by this.
constexpr double has_left = 1.25;

struct Thinning {
  double ratio{2.0};          ///< from size to size
  double missing_share{0.0};  ///< of the points
};

constexpr std::array thinnings{
    Thinning{1.41421356, 0.0}, Thinning{1.41421356, 0.3}, Thinning{2.0, 0.0}, Thinning{2.0, 0.1},
    Thinning{2.0, 0.3},        Thinning{4.0, 0.0},        Thinning{4.0, 0.3}};

std::vector<CurvePoint> thinned_sweep(const Memory& memory, const Thinning& thinning,
                                      Random& random) {
  const double last = memory.caches.back().capacity_bytes * 40.0;
  const double first = first_size * random.log_uniform(1.0, thinning.ratio);
  std::vector<CurvePoint> curve;
  for (double size = first; size <= last; size *= thinning.ratio) {
    if (random.chance(thinning.missing_share)) continue;
    const double whole = std::floor(size / 64.0) * 64.0;
    curve.push_back({whole, memory.measure(whole, random)});
  }
  return curve;
}

std::vector<CurvePoint> recorded(const std::string& name) {
  std::vector<CurvePoint> curve;
  std::ifstream file(CLPROBE_GOLDEN_FOLDER "/../curves/" + name + ".size-latency.csv");
  for (std::string line; std::getline(file, line);) {
    const std::size_t comma = line.find(',');
    if (line.starts_with('#') || line.starts_with('w') || comma == std::string::npos) continue;
    curve.push_back({std::stod(line.substr(0, comma)), std::stod(line.substr(comma + 1))});
  }
  return curve;
}

/// A curve of a device, and where it is from.
struct Recorded {
  std::string name{};
  std::vector<CurvePoint> curve{};
};

/// Of every document of a folder that has one of global memory.
void add_documents(const std::filesystem::path& folder, std::vector<Recorded>& all) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const Run& run : runs_from_json(text)) {
      for (const ProbeResult& result : run.results) {
        if (result.probe != "latency") continue;
        std::vector<CurvePoint> curve = latency_curve(result.points, "global", run.device);
        // One of a few sizes has nothing to leave out.
        if (curve.size() > 10) all.push_back({entry.path(), std::move(curve)});
      }
    }
  }
}

/// All that are stored, in the order of their names.
const std::vector<Recorded>& recorded_curves() {
  static const std::vector<Recorded> curves = [] {
    const std::filesystem::path tests(CLPROBE_GOLDEN_FOLDER "/..");
    std::vector<Recorded> all;
    for (const auto& entry : std::filesystem::directory_iterator(tests / "curves")) {
      const std::string name = entry.path().filename();
      const std::size_t end = name.find(".size-latency.csv");
      if (end != std::string::npos) all.push_back({name, recorded(name.substr(0, end))});
    }
    add_documents(tests / "curves", all);
    add_documents(tests / "../results", all);
    std::sort(all.begin(), all.end(),
              [](const Recorded& a, const Recorded& b) { return a.name < b.name; });
    return all;
  }();
  return curves;
}

/// The points nearest to multiples of `ratio`, and of these not all.
std::vector<CurvePoint> thinned(const std::vector<CurvePoint>& curve, const Thinning& thinning,
                                Random& random) {
  std::vector<CurvePoint> kept;
  double next = curve.front().working_set_bytes * random.log_uniform(1.0, thinning.ratio);
  for (const CurvePoint& point : curve) {
    if (point.working_set_bytes < next) continue;
    while (next <= point.working_set_bytes) next *= thinning.ratio;
    if (!random.chance(thinning.missing_share)) kept.push_back(point);
  }
  return kept;
}

/// How far the curve has risen at a size: the least that was measured there or beyond. Others only
/// make loads slower, so that what a larger set takes is no more than what this one takes alone.
double height_at(const std::vector<CurvePoint>& curve, double bytes) {
  double least = HUGE_VAL;
  for (const CurvePoint& point : curve) {
    if (point.working_set_bytes > bytes * 0.999) least = std::min(least, point.latency);
  }
  return least;
}

}  // namespace

TEST_CASE("what rises a little between a knee of small steps and a steep one is a level") {
  const std::vector<Level> levels = find_levels(recorded("h200-far-half"));
  REQUIRE(levels.size() == 4);
  CHECK(levels[2].latency == doctest::Approx(258.7).epsilon(0.01));
  CHECK(levels[2].is_shelf);
  REQUIRE(levels[2].capacity.has_value());
  CHECK(levels[2].capacity->low >= 44.0 * 1048576.0);
  CHECK(levels[2].capacity->high <= 64.0 * 1048576.0);
}

TEST_CASE("a plateau is as flat as its own points say, however noisy memory is") {
  const std::vector<Level> levels = find_levels(recorded("epyc-quick"));
  REQUIRE(levels.size() == 4);
  CHECK(levels[1].latency == doctest::Approx(3.72).epsilon(0.05));
}

TEST_CASE("of thinned synthetic curves no bracket begins beyond its level") {
  constexpr int curves = 400;
  int brackets = 0;
  int beyond = 0;
  for (const Thinning& thinning : thinnings) {
    Score total;
    for (int i = 0; i < curves; ++i) {
      Random random(1000U + static_cast<std::uint64_t>(i));
      const Memory memory = random_memory(random);
      const std::vector<Level> levels = find_levels(thinned_sweep(memory, thinning, random));
      score(memory, levels, total);
      for (const Level& level : levels) {
        if (!level.capacity) continue;
        ++brackets;
        if (memory.true_latency(level.capacity->low) > has_left * level.latency) ++beyond;
      }
    }
    MESSAGE("every " << thinning.ratio << " without " << thinning.missing_share << ": levels "
                     << total.levels << ", found " << total.found << ", invented " << total.invented
                     << "; capacities " << total.capacities << ", in their bracket "
                     << total.in_bracket);
    CAPTURE(thinning.ratio);
    CAPTURE(thinning.missing_share);
    CHECK(total.in_bracket >= 0.97 * total.capacities);
  }
  CHECK(brackets > 3000);
  CHECK(beyond == 0);
}

TEST_CASE("of thinned recorded curves no bracket begins beyond its level") {
  const auto seeds = static_cast<std::uint64_t>(rounds(50));
  std::uint64_t brackets = 0;
  for (const auto& recorded : recorded_curves()) {
    const std::string& name = recorded.name;  // clang 14 captures no structured binding
    const auto& curve = recorded.curve;
    CAPTURE(name);
    REQUIRE(curve.size() > 10);
    for (const Thinning& thinning : thinnings) {
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        Random random(seed);
        const std::vector<CurvePoint> points = thinned(curve, thinning, random);
        for (const Level& level : find_levels(points)) {
          if (!level.capacity) continue;
          ++brackets;
          CAPTURE(level.latency);
          CAPTURE(level.capacity->low);
          CHECK(height_at(points, level.capacity->low) <= has_left * level.latency);
        }
      }
    }
  }
  // Seven curves of files, two of simulated machines, and those of results/.
  CHECK(recorded_curves().size() >= 20);
  CHECK(brackets > 100 * seeds);
}

TEST_CASE("a level that was lost in between does not end beyond the next") {
  // As an imported curve had it: flat to 64 KiB, then a level of one point.
  const std::vector<CurvePoint> curve{
      {8192, 1.70},    {16384, 1.70},    {32768, 1.70},   {65536, 1.70},   {131072, 5.1},
      {262144, 5.8},   {524288, 9.0},    {1048576, 20.0}, {2097152, 60.0}, {4194304, 95.0},
      {8388608, 96.0}, {16777216, 96.0}, {33554432, 96.0}};
  const std::vector<Level> levels = find_levels(curve);
  REQUIRE(levels.size() == 2);
  REQUIRE(levels[0].capacity);
  CHECK(levels[0].capacity->low == doctest::Approx(65536.0));
  CHECK(levels[0].capacity->bytes <= 131072.0);
  CHECK(levels[0].capacity->high <= 3.0 * 131072.0 * 1.001);
}

TEST_CASE("two plateaus with a slow step of 14 % between them are two levels") {
  // As between an AMD GPU's cache and its memory: the rise takes three octaves.
  std::vector<CurvePoint> curve;
  for (double size = 1024.0 * 1024.0; size <= 4.2e9; size *= 1.19) {
    const double octaves = std::clamp(std::log2(size / 33554432.0), 0.0, 3.0);
    curve.push_back({size, 700.0 * (1.0 + 0.14 * octaves / 3.0)});
  }
  const std::vector<Level> levels = find_levels(curve);
  REQUIRE(levels.size() == 2);
  CHECK(levels[0].latency == doctest::Approx(700.0).epsilon(0.02));
  CHECK(levels[1].latency == doctest::Approx(798.0).epsilon(0.02));
}

TEST_CASE("of thinned recorded curves no level is the first where the smallest sets are faster") {
  constexpr double clearly_slower = 1.25;
  const auto seeds = static_cast<std::uint64_t>(rounds(50));
  std::uint64_t lost = 0;
  for (const auto& recorded : recorded_curves()) {
    const std::string& name = recorded.name;  // clang 14 captures no structured binding
    const auto& curve = recorded.curve;
    for (const Thinning& thinning : thinnings) {
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(name);
        CAPTURE(thinning.ratio);
        CAPTURE(seed);
        Random random(seed);
        const std::vector<CurvePoint> points = thinned(curve, thinning, random);
        const std::vector<Level> levels = find_levels(points);
        const auto faster = faster_than_first(points, levels);
        if (faster) ++lost;
        if (levels.empty() || faster) continue;
        CHECK(levels.front().latency_interval.low <= clearly_slower * points.front().latency);
      }
    }
  }
  CHECK(2 * lost > seeds);
}

TEST_CASE("sizes that are clearly faster than the first plateau are told") {
  const std::vector<CurvePoint> curve{{3072, 0.98}, {65536, 3.45}, {1e7, 261.0},  {2e7, 261.0},
                                      {4e7, 260.0}, {8e7, 262.0},  {1.6e8, 261.0}};
  const std::vector<Level> levels = find_levels(curve);
  REQUIRE(!levels.empty());
  REQUIRE(levels[0].latency > 200.0);
  const auto faster = faster_than_first(curve, levels);
  REQUIRE(faster);
  CHECK(faster->working_set_bytes == doctest::Approx(3072.0));
  CHECK_FALSE(
      faster_than_first(std::span(curve).subspan(2), find_levels(std::span(curve).subspan(2))));
  CHECK_FALSE(faster_than_first(curve, {}));
}

}  // namespace clprobe
