// SPDX-License-Identifier: Apache-2.0
#include "commands/turns.hpp"

#include <algorithm>
#include <utility>

#include "clprobe/registry.hpp"
#include "commands/analyse_again.hpp"
#include "commands/plan.hpp"

namespace clprobe::commands {
namespace {

// Looks are so far apart: a GPU's run of a second has a few.
constexpr std::chrono::milliseconds between_looks{300};

/// Of a CPU, what its last cache cannot hold, and no more: to lay out a gigabyte takes seconds.
/// Virtual machines report no cache.
Request request_to_lend(const DeviceInfo& device, std::uint64_t seed) {
  constexpr std::uint64_t caches = 2;
  Request request{.seed = seed};
  if (device.type == DeviceType::cpu) {
    request.max_memory = std::clamp(reported_cache(device) * caches, mebibytes(64), mebibytes(256));
  }
  return request;
}

bool has_references(const Probe& probe, const DeviceInfo& device, const cli::Options& options) {
  return !probe.plan(device, cli::request_for(probe, options)).references.empty();
}

/// Those that an engine looks at when it watches.
std::vector<Point> points_to_watch(const Probe& probe, const DeviceInfo& device,
                                   const Request& request) {
  std::vector<Point> points;
  for (const PlannedReference& each : probe.plan(device, request).references) {
    if (each.alone) points.push_back(each.alone->point);
  }
  return points;
}

}  // namespace

Turns::Turns(const cli::Options& options, Backend& backend, Observer observer, Run& run,
             TurnsObserver told)
    : options_(options),
      backend_(backend),
      observer_(std::move(observer)),
      run_(run),
      told_(std::move(told)) {
  observer_.between_points = [this] { look_at_kept(); };
}

std::vector<Program> Turns::programs_of(std::span<const Probe* const> probes) const {
  std::vector<Program> programs;
  for (const Probe* const probe : probes) {
    const Plan plan = probe->plan(backend_.device(), cli::request_for(*probe, options_));
    for (Program& each : programs_for(*probe, backend_.device(), options_.seed, plan.points)) {
      programs.push_back(std::move(each));
    }
  }
  const DeviceInfo& device = backend_.device();
  for (const Probe* const lender : lenders_) {
    const auto points = points_to_watch(*lender, device, request_to_lend(device, options_.seed));
    for (Program& each : programs_for(*lender, device, options_.seed, points)) {
      programs.push_back(std::move(each));
    }
  }
  return programs;
}

/// What disturbs arithmetic, and, where no probe of the run shows it, loads of all levels and
/// streams. What is played back or simulated is disturbed by nobody; a first look has no time.
void Turns::watch(std::span<const Probe* const> probes) {
  const DeviceInfo& device = backend_.device();
  const bool is_real =
      !is_simulated(device) && !probes.empty() && !backend_.plan_of(*probes.front()).has_value();
  if (!is_real || options_.effort == Effort::quick || !options_.launches.empty()) return;
  const Budget budget = budget_of(arithmetic_probe(), options_, 1);
  watches_.emplace_back(arithmetic_probe(), backend_, Request{}, budget, observer_).watch();
  const bool is_shown = std::any_of(probes.begin(), probes.end(), [&](const Probe* each) {
    return has_references(*each, device, options_);
  });
  // A limit that was asked for is one for all buffers.
  if (is_shown || options_.max_memory.count != 0) return;
  for (const Probe* const probe : all_probes()) {
    // A CPU takes a twentieth of the usual run to lay out what streams go over, and the probes of
    // rates have reference points of their own.
    const bool is_cheap = device.type != DeviceType::cpu || probe->unit == Unit::seconds;
    if (probe->lends_references && is_cheap) lenders_.push_back(probe);
  }
}

/// A GPU's programs are built meanwhile; a CPU takes a tenth of a second to lay memory out, which
/// a short run has no time for.
void Turns::begin_to_watch() {
  const DeviceInfo& device = backend_.device();
  const std::chrono::milliseconds long_enough(device.type == DeviceType::cpu ? 4000 : 250);
  if (lenders_.empty() || backend_.now() - observer_.began < long_enough) return;
  for (const Probe* const lender : std::exchange(lenders_, {})) {
    const Budget budget = budget_of(*lender, options_, 1);
    watches_
        .emplace_back(*lender, backend_, request_to_lend(device, options_.seed), budget, observer_)
        .watch();
  }
}

void Turns::look_at_watches() {
  begin_to_watch();
  for (Measuring& each : watches_) each.look_at_kept(between_looks);
}

void Turns::keep_watches() {
  run_.references.clear();
  for (const Measuring& watch : watches_) {
    for (const Reference& each : watch.references()) {
      if (!each.moments.empty()) run_.references.push_back(each);
    }
  }
}

void Turns::measure(std::span<const Probe* const> probes) {
  watch(probes);
  backend_.build_ahead([&] { return programs_of(probes); });
  for (const Probe* const probe : probes) {
    if (is_cancelled()) break;
    first_pass(*probe, probes.size());
  }
  const auto is_done = [](const Measuring& each) { return each.is_done(); };
  while (!is_cancelled() && !std::all_of(turns_.begin(), turns_.end(), is_done)) {
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      if (!turns_[i].is_done()) pass(i);
    }
  }
  if (!is_cancelled()) return look_again();
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    if (!turns_[i].is_done()) keep(i);
  }
}

void Turns::first_pass(const Probe& probe, std::size_t probe_count) {
  Request request = cli::request_for(probe, options_);
  request.known = known_;
  turns_.emplace_back(probe, backend_, std::move(request), budget_of(probe, options_, probe_count),
                      observer_);
  // Until it is concluded it must not look as if it had found nothing.
  run_.results.push_back({.probe = std::string(probe.id), .status = Status::interrupted});
  const std::size_t which = turns_.size() - 1;
  pass(which);
  // A first look has no time to take turns: every probe would open its buffers again.
  while (options_.effort == Effort::quick && !turns_.back().is_done()) pass(which);
  if (probe.learn == nullptr) return;
  if (!turns_.back().is_done()) keep(which);
  probe.learn(run_.results.back(), known_);
}

/// A first look has no time for it.
void Turns::visit_again(std::size_t which) {
  if (options_.effort == Effort::quick) return;
  current_ = which;
  if (turns_[which].visit_again()) grown_.insert(which);
}

void Turns::pass(std::size_t which) {
  current_ = which;
  turns_[which].pass();
  look_meanwhile();
  if (turns_[which].is_done() || is_time_to_save()) keep(which);
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    if (i != which) visit_again(i);
  }
}

/// Those of a probe that keeps nothing for them are looked at in its own passes alone: it would
/// open its buffers for them.
bool Turns::shows_others(std::size_t which) const {
  const Probe* const probe = find_probe(run_.results[which].probe);
  return probe != nullptr && probe->lends_references && !turns_[which].references().empty();
}

/// The reference points of the others: a probe whose passes are few and far between would see
/// little of what disturbs the run.
void Turns::look_meanwhile() {
  constexpr std::chrono::seconds between{3};
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    if (i != current_ && shows_others(i)) turns_[i].look_again(between);
  }
}

/// A pass may take longer than that: those that take little are looked at between its points.
void Turns::look_at_kept() {
  constexpr std::chrono::seconds between{1};
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    if (i != current_) turns_[i].look_at_kept(between);
  }
  look_at_watches();
}

/// To conclude and to write takes as long as to measure some hundred points: what a kill would lose
/// is saved every few seconds, and for no more than a twentieth of the time.
bool Turns::is_time_to_save() const {
  constexpr std::chrono::seconds between{4};
  constexpr int part = 20;
  return !saved_ || Steady::now() - *saved_ >= std::max<Steady::duration>(between, saving_ * part);
}

void Turns::keep(std::size_t which) {
  run_.results[which] = turns_[which].result();
  if (turns_[which].is_done()) told_.done(run_.results[which]);
  if (!is_time_to_save()) return;
  const Steady::time_point begin = Steady::now();
  keep_watches();
  conclude(run_);
  told_.save();
  saved_ = Steady::now();
  saving_ = *saved_ - begin;
}

void Turns::look_again() {
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    visit_again(i);
    if (grown_.contains(i)) run_.results[i] = turns_[i].result();
    if (i == current_ || shows_others(i)) turns_[i].look_again(std::chrono::seconds(1));
    run_.results[i].references = turns_[i].references();
  }
  look_at_watches();
  keep_watches();
  conclude(run_);
}

}  // namespace clprobe::commands
