// SPDX-License-Identifier: Apache-2.0
// `profile`: somebody else's program, surveyed, or captured and replayed.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/options.hpp"
#include "cli/without_folders.hpp"
#include "clprobe/launch.hpp"
#include "clprobe/survey.hpp"
#include "clprobe/survey_report.hpp"
#include "commands/commands.hpp"
#include "commands/known_levels.hpp"
#include "commands/replay_bundles.hpp"
#include "commands/results.hpp"
#include "commands/survey_app.hpp"
#include "report/survey_words.hpp"
#include "system/interrupt.hpp"
#include "system/read_file.hpp"
#include "system/temporary_folder.hpp"
#include "terminal/complain.hpp"
#include "terminal/output.hpp"
#include "text/secrets.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

namespace fs = std::filesystem;

/// The typical launch. Without times the second: the first one of many also pays for what a driver
/// does late. Of a program of several processes nobody knows that any of them makes a second one.
std::uint64_t usual_ordinal(const survey::Row& row, const survey::Survey& survey) {
  if (row.sum.launches == 1 || survey.processes.size() != 1) return 1;
  return row.typical.ordinal > 0 ? row.typical.ordinal : 2;
}

survey::Wanted wanted_of(const survey::Kernel& kernel, const survey::Survey& survey) {
  const survey::Row& row = survey.rows[survey::typical_row(survey.rows, kernel)];
  survey::Wanted wanted{.kernel = row.signature.kernel,
                        .ordinal = usual_ordinal(row, survey),
                        .launches = kernel.sum.launches,
                        .share = kernel.sum.share_of(survey.total()),
                        .mean_ns = kernel.sum.mean_ns()};
  // Of too many sizes to tell apart any will do.
  if (row.signature.dimensions > 0) wanted.signature = row.signature;
  return wanted;
}

[[noreturn]] void refuse_name(const std::string& name, const survey::Survey& survey) {
  std::set<std::string> names;
  for (const survey::Row& row : survey.rows) names.insert(printable(row.signature.kernel));
  throw cli::UsageError(fmt::format("--kernel: the program does not launch {}; it launches {}",
                                    quote(name),
                                    message_line(fmt::format("{}", fmt::join(names, ", ")))));
}

survey::Wanted wanted_by_name(const survey::Survey& survey, const cli::Options& options) {
  const std::vector<survey::Kernel> kernels = survey::kernels_of(survey.rows);
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const auto& each) {
    return survey.rows[each.rows.front()].signature.kernel == options.kernel;
  });
  if (found == kernels.end()) refuse_name(options.kernel, survey);
  survey::Wanted wanted = wanted_of(*found, survey);
  if (options.kernel_launch == 0) return wanted;
  wanted.ordinal = options.kernel_launch;
  wanted.signature.reset();
  return wanted;
}

/// A launch that was captured into a folder of its own, or not.
struct Captured {
  survey::Wanted wanted{};
  std::string folder{};
  std::string refusal{};  ///< why not; empty where it was
};

/// What the layer left in the launch's folder.
Captured look_into(const std::string& folder, const survey::Wanted& wanted,
                   const SurveyedApp& app) {
  Captured captured{.wanted = wanted, .folder = folder};
  std::error_code error;
  if (fs::exists(fs::path(folder) / bundle::launch_file, error)) return captured;
  constexpr std::size_t max_reason_bytes = 4096;
  try {
    captured.refusal = system::read_file(folder + "/refused", max_reason_bytes);
  } catch (const std::system_error&) {
    const std::string end = report::end_text(app);
    captured.refusal = fs::exists(folder, error)
                           ? fmt::format("the program's second run {} before this launch ended",
                                         end.empty() ? "ended" : end)
                           : fmt::format("the program's second run did not make this launch {}",
                                         format_count(wanted.ordinal, "time"));
  }
  return captured;
}

/// Which launches of a surveyed program are worth capturing: one of each kernel that counts, or of
/// the one that was asked for. Throws UsageError where the program has no kernel of that name.
std::vector<survey::Wanted> choose_launches(const survey::Survey& survey,
                                            const cli::Options& options) {
  if (!options.kernel.empty()) return {wanted_by_name(survey, options)};
  const std::vector<survey::Kernel> kernels = survey::kernels_of(survey.rows);
  std::vector<survey::Wanted> wanted;
  for (std::size_t i = 0; i < survey::count_main_kernels(kernels); ++i) {
    wanted.push_back(wanted_of(kernels[i], survey));
  }
  return wanted;
}

/// Programs keep binaries of kernels in caches, and then have no text: in a fresh folder for these
/// they make them anew.
std::vector<std::pair<std::string, std::string>> without_caches(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> variables{{"XDG_CACHE_HOME", folder},
                                                             {"PYOPENCL_NO_CACHE", "1"}};
  // A driver's own cache is none of the program's: without it the first launches would be slow.
  if (std::getenv("POCL_CACHE_DIR") != nullptr) return variables;
  const char* const caches = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  if (caches != nullptr && *caches != '\0') {
    variables.emplace_back("POCL_CACHE_DIR", fmt::format("{}/pocl/kcache", caches));
  } else if (home != nullptr) {
    variables.emplace_back("POCL_CACHE_DIR", fmt::format("{}/.cache/pocl/kcache", home));
  }
  return variables;
}

struct CapturedRun {
  SurveyedRun run{};
  std::vector<Captured> launches{};  ///< in the order of the wanted ones
};

/// Runs the program once more, and captures into `folder`.
CapturedRun capture_launches(const std::vector<std::string>& words,
                             const std::vector<survey::Wanted>& wanted, const std::string& folder) {
  std::ofstream(folder + "/wanted", std::ios::binary) << survey::wanted_to_text(wanted);
  const std::string caches = folder + "/caches";
  fs::create_directory(caches);
  std::vector<std::pair<std::string, std::string>> variables = without_caches(caches);
  variables.emplace_back("CLPROBE_CAPTURE", folder);
  CapturedRun captured{.run = survey_app(words, variables)};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    captured.launches.push_back(
        look_into(fmt::format("{}/{}", folder, i), wanted[i], captured.run.app));
  }
  return captured;
}

std::string render(const SurveyedApp& app, cli::Format format, const TableStyle& style) {
  if (format == cli::Format::json) return render_survey_json(app);
  if (format == cli::Format::csv) return render_survey_csv(app);
  if (format == cli::Format::markdown) return render_survey_markdown(app);
  return render_survey_table(app, style);
}

int list_app(const cli::Options& options) {
  Results results(options);
  results.check_stdout();
  SurveyedRun run = survey_app(options.app);
  if (options.with_secrets) run.app.words = cli::app_without_folders(options.app, true);
  if (!run.note.empty()) terminal::complain(run.note);
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

/// Takes what may be secret out of the build options. The compiler refuses what is put in its place
/// where a kernel needs it.
void hide_secrets(const std::string& path) {
  bundle::Launch launch = bundle::launch_from_json(system::read_file(path, bundle::max_json_bytes));
  const bundle::Program before = launch.program;
  for (bundle::Unit& each : launch.program.units) {
    each.options = options_without_secrets(each.options);
  }
  launch.program.link_options = options_without_secrets(launch.program.link_options);
  if (launch.program == before) return;
  terminal::OutputFile(path).commit(bundle::to_json(launch));
  terminal::complain(fmt::format(
      "{}: *** replaces build options that look like secrets; --with-secrets keeps them",
      quote(path)));
}

/// Copies the bundle below the folder, under a name that is not there yet.
void keep(const Captured& captured, const std::string& folder, bool with_secrets) {
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
  if (!with_secrets) hide_secrets((path / bundle::launch_file).string());
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
    if (!options.keep_folder.empty()) keep(each, options.keep_folder, options.with_secrets);
    sources.push_back({.launch = each.folder, .headers = options.headers_folder});
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
  if (!survey.note.empty()) terminal::complain(survey.note);
  if (!survey.problem.empty()) terminal::complain(survey.problem);
  if (survey.app.interrupted) return exit_interrupted;
  if (!survey.used_opencl) return exit_failed;
  const std::vector<survey::Wanted> wanted = choose_launches(survey.app.survey, options);
  if (wanted.empty()) {
    terminal::complain("none of the program's launches was timed: nothing to replay");
    return exit_failed;
  }
  const CapturedRun captured = capture_launches(options.app, wanted, folder.path());
  if (captured.run.app.interrupted) return exit_interrupted;
  const bool ends_otherwise = captured.run.problem != survey.problem;
  if (ends_otherwise && !captured.run.problem.empty()) {
    terminal::complain("while launches were captured, " + captured.run.problem);
  }
  const std::vector<bundle::Source> sources = sources_of(captured, options);
  if (sources.empty()) return exit_failed;
  const int measured = replay_bundles(options, sources, arguments);
  const bool is_whole =
      survey.problem.empty() && !ends_otherwise && sources.size() == wanted.size();
  return measured == exit_ok && !is_whole ? exit_failed : measured;
}

}  // namespace

int profile(const cli::Options& options, const std::vector<std::string>& arguments) {
  system::watch_for_interrupts();
  std::error_code error;
  static_cast<void>(fs::temp_directory_path(error));
  if (error && !options.app.empty()) {
    throw cli::UsageError(fmt::format(
        "cannot use the folder in TMPDIR: {}; set TMPDIR to a writable folder", error.message()));
  }
  if (options.list_kernels) return list_app(options);
  cli::Options asked = options;
  if (!asked.levels_file.empty()) asked.levels_runs = read_levels(asked.levels_file);
  if (!asked.app.empty()) return profile_app(asked, arguments);
  if (!asked.kernel_file.empty()) {
    return replay_bundles(asked,
                          {{.launch = asked.launch_file,
                            .kernel_file = asked.kernel_file,
                            .headers = asked.headers_folder}},
                          arguments);
  }
  std::vector<bundle::Source> sources;
  for (const std::string& word : asked.words) {
    sources.push_back({.launch = word, .headers = asked.headers_folder});
  }
  return replay_bundles(asked, sources, arguments);
}

}  // namespace clprobe::commands
