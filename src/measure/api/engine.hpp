// SPDX-License-Identifier: Apache-2.0
// The measuring core. Backends measure points. The engine has the only measuring loop, which visits
// the points in the order of a schedule.
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

/// Returns whether the budget is only an upper limit, as for a probe that visits each point once.
inline bool is_limit(const Budget& budget) { return budget.probe_time.count() >= 3600.0; }

/// Returns whether points are left out when the time is used up. A simulated device measures all
/// points unless the user set a time.
inline bool has_limit(const Budget& budget, const DeviceInfo& device) {
  return budget.is_asked_for || !is_simulated(device);
}

/// Expected time of a probe in seconds: its budget. If that is only an upper limit, a short
/// constant stands in for it.
inline double expected_seconds(const Budget& budget) {
  constexpr double few_points = 5.0;
  return is_limit(budget) ? few_points : budget.probe_time.count();
}

/// Failure of a driver call, or of the process in which the driver ran. `what()` is one line with
/// the call, the point and the code's name.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Point that the device or its driver does not support. An unsupported point is not a failure.
class Unsupported : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Failure that also invalidates the point's earlier samples: the kernel computed a wrong result.
class VoidedPoint : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Program that points need: a kernel file and its build options.
struct Program {
  std::string file{};
  KernelVariant variant{};

  friend bool operator==(const Program&, const Program&) = default;
};

/// Returns the programs of a probe's kernels for these points, without repeats, in order of first
/// use.
std::vector<Program> programs_for(const Probe& probe, const DeviceInfo& device, std::uint64_t seed,
                                  std::span<const Point> points);

/// Use of a CPU device's cores in seconds, from a fixed start before the first sample.
struct CoreUse {
  double own_s{0.0};   ///< busy with this run
  double busy_s{0.0};  ///< busy with any process
  double idle_s{0.0};
};

/// Makes a prepared point from work of this process. `device` must outlive the point.
PreparedPoint prepared(Work work, const DeviceInfo& device);

/// A device that measures points: OpenCL in a child process, or a simulated one.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  Backend(Backend&&) = delete;
  Backend& operator=(Backend&&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual const DeviceInfo& device() const = 0;
  /// Warnings from the tests of the device: a refused clock, unreliable event times.
  [[nodiscard]] virtual std::vector<Warning> warnings() const { return {}; }
  /// Announces programs that will be prepared soon. A device that can build them in advance calls
  /// `programs`.
  virtual void build_ahead(const std::function<std::vector<Program>()>& /*programs*/) {}
  /// Announces the points that will be prepared, in this order, so that the backend can start on
  /// them.
  virtual void expect(const Probe& /*probe*/, const std::vector<const Point*>& /*points*/) {}
  /// Prepares a point; `point` holds its samples so far. Throws DeviceError.
  virtual PreparedPoint prepare(const Probe& probe, const Point& point) = 0;
  /// Prepares a point that will be prepared again. Its memory stays allocated until other points
  /// need it or `release` is called.
  virtual PreparedPoint prepare_kept(const Probe& probe, const Point& point) {
    return prepare(probe, point);
  }
  /// Frees the memory of earlier points, so that later ones get other addresses, as in another run.
  virtual void release() {}
  /// Selects the core of a CPU for single-core work. Core speeds differ by a fifth while their
  /// neighbours are busy, and a process stays on one core for seconds.
  virtual void use_core(std::size_t /*core*/) {}
  /// Current time of the clock that budgets and reported times use.
  [[nodiscard]] virtual std::chrono::steady_clock::time_point now() const {
    return std::chrono::steady_clock::now();
  }
  /// Use of a CPU's cores so far; zeros if unknown.
  [[nodiscard]] virtual CoreUse core_use() const { return {}; }
};

/// Callbacks of an engine while it measures.
struct Observer {
  /// Reports the share of a probe's work that is done and an estimate of the seconds left.
  std::function<void(std::size_t probe, double done_share, double seconds_left)> progress{};
  /// Reports the point that is about to be visited.
  std::function<void(std::size_t probe, const Point&)> visiting{};
  /// Reports that the probe has completed a pass. Engine::result() includes the new samples.
  std::function<void(std::size_t probe)> pass_over{};
  std::function<bool()> cancelled{};
  /// Start of the run; times of reference visits are relative to this moment.
  std::chrono::steady_clock::time_point began{std::chrono::steady_clock::now()};
};

/// A probe that an engine measures.
struct EngineProbe {
  const Probe* probe{nullptr};
  Backend* backend{nullptr};
  Budget budget{};
  /// Returns the request. Called once, when the probe is planned, since a request may depend on
  /// findings of earlier probes.
  std::function<Request()> request{};
  /// Time of the run from which the plan's kept references are visited, and no other points. Such
  /// references show what disturbs the measured probes.
  std::optional<std::chrono::duration<double>> references_from{};
  std::size_t group{0};  ///< passes of the probes of one group alternate; groups run in order
};

/// Measures probes in the order of a Schedule.
///
/// Device errors do not throw. A failed point keeps its reason, and its probe becomes `failed`; an
/// interrupted probe becomes `interrupted`. An unsupported point gives a warning if other points of
/// its series were measured, otherwise a finding without a value. A driver that fails at a later
/// visit does not invalidate earlier visits.
class Engine {
 public:
  /// Keeps references to the backends and the observer, which must live longer.
  Engine(std::vector<EngineProbe> probes, const SchedulePolicy& policy, const Observer& observer);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(Engine&&) = delete;
  ~Engine();

  /// Measures until all probes are done or the observer cancels.
  void run();
  /// Returns whether the probe has been planned.
  [[nodiscard]] bool has_begun(std::size_t probe) const;
  /// Number of visits of the probe's points so far.
  [[nodiscard]] std::size_t visit_count(std::size_t probe) const;
  /// Returns whether the probe has no visits left, or no time for them.
  [[nodiscard]] bool is_done(std::size_t probe) const;
  /// Result with the points so far and their findings; `interrupted` until the probe is done.
  [[nodiscard]] ProbeResult result(std::size_t probe) const;
  /// References of the probe with their measured moments so far.
  [[nodiscard]] const std::vector<Reference>& references(std::size_t probe) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Measures one probe without a shared schedule.
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

/// Returns true for units whose values fall when times rise.
bool is_rate(std::string_view unit);

/// Converts a time per access to the unit of a finding: a time, a number of cycles or a rate.
/// Returns nothing for other units.
std::optional<double> value_in(std::string_view unit, double ns_per_access,
                               const DeviceInfo& device);

/// Returns the indexes of the points that show a finding, nearest to its value first. Such points
/// belong to the finding's series and lie within 5 % of its interval. The result is empty if
/// `analyse` does not change the finding when these points alone get slower: a slope does not
/// depend on points that happen to have the same time.
std::vector<std::size_t> find_carriers(const Finding& finding, const Measured& measured);

/// Returns up to `max_count` pairs of points that show a finding, nearest to both findings first.
/// A pair is one point measured on both devices. If both runs are of one device, the point must
/// show the finding of either run, since noise decides which points are fastest. If two devices
/// have no such point in common, each contributes its own point.
/// A null finding means that the run lacks the finding. A single device is then visited at the
/// points of the other run; two devices have no pairs.
std::vector<PointPair> pair_carriers(const Finding* baseline, const Measured& of_baseline,
                                     const Finding* other, const Measured& of_other,
                                     std::size_t max_count);

/// One device of a pair, with the clock by which its ticks are read.
struct PairSide {
  Backend* backend{nullptr};
  DeviceInfo device{};
};

/// Length of a visit of a pair in blocks A B B A, without preparation.
struct PairBudget {
  std::chrono::duration<double> time{0.4};
  int min_blocks{4};
  int max_blocks{16};
  Budget visit{.min_visits = 1, .samples_per_visit = 2};
};

/// Result of a visit of a pair.
struct PairVisit {
  std::vector<PairBlock> blocks{};               ///< times in ns, as logarithms
  std::array<std::vector<Sample>, 2> samples{};  ///< all samples of each device
};

/// DeviceError of one device of a pair; `side()` is 0 for the baseline.
class SideError : public DeviceError {
 public:
  SideError(std::size_t side, const std::string& reason) : DeviceError(reason), side_(side) {}
  [[nodiscard]] std::size_t side() const { return side_; }

 private:
  std::size_t side_;
};

/// Prepares a point on both devices and measures it in alternating blocks A B B A and B A A B.
/// `is_mirrored` starts with B A A B. Ends early, with whole blocks, once `cancelled` returns true.
/// Throws SideError.
PairVisit visit_pair(const Probe& probe, const std::array<PairSide, 2>& sides,
                     const std::array<const Point*, 2>& points, bool is_mirrored,
                     const PairBudget& budget, const std::function<bool()>& cancelled);

}  // namespace clprobe
