// SPDX-License-Identifier: Apache-2.0
// The measuring core: where points are measured (Backend), and the one loop that measures them in
// the order of a schedule (Engine).
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

// Expected time of a probe.

/// Returns whether the budget is only an upper limit, as for a probe that visits each point once.
inline bool is_limit(const Budget& budget) { return budget.probe_time.count() >= 3600.0; }

/// Returns whether points are left out when the time is used up. A simulated device measures all of
/// its points, unless the user requested a time.
inline bool has_limit(const Budget& budget, const DeviceInfo& device) {
  return budget.is_asked_for || !is_simulated(device);
}

/// Seconds: the budget, which probes use up; for an upper limit, the time of a few points.
inline double expected_seconds(const Budget& budget) {
  constexpr double few_points = 5.0;
  return is_limit(budget) ? few_points : budget.probe_time.count();
}

/// A call of the driver failed, or the process in which it ran ended or hung. `what()` is one line
/// that says which call, at which point, and the code's name.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device or its driver does not support the point. That is no failure.
class Unsupported : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// A failure that also invalidates the point's earlier samples: the kernel computed a wrong result.
class VoidedPoint : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// A program that points need: a kernel file and its build options.
struct Program {
  std::string file{};
  KernelVariant variant{};

  friend bool operator==(const Program&, const Program&) = default;
};

/// The programs of a probe's kernels for these points, each once, in their order.
std::vector<Program> programs_for(const Probe& probe, const DeviceInfo& device, std::uint64_t seed,
                                  std::span<const Point> points);

/// Times of the cores of a CPU device, since some moment before the first sample.
struct CoreUse {
  double own_s{0.0};   ///< busy for this run
  double busy_s{0.0};  ///< busy for any process
  double idle_s{0.0};
};

/// Makes work of this process a prepared point. `device` must outlive the point.
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
  /// Warnings that arose while the device was tried (a clock that was refused, false event times).
  [[nodiscard]] virtual std::vector<Warning> warnings() const { return {}; }
  /// Announces programs that will be prepared soon. A device that can build them meanwhile calls
  /// `programs`.
  virtual void build_ahead(const std::function<std::vector<Program>()>& /*programs*/) {}
  /// Announces points that will be prepared in this order, so that work on them may begin.
  virtual void expect(const Probe& /*probe*/, const std::vector<const Point*>& /*points*/) {}
  /// Prepares a point, which has its samples so far. Throws DeviceError.
  virtual PreparedPoint prepare(const Probe& probe, const Point& point) = 0;
  /// Prepares a point that will be prepared repeatedly: its memory stays allocated until it is
  /// needed for other points or `release` is called.
  virtual PreparedPoint prepare_kept(const Probe& probe, const Point& point) {
    return prepare(probe, point);
  }
  /// Frees memory of former points, so that the next ones lie elsewhere, as in another run.
  virtual void release() {}
  /// Selects the core of a CPU for work of a single core. Cores differ in speed by a fifth while
  /// their neighbours are busy, and a process stays on one core for seconds.
  virtual void use_core(std::size_t /*core*/) {}
  /// The clock of budgets and of reported times.
  [[nodiscard]] virtual std::chrono::steady_clock::time_point now() const {
    return std::chrono::steady_clock::now();
  }
  /// Use of a CPU's cores; zeros if unknown.
  [[nodiscard]] virtual CoreUse core_use() const { return {}; }
};

/// Calls of an engine while it measures.
struct Observer {
  /// Done share of a probe's work, and an estimate of the seconds left. `probe` is an index.
  std::function<void(std::size_t probe, double done_share, double seconds_left)> progress{};
  /// The point that is visited now.
  std::function<void(std::size_t probe, const Point&)> visiting{};
  /// The probe has made a pass, and Engine::result() has more points.
  std::function<void(std::size_t probe)> pass_over{};
  std::function<bool()> cancelled{};
  /// Start of the run, from which moments of references count.
  std::chrono::steady_clock::time_point began{std::chrono::steady_clock::now()};
};

/// A probe that an engine measures.
struct EngineProbe {
  const Probe* probe{nullptr};
  Backend* backend{nullptr};
  Budget budget{};
  /// Called once, when the probe is planned: the request may depend on findings of earlier probes.
  std::function<Request()> request{};
  /// From this time of the run on, only kept references of the plan are visited. They show what
  /// disturbs the measured probes.
  std::optional<std::chrono::duration<double>> references_from{};
  std::size_t group{0};  ///< probes of a group alternate; groups follow each other
};

/// Measures probes in the order of a Schedule.
///
/// Errors of a device do not throw: a failed point keeps its reason, and its probe is `failed`; an
/// interrupted probe is `interrupted`. Unsupported points are no failures: they give a warning if
/// other points of their series were measured, otherwise a finding without a value. A driver that
/// fails at a later visit does not invalidate earlier ones.
class Engine {
 public:
  /// Backends and observer must outlive it.
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
  /// Returns whether no work is left for the probe, or no time.
  [[nodiscard]] bool is_done(std::size_t probe) const;
  /// The points so far with their findings; `interrupted` before the probe is done.
  [[nodiscard]] ProbeResult result(std::size_t probe) const;
  /// The probe's references with their moments so far.
  [[nodiscard]] const std::vector<Reference>& references(std::size_t probe) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Measures one probe by itself.
ProbeResult measure(const Probe& probe, Backend& backend, const Request& request,
                    const Budget& budget, const Observer& observer);

// Two devices, or one device under two drivers, measured alternately: the points that show a
// finding, and visits of pairs of such points.

/// The points of a probe that a side has measured.
struct Measured {
  const Probe* probe{nullptr};
  const DeviceInfo* device{nullptr};
  std::span<const Point> points{};
};

/// Indexes of a point of each side.
struct PointPair {
  std::size_t baseline{0};
  std::size_t other{0};

  friend bool operator==(const PointPair&, const PointPair&) = default;
};

/// True for units whose values fall when times rise.
bool is_rate(std::string_view unit);

/// A time per access as a value in the unit of a finding: a time, a number of cycles or a rate.
/// Returns nothing for other units.
std::optional<double> value_in(std::string_view unit, double ns_per_access,
                               const DeviceInfo& device);

/// Indexes of the points that show a finding, the nearest to its value first: points of its series
/// within 5 % of its interval, if `analyse` changes the finding when they alone get slower. Empty
/// otherwise: a slope does not depend on points that happen to take as long.
std::vector<std::size_t> find_carriers(const Finding& finding, const Measured& measured);

/// Up to `max_count` pairs of points that show a finding, the nearest to both findings first: the
/// same point on both sides. On one device it is enough that a point shows the finding of one side,
/// since noise decides which points are the fastest. Two devices may have no such point in common;
/// then each has its own. A null finding means that the side lacks it: then one device is visited
/// at the points of the other side, and two devices at none.
std::vector<PointPair> pair_carriers(const Finding* baseline, const Measured& of_baseline,
                                     const Finding* other, const Measured& of_other,
                                     std::size_t max_count);

/// A side of a pair: where it is measured, and by which clock its ticks are read.
struct PairSide {
  Backend* backend{nullptr};
  DeviceInfo device{};
};

/// Length of the visit of a pair, without preparing, in blocks A B B A.
struct PairBudget {
  std::chrono::duration<double> time{0.4};
  int min_blocks{4};
  int max_blocks{16};
  Budget visit{.min_visits = 1, .samples_per_visit = 2};
};

/// Result of the visit of a pair.
struct PairVisit {
  std::vector<PairBlock> blocks{};               ///< times in ns, as logarithms
  std::array<std::vector<Sample>, 2> samples{};  ///< all samples of each side
};

/// A DeviceError and the side that it comes from (0: the baseline).
class SideError : public DeviceError {
 public:
  SideError(std::size_t side, const std::string& reason) : DeviceError(reason), side_(side) {}
  [[nodiscard]] std::size_t side() const { return side_; }

 private:
  std::size_t side_;
};

/// Prepares a point on both sides and measures it in blocks A B B A and B A A B alternately;
/// `is_mirrored`: B A A B first. Ends early, with whole blocks, once `cancelled` returns true.
/// Throws SideError.
PairVisit visit_pair(const Probe& probe, const std::array<PairSide, 2>& sides,
                     const std::array<const Point*, 2>& points, bool is_mirrored,
                     const PairBudget& budget, const std::function<bool()>& cancelled);

}  // namespace clprobe
