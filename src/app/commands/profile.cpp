// SPDX-License-Identifier: Apache-2.0
// `profile`: surveys a program, captures and replays its kernels, or replays stored launches.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/cli/options.hpp"
#include "app/cli/without_folders.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/devices.hpp"
#include "app/commands/loaders.hpp"
#include "app/commands/plan.hpp"
#include "app/commands/provenance.hpp"
#include "app/commands/results.hpp"
#include "app/commands/stored_runs.hpp"
#include "app/terminal/output.hpp"
#include "app/terminal/terminal.hpp"
#include "clprobe/registry.hpp"
#include "present/api/report.hpp"
#include "profile/api/bundle.hpp"
#include "profile/api/prelude.hpp"
#include "profile/api/survey.hpp"
#include "system/api/files.hpp"
#include "system/api/processes.hpp"
#include "text/api/secrets.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

namespace fs = std::filesystem;

system::ProgramEnd run_app(const std::vector<std::string>& words, const std::string& folder,
                           Variables variables, const OtherLoader& loader) {
  for (auto& each : layer_variables(loader)) variables.push_back(std::move(each));
  variables.emplace_back("CLPROBE_SURVEY", folder);
  try {
    return system::run_program(words, variables);
  } catch (const std::system_error& error) {
    throw cli::UsageError(
        fmt::format("cannot start {}: {}", quote(words.front()), error.code().message()));
  }
}

struct Found {
  survey::Survey survey{};
  std::size_t files{0};
  std::string problem{};  ///< reason why a survey could not be read
};

Found read_surveys(const std::string& folder) {
  // Maximum size of a survey file; a survey with 20,000 rows is far smaller.
  constexpr std::size_t max_bytes = std::size_t{256} << 20U;
  Found found;
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".survey") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  found.files = paths.size();
  // Surveys are read even if the program was interrupted; an interrupt during the reading ends it.
  const bool had_interrupt = system::is_interrupted();
  survey::Merged merged;
  for (const std::string& path : paths) {
    if (!had_interrupt && system::is_interrupted()) {
      found.problem = "clprobe was interrupted while reading this survey";
      break;
    }
    try {
      merged.add(survey::from_text(system::read_file(path, max_bytes)));
    } catch (const std::exception& error) {
      found.problem = error.what();
    }
  }
  found.survey = merged.survey();
  survey::sort_by_time(found.survey);
  return found;
}

/// Returns a line about the problem if the program failed, or its survey is missing or incomplete;
/// otherwise an empty text.
std::string describe_problem(const SurveyedApp& app, const Found& found) {
  const std::string name = quote(app.words.front());
  const std::string end = end_text(app);
  if (found.files == 0) {
    return fmt::format(
        "{} {}made no OpenCL calls, or its OpenCL loader does not support layers: use ocl-icd 2.3 "
        "or later, or Khronos' loader",
        name, end.empty() ? "" : end + " and ");
  }
  std::string problem = end.empty() ? "" : fmt::format("{} {}", name, end);
  if (!found.problem.empty()) {
    problem += fmt::format("{}the survey of a process of {} is incomplete: {}",
                           problem.empty() ? "" : "; ", name, found.problem);
  }
  return problem;
}

struct SurveyedRun {
  SurveyedApp app{};
  bool used_opencl{false};
  std::string problem{};  ///< message of one line; empty without a problem
  std::string note{};     ///< message of one line if another loader was used; else empty
};

/// Runs the program with additional environment variables and returns its survey. Throws UsageError
/// if the program cannot be started, and std::runtime_error if the loader layer is missing.
SurveyedRun survey_app(const std::vector<std::string>& words, const Variables& variables = {}) {
  const system::TemporaryFolder folder;
  SurveyedRun run;
  run.app.words = cli::app_without_folders(words, false);
  run.app.started = utc_now();
  run.app.tool = tool_info();
  const OtherLoader loader = loader_with_layers();
  if (!loader.with.empty()) {
    run.note = fmt::format(
        "{} ran with {} instead of {}, which does not support layers; platform numbers may differ",
        quote(words.front()), loader.with, loader.without);
  }
  const system::ProgramEnd end = run_app(words, folder.path(), variables, loader);
  run.app.status = end.status;
  run.app.signal = end.signal;
  run.app.wall_s = end.seconds;
  Found found = read_surveys(folder.path());
  run.app.interrupted = system::is_interrupted();
  run.app.survey = std::move(found.survey);
  run.used_opencl = found.files > 0;
  run.problem = describe_problem(run.app, found);
  return run;
}

/// Returns the number of a typical launch of a kernel. If no launch was timed, this is the second
/// launch, since drivers finish their setup in the first. It is the first launch if the program has
/// more than one process, since each process may launch the kernel only once.
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
  // A row without dimensions combines launches of different sizes, so it cannot select a launch.
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
  const auto found = std::ranges::find_if(kernels, [&](const auto& each) {
    return survey.rows[each.rows.front()].signature.kernel == options.kernel;
  });
  if (found == kernels.end()) refuse_name(options.kernel, survey);
  survey::Wanted wanted = wanted_of(*found, survey);
  if (options.kernel_launch == 0) return wanted;
  wanted.ordinal = options.kernel_launch;
  wanted.signature.reset();
  return wanted;
}

/// Launch to capture: the folder with the captured launch, or the reason why the capture failed.
struct Captured {
  survey::Wanted wanted{};
  std::string folder{};
  std::string refusal{};  ///< reason of the failure; empty if captured
};

/// Returns the launch that the loader layer stored in `folder`, or the reason why there is none.
Captured look_into(const std::string& folder, const survey::Wanted& wanted,
                   const SurveyedApp& app) {
  Captured captured{.wanted = wanted, .folder = folder};
  std::error_code error;
  if (fs::exists(fs::path(folder) / bundle::launch_file, error)) return captured;
  constexpr std::size_t max_reason_bytes = 4096;
  try {
    captured.refusal = system::read_file(folder + "/refused", max_reason_bytes);
  } catch (const std::system_error&) {
    const std::string end = end_text(app);
    captured.refusal =
        fs::exists(folder, error)
            ? fmt::format("the program's second run {} before this launch finished",
                          end.empty() ? "ended" : end)
            : fmt::format("the program's second run ended before making this launch {}",
                          format_count(wanted.ordinal, "time"));
  }
  return captured;
}

/// Returns the launches to capture: a launch of the requested kernel, or a launch of each important
/// kernel. Throws UsageError if the program has no kernel with the requested name.
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

/// Returns environment variables that hide the program's caches of kernel binaries, so that the
/// program builds its kernels from source.
Variables without_caches(const std::string& folder) {
  Variables variables{{"XDG_CACHE_HOME", folder}, {"PYOPENCL_NO_CACHE", "1"}};
  // PoCL's own cache stays visible, since the first launches would otherwise be slow.
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
  std::vector<Captured> launches{};  ///< in the order of `wanted`
};

/// Runs the program again and captures the wanted launches into `folder`.
CapturedRun capture_launches(const std::vector<std::string>& words,
                             const std::vector<survey::Wanted>& wanted, const std::string& folder) {
  std::ofstream(folder + "/wanted", std::ios::binary) << survey::wanted_to_text(wanted);
  const std::string caches = folder + "/caches";
  fs::create_directory(caches);
  Variables variables = without_caches(caches);
  variables.emplace_back("CLPROBE_CAPTURE", folder);
  CapturedRun captured{.run = survey_app(words, variables)};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    captured.launches.push_back(
        look_into(fmt::format("{}/{}", folder, i), wanted[i], captured.run.app));
  }
  return captured;
}

/// Removes the rows of devices that --device does not select.
void keep_selected(const cli::Options& options, survey::Survey& survey) {
  Devices devices(options, [](std::string_view line) { terminal::complain(line); });
  std::set<std::string, std::less<>> names;
  for (const Target& each : devices.select(options.device)) {
    names.emplace(trimmed(each.info.name));
  }
  std::erase_if(survey.rows, [&](const survey::Row& row) {
    return !names.contains(trimmed(row.signature.device));
  });
}

int list_app(const cli::Options& options) {
  Results results(options);
  results.check_stdout();
  SurveyedRun run = survey_app(options.app);
  if (!options.device.empty()) keep_selected(options, run.app.survey);
  if (options.with_secrets) run.app.words = cli::app_without_folders(options.app, true);
  if (!run.note.empty()) terminal::complain(run.note);
  if (!run.problem.empty()) terminal::complain(run.problem);
  const int written = run.used_opencl
                          ? results.finish([&](const Writer& format, const TableStyle& style) {
                              return format.survey(run.app, style);
                            })
                          : exit_failed;
  if (run.app.interrupted) return exit_interrupted;
  return run.problem.empty() ? written : exit_failed;
}

/// Replaces secrets in the build options of a launch file by "***", and reports that on stderr. A
/// kernel that needs a replaced value then does not build.
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

/// Copies a launch into `folder` under an unused name, without secrets unless `with_secrets`.
void keep(const Captured& captured, const std::string& folder, bool with_secrets) {
  const std::string name = includes::safe_name(captured.wanted.kernel);
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

/// Returns the sources of the captured launches, and copies these launches to the folder of --keep,
/// if given. Reports on stderr which launches were not captured.
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

/// Returns the launches in the bundles. The label of a launch is the name of its kernel; the second
/// launch of a kernel has the label "name 2".
std::vector<AskedLaunch> read_launches(const std::vector<bundle::Source>& sources) {
  std::vector<AskedLaunch> launches;
  std::map<std::string, int> seen;
  for (const bundle::Source& source : sources) {
    AskedLaunch launch{.bundle = bundle::read_source(source)};
    launch.label = launch.bundle.launch.kernel;
    const int count = ++seen[launch.label];
    if (count > 1) launch.label += fmt::format(" {}", count);
    launches.push_back(std::move(launch));
  }
  return launches;
}

/// Returns the index of the device on which the launch was captured; empty if unknown. If that
/// device is not available, reports this on stderr and returns an empty text.
std::string device_of(const bundle::Launch& launch, const cli::Options& options) {
  if (!launch.device) return {};
  const DeviceList list = list_devices(worker_settings(options));
  // Names are compared without spaces at their ends, which some drivers add.
  const auto found = std::ranges::find_if(list.devices, [&](const DeviceInfo& each) {
    return trimmed(each.name) == trimmed(launch.device->name);
  });
  if (found != list.devices.end()) return std::to_string(found->index);
  terminal::complain(fmt::format(
      "device {} is not available: clprobe replays the launches of this device on the best device",
      quote(launch.device->name)));
  return {};
}

/// Measures the captured launches and returns the exit code. They run on the requested device, else
/// on the device of the first captured launch, else on the best device. Throws the errors of
/// measure().
int replay_bundles(const cli::Options& options, const std::vector<bundle::Source>& sources,
                   const std::vector<std::string>& arguments) {
  cli::Options replay = options;
  replay.command = cli::Command::measure;
  replay.words.clear();
  replay.sources = sources;
  try {
    replay.launches = read_launches(sources);
  } catch (const bundle::FormatError& error) {
    throw cli::UsageError(error.what());
  }
  if (replay.device.empty()) {
    replay.device = device_of(replay.launches.front().bundle.launch, replay);
  }
  return measure(replay, arguments);
}

/// Writes the line to stderr if that is a terminal, so that the user knows what takes time.
void announce(std::string_view line) {
  if (terminal::can_redraw(STDERR_FILENO)) terminal::complain(line);
}

/// Returns the names of the wanted kernels: "add, copy".
std::string names_of(const std::vector<survey::Wanted>& wanted) {
  std::string names;
  for (const survey::Wanted& each : wanted) {
    names += (names.empty() ? "" : ", ") + printable(each.kernel);
  }
  return names;
}

int profile_app(const cli::Options& options, const std::vector<std::string>& arguments) {
  // Checks the output files before the program runs; measure() opens them again to write the
  // results.
  static_cast<void>(Results(options));
  const system::TemporaryFolder folder;
  const std::string caches = folder.path() + "/first";
  fs::create_directory(caches);
  const std::string name = quote(options.app.front());
  announce(fmt::format("run 1 of 2 of {}: timing its kernels", name));
  const SurveyedRun survey = survey_app(options.app, without_caches(caches));
  if (!survey.note.empty()) terminal::complain(survey.note);
  if (!survey.problem.empty()) terminal::complain(survey.problem);
  if (survey.app.interrupted) return exit_interrupted;
  if (!survey.used_opencl) return exit_failed;
  const std::vector<survey::Wanted> wanted = choose_launches(survey.app.survey, options);
  if (wanted.empty()) {
    terminal::complain(
        "clprobe timed no launch of the program and replays nothing: `clprobe profile --list` "
        "shows the launches");
    return exit_failed;
  }
  announce(
      fmt::format("run 2 of 2 of {} (about {:.0f} s, like run 1): capturing launches of {}; "
                  "measuring them then takes up to {:.0f} s",
                  name, std::ceil(survey.app.wall_s), names_of(wanted),
                  budget_of(*replay_probe(), options, 1).probe_time.count()));
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

/// Prints a description, for the user to edit, of a launch of the kernel in `kernel_file`.
int print_template(const std::string& kernel_file) {
  try {
    terminal::OutputFile("-").commit(
        bundle::launch_template(system::read_file(kernel_file, bundle::max_text_bytes)) + "\n");
  } catch (const std::system_error& error) {
    throw cli::UsageError(
        fmt::format("cannot read {}: {}", quote(kernel_file), error.code().message()));
  } catch (const bundle::FormatError& error) {
    throw cli::UsageError(fmt::format("{}: {}", quote(kernel_file), error.what()));
  }
  terminal::complain(
      fmt::format("to replay the kernel, edit this description of a launch, save it as FILE.json, "
                  "and run `clprobe profile --kernel-file {} --launch FILE.json`",
                  printable(kernel_file)));
  return exit_ok;
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
  cli::Options with_levels = options;
  if (!with_levels.levels_file.empty()) {
    with_levels.levels_runs = read_levels(with_levels.levels_file);
  }
  if (!with_levels.app.empty()) return profile_app(with_levels, arguments);
  if (!with_levels.kernel_file.empty() && with_levels.launch_file.empty()) {
    return print_template(with_levels.kernel_file);
  }
  if (!with_levels.kernel_file.empty()) {
    return replay_bundles(with_levels,
                          {{.launch = with_levels.launch_file,
                            .kernel_file = with_levels.kernel_file,
                            .headers = with_levels.headers_folder}},
                          arguments);
  }
  std::vector<bundle::Source> sources;
  for (const std::string& word : with_levels.words) {
    if (!fs::is_directory(word, error)) {
      throw cli::UsageError(
          fmt::format("{} is not a folder with a captured launch; to profile a program, write "
                      "`clprobe profile -- {}`",
                      quote(word), printable(word)));
    }
    sources.push_back({.launch = word, .headers = with_levels.headers_folder});
  }
  return replay_bundles(with_levels, sources, arguments);
}

}  // namespace clprobe::commands
