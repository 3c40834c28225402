// SPDX-License-Identifier: Apache-2.0
// `compare --live`: two sides measured in turns.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/compare.hpp"
#include "clprobe/paired.hpp"
#include "clprobe/run.hpp"
#include "commands/analyse_again.hpp"
#include "commands/commands.hpp"
#include "commands/comparison_output.hpp"
#include "commands/fail_on.hpp"
#include "commands/input_files.hpp"
#include "commands/live_sides.hpp"
#include "commands/live_turns.hpp"
#include "commands/results.hpp"
#include "system/interrupt.hpp"
#include "terminal/complain.hpp"
#include "terminal/output.hpp"
#include "terminal/progress.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

using system::is_interrupted;

/// Both sides from the command line to the exit code.
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
    look_first(options_, observer_, sides_);
    std::vector<RunDigest> digests = digest_sides();
    Comparison comparison = compare(digests, 0, options_.threshold);
    adopt_headlines(comparison, digests[1]);
    LiveTurns turns(comparison, sides_, options_.threshold, observer_);
    const bool are_there = sides_[0].backend != nullptr && sides_[1].backend != nullptr;
    if (are_there) turns.take(time_for_turns(options_.time_budget, spent()));
    conclude_runs();
    digests = update(std::move(digests));
    const bool is_repeatable = sides_[0].target.machine && sides_[1].target.machine;
    take_turns(comparison, turns.followed(), is_repeatable);
    progress_.clear();
    const int written = write_comparison(results_, comparison, digests);
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

  /// What happened since the first look.
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

  /// The documents' findings follow from all of their samples.
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
  refuse_pictures(options);
  try {
    return LiveComparison(options, arguments).run();
  } catch (const std::exception&) {
    if (is_interrupted()) return exit_interrupted;
    throw;
  }
}

}  // namespace clprobe::commands
