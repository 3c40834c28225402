// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "clprobe/engine.hpp"
#include "engine/conclude.hpp"
#include "engine/sampler.hpp"

namespace clprobe {
namespace {

/// What was known of a point before it was lost.
Parameters facts_of(const Point& stored) {
  std::vector<std::pair<std::string, Value>> facts(stored.facts.begin(), stored.facts.end());
  std::erase_if(facts, [](const auto& fact) { return fact.first == later_failure; });
  return Parameters(std::move(facts));
}

class RecordedBackend final : public Backend {
 public:
  explicit RecordedBackend(Run run) : run_(std::move(run)) {}

  [[nodiscard]] const DeviceInfo& device() const override { return run_.device; }
  [[nodiscard]] std::vector<Warning> warnings() const override { return run_.warnings; }

  /// What was measured then, under the limits of then.
  [[nodiscard]] std::optional<Plan> plan_of(const Probe& probe) const override {
    Plan plan;
    for (const ProbeResult& result : run_.results) {
      if (result.probe != probe.id) continue;
      for (Point point : result.points) {
        point.samples.clear();
        point.failure.clear();
        point.facts = facts_of(point);
        plan.points.push_back(std::move(point));
      }
      for (const Warning& warning : result.warnings) {
        // Points that left nothing but this warning; prepare() refuses them again.
        if (warning.code != "point_refused") continue;
        constexpr std::int64_t most = 100'000;  // a file may say anything
        const auto refused = std::min(warning.facts.integer_or("points", 1), most);
        for (std::int64_t i = 0; i < refused; ++i) {
          plan.points.push_back({.series = warning.facts.text_or("series", ""),
                                 .parameters = {{"was_refused", i + 1}}});
        }
      }
      plan.recorded_references = result.references;
      std::copy_if(result.findings.begin(), result.findings.end(),
                   std::back_inserter(plan.findings),
                   [](const Finding& finding) { return finding.method == "plan"; });
    }
    return plan;
  }

  PreparedPoint prepare(const Probe& probe, const Point& point) override {
    const Stored stored = find(probe, point);
    std::vector<Sample> samples = samples_of_visit(*stored.point, next_visit(point));
    Work work;
    // The full samples are the longer ones; without a clock they have shorter partners.
    const auto longest =
        std::max_element(samples.begin(), samples.end(),
                         [](const Sample& a, const Sample& b) { return a.accesses < b.accesses; });
    work.iterations = longest->accesses;
    work.max_iterations = work.iterations;
    work.facts = facts_of(*stored.point);
    // Which of several builds a point had is not in the run.
    if (stored.result->kernels.size() == 1) work.build = stored.result->kernels.front();
    work.run = [samples = std::move(samples),
                next = std::map<std::uint64_t, std::size_t>{}](std::uint64_t iterations) mutable {
      return replay(samples, iterations, next[iterations]);
    };
    return prepared(std::move(work), run_.device);
  }

 private:
  struct Stored {
    const ProbeResult* result;
    const Point* point;
  };

  /// Throws Unsupported for what the device refused, which left no point in the run.
  [[nodiscard]] Stored find(const Probe& probe, const Point& point) const {
    for (const ProbeResult& result : run_.results) {
      if (result.probe != probe.id) continue;
      const auto found =
          std::find_if(result.points.begin(), result.points.end(), [&](const Point& stored) {
            return stored.series == point.series && stored.parameters == point.parameters;
          });
      if (found != result.points.end()) return {&result, &*found};
      throw_if_refused(result, point.series);
    }
    throw DeviceError(fmt::format("the recorded run does not contain this point of {} ({})",
                                  probe.id, point.series));
  }

  static void throw_if_refused(const ProbeResult& result, const std::string& series) {
    for (const Finding& finding : result.findings) {
      const bool is_refusal = finding.source == Source::reported && !finding.value;
      if (is_refusal && finding.series == series) throw Unsupported(finding.reason);
    }
    for (const Warning& warning : result.warnings) {
      if (warning.code == "point_refused" && warning.facts.text_or("series", "") == series) {
        throw Unsupported(warning.facts.text_or("reason", ""));
      }
    }
  }

  static std::uint64_t next_visit(const Point& point) {
    return point.samples.empty() ? 0 : point.samples.back().visit + 1;
  }

  /// The samples of the visit that comes next; from the first again after the last. Throws
  /// DeviceError where the recorded point failed.
  static std::vector<Sample> samples_of_visit(const Point& stored, std::uint64_t visit) {
    std::vector<std::uint64_t> visits;
    for (const Sample& sample : stored.samples) {
      if (visits.empty() || visits.back() != sample.visit) visits.push_back(sample.visit);
    }
    if (visit >= visits.size() && !stored.failure.empty()) throw VoidedPoint(stored.failure);
    const std::string later = stored.facts.text_or(later_failure, "");
    if (visit >= visits.size() && !later.empty()) throw DeviceError(later);
    if (visits.empty()) throw DeviceError("the recorded point has no samples");
    const std::uint64_t wanted = visits[visit % visits.size()];
    std::vector<Sample> samples;
    std::copy_if(stored.samples.begin(), stored.samples.end(), std::back_inserter(samples),
                 [wanted](const Sample& sample) { return sample.visit == wanted; });
    return samples;
  }

  /// The next stored sample of about so many accesses, from the first again after the last.
  static Measurement replay(const std::vector<Sample>& samples, std::uint64_t accesses,
                            std::size_t& next) {
    const auto distance = [accesses](const Sample& sample) {
      return sample.accesses > accesses ? sample.accesses - accesses : accesses - sample.accesses;
    };
    std::uint64_t nearest = ~std::uint64_t{0};
    for (const Sample& sample : samples) nearest = std::min(nearest, distance(sample));
    std::vector<Sample> alike;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(alike),
                 [&](const Sample& sample) { return distance(sample) == nearest; });
    const Sample& sample = alike[next++ % alike.size()];
    return {sample, sample.witness};
  }

  Run run_;
};

}  // namespace

std::unique_ptr<Backend> recorded_backend(Run run) {
  return std::make_unique<RecordedBackend>(std::move(run));
}

}  // namespace clprobe
