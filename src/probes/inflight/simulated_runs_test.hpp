// SPDX-License-Identifier: Apache-2.0
// Runs of `inflight` on simulated machines, for tests.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "clprobe/registry.hpp"
#include "random.hpp"
#include "sample_once.hpp"
#include "simulation/api/simulated.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe {

/// Simulated device whose clock readings have random errors.
class NoisyBackend final : public Backend {
 public:
  NoisyBackend(const simulator::Machine& machine, double noise, std::uint64_t seed)
      : inner_(simulated_backend(machine, seed)), noise_(noise), random_(seed) {}

  [[nodiscard]] const DeviceInfo& device() const override { return inner_->device(); }
  PreparedPoint prepare(const Probe& probe, const Point& point) override {
    PreparedPoint inner = inner_->prepare(probe, point);
    Work work{.max_iterations = 1, .facts = inner.facts};
    work.run = [this, sample = std::move(inner.sample)](std::uint64_t /*iterations*/) {
      Measurement measurement{.sample = sample_once({.sample = sample})};
      measurement.expected_witness = measurement.sample.witness;
      const auto ticks = static_cast<double>(measurement.sample.ticks.value_or(0));
      const double factor = std::max(0.5, 1.0 + noise_ * random_.normal());
      measurement.sample.ticks = static_cast<std::uint64_t>(std::llround(ticks * factor));
      return measurement;
    };
    return prepared(std::move(work), device());
  }

 private:
  std::unique_ptr<Backend> inner_;
  double noise_;
  Random random_;
};

inline ProbeResult measured(const simulator::Machine& machine, const Request& request,
                            double noise = 0.0, std::uint64_t seed = 42) {
  NoisyBackend backend(machine, noise, seed);
  Budget budget;
  budget.probe_time = std::chrono::hours(1);  // so long that a slow host does not change the
                                              // result
  budget.min_visits = 1;
  budget.max_visits = 1;
  return measure(*find_probe("inflight"), backend, request, budget, {});
}

inline const Finding* find(const ProbeResult& result, std::string_view name,
                           std::string_view series = "compute-unit") {
  for (const Finding& each : result.findings) {
    if (each.name == name && each.series == series) return &each;
  }
  return nullptr;
}

inline std::string limit_of(const ProbeResult& result) {
  const Finding* const limit = find(result, "limit");
  return limit == nullptr ? "(none)" : limit->label;
}

inline bool holds(const Finding* finding, double truth, double slack = 0.0) {
  return finding != nullptr && finding->low && finding->high && *finding->low - slack <= truth &&
         truth <= *finding->high + slack;
}

/// Simulated machine, and the relative standard deviation of its clock readings.
struct Trial {
  simulator::Machine machine{};
  double noise{0.0};
};

inline int machines_to_try(int usual) {
  const char* const asked = std::getenv("CLPROBE_MACHINES");
  return asked == nullptr ? usual : std::atoi(asked);
}

}  // namespace clprobe
