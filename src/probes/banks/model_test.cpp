// SPDX-License-Identifier: Apache-2.0
// Banks told from generated times, and the model of conflicts by its source's own figures.
#include "probes/banks/findings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "unit/random.hpp"

namespace clprobe::banks {
namespace {

constexpr int lanes_32 = 32;

int stride_ways(int stride, int word, const Model& model) {
  return wavefronts_of(offsets_of({PatternKind::stride, stride}, word, lanes_32), word, model);
}

/// Returns the curves from which the probe infers the banks, without times: chains and independent
/// loads of 4 and 8 bytes.
std::vector<Curve> empty_curves(int lanes) {
  std::vector<Curve> curves;
  for (int i = 0; i < 4; ++i) {
    curves.push_back({i % 2 == 0 ? 4 : 8, lanes, survey_patterns(survey_strides(true)), {}});
  }
  return curves;
}

/// Returns the candidates for a number of lanes. The candidates are kept, since they depend only
/// on the lanes, and to tabulate candidates takes longer than to compare them.
const Candidates& candidates_for(int lanes) {
  static std::map<int, Candidates> made;
  auto found = made.find(lanes);
  if (found == made.end()) {
    found = made.emplace(lanes, tabulate_candidates(empty_curves(lanes))).first;
  }
  return found->second;
}

std::size_t place_of(const Candidates& candidates, const Model& model) {
  const auto found = std::find(candidates.models.begin(), candidates.models.end(), model);
  REQUIRE(found != candidates.models.end());
  return static_cast<std::size_t>(found - candidates.models.begin());
}

/// Base and cost per way. Index 0 is for chains (curves 0 and 1), index 1 for independent loads
/// (curves 2 and 3).
struct Costs {
  std::array<double, 2> base{23.0, 0.2};
  std::array<double, 2> way{2.0, 1.0};
};

std::vector<Curve> generated(const Model& model, int lanes, const Costs& costs, double noise_share,
                             Random& noise) {
  const Candidates& candidates = candidates_for(lanes);
  const auto& wavefronts = candidates.wavefronts[place_of(candidates, model)];
  std::vector<Curve> curves = empty_curves(lanes);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (const double fronts : wavefronts[i]) {
      const double time = costs.base.at(i / 2) + costs.way.at(i / 2) * fronts;
      curves[i].times.push_back(time * (1.0 + noise_share * noise.normal()));
    }
  }
  return curves;
}

/// Returns true if the cost is right to 5 %, or to twice the half-width of its interval if this is
/// more than 5 %.
bool is_near(const ConflictLine& line, double cost) {
  const double half = line.cost_interval.high - line.cost;
  return std::fabs(line.cost - cost) <= std::max(0.05 * cost, 2.0 * half);
}

}  // namespace

TEST_CASE("strides of 32 banks of 4 bytes cost as many ways as their common divisor with 32") {
  const Model model{32, 4, 32};
  for (int stride = 1; stride <= 65; ++stride) {
    CHECK(stride_ways(stride, 4, model) == std::gcd(stride, 32));
  }
  // With words of 8 bytes only half of the lanes are served together, so that at least 2
  // wavefronts are needed.
  CHECK(stride_ways(1, 8, model) == 2);
  CHECK(stride_ways(2, 8, model) == 4);
  CHECK(stride_ways(16, 8, model) == 32);
  CHECK(stride_ways(33, 8, model) == 2);
  CHECK(stride_ways(1, 16, model) == 4);
  CHECK(stride_ways(8, 16, model) == 32);
  // The pattern `pairs` accesses 16 different words.
  CHECK(wavefronts_of(offsets_of({PatternKind::pairs, 2}, 4, 32), 4, model) == 1);
}

TEST_CASE("one address of all lanes is no conflict, whatever word and bank") {
  for (const Model& model : {Model{32, 4, 32}, {16, 8, 32}, {32, 8, 32}, {32, 4, 16}}) {
    for (const int word : {4, 8, 16}) {
      CAPTURE(model.width_bytes);
      CAPTURE(word);
      const int together = std::min(model.lanes_together, model.banks * model.width_bytes / word);
      // All lanes access one word, so that each group of lanes takes one wavefront.
      CHECK(stride_ways(0, word, model) == lanes_32 / together);
    }
  }
  // Lanes that access two rows of one bank take two wavefronts, not 32.
  std::vector<std::uint32_t> two(lanes_32, 0);
  for (std::size_t lane = 1; lane < two.size(); lane += 2) two[lane] = 128;
  CHECK(wavefronts_of(two, 4, {32, 4, 32}) == 2);
}

TEST_CASE("published counts of a wave of 64 lanes on 32 banks of 4 bytes") {
  // Published rule for MI300X: phases * gcd(stride, banks * 4 / word), with phases = lanes * word
  // / (banks * 4).
  for (const int word : {4, 8, 16}) {
    for (int stride = 1; stride <= 64; ++stride) {
      const int phases = 64 * word / 128;
      const int together = 128 / word;
      CAPTURE(word);
      CAPTURE(stride);
      CHECK(wavefronts_of(offsets_of({PatternKind::stride, stride}, word, 64), word, {32, 4, 32}) ==
            phases * std::gcd(stride, together));
    }
  }
}

TEST_CASE("wide banks share a row between neighbours, narrow ones do not") {
  CHECK(stride_ways(3, 4, {32, 4, 32}) == 1);
  CHECK(stride_ways(3, 4, {16, 8, 32}) == 2);
  CHECK(stride_ways(1, 4, {16, 8, 32}) == 1);
  CHECK(stride_ways(1, 8, {32, 8, 32}) == 1);
}

TEST_CASE("congestion is exactly k, for every k, word and memory") {
  for (const Model& model : {Model{32, 4, 32}, {16, 4, 16}, {64, 4, 64}, {32, 8, 32}}) {
    for (const int word : {4, 8}) {
      const int together = std::min(model.lanes_together, model.banks * model.width_bytes / word);
      for (int k = 1; k <= together; ++k) {
        const Pattern pattern{PatternKind::congestion, k,
                              static_cast<std::uint32_t>(model.banks * model.width_bytes),
                              model.banks};
        CAPTURE(k);
        // With only one group of lanes, the sum over the groups is k itself.
        CHECK(wavefronts_of(offsets_of(pattern, word, together), word, model) == k);
      }
    }
  }
}

TEST_CASE("rows tell how many lanes are served together") {
  const std::vector<std::uint32_t> rows = offsets_of({PatternKind::rows, 8}, 4, 64);
  CHECK(wavefronts_of(rows, 4, {64, 4, 64}) == 8);
  CHECK(wavefronts_of(rows, 4, {32, 4, 32}) == 16);
  CHECK(wavefronts_of(rows, 4, {32, 4, 16}) == 32);
}

TEST_CASE("offsets are whole words within the footprint, which is whole blocks") {
  for (const Pattern& pattern : survey_patterns(survey_strides(true))) {
    for (const int word : {4, 8, 16}) {
      const std::uint64_t footprint = footprint_of(pattern, word, 32);
      CHECK(footprint % pattern_block_bytes == 0);
      for (const std::uint32_t offset : offsets_of(pattern, word, 32)) {
        CHECK(offset % static_cast<std::uint32_t>(word) == 0);
        CHECK(offset + static_cast<std::uint32_t>(word) <= footprint);
      }
    }
  }
}

TEST_CASE("banks, width and cost are found again in 99 of 100 generated memories") {
  Random noise(2026);
  int cases = 0;
  int right = 0;
  constexpr double noise_share = 0.03;
  for (int round = 0; round < 30; ++round) {
    for (const int lanes : {16, 32, 64}) {
      for (const int banks : {16, 32, 64}) {
        for (const int width : {4, 8}) {
          // `lanes_together` is limited by the number of lanes and by what the banks deliver.
          const std::array<int, 3> choices{16, 32, 64};
          const int together = choices.at(static_cast<std::size_t>(noise.uniform(0.0, 1.0) * 3));
          const Model model{banks, width, std::min({together, lanes, banks * width / 4})};
          Costs costs;
          costs.base = {20.0 + 40.0 * noise.uniform(0.0, 1.0), 0.1 + noise.uniform(0.0, 1.0)};
          costs.way = {1.0 + 2.0 * noise.uniform(0.0, 1.0), 0.9 + noise.uniform(0.0, 1.0)};
          const auto curves = generated(model, lanes, costs, noise_share, noise);
          const Verdict verdict = judge(curves, candidates_for(lanes));
          ++cases;
          right += verdict.is_visible && verdict.ranking.front().model == model &&
                   is_near(verdict.lines[0], costs.way[0]) &&
                   is_near(verdict.lines[2], costs.way[1]);
        }
      }
    }
  }
  CHECK(cases >= 500);
  CHECK(right * 100 >= cases * 99);
}

TEST_CASE("flat times have no banks, at any noise") {
  Random noise(7);
  for (int round = 0; round < 200; ++round) {
    const int lanes = std::array<int, 4>{8, 16, 32, 64}.at(static_cast<std::size_t>(round % 4));
    const double share =
        std::array<double, 4>{0.0, 0.003, 0.03, 0.15}.at(static_cast<std::size_t>(round / 4 % 4));
    const Costs costs{{30.0, 1.5}, {0.0, 0.0}};
    const auto curves = generated({8, 4, 8}, lanes, costs, share, noise);
    const Verdict verdict = judge(curves, candidates_for(lanes));
    CAPTURE(lanes);
    CAPTURE(share);
    CHECK_FALSE(verdict.is_visible);
    CHECK(verdict.reason.starts_with("not visible: "));
  }
}

TEST_CASE("a cost that is there, but adds less than 2 %, is not called banks") {
  Random noise(8);
  const Costs costs{{1000.0, 1000.0}, {0.3, 0.3}};
  const Verdict verdict = judge(generated({32, 4, 32}, 32, costs, 0.0, noise), candidates_for(32));
  CHECK_FALSE(verdict.is_visible);
}

TEST_CASE("times that differ without any order are no banks either") {
  Random noise(9);
  std::vector<Curve> curves = empty_curves(32);
  for (Curve& curve : curves) {
    for (std::size_t i = 0; i < curve.patterns.size(); ++i) {
      curve.times.push_back(10.0 + 90.0 * noise.uniform(0.0, 1.0));
    }
  }
  CHECK_FALSE(judge(curves, candidates_for(32)).is_visible);
}

TEST_CASE("too few patterns compare nothing") {
  const std::vector<Curve> curves{{4, 32, {{PatternKind::stride, 1}}, {23.0}}};
  const Verdict verdict = judge(curves, tabulate_candidates(curves));
  CHECK_FALSE(verdict.is_visible);
  CHECK_FALSE(verdict.reason.empty());
}

TEST_CASE("the model's own figures: a GTX 780 Ti, 64-bit loads") {
  CongestionModel source;
  source.c1 = 1.047;
  source.c2 = 337.7;
  CHECK(source.time_of(32 * 32 * 8) == doctest::Approx(8914.724).epsilon(1e-9));
  CHECK(source.time_of(32 * 32 * 8) / 8524.46 - 1.0 == doctest::Approx(0.04578).epsilon(1e-3));
  CHECK(source.time_of(32 * 32 * 16) == doctest::Approx(17491.748).epsilon(1e-9));
}

TEST_CASE("the model is found again from points that obey it, and says how far others are") {
  std::vector<CongestionPoint> points;
  Random noise(3);
  for (const double w : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0}) {
    for (const double l : {1.0, 4.0, 16.0, 32.0}) {
      for (const double k : {1.0, 8.0, 32.0}) {
        points.push_back({w * l * k, 1.047 * w * l * k + 337.7 + 5.0 * noise.normal()});
      }
    }
  }
  const CongestionModel model = fit_congestion(points);
  CHECK(model.c1 == doctest::Approx(1.047).epsilon(0.001));
  CHECK(model.c1_interval.low < 1.047);
  CHECK(model.c1_interval.high > 1.047);
  CHECK(model.c2_interval.low < 337.7);
  CHECK(model.c2_interval.high > 337.7);
  CHECK(model.c2_interval.high - model.c2_interval.low < 10.0);
  CHECK(model.r_squared > 0.9999);
  // Measured point of the model's source near its line: the deviation is 390.26 cycles, or 4.578 %
  // of the measured time.
  const std::vector<CongestionPoint> three{{0.0, 337.7}, {8192.0, 8524.46}, {16384.0, 17491.748}};
  const CongestionModel off = fit_congestion(three);
  CHECK(off.largest_deviation == doctest::Approx(260.17).epsilon(0.001));
  CHECK(off.largest_deviation_share == doctest::Approx(130.1 / 337.7).epsilon(0.01));
}

}  // namespace clprobe::banks
