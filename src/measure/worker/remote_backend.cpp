// SPDX-License-Identifier: Apache-2.0
// The parent process's implementation of the protocol: a backend whose device is opened in a child
// process.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "measure/api/worker.hpp"
#include "measure/device/driver_words.hpp"
#include "measure/worker/child_process.hpp"
#include "measure/worker/drivers.hpp"
#include "measure/worker/protocol.hpp"
#include "run/api/json.hpp"
#include "system/api/host.hpp"

namespace clprobe {
namespace {

using json::Json;

class RemoteBackend final : public Backend {
 public:
  RemoteBackend(int index, WorkerSettings settings, std::shared_ptr<ChildProcess> child)
      : index_(index), settings_(std::move(settings)), child_(std::move(child)) {
    try {
      if (child_ == nullptr) child_ = start_child(settings_);
      const Json opened = ask(opening(index_, settings_));
      take_device(opened);
      climb_clock_ladder(reading([&] { return opened.at("clocks"); }));
      try_step("try-pointers", "pointers_refused");
      calibrate();
    } catch (const ChildLost& lost) {
      throw DeviceError(lost.what());
    }
  }

  [[nodiscard]] const DeviceInfo& device() const override { return device_; }
  [[nodiscard]] std::vector<Warning> warnings() const override { return warnings_; }

  /// Builds programs in other processes, unless the driver has them in its cache: builders would
  /// then only disturb the measurement.
  void build_ahead(const std::function<std::vector<Program>()>& programs) override {
    const std::size_t count = builder_count(device_, system::usable_cores());
    if (count == 0) return;
    const std::vector<Program> all = programs();
    const auto build_s = [&](const Program& each) {
      const Json answer = ask({{"do", "build"}, {"programs", Json::array({encode(each)})}});
      return reading([&] { return answer.at("seconds").get<double>(); });
    };
    try {
      if (drop_child_on_error([&] { return are_cached(all, build_s); })) return;
      builders_.emplace(device_, settings_, all, count);
    } catch (const DeviceError&) {
      return;  // a program on which the driver fails is reported when a point needs the program
    }
  }

  PreparedPoint prepare(const Probe& probe, const Point& point) override {
    return prepare_in_child("prepare", probe, point);
  }

  PreparedPoint prepare_kept(const Probe& probe, const Point& point) override {
    return prepare_in_child("prepare-kept", probe, point);
  }

  void release() override { child_.reset(); }

  [[nodiscard]] CoreUse core_use() const override {
    if (device_.type != DeviceType::cpu) return {};
    const system::CoreUse use = system::core_use(child_ == nullptr ? 0 : child_->pid());
    return {use.own_s, use.busy_s, use.idle_s};
  }

  void use_core(std::size_t turn) override {
    drop_child_on_error([&] {
      if (child_ != nullptr) ask({{"do", "core"}, {"turn", turn}});
    });
  }

 private:
  // Maximum number of consecutive failures, which limits restarts of a driver that fails at every
  // point. The limit is high enough for all points of a series that the device refuses (images), so
  // that other series are still measured.
  static constexpr int max_consecutive_failures = 30;

  PreparedPoint prepare_in_child(const char* request, const Probe& probe, Point point) {
    if (consecutive_failures_ >= max_consecutive_failures) {
      throw DeviceError(
          fmt::format("clprobe gave up after {} consecutive failures; last failure: {}",
                      consecutive_failures_, last_failure_));
    }
    point.samples.clear();
    return drop_child_on_error([&] {
      if (child_ == nullptr) reopen();
      const Json answer =
          ask({{"do", request}, {"probe", probe.id}, {"point", json::encode(point)}});
      PreparedPoint prepared = reading([&] {
        return PreparedPoint{.facts = json::decode<Parameters>(answer.at("facts")),
                             .build = json::decode<KernelBuild>(answer.at("build"))};
      });
      prepared.sample = [this](const Sampling& sampling, const TakeSample& take) {
        sample(sampling, take);
      };
      return prepared;
    });
  }

  Json ask(const Json& question) {
    if (settings_.asking) settings_.asking(question.at("do").get<std::string>());
    return request(*child_, question, settings_);
  }

  void take_device(const Json& answer) {
    device_ = reading([&] { return json::decode<DeviceInfo>(answer.at("device")); });
  }

  /// Runs `action`. On an error other than Unsupported and VoidedPoint, ends the child, since the
  /// driver's context may be unusable. The next point then gets a new process.
  template <typename Action>
  auto drop_child_on_error(Action action) -> decltype(action()) {
    try {
      return action();
    } catch (const Unsupported&) {
      throw;
    } catch (const VoidedPoint&) {
      throw;
    } catch (const std::runtime_error& error) {  // catches ChildLost and DeviceError
      child_.reset();
      ++consecutive_failures_;
      last_failure_ = error.what();
      throw DeviceError(last_failure_);
    }
  }

  void reopen() {
    child_ = start_child(settings_);
    ask(reopening(device_, settings_));
  }

  /// Receives the samples, each as a line with its own time limit. The samples before a driver's
  /// failure are thus kept.
  void sample(const Sampling& sampling, const TakeSample& take) {
    drop_child_on_error([&] {
      if (child_ == nullptr) throw DeviceError("the driver's process has ended");
      Json line = ask({{"do", "sample"}, {"sampling", encode(sampling)}});
      for (; !line.contains("done"); line = next_line()) {
        if (line.contains("slow")) continue;
        const auto facts = reading([&] {
          return line.contains("facts") ? json::decode<Parameters>(line.at("facts")) : Parameters{};
        });
        take(reading([&] { return json::decode<Sample>(line.at("sample")); }), facts);
        consecutive_failures_ = 0;
      }
    });
  }

  Json next_line() { return answer_of(child_->next_line(settings_.timeout, settings_.cancelled)); }

  /// Sends a request that may fail or crash the child, and returns true on success. On a failure,
  /// keeps the facts about the device. Adds a warning for a failure and for a reported problem.
  bool try_step(const char* word, const char* warning, Parameters facts = {}, Json question = {}) {
    question["do"] = word;
    try {
      if (child_ == nullptr) reopen();
      const Json answer = ask(question);
      take_device(answer);
      if (answer.contains("problem")) {
        facts.set("reason", clean_driver_words(
                                reading([&] { return answer.at("problem").get<std::string>(); })));
        warnings_.push_back({warning, std::move(facts)});
      }
      return true;
    } catch (const ChildLost& lost) {
      child_.reset();
      facts.set("reason", std::string(lost.what()));
    } catch (const DeviceError& error) {
      facts.set("reason", std::string(error.what()));
    }
    warnings_.push_back({warning, std::move(facts)});
    return false;
  }

  /// Tests event times, against which clocks are calibrated. Then selects the first clock that
  /// works.
  void climb_clock_ladder(const Json& candidates) {
    try_step("try-events", "event_times_false");
    Json kinds = candidates;
    if (settings_.clock) {
      kinds = Json::array();
      if (*settings_.clock != ClockKind::none) kinds.push_back(to_word(*settings_.clock));
    }
    for (const Json& kind : kinds) {
      const auto word = reading([&] { return kind.get<std::string>(); });
      if (try_step("try-clock", "clock_refused", {{"clock", word}}, {{"clock", word}})) return;
    }
    // If a clock that the user selected does not work, no other timer replaces it.
    if (settings_.clock && *settings_.clock != ClockKind::none) {
      throw DeviceError(fmt::format("--clock {} does not work on this device: {}; use --clock auto",
                                    to_word(*settings_.clock),
                                    warnings_.back().facts.text_or("reason", "")));
    }
  }

  void calibrate() {
    if (!try_step("calibrate", "calibration_failed")) return;
    constexpr double max_width_share = 0.02;
    const Clock& clock = device_.clock;
    const double width = (clock.ticks_per_ns_high - clock.ticks_per_ns_low) / clock.ticks_per_ns;
    if (device_.timer == Timer::clock && !(width <= max_width_share)) {
      warnings_.push_back({"calibration_poor", {{"width_share", width}}});
    }
  }

  int index_;
  WorkerSettings settings_;
  std::shared_ptr<ChildProcess> child_;
  DeviceInfo device_{};
  std::optional<Builders> builders_{};
  std::vector<Warning> warnings_{};
  int consecutive_failures_{0};
  std::string last_failure_{};
};

}  // namespace

std::unique_ptr<Backend> remote_backend(int device_index, const WorkerSettings& settings,
                                        std::shared_ptr<ChildProcess> child) {
  return std::make_unique<RemoteBackend>(device_index, settings, std::move(child));
}

}  // namespace clprobe
