// SPDX-License-Identifier: Apache-2.0
#include "app/commands/measure_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/commands/analyse_again.hpp"
#include "app/commands/plan.hpp"
#include "app/commands/stored_runs.hpp"
#include "clprobe/registry.hpp"
#include "clprobe/units.hpp"

namespace clprobe::commands {

void RunProgress::begin_device(std::vector<double> probe_seconds, std::size_t devices_after) {
  left_ = std::move(probe_seconds);
  const double here = std::accumulate(left_.begin(), left_.end(), 0.0);
  later_devices_ = here * static_cast<double>(devices_after);
}

void RunProgress::set_left(std::size_t probe, double seconds) {
  if (probe < left_.size()) left_[probe] = std::max(0.0, seconds);
}

double RunProgress::seconds_left() const {
  return std::accumulate(left_.begin(), left_.end(), later_devices_);
}

double RunProgress::share(double spent_seconds) {
  constexpr double almost_all = 0.99;
  const double all = spent_seconds + seconds_left();
  if (all > 0.0) share_ = std::max(share_, std::min(almost_all, spent_seconds / all));
  return share_;
}

std::string_view activity_of(std::string_view question) {
  struct Shown {
    std::string_view question;
    std::string_view activity;
  };
  constexpr std::array shown{Shown{"open", "opening"},
                             Shown{"try-events", "testing event times"},
                             Shown{"try-clock", "testing the clock"},
                             Shown{"try-pointers", "testing pointers"},
                             Shown{"calibrate", "calibrating the clock"},
                             Shown{"prepare", "preparing"},
                             Shown{"sample", "measuring"}};
  const auto* const found = std::ranges::find(shown, question, &Shown::question);
  return found == shown.end() ? std::string_view() : found->activity;
}

std::string describe_point(const Probe& probe, const Point& point) {
  const Value* const x = point.parameters.find(probe.view.x);
  const auto* const bytes = x == nullptr ? nullptr : std::get_if<std::int64_t>(x);
  if (bytes == nullptr || *bytes < 0 || !probe.view.x.ends_with("_bytes")) return point.series;
  return fmt::format("{}, {}", point.series,
                     format_bytes(Bytes{static_cast<std::uint64_t>(*bytes)}));
}

namespace {

using Steady = std::chrono::steady_clock;

/// Plan of a probe before anything is measured, used to predict which programs must be built.
struct Forecast {
  const Probe* probe{nullptr};
  Plan plan{};
};

/// Returns the request to a probe that provides only references. On a CPU, the request limits the
/// buffers to twice the last-level cache, since allocating 1 GiB takes seconds. The limit is at
/// least 64 MiB, since virtual machines may report no cache, and at most 256 MiB.
Request reference_request(const DeviceInfo& device, std::uint64_t seed) {
  constexpr std::uint64_t caches = 2;
  Request request{.seed = seed};
  if (device.type == DeviceType::cpu) {
    request.max_memory = std::clamp(reported_cache(device) * caches, mebibytes(64), mebibytes(256));
  }
  return request;
}

class RunMeasurement {
 public:
  RunMeasurement(const cli::Options& options, Backend& backend, Observer observer,
                 std::span<const Probe* const> probes, Run& run, const RunObserver& run_observer)
      : options_(options),
        backend_(backend),
        device_(backend.device()),
        observer_(std::move(observer)),
        probes_(probes.begin(), probes.end()),
        run_(run),
        run_observer_(run_observer) {
    observer_.pass_over = [this](std::size_t probe) { keep(probe); };
  }

  void measure() {
    const std::vector<const Probe*> reference_probes = find_reference_probes();
    reference_count_ = reference_probes.size();
    backend_.build_ahead([&] { return programs(reference_probes); });
    Engine engine(engine_probes(reference_probes), {.is_quick = options_.effort == Effort::quick},
                  observer_);
    engine_ = &engine;
    engine.run();
    finish();
  }

 private:
  const std::vector<Forecast>& forecasts() {
    if (forecasts_.empty()) {
      for (const Probe* const probe : probes_) {
        forecasts_.push_back({probe, probe->plan(device_, cli::request_for(*probe, options_))});
      }
    }
    return forecasts_;
  }

  /// Returns the probes that provide only references. These are the arithmetic probe and, if no
  /// probe of the run has references, the probes that can provide references (loads of all levels,
  /// and streams). Empty for simulated devices, which need no references, for quick runs, which
  /// have no time for references, and for replayed launches.
  std::vector<const Probe*> find_reference_probes() {
    if (is_simulated(device_) || probes_.empty()) return {};
    if (options_.effort == Effort::quick || !options_.launches.empty()) return {};
    std::vector<const Probe*> reference_probes{&arithmetic_probe()};
    const bool has_references = std::ranges::any_of(
        forecasts(), [](const Forecast& each) { return !each.plan.references.empty(); });
    // With --max-memory, only the arithmetic probe is added, since it needs no buffers of memory
    // and the limit applies to all buffers together.
    if (has_references || options_.max_memory.count != 0) return reference_probes;
    for (const Probe* const probe : all_probes()) {
      // On a CPU, streams are omitted: allocating their buffers takes 5 % of a usual run, and
      // probes of rates have their own references.
      const bool is_cheap = device_.type != DeviceType::cpu || probe->unit == Unit::seconds;
      if (probe->lends_references && is_cheap) reference_probes.push_back(probe);
    }
    return reference_probes;
  }

  Request request_of_reference(const Probe& probe) const {
    return &probe == &arithmetic_probe() ? Request{} : reference_request(device_, options_.seed);
  }

  /// Returns all programs to build: the programs of the measured probes, then those of the probes
  /// that provide only references.
  std::vector<Program> programs(const std::vector<const Probe*>& reference_probes) {
    std::vector<Program> all;
    const auto add = [&](const Probe& probe, const std::vector<Point>& points) {
      for (Program& each : programs_for(probe, device_, options_.seed, points)) {
        all.push_back(std::move(each));
      }
    };
    for (const Forecast& each : forecasts()) add(*each.probe, each.plan.points);
    for (const Probe* const probe : reference_probes) {
      if (probe == &arithmetic_probe()) continue;
      std::vector<Point> points;
      for (PlannedReference& each : probe->plan(device_, request_of_reference(*probe)).references) {
        if (each.alone) points.push_back(std::move(each.alone->point));
      }
      add(*probe, points);
    }
    return all;
  }

  std::vector<EngineProbe> engine_probes(const std::vector<const Probe*>& reference_probes) {
    std::vector<EngineProbe> all;
    for (const Probe* const probe : probes_) {
      all.push_back({.probe = probe,
                     .backend = &backend_,
                     .budget = budget_of(*probe, options_, probes_.size()),
                     .request = [this, probe] {
                       Request request = cli::request_for(*probe, options_);
                       request.known = known_;
                       return request;
                     }});
    }
    // References that need memory begin later than arithmetic. On a GPU, their programs are built
    // in these 250 ms. On a CPU, allocating their memory takes 0.1 s, which is too long for a run
    // shorter than 4 s.
    const std::chrono::milliseconds later(device_.type == DeviceType::cpu ? 4000 : 250);
    for (const Probe* const probe : reference_probes) {
      const bool is_arithmetic = probe == &arithmetic_probe();
      all.push_back({.probe = probe,
                     .backend = &backend_,
                     .budget = budget_of(*probe, options_, 1),
                     .request = [this, probe] { return request_of_reference(*probe); },
                     .references_from = is_arithmetic ? Steady::duration{} : later});
    }
    return all;
  }

  /// Returns true if the results may be saved: at most every 4 s, and at most 5 % of the time.
  /// Computing and writing the results takes as long as measuring about a hundred points.
  [[nodiscard]] bool is_time_to_save() const {
    constexpr std::chrono::seconds between{4};
    constexpr int part = 20;
    return !saved_ ||
           Steady::now() - *saved_ >= std::max<Steady::duration>(between, saving_ * part);
  }

  void keep(std::size_t probe) {
    const bool is_done = engine_->is_done(probe);
    const bool is_first = probe >= run_.results.size();
    const bool learns = is_first && probes_[probe]->learn != nullptr;
    if (is_first) {
      // The result of a probe without findings is marked as interrupted until the probe has
      // findings.
      run_.results.push_back(
          {.probe = std::string(probes_[probe]->id), .status = Status::interrupted});
    }
    if (!is_done && !learns && !is_time_to_save()) return;
    update(probe);
    if (learns) probes_[probe]->learn(run_.results[probe], known_);
    if (is_done) run_observer_.done(probe);
    if (is_time_to_save()) save();
  }

  void update(std::size_t probe) {
    run_.results[probe] = engine_->result(probe);
    kept_visits_[probe] = engine_->visit_count(probe);
  }

  void save() {
    const Steady::time_point begin = Steady::now();
    conclude_run();
    run_observer_.save();
    saved_ = Steady::now();
    saving_ = *saved_ - begin;
  }

  void conclude_run() {
    run_.references.clear();
    for (std::size_t i = probes_.size(); i < probes_.size() + reference_count_; ++i) {
      for (const Reference& each : engine_->references(i)) {
        if (!each.moments.empty()) run_.references.push_back(each);
      }
    }
    conclude(run_);
  }

  /// Updates the results whose probe was visited after the result was last stored, and all
  /// references.
  void finish() {
    for (std::size_t i = 0; i < probes_.size() && engine_->has_begun(i); ++i) {
      if (i >= run_.results.size()) run_.results.emplace_back();
      if (kept_visits_[i] != engine_->visit_count(i) || !engine_->is_done(i)) update(i);
      run_.results[i].references = engine_->references(i);
    }
    conclude_run();
  }

  const cli::Options& options_;
  Backend& backend_;
  const DeviceInfo& device_;
  Observer observer_;
  std::vector<const Probe*> probes_;
  Run& run_;
  const RunObserver& run_observer_;
  Known known_ = known_levels(options_, device_);
  std::vector<Forecast> forecasts_{};
  Engine* engine_{nullptr};
  std::size_t reference_count_{0};
  std::map<std::size_t, std::size_t> kept_visits_{};  // visits in each probe's stored result
  std::optional<Steady::time_point> saved_{};
  Steady::duration saving_{};
};

}  // namespace

void measure_run(const cli::Options& options, Backend& backend, Observer observer,
                 std::span<const Probe* const> probes, Run& run, const RunObserver& run_observer) {
  RunMeasurement(options, backend, std::move(observer), probes, run, run_observer).measure();
}

}  // namespace clprobe::commands
