// SPDX-License-Identifier: Apache-2.0
// The roofline on the card of hand-made results.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/agreement.hpp"
#include "clprobe/probe.hpp"
#include "probes/bandwidth/bandwidth.hpp"
#include "probes/compute/compute.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::bandwidth {
namespace {

ProbeResult result_of_peaks(const std::vector<std::pair<std::string_view, double>>& peaks) {
  ProbeResult result{.probe = "compute"};
  for (const auto& [series, flops] : peaks) {
    result.points.push_back({.series = std::string(series)});
    if (flops == 0.0) continue;
    result.findings.push_back(
        finding_of("peak_flops", series, "flops_per_second", "", flops, flops, flops));
  }
  return result;
}

ProbeResult result_of_rates(const std::vector<double>& rates) {
  ProbeResult result{.probe = "bandwidth"};
  int level = 0;
  for (const double rate : rates) {
    result.findings.push_back(
        finding_of("bandwidth", "read", "bytes_per_second", "", rate, rate, rate));
    result.findings.back().level = ++level;
  }
  return result;
}

/// Returns the card of `rates` in a run with `peaks`.
Card card_beside(ProbeResult rates, ProbeResult peaks) {
  const std::array quantities{ProbeQuantities{bandwidth::probe.id, bandwidth::probe.quantities},
                              ProbeQuantities{compute::probe.id, compute::probe.quantities}};
  Run run;
  run.results = {std::move(rates), std::move(peaks)};
  tell_roofline(run, quantities);
  return card(run.results.front());
}

std::string roofline_line(const Card& card) {
  const auto line = std::find_if(card.lines.begin(), card.lines.end(),
                                 [](const CardLine& each) { return each.topic == "roofline"; });
  return line == card.lines.end() ? std::string() : line->text;
}

const CardCurve& curve_of(const Card& card, std::string_view name) {
  const std::vector<CardCurve>& curves = card.plots.at(0).curves;
  const auto found = std::find_if(curves.begin(), curves.end(),
                                  [&](const CardCurve& each) { return each.name == name; });
  REQUIRE(found != curves.end());
  return *found;
}

}  // namespace

TEST_CASE("bandwidth: the roofline's line begins with the slowest level") {
  const ProbeResult rates = result_of_rates({30e12, 10e12, 4e12});
  const auto line = [&](const ProbeResult& peaks) {
    return roofline_line(card_beside(rates, peaks));
  };
  CHECK(line(result_of_peaks({{"fma", 60e12}})) ==
        "ridge at 15.0 flop/B (level 3), 6.00 (level 2), 2.00 (level 1)");
  CHECK(line(result_of_peaks({{"fma", 60e12}, {"double-fma", 30e12}, {"half-fma", 120e12}})) ==
        "ridge at 15.0 flop/B (level 3), 6.00 (level 2), 2.00 (level 1); double 7.50 (level 3); "
        "half 30.0 (level 3)");
  CHECK(line(result_of_peaks({{"double-fma", 30e12}})) ==
        "double ridge at 7.50 flop/B (level 3), 3.00 (level 2), 1.00 (level 1)");
  CHECK(line(result_of_peaks({{"fma", 0.0}})) == "not known: compute found no peak");
  CHECK(line(result_of_peaks({{"add", 0.0}})).empty());
  CHECK(card_beside(rates, result_of_peaks({{"fma", 0.0}})).plots.empty());
}

TEST_CASE("bandwidth: a level has its name, and a rise at the end has its size") {
  ProbeResult rates = result_of_rates({30e12});
  rates.findings.push_back(finding_of("beyond", "read", "bytes_per_second", "", 4e12, 4e12, 4e12));
  Point largest{.series = "read", .parameters = {{"working_set_bytes", std::int64_t{1} << 30}}};
  largest.samples.push_back({.accesses = 1});
  rates.points.push_back(largest);
  CHECK(roofline_line(card_beside(rates, result_of_peaks({{"fma", 60e12}}))) ==
        "ridge at 15.0 flop/B (at 1 GiB), 2.00 (level 1)");
}

TEST_CASE("bandwidth: the roofline's curves meet at the ridge points") {
  const Card made = card_beside(result_of_rates({30e12, 4e12}),
                                result_of_peaks({{"fma", 60e12}, {"double-fma", 30e12}}));
  REQUIRE(made.plots.size() == 1);
  CHECK(made.plots[0].title == "roofline");
  CHECK(made.plots[0].curves.size() == 4);
  // The roof of the slowest level is complete: a slope, its ridge point and the peak of floats.
  const CardCurve& roof = curve_of(made, "level 2 4.00 TB/s");
  CHECK(made.plots[0].curves.front().name == roof.name);
  CHECK(roof.points.front().second == doctest::Approx(4e12 * roof.points.front().first));
  CHECK(roof.points.back().second == 60e12);
  const auto ridge = std::find_if(roof.points.begin(), roof.points.end(),
                                  [](const auto& each) { return each.second >= 60e12; });
  CHECK(ridge->first == doctest::Approx(15.0));
  CHECK(std::is_sorted(roof.points.begin(), roof.points.end()));
  // Other levels end at the highest peak, and peaks begin at the fastest level.
  const CardCurve& slope = curve_of(made, "level 1 30.0 TB/s");
  CHECK(slope.points.back().first == doctest::Approx(2.0));
  CHECK(slope.points.back().second == doctest::Approx(60e12));
  const CardCurve& doubles = curve_of(made, "double 30.0 TFLOP/s");
  CHECK(doubles.points.front().first == doctest::Approx(1.0));
  CHECK(doubles.points.back().first == doctest::Approx(roof.points.back().first));
  CHECK(doubles.points.front().second == 30e12);
}

}  // namespace clprobe::bandwidth
