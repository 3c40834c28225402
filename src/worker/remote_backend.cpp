// SPDX-License-Identifier: Apache-2.0
// The parent's side: a backend whose device lives in a child process.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "clprobe/worker.hpp"
#include "engine/sampler.hpp"
#include "run/json.hpp"
#include "system/core_use.hpp"
#include "system/cores.hpp"
#include "system/usable_cores.hpp"
#include "worker/asking.hpp"
#include "worker/attention.hpp"
#include "worker/builders.hpp"
#include "worker/child_process.hpp"
#include "worker/driver_words.hpp"
#include "worker/drivers.hpp"

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

  /// In processes beside this one, where the driver takes long: one that had all in its cache would
  /// only be disturbed.
  void build_ahead(const std::function<std::vector<Program>()>& programs) override {
    constexpr double long_s = 0.05;
    const std::size_t count = builder_count(device_, system::usable_cores());
    if (longest_build_s_ < long_s || count == 0) return;
    builders_.emplace(device_, settings_, programs(), count);
  }

  PreparedPoint prepare(const Probe& probe, const Point& point) override {
    return prepare_in_child(probe, point, false);
  }

  PreparedPoint prepare_kept(const Probe& probe, const Point& point) override {
    return prepare_in_child(probe, point, true);
  }

  void release() override { child_.reset(); }

  [[nodiscard]] CoreUse core_use() const override {
    if (device_.type != DeviceType::cpu) return {};
    const system::CoreUse use = system::core_use(child_ == nullptr ? 0 : child_->pid());
    return {use.own_s, use.busy_s, use.idle_s};
  }

  void use_core(std::size_t turn) override {
    giving_up_child_on_error([&] {
      leave_samples();
      if (child_ != nullptr) ask({{"do", "core"}, {"turn", turn}});
    });
  }

 private:
  // A driver that fails at every point would else be started anew hundreds of times; but a series
  // that a device refuses (images) must not end the others.
  static constexpr int max_lost_in_a_row = 30;

  /// A probe's own points, and those that are kept beside it: each are sampled in their own way.
  /// What is asked in the other's is thrown away, as were three moments of `clock` behind each look
  /// at a reference, of 50 ms each: it took 20 s in place of 6.
  using Kind = std::pair<std::string_view, bool>;

  PreparedPoint prepare_in_child(const Probe& probe, const Point& point, bool is_kept) {
    if (lost_in_a_row_ >= max_lost_in_a_row) {
      throw DeviceError(fmt::format("given up after {} consecutive failures; last failure: {}",
                                    lost_in_a_row_, last_loss_));
    }
    return giving_up_child_on_error([&] {
      leave_samples();
      if (child_ == nullptr) reopen();
      attend_to(point);
      Json question{{"do", is_kept ? "prepare-kept" : "prepare"},
                    {"probe", probe.id},
                    {"point", json::encode(without_samples(point))}};
      const Kind kind{probe.id, is_kept};
      const std::optional<Sampling> next = next_sampling(kind, point);
      if (next) question["sampling"] = json::encode(*next);
      const Json answer = ask(question);
      under_way_ = next;
      PreparedPoint prepared =
          reading([&] { return json::decode<PreparedPoint>(answer.at("point")); });
      prepared.sample = [this, kind](const Sampling& sampling, const TakeSample& take) {
        last_samplings_[kind] = sampling;
        sample(sampling, take);
      };
      return prepared;
    });
  }

  /// Beside what the host itself does nothing else may be busy.
  void attend_to(const Point& point) {
    const bool looks = may_look(device_, cores_) && !is_of_host(point, device_);
    child_->look_for(looks ? longest_look : std::chrono::microseconds(0));
  }

  static Point without_samples(Point point) {
    point.samples.clear();
    return point;
  }

  /// What will be asked of the point in a moment. Asked together with it, it saves the way to the
  /// child and back: 0.1 ms of the half that a visit takes on a GPU.
  [[nodiscard]] std::optional<Sampling> next_sampling(const Kind& kind, const Point& point) const {
    const auto last = last_samplings_.find(kind);
    if (last == last_samplings_.end()) return std::nullopt;
    const Sampling own = sampling_of(point, device_, Budget{});
    Sampling next = last->second;
    next.timer = own.timer;
    next.has_partners = own.has_partners;
    return next;
  }

  Json ask(const Json& question) {
    if (settings_.asking) settings_.asking(question.at("do").get<std::string>());
    return request(*child_, question, settings_);
  }

  void take_device(const Json& answer) {
    device_ = reading([&] { return json::decode<DeviceInfo>(answer.at("device")); });
    if (!answer.contains("longest_build_s")) return;
    longest_build_s_ = reading([&] { return answer.at("longest_build_s").get<double>(); });
  }

  /// An error may leave the driver's context unusable for all that follows, so that the next point
  /// gets a new process.
  template <typename Action>
  auto giving_up_child_on_error(Action action) -> decltype(action()) {
    try {
      return action();
    } catch (const Unsupported&) {
      throw;
    } catch (const VoidedPoint&) {
      throw;
    } catch (const std::runtime_error& error) {  // ChildLost and DeviceError
      child_.reset();
      ++lost_in_a_row_;
      last_loss_ = error.what();
      throw DeviceError(last_loss_);
    }
  }

  void reopen() {
    under_way_.reset();
    child_ = start_child(settings_);
    ask(reopening(device_, settings_));
  }

  /// Each sample is a line of the answer, and has the time of one: what was measured before a
  /// driver's end is there.
  void sample(const Sampling& sampling, const TakeSample& take) {
    giving_up_child_on_error([&] {
      if (child_ == nullptr) throw DeviceError("the driver's process has ended");
      if (under_way_ == sampling) {
        under_way_.reset();
        return take_lines(next_line(), take);
      }
      leave_samples();
      if (child_ == nullptr) throw DeviceError("the driver's process has ended");
      take_lines(ask({{"do", "sample"}, {"sampling", json::encode(sampling)}}), take);
    });
  }

  /// Those that nobody came for: what was asked was another sampling, or none.
  void leave_samples() {
    if (!std::exchange(under_way_, std::nullopt)) return;
    try {
      take_lines(next_line(), [](const Sample&, const Parameters&) {});
    } catch (const Unsupported&) {
      return;
    } catch (const VoidedPoint&) {
      return;
    } catch (const std::runtime_error&) {
      child_.reset();
    }
  }

  Json next_line() { return answer_of(child_->next_line(settings_.timeout, settings_.cancelled)); }

  void take_lines(Json line, const TakeSample& take) {
    for (; !line.contains("done"); line = next_line()) {
      if (line.contains("slow")) continue;
      const auto facts = reading([&] {
        return line.contains("facts") ? json::decode<Parameters>(line.at("facts")) : Parameters{};
      });
      take(reading([&] { return json::decode<Sample>(line.at("sample")); }), facts);
      lost_in_a_row_ = 0;
    }
  }

  /// One request that may fail or end the child without harm: then a warning says so, and the
  /// device remains as it was known before. Returns whether it went well.
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

  /// Event times first, since a clock is calibrated against them; then the first clock that works.
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
    // Whoever names a clock wants that one, and no other timer in its place.
    if (settings_.clock && *settings_.clock != ClockKind::none) {
      throw DeviceError(fmt::format("--clock {} does not work on this device: {}",
                                    to_word(*settings_.clock),
                                    warnings_.back().facts.text_or("reason", "")));
    }
  }

  void calibrate() {
    if (!try_step("calibrate", "calibration_failed")) return;
    constexpr double widest = 0.02;
    const Clock& clock = device_.clock;
    const double width = (clock.ticks_per_ns_high - clock.ticks_per_ns_low) / clock.ticks_per_ns;
    if (device_.timer == Timer::clock && !(width <= widest)) {
      warnings_.push_back({"calibration_poor", {{"width_share", width}}});
    }
  }

  int index_;
  std::size_t cores_{system::Cores().allowed().size()};
  WorkerSettings settings_;
  std::shared_ptr<ChildProcess> child_;
  DeviceInfo device_{};
  double longest_build_s_{0.0};
  std::map<Kind, Sampling> last_samplings_{};
  std::optional<Sampling> under_way_{};  // what the child samples unless it failed
  std::optional<Builders> builders_{};
  std::vector<Warning> warnings_{};
  int lost_in_a_row_{0};
  std::string last_loss_{};
};

}  // namespace

std::unique_ptr<Backend> remote_backend(int device_index, const WorkerSettings& settings,
                                        std::shared_ptr<ChildProcess> child) {
  return std::make_unique<RemoteBackend>(device_index, settings, std::move(child));
}

}  // namespace clprobe
