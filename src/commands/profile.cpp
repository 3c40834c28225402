// SPDX-License-Identifier: Apache-2.0
// `profile`: somebody else's program, surveyed, or captured and replayed.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "clprobe/survey_report.hpp"
#include "commands/capture_app.hpp"
#include "commands/commands.hpp"
#include "commands/known_levels.hpp"
#include "commands/replay_bundles.hpp"
#include "commands/results.hpp"
#include "commands/survey_app.hpp"
#include "system/interrupt.hpp"
#include "system/temporary_folder.hpp"
#include "terminal/complain.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

namespace fs = std::filesystem;

std::string render(const SurveyedApp& app, cli::Format format, const TableStyle& style) {
  if (format == cli::Format::json) return render_survey_json(app);
  if (format == cli::Format::csv) return render_survey_csv(app);
  if (format == cli::Format::markdown) return render_survey_markdown(app);
  return render_survey_table(app, style);
}

int list_app(const cli::Options& options) {
  Results results(options);
  results.check_stdout();
  const SurveyedRun run = survey_app(options.app);
  if (!run.problem.empty()) terminal::complain(run.problem);
  const int written = run.used_opencl
                          ? results.finish([&](cli::Format format, const TableStyle& style) {
                              return render(run.app, format, style);
                            })
                          : exit_failed;
  if (run.app.interrupted) return exit_interrupted;
  return run.problem.empty() ? written : exit_failed;
}

/// A folder's name of a kernel's, which may have any letter where a program made it up.
std::string folder_name(const std::string& kernel) {
  std::string name = kernel.substr(0, 100);
  for (char& letter : name) {
    const bool is_plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                          (letter >= '0' && letter <= '9') || letter == '_';
    if (!is_plain) letter = '_';
  }
  return name.empty() ? "kernel" : name;
}

/// Copies the bundle below the folder, under a name that is not there yet. Returns its path.
std::string keep(const Captured& captured, const std::string& folder) {
  const std::string name = folder_name(captured.wanted.kernel);
  fs::path path = fs::path(folder) / name;
  for (int i = 2; fs::exists(path); ++i) path = fs::path(folder) / fmt::format("{}-{}", name, i);
  try {
    fs::create_directories(folder);
    fs::copy(captured.folder, path, fs::copy_options::recursive);
  } catch (const fs::filesystem_error& error) {
    throw cli::UsageError(
        fmt::format("--keep: cannot write {}: {}", quote(path.string()), error.code().message()));
  }
  return path.string();
}

/// Where the bundles are; what is not captured is told of.
std::vector<bundle::Source> sources_of(const CapturedRun& captured, const cli::Options& options) {
  std::vector<bundle::Source> sources;
  for (const Captured& each : captured.launches) {
    if (!each.refusal.empty()) {
      terminal::complain(fmt::format("{} is not captured: {}", quote(each.wanted.kernel),
                                     printable(each.refusal)));
      continue;
    }
    sources.push_back(
        {.launch = options.keep_folder.empty() ? each.folder : keep(each, options.keep_folder)});
  }
  return sources;
}

int profile_app(const cli::Options& options, const std::vector<std::string>& arguments) {
  // Its targets are opened again when there is something to write.
  static_cast<void>(Results(options));
  const system::TemporaryFolder folder;
  const std::string caches = folder.path() + "/first";
  fs::create_directory(caches);
  const SurveyedRun survey = survey_app(options.app, without_caches(caches));
  if (!survey.problem.empty()) terminal::complain(survey.problem);
  if (survey.app.interrupted) return exit_interrupted;
  if (!survey.used_opencl) return exit_failed;
  const std::vector<survey::Wanted> wanted = choose_launches(survey.app.survey, options);
  if (wanted.empty()) {
    terminal::complain("no launch of the program has a time: nothing to replay");
    return exit_failed;
  }
  const CapturedRun captured = capture_launches(options.app, wanted, folder.path());
  if (captured.run.app.interrupted) return exit_interrupted;
  const std::vector<bundle::Source> sources = sources_of(captured, options);
  if (sources.empty()) return exit_failed;
  const int measured = replay_bundles(options, sources, arguments);
  const bool is_whole = survey.problem.empty() && sources.size() == wanted.size();
  return measured == exit_ok && !is_whole ? exit_failed : measured;
}

}  // namespace

int profile(const cli::Options& options, const std::vector<std::string>& arguments) {
  system::watch_for_interrupts();
  if (options.list_kernels) return list_app(options);
  cli::Options asked = options;
  if (!asked.levels_file.empty()) asked.levels_runs = read_levels(asked.levels_file);
  if (!asked.app.empty()) return profile_app(asked, arguments);
  if (!asked.kernel_file.empty()) {
    return replay_bundles(asked, {{.launch = asked.launch_file, .kernel_file = asked.kernel_file}},
                          arguments);
  }
  std::vector<bundle::Source> sources;
  for (const std::string& word : asked.words) sources.push_back({.launch = word});
  return replay_bundles(asked, sources, arguments);
}

}  // namespace clprobe::commands
