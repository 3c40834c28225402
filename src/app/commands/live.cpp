// SPDX-License-Identifier: Apache-2.0
#include "app/commands/live.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "app/cli/without_folders.hpp"
#include "app/commands/analyse_again.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/devices.hpp"
#include "app/commands/plan.hpp"
#include "app/commands/provenance.hpp"
#include "app/commands/results.hpp"
#include "app/commands/stored_runs.hpp"
#include "app/terminal/output.hpp"
#include "app/terminal/terminal.hpp"
#include "clprobe/registry.hpp"
#include "clprobe/run.hpp"
#include "compare/api/compare.hpp"
#include "compare/api/paired.hpp"
#include "system/api/processes.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

std::optional<std::size_t> index_of(const Run& run, std::string_view probe) {
  const auto found = std::ranges::find(run.results, probe, &ProbeResult::probe);
  if (found == run.results.end()) return std::nullopt;
  return static_cast<std::size_t>(found - run.results.begin());
}

const ComparedFinding* with_value(const ComparedFinding* finding) {
  return finding != nullptr && finding->finding.value ? finding : nullptr;
}

/// Returns the uncertainty of the in-kernel clock's calibration: half the width of its interval, as
/// a logarithm. Returns 0 if another timer measures accesses.
double calibration_of(const DeviceInfo& device) {
  const Clock& clock = device.clock;
  if (device.timer != Timer::clock || !(clock.ticks_per_ns_low > 0.0)) return 0.0;
  return std::log(clock.ticks_per_ns_high / clock.ticks_per_ns_low) / 2.0;
}

}  // namespace

std::chrono::duration<double> alternating_time(
    const std::optional<std::chrono::duration<double>>& budget,
    std::chrono::duration<double> spent) {
  constexpr std::chrono::duration<double> min_time{20.0};
  // Leaves 4 s of a minute for the last pass and the shutdown of both drivers.
  constexpr std::chrono::duration<double> usual_end{56.0};
  return budget.value_or(std::max(min_time, usual_end - spent));
}

LivePasses::LivePasses(const Comparison& first, Sides& sides, double threshold,
                       const LiveObserver& observer)
    : first_(first), sides_(sides), threshold_(threshold), observer_(observer) {
  for (std::size_t i = 0; i < sides.size(); ++i) {
    measured_.at(i) = {sides.at(i).backend.get(), sides.at(i).run.device};
  }
  settle_clocks();
  for (std::size_t row = 0; row < first.rows.size(); ++row) add_headline(row);
  family_ = static_cast<std::size_t>(std::ranges::count_if(first.rows, [](const ComparedRow& row) {
    return row.baseline->finding.role == Role::headline;
  }));
}

/// Applies the calibration of side A to both sides if their devices have equal names and clocks,
/// since the errors of two calibrations would look like a difference. Else sets `calibration_`.
void LivePasses::settle_clocks() {
  const DeviceInfo& a = measured_[0].device;
  DeviceInfo& b = measured_[1].device;
  const bool is_same = a.name == b.name && a.clock.kind == b.clock.kind &&
                       a.clock.rate == b.clock.rate && a.timer == Timer::clock &&
                       b.timer == Timer::clock;
  if (is_same) {
    b.clock = a.clock;
  } else {
    calibration_ = std::hypot(calibration_of(a), calibration_of(b));
  }
}

/// Adds the headline in a row of the comparison, if at least one side has its value and measured
/// points show it.
void LivePasses::add_headline(std::size_t row) {
  constexpr std::size_t max_pairs = 3;
  const ComparedRow& compared = first_.rows[row];
  if (compared.baseline->finding.role != Role::headline) return;
  const ComparedFinding* const ours = with_value(compared.cells[0].finding);
  const ComparedFinding* const theirs = with_value(compared.cells[1].finding);
  const auto a = index_of(sides_[0].run, compared.probe);
  const auto b = index_of(sides_[1].run, compared.probe);
  const Probe* const probe = find_probe(compared.probe);
  if ((ours == nullptr && theirs == nullptr) || probe == nullptr || !a || !b) return;
  const auto finding_of = [](const ComparedFinding* each) {
    return each == nullptr ? nullptr : &each->finding;
  };
  const auto measured = [&](const Run& run, std::size_t result) {
    return Measured{probe, &run.device, run.results[result].points};
  };
  Headline headline{.row = row, .probe = probe, .results = {*a, *b}};
  headline.findings = {ours != nullptr ? *ours : *theirs, theirs != nullptr ? *theirs : *ours};
  headline.pairs = pair_carriers(finding_of(ours), measured(sides_[0].run, *a), finding_of(theirs),
                                 measured(sides_[1].run, *b), max_pairs);
  if (!headline.pairs.empty()) headlines_.push_back(std::move(headline));
}

void LivePasses::lose(Headline& headline, const SideError& error) {
  headline.is_lost = true;
  has_failed_ = true;
  Side& lost = sides_.at(error.side());
  ProbeResult& result = lost.run.results[headline.results.at(error.side())];
  result.status = Status::failed;
  result.reason = fmt::format("while alternating: {}", error.what());
  observer_.say(fmt::format("{}: {}: {}", lost.name, result.probe, result.reason));
}

/// Returns the ratio at a pair of points; nothing if cancelled. The first call of a pass visits the
/// pair and adds the samples to the runs; further calls return the same ratio.
std::optional<VisitRatio> LivePasses::visit(const Headline& headline, const PointPair& pair) {
  const std::array key{headline.results[0], headline.results[1], pair.baseline, pair.other};
  if (const auto known = visited_.find(key); known != visited_.end()) return known->second;
  const std::array points{&sides_[0].run.results[headline.results[0]].points[pair.baseline],
                          &sides_[1].run.results[headline.results[1]].points[pair.other]};
  PairVisit visit = visit_pair(*headline.probe, measured_, {points[0], points[1]}, pass_ % 2 == 1,
                               {}, observer_.cancelled);
  for (std::size_t side = 0; side < points.size(); ++side) {
    std::ranges::move(visit.samples.at(side), std::back_inserter(points.at(side)->samples));
  }
  std::optional<VisitRatio>& found = visited_[key];
  if (!visit.blocks.empty()) found = ratio_of_visit(visit.blocks, !is_of_launches(*points[0]));
  return found;
}

void LivePasses::visit(Headline& headline) {
  try {
    const auto found = visit(headline, headline.pairs[pass_ % headline.pairs.size()]);
    if (!found) return;
    const double sign = is_rate(headline.findings[0].finding.unit) ? -1.0 : 1.0;
    headline.log_ratios.push_back(sign * found->log_ratio);
    headline.baseline_ns.push_back(found->baseline);
    headline.is_settled =
        is_settled(state_of(headline.log_ratios, calibration_, threshold_), threshold_, family_);
  } catch (const SideError& error) {
    if (!observer_.cancelled()) lose(headline, error);
  }
}

void LivePasses::report_progress(std::chrono::duration<double> spent,
                                 std::chrono::duration<double> time) const {
  const auto decided = std::ranges::count_if(
      headlines_, [](const Headline& each) { return each.is_settled || each.is_lost; });
  observer_.progress({.title = fmt::format("alternating: {} of {} main findings decided", decided,
                                           headlines_.size()),
                      .done_share = std::min(1.0, spent / time),
                      .seconds_left = (time - spent).count()});
}

void LivePasses::run(std::chrono::duration<double> time) {
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
  };
  // A visit is skipped if it would probably take longer than the time left, judged by the last
  // visit of the headline. On a busy host, allocating gigabytes took 16 s longer than the budget.
  const auto may_visit = [&](const Headline& headline) {
    const bool is_open = !headline.is_settled && !headline.is_lost;
    return is_open && spent() + headline.took < time && !observer_.cancelled();
  };
  const auto make_pass = [&] {
    bool is_any = false;
    visited_.clear();
    for (Headline& headline : headlines_) {
      if (!may_visit(headline)) continue;
      const auto before = spent();
      visit(headline);
      headline.took = spent() - before;
      is_any = true;
      report_progress(spent(), time);
    }
    return is_any;
  };
  while (make_pass()) {
    // Frees the buffers after each pass, so that their addresses vary between passes as they do
    // between runs.
    for (const PairSide& side : measured_) side.backend->release();
    observer_.save();
    ++pass_;
  }
}

std::vector<Alternated> LivePasses::alternated() const {
  std::vector<Alternated> all;
  for (const Headline& headline : headlines_) {
    if (headline.log_ratios.empty()) continue;
    Alternated each{.row = headline.row,
                    .baseline = headline.findings[0],
                    .other = headline.findings[1],
                    .log_ratios = headline.log_ratios,
                    .calibration = calibration_};
    Finding& a = each.baseline.finding;
    a.value = value_in(a.unit, std::exp(mean(headline.baseline_ns)), measured_[0].device);
    each.other.finding.value = *a.value * std::exp(mean(headline.log_ratios));
    // The values have no intervals: only the ratio has one, since drift that both sides share
    // cancels only in the ratio.
    for (Finding* const finding : {&each.baseline.finding, &each.other.finding}) {
      finding->low.reset();
      finding->high.reset();
      finding->method = "alternating";
    }
    all.push_back(std::move(each));
  }
  return all;
}

namespace {

const std::string& selector_of(const cli::Options& options, std::size_t side) {
  return side == 1 && !options.other_device.empty() ? options.other_device : options.device;
}

/// Returns the name of a side, such as "side B, OCL_ICD_VENDORS=new.icd". Folders are removed,
/// since comparisons may be published.
std::string name_of(const cli::Options& options, std::size_t side) {
  std::string name = side == 0 ? "side A" : "side B";
  for (const auto& [variable, value] : options.environments.at(side)) {
    name += ", " + cli::variable_without_folders(fmt::format("{}={}", variable, value));
  }
  return name;
}

/// Returns the options without the time budget, which applies only to the alternating passes.
cli::Options without_time(cli::Options options) {
  options.time_budget.reset();
  return options;
}

/// Chooses the device of a side without opening the device, so that a wrong device of either side
/// is reported before either device is opened.
void choose(const cli::Options& options, std::size_t index, Devices& devices, Side& side) {
  std::vector<Target> targets;
  try {
    targets = devices.select(selector_of(options, index));
  } catch (const cli::UsageError& error) {
    throw cli::UsageError(fmt::format("{}: {}", side.name, error.what()));
  } catch (const NoDevice& error) {
    throw NoDevice(fmt::format("{}: {}", side.name, error.what()));
  }
  if (targets.size() != 1) {
    throw cli::UsageError(fmt::format(
        "{} selects {} devices, but compare --live takes one device per side: name one device",
        side.name, targets.size()));
  }
  side.target = std::move(targets.front());
  check_requests(without_time(options), side.target.info);
}

/// Opens the device of a side. A failure becomes a warning of the side's run.
void open(const LiveObserver& observer, Devices& devices, Side& side) {
  const DeviceInfo& info = side.target.info;
  side.run.device = info;
  observer.progress({.title = fmt::format("{}: trying {}", side.name, info.name)});
  try {
    side.backend = devices.open(side.target);
  } catch (const DeviceError& error) {
    if (observer.cancelled()) return;
    side.run.warnings.push_back({"device_failed", {{"reason", std::string(error.what())}}});
    observer.say(fmt::format("{}: {}: {}", side.name, quote(info.name), error.what()));
    return;
  }
  side.run.device = side.backend->device();
  side.run.warnings = side.backend->warnings();
}

/// Chooses and opens the devices of both sides, each with the environment variables of its side.
/// Throws UsageError, NoDevice, DeviceError.
void open_sides(const cli::Options& options, const std::vector<std::string>& arguments,
                const LiveObserver& observer, Sides& sides) {
  std::vector<Devices> devices;
  devices.reserve(sides.size());
  for (std::size_t i = 0; i < sides.size(); ++i) {
    Side& side = sides.at(i);
    side.name = name_of(options, i);
    side.run = new_run(options, arguments);
    devices.emplace_back(options, [&observer, &side](std::string_view line) {
      observer.say(fmt::format("{}: {}", side.name, line));
    });
    devices[i].settings().environment = options.environments.at(i);
    choose(options, i, devices[i], side);
  }
  for (std::size_t i = 0; i < sides.size() && !observer.cancelled(); ++i) {
    open(observer, devices[i], sides.at(i));
  }
}

/// Returns true if both sides have the same device and the same environment variables.
bool are_alike(const cli::Options& options, const Sides& sides) {
  const auto variables = [&](std::size_t side) {
    std::vector<std::pair<std::string, std::string>> sorted = options.environments.at(side);
    std::ranges::sort(sorted);
    return sorted;
  };
  const Target& a = sides[0].target;
  const Target& b = sides[1].target;
  return a.machine == b.machine && a.info.index == b.info.index && a.info.name == b.info.name &&
         a.info.driver == b.info.driver && variables(0) == variables(1);
}

/// Makes the first measurement: all requested probes on both sides, in alternating passes.
void measure_once(const cli::Options& options, const LiveObserver& live, Sides& sides) {
  const cli::Options asked = without_time(options);
  std::vector<EngineProbe> probes;
  std::vector<std::size_t> side_of;  // index of the side, by index in `probes`
  std::array<Known, 2> known;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    Side& at = sides.at(side);
    if (!at.backend) continue;
    const std::vector<const Probe*> wanted = wanted_probes(asked, at.run.device);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const Probe* const probe = wanted[k];
      side_of.push_back(side);
      probes.push_back({.probe = probe,
                        .backend = at.backend.get(),
                        .budget = budget_of(*probe, asked, wanted.size()),
                        .request =
                            [&, side, probe] {
                              Request request = cli::request_for(*probe, asked);
                              request.known = known.at(side);
                              return request;
                            },
                        .group = k});
    }
  }
  std::optional<Engine> engine;
  const auto keep = [&](std::size_t probe) -> ProbeResult& {
    std::vector<ProbeResult>& results = sides.at(side_of[probe]).run.results;
    if (probes[probe].group >= results.size()) results.resize(probes[probe].group + 1);
    return results[probes[probe].group] = engine->result(probe);
  };
  Observer observer;
  observer.cancelled = live.cancelled;
  observer.progress = [&](std::size_t probe, double, double) {
    live.progress({.title = fmt::format("side {}: {}", side_of[probe] == 0 ? "A" : "B",
                                        probes[probe].probe->title)});
  };
  observer.pass_over = [&](std::size_t probe) {
    const ProbeResult& result = keep(probe);
    const std::size_t side = side_of[probe];
    if (engine->is_done(probe) && result.status == Status::failed) {
      live.say(fmt::format("{}: {}: {}; the other results are kept", sides.at(side).name,
                           result.probe, result.reason));
    }
    if (probes[probe].probe->learn != nullptr) probes[probe].probe->learn(result, known.at(side));
    live.save();
  };
  engine.emplace(probes, SchedulePolicy{.shares_run = false}, observer);
  engine->run();
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (engine->has_begun(i) && !engine->is_done(i)) keep(i);  // keeps interrupted probes
  }
  for (Side& side : sides) conclude(side.run);
}

using system::is_interrupted;

class LiveComparison {
 public:
  LiveComparison(const cli::Options& options, const std::vector<std::string>& arguments)
      : options_(options),
        arguments_(arguments),
        results_(options, [this](std::string_view message) { say(message); }) {
    observer_.say = [this](std::string_view message) { say(message); };
    observer_.progress = [this](const terminal::Progress& progress) {
      if (options_.verbosity >= 0) progress_.show(progress);
    };
    if (options.verbosity >= 0) progress_.keep_moving();
    observer_.cancelled = is_interrupted;
    observer_.save = [this] { save_runs(); };
    if (!options.runs_file.empty()) open_runs_file();
  }

  int run() {
    open_sides(options_, arguments_, observer_, sides_);
    results_.check_stdout();
    if (are_alike(options_, sides_)) {
      say("both sides are the same device in the same environment: any reported change is a false "
          "positive");
    }
    measure_once(options_, observer_, sides_);
    std::vector<RunDigest> digests = digest_sides();
    Comparison comparison = compare(digests, 0, options_.threshold);
    adopt_headlines(comparison, digests[1]);
    LivePasses passes(comparison, sides_, options_.threshold, observer_);
    const bool are_there = sides_[0].backend != nullptr && sides_[1].backend != nullptr;
    if (are_there) passes.run(alternating_time(options_.time_budget, spent()));
    conclude_runs();
    digests = update(std::move(digests));
    const bool is_repeatable = sides_[0].target.machine && sides_[1].target.machine;
    apply_alternation(comparison, passes.alternated(), is_repeatable);
    progress_.clear();
    const int written = results_.finish(comparison, digests);
    if (is_interrupted()) return exit_interrupted;
    if (written != exit_ok || !is_kept_) return exit_failed;
    const int checked = check_fail_on(options_.fail_on, comparison, digests);
    if (checked != exit_ok) return checked;
    return has_failed() ? exit_failed : exit_ok;
  }

 private:
  void open_runs_file() {
    try {
      runs_file_.emplace(options_.runs_file);
    } catch (const terminal::OutputError& error) {
      throw cli::UsageError(error.what());
    }
    for (const cli::Output& output : options_.outputs) {
      if (!runs_file_->replaces(output.path)) continue;
      throw cli::UsageError(fmt::format(
          "--runs and -o both name {}: write the runs to another file", quote(options_.runs_file)));
    }
    refuse_to_replace(*runs_file_, "--runs", input_files(options_));
  }

  void save_runs() {
    if (!runs_file_ || runs_file_->is_stream()) return;
    write_runs();
  }

  void write_runs() {
    try {
      runs_file_->commit(to_json(std::array{sides_[0].run, sides_[1].run}));
      is_kept_ = true;
    } catch (const terminal::OutputError& error) {
      if (is_kept_) say(error.what());
      is_kept_ = false;
    }
  }

  [[nodiscard]] std::vector<RunDigest> digest_sides() const {
    std::vector<RunDigest> digests;
    for (const Side& side : sides_) digests.push_back(digest(side.run, side.name));
    return digests;
  }

  /// Returns digests of the first measurement with the status that the probes have after the
  /// alternating passes.
  [[nodiscard]] std::vector<RunDigest> update(std::vector<RunDigest> digests) const {
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      const Run& run = sides_.at(i).run;
      digests[i].interrupted = run.interrupted;
      for (ComparedResult& compared : digests[i].results) {
        for (const ProbeResult& result : run.results) {
          if (result.probe != compared.probe) continue;
          compared.status = result.status;
          compared.reason = result.reason;
        }
      }
    }
    return digests;
  }

  /// Computes the findings of both runs again, from all samples, and writes the runs if --runs was
  /// given.
  void conclude_runs() {
    for (Side& side : sides_) {
      side.run.interrupted = is_interrupted();
      analyse_again(side.run);
    }
    if (runs_file_) write_runs();
  }

  [[nodiscard]] std::chrono::duration<double> spent() const {
    return std::chrono::steady_clock::now() - began_;
  }

  [[nodiscard]] bool has_failed() const {
    for (const Side& side : sides_) {
      if (side.backend == nullptr) return true;
      for (const ProbeResult& result : side.run.results) {
        if (result.status == Status::failed) return true;
      }
    }
    return false;
  }

  void say(std::string_view message) {
    progress_.clear();
    terminal::complain(message);
  }

  const cli::Options& options_;
  const std::vector<std::string>& arguments_;
  std::chrono::steady_clock::time_point began_{std::chrono::steady_clock::now()};
  Results results_;
  terminal::ProgressLine progress_{STDERR_FILENO};
  LiveObserver observer_{};
  std::optional<terminal::OutputFile> runs_file_{};
  bool is_kept_{true};
  Sides sides_{};
};

}  // namespace

int compare_live(const cli::Options& options, const std::vector<std::string>& arguments) {
  system::watch_for_interrupts();
  try {
    return LiveComparison(options, arguments).run();
  } catch (const std::exception&) {
    if (is_interrupted()) return exit_interrupted;
    throw;
  }
}

}  // namespace clprobe::commands
