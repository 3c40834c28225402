// SPDX-License-Identifier: Apache-2.0
// The measuring core: visits points in shuffled order, samples until the interval is narrow, checks
// witnesses, follows what disturbs the run by reference points, and keeps what it has when
// something breaks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "clprobe/budget.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// A call of the driver failed, or the process in which it ran ended or hung. `what()` is one line
/// that says which call, at which point, and the code's name.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device, or its driver, refuses such a point: no failure, but nothing to measure either.
class Unsupported : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// A failure that also takes away what the point said before: the kernel did not compute what it
/// should have, so that its times mean nothing.
class VoidedPoint : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// A program that points need: a kernel file, and how it is built.
struct Program {
  std::string file{};
  KernelVariant variant{};

  friend bool operator==(const Program&, const Program&) = default;
};

/// What a probe's kernels are built from for these points, each program once, in their order.
std::vector<Program> programs_for(const Probe& probe, const DeviceInfo& device, std::uint64_t seed,
                                  std::span<const Point> points);

/// What the cores of a CPU device did, since some moment before the first sample.
struct CoreUse {
  double own_s{0.0};   ///< for this run
  double busy_s{0.0};  ///< for whomever
  double idle_s{0.0};
};

/// Where points are measured: OpenCL in a child process, or a recorded run.
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
  /// The points that alone can be measured here: a recorded run has no others. Nothing where the
  /// probe is to plan for the device.
  [[nodiscard]] virtual std::optional<Plan> plan_of(const Probe&) const { return std::nullopt; }
  /// What will be prepared soon. A device may build it meanwhile, and asks for the list only then.
  virtual void build_ahead(const std::function<std::vector<Program>()>& /*programs*/) {}
  /// Points that will be prepared, in this order. What can be done of them at once may be begun.
  virtual void expect(const Probe& /*probe*/, const std::vector<const Point*>& /*points*/) {}
  /// `point` has the samples that were taken of it so far. The returned Work is valid until the
  /// next call. Throws DeviceError.
  virtual Work prepare(const Probe& probe, const Point& point) = 0;
  /// The same, for a point that will be prepared again and again: what that takes stays beside what
  /// `prepare` makes, until the memory is needed or `release` is called.
  virtual Work prepare_kept(const Probe& probe, const Point& point) {
    return prepare(probe, point);
  }
  /// Gives back what the device holds for former points, so that the next ones get other places in
  /// memory, as in another run.
  virtual void release() {}
  /// Of a CPU: from now on the `turn`-th of its cores runs what a single core runs. Cores differ in
  /// speed by a fifth while their neighbours are busy, and a process stays on one for seconds.
  virtual void use_core(std::size_t /*turn*/) {}
  /// The clock of budgets and of all that is told with its time.
  [[nodiscard]] virtual std::chrono::steady_clock::time_point now() const {
    return std::chrono::steady_clock::now();
  }
  /// Of a CPU. Zeros where nobody knows.
  [[nodiscard]] virtual CoreUse core_use() const { return {}; }
};

/// What the engine tells while it works, and asks.
struct Observer {
  /// `done` of `total` in seconds of estimated work; called at most every few milliseconds.
  std::function<void(const Probe&, double done_share, double seconds_left)> progress{};
  /// The point that is visited now.
  std::function<void(const Probe&, const Point&)> visiting{};
  /// Called between two points. What that takes is the run's time, and not the probe's.
  std::function<void()> between_points{};
  std::function<bool()> cancelled{};
  /// Of the run; the moments of its references are told from it.
  std::chrono::steady_clock::time_point began{std::chrono::steady_clock::now()};
};

/// The measuring of one probe in passes, so that those of several probes can take turns: what
/// disturbs a device for some seconds then meets one visit of a point, and not all of them.
///
/// Never throws for what a device does: a failing point keeps its reason and ends nothing, a probe
/// with any such point is `failed`, an interrupted one `interrupted`. Points that the device
/// refuses (Unsupported) are no failures: a warning where only some of a series were, else a
/// finding without a value. A driver that fails at a later visit takes nothing away from the
/// earlier ones.
class Measuring {
 public:
  /// All but the request must outlive it.
  Measuring(const Probe& probe, Backend& backend, Request request, const Budget& budget,
            const Observer& observer);
  Measuring(const Measuring&) = delete;
  Measuring& operator=(const Measuring&) = delete;
  Measuring(Measuring&&) noexcept;
  Measuring& operator=(Measuring&&) noexcept;
  ~Measuring();

  /// The first time plans, visits every point, and those with which the probe refines what it saw;
  /// then visits once more every point that is not yet known well enough, a few that are left as
  /// often as is allowed.
  void pass();
  /// Instead of passes: plans, and visits no point but the references, when it is asked to look
  /// again: those alone that are kept, each for a hundredth of the time at most.
  void watch();
  /// Visits the points of a probe that is done once more, if that takes little of the run's time:
  /// what took a second saw nothing of what disturbs a run of a minute. Returns whether it did.
  bool visit_again();
  /// Measures the reference points once more, if that was so long ago: what disturbs a run is seen
  /// best where it is looked for all along. It takes nothing of the probe's time.
  void look_again(std::chrono::seconds between);
  /// The same, of those alone that are kept and need not be prepared anew.
  void look_at_kept(std::chrono::milliseconds between);
  /// What they took until now.
  [[nodiscard]] const std::vector<Reference>& references() const;
  /// Whether there is nothing left to do, or no time for it.
  [[nodiscard]] bool is_done() const;
  /// What was measured so far, and what follows from it; `interrupted` before it is done.
  [[nodiscard]] ProbeResult result() const;

 private:
  class Passes;
  std::unique_ptr<Passes> passes_;
};

/// All passes of one probe in a row.
ProbeResult measure(const Probe& probe, Backend& backend, const Request& request,
                    const Budget& budget, const Observer& observer);

/// Plays a recorded run back, all its points: `prepare` finds the stored point, `run` yields the
/// stored samples of the visit that comes next, so that the same budget and seed give the same
/// result again. What the device refused is refused, and what failed fails.
std::unique_ptr<Backend> recorded_backend(Run run);

}  // namespace clprobe
