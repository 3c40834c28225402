// SPDX-License-Identifier: Apache-2.0
// The measuring core. A backend measures single points of one device. The engine has the only
// measuring loop, which visits the points in the order of a schedule.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/budget.hpp"
#include "clprobe/device_info.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "compare/api/paired.hpp"

namespace clprobe {

/// Returns whether the probe time is only an upper limit, which is assumed from 3600 s on. Probes
/// that visit each point once have such a limit.
inline bool is_limit(const Budget& budget) { return budget.probe_time.count() >= 3600.0; }

/// Returns whether points are omitted when the probe's time is used up. A simulated device measures
/// all points unless the user set a time.
inline bool has_limit(const Budget& budget, const DeviceInfo& device) {
  return budget.is_asked_for || !is_simulated(device);
}

/// Returns the expected time of a probe in seconds: its probe time, or 5 s if the probe time is
/// only an upper limit.
inline double expected_seconds(const Budget& budget) {
  constexpr double few_points = 5.0;
  return is_limit(budget) ? few_points : budget.probe_time.count();
}

/// Failure of a driver call, or of the process in which the driver ran. `what()` is one line; for a
/// failed call, with the call, the name of the error code and the point.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Error for a point that the device or its driver does not support. An unsupported point does not
/// count as a failure.
class Unsupported : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Failure that also invalidates earlier samples of the point, since the kernel computed a wrong
/// result.
class VoidedPoint : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Program of a point: a kernel file and the variant to build.
struct Program {
  std::string file{};
  KernelVariant variant{};

  friend bool operator==(const Program&, const Program&) = default;
};

/// Returns the distinct programs that the points of a probe need, in order of first use.
std::vector<Program> programs_for(const Probe& probe, const DeviceInfo& device, std::uint64_t seed,
                                  std::span<const Point> points);

/// Use of a CPU device's cores in seconds, since a fixed moment before the first sample.
struct CoreUse {
  double own_s{0.0};   ///< time in which cores worked for this run
  double busy_s{0.0};  ///< time in which cores worked for any process
  double idle_s{0.0};
};

/// Returns a prepared point that runs `work` in this process. `device` must outlive the point.
PreparedPoint prepared(Work work, const DeviceInfo& device);

/// A device that measures points: an OpenCL device in a child process, or a simulated device.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  Backend(Backend&&) = delete;
  Backend& operator=(Backend&&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual const DeviceInfo& device() const = 0;
  /// Returns warnings of the device tests, such as a refused clock or unreliable event times.
  [[nodiscard]] virtual std::vector<Warning> warnings() const { return {}; }
  /// Announces that points with new programs will be prepared soon. A device that can build
  /// programs in advance calls `programs` and builds them.
  virtual void build_ahead(const std::function<std::vector<Program>()>& /*programs*/) {}
  /// Announces the points that will be prepared, in this order, so that the backend can start to
  /// prepare them.
  virtual void expect(const Probe& /*probe*/, const std::vector<const Point*>& /*points*/) {}
  /// Returns a prepared point. `point` contains its samples so far. Throws DeviceError.
  virtual PreparedPoint prepare(const Probe& probe, const Point& point) = 0;
  /// Returns a prepared point that will be prepared again. Its memory stays allocated until other
  /// points need the memory or `release` is called.
  virtual PreparedPoint prepare_kept(const Probe& probe, const Point& point) {
    return prepare(probe, point);
  }
  /// Frees the memory of earlier points. Later points then get other addresses, as in another run.
  virtual void release() {}
  /// Selects the core of a CPU for single-core work, as an index modulo the number of cores. By
  /// default, a process stays on one core for seconds; busy neighbours slow a core by a fifth.
  virtual void use_core(std::size_t /*core*/) {}
  /// Returns the current time, by the clock that budgets and reported times use.
  [[nodiscard]] virtual std::chrono::steady_clock::time_point now() const {
    return std::chrono::steady_clock::now();
  }
  /// Returns the use of a CPU's cores so far; zeros if unknown.
  [[nodiscard]] virtual CoreUse core_use() const { return {}; }
};

/// Callbacks of an engine during a measurement.
struct Observer {
  /// Reports progress: the share of a probe's work that is done, and an estimate of the remaining
  /// seconds.
  std::function<void(std::size_t probe, double done_share, double seconds_left)> progress{};
  /// Reports the point that is about to be visited.
  std::function<void(std::size_t probe, const Point&)> visiting{};
  /// Reports that the probe has completed a pass. Engine::result() includes the new samples.
  std::function<void(std::size_t probe)> pass_over{};
  std::function<bool()> cancelled{};
  /// Start of the run. Times of reference visits are relative to this moment.
  std::chrono::steady_clock::time_point began{std::chrono::steady_clock::now()};
};

/// A probe that an engine measures, with its device and budget.
struct EngineProbe {
  const Probe* probe{nullptr};
  Backend* backend{nullptr};
  Budget budget{};
  /// Returns the request. The engine calls this function once, when it plans the probe, since a
  /// request may depend on findings of earlier probes.
  std::function<Request()> request{};
  /// Present if the engine visits only the kept references of the plan, which show disturbances of
  /// other probes. The visits begin at this time after the start of the run.
  std::optional<std::chrono::duration<double>> references_from{};
  /// Number of the group; passes in a group alternate, and groups run one after another.
  std::size_t group{0};
};

/// Measurement of probes in the order of a Schedule.
///
/// Device errors do not throw. A failed point stores its reason, and its probe becomes `failed`. An
/// interrupted probe becomes `interrupted`. An unsupported point gives a warning if other points of
/// its series were measured, and otherwise a finding without a value. A driver that fails at a
/// later visit does not invalidate earlier visits, whereas a wrong result does.
class Engine {
 public:
  /// Keeps references to the backends and to `observer`, which must outlive the engine.
  Engine(std::vector<EngineProbe> probes, const SchedulePolicy& policy, const Observer& observer);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(Engine&&) = delete;
  ~Engine();

  /// Measures until all probes are done or the observer cancels.
  void run();
  /// Returns whether the engine has planned the probe.
  [[nodiscard]] bool has_begun(std::size_t probe) const;
  /// Returns the number of visits of the probe's points so far.
  [[nodiscard]] std::size_t visit_count(std::size_t probe) const;
  /// Returns whether the probe has no visits left, or no time for more visits.
  [[nodiscard]] bool is_done(std::size_t probe) const;
  /// Returns the points measured so far and their findings. The status is `interrupted` until the
  /// probe is done.
  [[nodiscard]] ProbeResult result(std::size_t probe) const;
  /// Returns the probe's references with the moments measured so far.
  [[nodiscard]] const std::vector<Reference>& references(std::size_t probe) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Measures one probe alone, without other probes in the schedule.
ProbeResult measure(const Probe& probe, Backend& backend, const Request& request,
                    const Budget& budget, const Observer& observer);

/// Points of a probe that were measured on one device.
struct Measured {
  const Probe* probe{nullptr};
  const DeviceInfo* device{nullptr};
  std::span<const Point> points{};
};

/// Indexes of a point of the baseline and a point of the other device.
struct PointPair {
  std::size_t baseline{0};
  std::size_t other{0};

  friend bool operator==(const PointPair&, const PointPair&) = default;
};

/// Returns true for units of rates, whose values fall when times rise.
bool is_rate(std::string_view unit);

/// Converts a time per access to the unit of a finding: seconds, cycles or a rate. Returns nothing
/// for other units, and for cycles without a calibrated clock.
std::optional<double> value_in(std::string_view unit, double ns_per_access,
                               const DeviceInfo& device);

/// Returns the indexes of the points that determine a finding, nearest to the finding's value
/// first. Such points belong to the finding's series and lie within 5 % of its interval. The result
/// is empty unless `analyse` changes the finding by about 2 % when only these points take 2 %
/// longer. For example, a slope does not depend on points that happen to have an equal time.
std::vector<std::size_t> find_carriers(const Finding& finding, const Measured& measured);

/// Returns up to `max_count` pairs of points that determine a finding, nearest to both findings
/// first. A pair is one point that was measured on both devices. If both runs are of the same
/// device, the point must determine the finding of at least one run, since noise decides which
/// points are fastest. If two devices have no such point in common, the pair consists of one point
/// of each device.
///
/// A null finding means that a run lacks the finding. If both runs are of the same device, the
/// pairs are the points that determine the finding of the other run. For two devices, the result is
/// then empty.
std::vector<PointPair> pair_carriers(const Finding* baseline, const Measured& of_baseline,
                                     const Finding* other, const Measured& of_other,
                                     std::size_t max_count);

/// One device of a pair, with the clock that converts its ticks.
struct PairSide {
  Backend* backend{nullptr};
  DeviceInfo device{};
};

/// Limits of one visit of a pair in blocks A B B A, without preparation and warm-up.
struct PairBudget {
  std::chrono::duration<double> time{0.4};
  int min_blocks{4};
  int max_blocks{16};
  Budget visit{.min_visits = 1, .samples_per_visit = 2};
};

/// Result of one visit of a pair of points.
struct PairVisit {
  std::vector<PairBlock> blocks{};  ///< logarithms of times in ns
  /// Samples of the baseline and of the other device.
  std::array<std::vector<Sample>, 2> samples{};
};

/// DeviceError of one device of a pair. `side()` is 0 for the baseline and 1 for the other device.
class SideError : public DeviceError {
 public:
  SideError(std::size_t side, const std::string& reason) : DeviceError(reason), side_(side) {}
  [[nodiscard]] std::size_t side() const { return side_; }

 private:
  std::size_t side_;
};

/// Prepares a point on both devices, and measures the two points in alternating blocks A B B A and
/// B A A B. If `is_mirrored`, the first block is B A A B. Ends early, after a whole block, once
/// `cancelled` returns true. Throws SideError.
PairVisit visit_pair(const Probe& probe, const std::array<PairSide, 2>& sides,
                     const std::array<const Point*, 2>& points, bool is_mirrored,
                     const PairBudget& budget, const std::function<bool()>& cancelled);

}  // namespace clprobe
