// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "app/commands/stored_runs.hpp"
#include "app/terminal/output.hpp"
#include "clprobe/registry.hpp"
#include "compare/api/compare.hpp"
#include "present/api/report.hpp"
#include "system/api/host.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

bool is_met(cli::FailOn condition, Verdict verdict) {
  if (condition == cli::FailOn::worse) return verdict == Verdict::worse;
  return condition == cli::FailOn::changed && verdict != Verdict::same &&
         verdict != Verdict::unclear;
}

std::vector<ComparedPlace> that_meet(cli::FailOn condition, const Comparison& comparison,
                                     std::vector<ComparedPlace> places) {
  std::erase_if(places, [&](const ComparedPlace& place) {
    const Judgement& judged = comparison.rows[place.row].cells[place.run].judgement;
    return judged.is_repeated || !is_met(condition, judged.left_open.value_or(judged.verdict));
  });
  return places;
}

/// Returns the findings that a new run lacks because the probe failed or because the device no
/// longer has the series.
std::vector<ComparedPlace> lost_findings(const Comparison& comparison) {
  std::vector<ComparedPlace> places;
  for (std::size_t row = 0; row < comparison.rows.size(); ++row) {
    const std::vector<ComparedCell>& cells = comparison.rows[row].cells;
    for (std::size_t run = 0; run < cells.size(); ++run) {
      const bool is_lost = cells[run].finding == nullptr && !cells[run].judgement.reason.empty();
      if (run != comparison.baseline && is_lost) places.push_back({row, run});
    }
  }
  return places;
}

/// Writes a line per changed finding to stderr, as evidence for the exit code; at most `max_named`
/// lines and a count of the rest.
void name_changes(const std::vector<ComparedPlace>& places, const Comparison& comparison,
                  std::span<const RunDigest> runs, const std::string& note) {
  constexpr std::size_t max_named = 10;
  for (std::size_t i = 0; i < std::min(max_named, places.size()); ++i) {
    terminal::complain(change_text(comparison, runs, places[i]) + note);
  }
  if (places.size() > max_named) {
    terminal::complain(fmt::format("and {} more{}", places.size() - max_named, note));
  }
}

/// Writes to stderr the changes that the table shows, but that are not significant when all
/// findings are tested jointly. `seen`: the significant changes.
void name_not_significant(cli::FailOn condition, const Comparison& comparison,
                          std::span<const RunDigest> runs, const std::vector<ComparedPlace>& seen) {
  std::vector<ComparedPlace> places;
  for (std::size_t row = 0; row < comparison.rows.size(); ++row) {
    const std::vector<ComparedCell>& cells = comparison.rows[row].cells;
    for (std::size_t run = 0; run < cells.size(); ++run) {
      const Judgement& judged = cells[run].judgement;
      const bool is_seen = std::ranges::any_of(
          seen, [&](const ComparedPlace& each) { return each.row == row && each.run == run; });
      const bool is_change = !judged.reason.empty() && is_met(condition, judged.verdict);
      if (run == comparison.baseline || cells[run].finding == nullptr || is_seen) continue;
      if (is_change && !judged.is_repeated) places.push_back({row, run});
    }
  }
  name_changes(places, comparison, runs,
               fmt::format("; not significant among {} comparisons: rerun with {} baseline runs "
                           "and as many new ones",
                           count_compared(comparison), comparison.are_several ? "more" : "3"));
}

std::string and_more(std::size_t count) {
  return count > 1 ? fmt::format(" (and {} more)", count - 1) : std::string();
}

/// Returns the first missing part and the number of further missing parts: "'new.json': latency:
/// not measured (and 2 more)".
std::string explain_gaps(const std::vector<MissingPart>& gaps, std::span<const RunDigest> runs) {
  const MissingPart& first = gaps.front();
  std::string text = fmt::format("{}: ", quote(runs[first.run].file));
  if (!first.probe.empty()) text += first.probe;
  if (!first.series.empty()) text += ' ' + first.series;
  if (!first.probe.empty()) text += ": ";
  return text + first.reason + and_more(gaps.size());
}

/// Returns the first change that a single baseline run and a single new run cannot decide: "worse:
/// L1 latency: 1.08 ns -> 2.05 ns in 'new.json' (and 12 more), but ...".
std::string explain_open(const std::vector<ComparedPlace>& open, const Comparison& comparison,
                         std::span<const RunDigest> runs) {
  return fmt::format(
      "{}{}, but {}: compare several baseline runs with several new runs, or use --live",
      change_text(comparison, runs, open.front()), and_more(open.size()), others_on_host);
}

int undecided(const std::string& why) {
  terminal::complain(fmt::format("the condition of --fail-on cannot be decided: {}", why));
  return exit_undecided;
}

}  // namespace

int check_fail_on(cli::FailOn condition, const Comparison& comparison,
                  std::span<const RunDigest> runs) {
  if (condition == cli::FailOn::never) return exit_ok;
  const std::vector<ComparedPlace> seen =
      that_meet(condition, comparison, find_sure_changes(comparison));
  name_changes(seen, comparison, runs, "");
  name_not_significant(condition, comparison, runs, seen);
  const auto is_of_other_card = [&](const ComparedPlace& place) {
    const std::string& card = runs[comparison.baseline].uuid;
    const std::string& other = runs[place.run].uuid;
    return !card.empty() && !other.empty() && card != other;
  };
  if (std::ranges::all_of(seen, is_of_other_card) && !seen.empty()) {
    return undecided(
        "all runs with changes are from a different card than the baseline: measure a baseline on "
        "the card of these runs");
  }
  if (!seen.empty()) return exit_changed;
  const std::vector<MissingPart> gaps = find_missing_parts(runs, comparison);
  if (!gaps.empty()) return undecided(explain_gaps(gaps, runs));
  const std::vector<ComparedPlace> lost =
      that_meet(condition, comparison, lost_findings(comparison));
  name_changes(lost, comparison, runs, "");
  if (!lost.empty()) return exit_changed;
  const std::vector<ComparedPlace> open =
      that_meet(condition, comparison, find_open_changes(comparison));
  return open.empty() ? exit_ok : undecided(explain_open(open, comparison, runs));
}

namespace {

namespace fs = std::filesystem;

/// Returns the digests of a file's runs. A digest has no samples, so that a thousand runs fit into
/// memory.
std::vector<RunDigest> digest_file(const std::string& file) {
  std::vector<RunDigest> digests;
  std::vector<Run> runs = read_runs(file);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string name = runs.size() == 1 ? file : fmt::format("{}[{}]", file, i);
    digests.push_back(digest(runs[i], name));
    for (ComparedResult& each : digests.back().results) {
      // The kernels of a profiled program are removed: their hashes do not identify a method of
      // clprobe, so a different hash is no reason to refuse the comparison.
      if (const Probe* const probe = find_probe(each.probe);
          probe != nullptr && probe->replays_launches) {
        each.kernels.clear();
      }
    }
    runs[i] = {};
  }
  return digests;
}

/// Digests of a file's runs, or the error with which reading the file failed.
struct Digested {
  std::vector<RunDigest> runs{};
  std::exception_ptr error{};
};

/// Returns the digests of all files, read in parallel with a thread per core, at most 8.
std::vector<Digested> digest_files(const std::vector<RunFile>& files) {
  std::vector<Digested> digests(files.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++) {
      try {
        digests[i].runs = digest_file(files[i].path);
      } catch (...) {
        digests[i].error = std::current_exception();
      }
    }
  };
  constexpr std::size_t max_threads = 8;
  const std::size_t cores = system::usable_cores();
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min({max_threads, cores, files.size()}); ++i) {
    threads.emplace_back(work);
  }
  work();
  threads.clear();  // joins the threads
  return digests;
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || (fs::equivalent(a, b, error) && !error);
}

struct Selection {
  std::vector<RunDigest> runs{};
  std::size_t baseline{0};
  bool has_bad_file{false};  ///< true: a file in a folder could not be read and was skipped
};

/// Replaces the files' paths by the names of run_names().
void hide_folders(std::vector<RunDigest>& runs) {
  std::vector<std::string> paths;
  paths.reserve(runs.size());
  for (const RunDigest& run : runs) paths.push_back(run.file);
  const std::vector<std::string> names = run_names(paths);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].file = names[i];
}

struct Files {
  std::vector<RunFile> all{};
  std::size_t baseline{0};
  std::size_t first_side{0};  ///< number of files before `--`; 0: no `--`
};

Files select_files(const cli::Options& options) {
  std::vector<RunFile> files;
  std::size_t first_side = 0;
  for (std::size_t i = 0; i < options.words.size(); ++i) {
    if (i > 0 && i == options.first_side) first_side = files.size();
    const std::vector<RunFile> found = files_in(options.words[i]);
    files.insert(files.end(), found.begin(), found.end());
  }
  if (first_side > 0) {
    if (options.baseline.empty()) return {std::move(files), 0, first_side};
    throw cli::UsageError(
        "--baseline and -- cannot be combined, since both select the baseline: leave one out");
  }
  std::size_t baseline_file = 0;
  if (!options.baseline.empty()) {
    const auto found = std::ranges::find_if(
        files, [&](const RunFile& file) { return is_same_file(file.path, options.baseline); });
    baseline_file = static_cast<std::size_t>(found - files.begin());
    if (found == files.end()) {
      files.push_back({options.baseline});
      std::rotate(files.begin(), files.end() - 1, files.end());
      baseline_file = 0;
    }
    files[baseline_file].is_of_folder = false;  // --baseline names it, so an error is not skipped
  }
  return {std::move(files), baseline_file, 0};
}

/// Throws UsageError unless both runs have the same card, platform, driver and method, since only
/// such runs may be pooled.
void refuse_to_pool(const RunDigest& first, const RunDigest& run) {
  std::vector<std::string> reasons = differing_origins(first, run);
  if (!are_of_one_device(first, run)) reasons.emplace_back("different devices");
  for (const ComparedResult& one : first.results) {
    for (const ComparedResult& other : run.results) {
      if (one.probe != other.probe || is_same_method(one, other)) continue;
      reasons.push_back(
          fmt::format("different versions of {} ({} and {})", one.probe, first.tool, run.tool));
    }
  }
  if (reasons.empty()) return;
  throw cli::UsageError(fmt::format(
      "{} and {} cannot be combined as runs of one side: {}; compare these runs separately",
      quote(first.file), quote(run.file), reasons.front()));
}

/// Pools the first `first` runs, the baseline runs, into one run, and the new runs into another.
void pool_sides(Selection& selected, std::size_t first) {
  const std::span<const RunDigest> all(selected.runs);
  const std::array sides{all.first(first), all.subspan(first)};
  std::vector<RunDigest> pooled;
  for (const std::span<const RunDigest> side : sides) {
    if (side.empty()) throw cli::UsageError("compare needs a run on each side of --: name a file");
    for (const RunDigest& run : side) refuse_to_pool(side.front(), run);
    pooled.push_back(pool(side));
  }
  selected.runs = std::move(pooled);
  selected.baseline = 0;
}

/// Removes the results of all probes except `probes` from all runs. An empty `probes` keeps all
/// results.
void keep_probes(std::vector<RunDigest>& runs, const std::vector<std::string>& probes) {
  std::vector<std::string> there;
  for (const RunDigest& run : runs) {
    for (const ComparedResult& each : run.results) {
      if (find_probe(each.probe) != nullptr) add_once(there, each.probe);
    }
  }
  refuse_missing("probe", probes, there);
  if (probes.empty()) return;
  for (RunDigest& run : runs) {
    std::erase_if(run.results, [&](const auto& each) { return !contains(probes, each.probe); });
  }
}

Selection select_runs(const Files& files, const cli::Options& options) {
  std::vector<Digested> digests = digest_files(files.all);
  Selection selected;
  std::size_t of_first = 0;  // number of baseline runs; a file may have more than one
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (i == files.first_side) of_first = selected.runs.size();
    if (i == files.baseline) selected.baseline = selected.runs.size();
    if (digests[i].error) {
      complain_or_throw(files.all[i], digests[i].error);
      selected.has_bad_file = true;
    }
    std::move(digests[i].runs.begin(), digests[i].runs.end(), std::back_inserter(selected.runs));
  }
  if (selected.runs.size() < 2) {
    throw cli::UsageError(fmt::format(
        "compare needs at least two runs, found {}: name another file", selected.runs.size()));
  }
  keep_probes(selected.runs, options.shown_probes);
  take_labels(options.labels, selected.runs);
  hide_folders(selected.runs);
  if (files.first_side > 0) pool_sides(selected, of_first);
  return selected;
}

}  // namespace

int compare(const cli::Options& options) {
  Results results(options);
  const Files files = select_files(options);
  const Selection selected = select_runs(files, options);
  const Comparison comparison =
      clprobe::compare(selected.runs, selected.baseline, options.threshold);
  const int written = results.finish(comparison, selected.runs);
  if (selected.has_bad_file) return exit_usage;
  if (written != exit_ok) return written;
  return check_fail_on(options.fail_on, comparison, selected.runs);
}

}  // namespace clprobe::commands
