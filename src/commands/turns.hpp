// SPDX-License-Identifier: Apache-2.0
// The probes of one device, measured in turns.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "cli/options.hpp"
#include "clprobe/engine.hpp"
#include "commands/known_levels.hpp"

namespace clprobe::commands {

/// What is told while the turns go on.
struct TurnsObserver {
  std::function<void(const ProbeResult&)> done;  ///< of a probe that has made its last turn
  std::function<void()> save;                    ///< the run has more to keep
};

/// A pass of every probe, then another of all that are not done, and so on: what disturbs a device
/// for some seconds then meets one visit of a point, and not all of them. The reference points are
/// looked at until the end, and beside them those that show what these probes do not.
class Turns {
 public:
  /// All must outlive it. The results go into `run`. Throws UsageError as `known_levels`.
  Turns(const cli::Options& options, Backend& backend, Observer observer, Run& run,
        TurnsObserver told);

  /// Until all probes are done, or the observer cancels.
  void measure(std::span<const Probe* const> probes);

 private:
  using Steady = std::chrono::steady_clock;

  /// What they are built from, those of the first probe first.
  [[nodiscard]] std::vector<Program> programs_of(std::span<const Probe* const> probes) const;
  void watch(std::span<const Probe* const> probes);
  void begin_to_watch();
  void look_at_watches();
  void keep_watches();
  void first_pass(const Probe& probe, std::size_t probe_count);
  void pass(std::size_t which);
  void visit_again(std::size_t which);
  [[nodiscard]] bool is_time_to_save() const;
  void keep(std::size_t which);
  [[nodiscard]] bool shows_others(std::size_t which) const;
  void look_meanwhile();
  void look_at_kept();
  void look_again();
  [[nodiscard]] bool is_cancelled() const { return observer_.cancelled && observer_.cancelled(); }

  const cli::Options& options_;
  Backend& backend_;
  Observer observer_;
  Run& run_;
  TurnsObserver told_;
  Known known_ = known_levels(options_, backend_.device());
  std::vector<Measuring> turns_{};
  std::vector<Measuring> watches_{};     // of reference points that none of the probes has
  std::vector<const Probe*> lenders_{};  // whose reference points will be watched
  std::size_t current_{0};               // whose pass it is
  std::set<std::size_t> grown_{};        // those that were visited again since they were concluded
  std::optional<Steady::time_point> saved_{};
  Steady::duration saving_{};  // what it took the last time
};

}  // namespace clprobe::commands
