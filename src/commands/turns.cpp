// SPDX-License-Identifier: Apache-2.0
#include "commands/turns.hpp"

#include <algorithm>
#include <utility>

#include "commands/analyse_again.hpp"
#include "commands/plan.hpp"

namespace clprobe::commands {

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
  return programs;
}

void Turns::measure(std::span<const Probe* const> probes) {
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

/// The reference points of the others: a probe whose passes are few and far between would see
/// little of what disturbs the run.
void Turns::look_meanwhile() {
  constexpr std::chrono::seconds between{3};
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    if (i != current_ && !turns_[i].references().empty()) turns_[i].look_again(between);
  }
}

/// A pass may take longer than that: those that take little are looked at between its points.
void Turns::look_at_kept() {
  constexpr std::chrono::seconds between{1};
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    if (i != current_) turns_[i].look_at_kept(between);
  }
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
  conclude(run_);
  told_.save();
  saved_ = Steady::now();
  saving_ = *saved_ - begin;
}

void Turns::look_again() {
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    visit_again(i);
    if (grown_.contains(i)) run_.results[i] = turns_[i].result();
    turns_[i].look_again(std::chrono::seconds(1));
    run_.results[i].references = turns_[i].references();
  }
  conclude(run_);
}

}  // namespace clprobe::commands
