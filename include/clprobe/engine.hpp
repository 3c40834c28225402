// SPDX-License-Identifier: Apache-2.0
// The measuring core: where points are measured (Backend), and the one loop that measures them in
// the order of a schedule (Engine).
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

/// What the process that does the work itself gives for it. `device` must outlive it.
PreparedPoint prepared(Work work, const DeviceInfo& device);

/// Where points are measured: OpenCL in a child process, simulated units, or a recorded run.
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
  /// `point` has the samples that were taken of it so far. Throws DeviceError.
  virtual PreparedPoint prepare(const Probe& probe, const Point& point) = 0;
  /// The same, for a point that will be prepared again and again: what that takes stays beside what
  /// `prepare` makes, until the memory is needed or `release` is called.
  virtual PreparedPoint prepare_kept(const Probe& probe, const Point& point) {
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

/// What an engine reports while it measures, and asks.
struct Observer {
  /// Share of a probe's work that is done, and an estimate of the seconds left. Probes are named by
  /// their places in the engine.
  std::function<void(std::size_t probe, double done_share, double seconds_left)> progress{};
  /// The point that is visited now.
  std::function<void(std::size_t probe, const Point&)> visiting{};
  /// The probe has made a pass: Engine::result() has more than before.
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
  /// Asked once, when the probe is planned: what earlier probes found may be part of it.
  std::function<Request()> request{};
  /// Only the references of the plan that are kept are visited, from that time of the run on: they
  /// show what disturbs the probes that are measured.
  std::optional<std::chrono::duration<double>> controls_from{};
  std::size_t group{0};  ///< probes of a group alternate; groups follow each other
};

/// Measures probes in the order of a Schedule.
///
/// Never throws for what a device does: a failing point keeps its reason and ends nothing, a probe
/// with any such point is `failed`, an interrupted one `interrupted`. Points that the device
/// refuses (Unsupported) are no failures: a warning where only some of a series were, else a
/// finding without a value. A driver that fails at a later visit takes nothing away from the
/// earlier ones.
class Engine {
 public:
  /// Backends and observer must outlive it.
  Engine(std::vector<EngineProbe> probes, const SchedulePolicy& policy, const Observer& observer);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(Engine&&) = delete;
  ~Engine();

  /// Until all probes are done, or the observer cancels.
  void run();
  /// Whether the probe has been planned.
  [[nodiscard]] bool has_begun(std::size_t probe) const;
  /// Visits of the probe's points so far.
  [[nodiscard]] std::size_t visit_count(std::size_t probe) const;
  /// Whether nothing is left to do for the probe, or no time for it.
  [[nodiscard]] bool is_done(std::size_t probe) const;
  /// What was measured so far, and what follows from it; `interrupted` before it is done.
  [[nodiscard]] ProbeResult result(std::size_t probe) const;
  /// What the probe's references showed so far.
  [[nodiscard]] const std::vector<Reference>& references(std::size_t probe) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Measures one probe by itself.
ProbeResult measure(const Probe& probe, Backend& backend, const Request& request,
                    const Budget& budget, const Observer& observer);

/// Plays a recorded run back, all its points: `prepare` finds the stored point, `run` yields the
/// stored samples of the visit that comes next, so that the same budget and seed give the same
/// result again. What the device refused is refused, and what failed fails.
std::unique_ptr<Backend> recorded_backend(Run run);

}  // namespace clprobe
