// SPDX-License-Identifier: Apache-2.0
// `profile`: somebody else's program, with our layer under its OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "clprobe/survey.hpp"
#include "clprobe/survey_report.hpp"
#include "commands/commands.hpp"
#include "commands/provenance.hpp"
#include "commands/results.hpp"
#include "report/survey_words.hpp"
#include "system/interrupt.hpp"
#include "system/read_file.hpp"
#include "system/run_program.hpp"
#include "system/temporary_folder.hpp"
#include "terminal/complain.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view layer_file = "libclprobe_layer.so";

/// Beside the program where it was built, in libexec/clprobe where it was installed.
std::string find_layer() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& path :
       {folder / layer_file, folder.parent_path() / "libexec/clprobe" / layer_file}) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) continue;
    if (path.string().find(':') == std::string::npos) return path.string();
    throw std::runtime_error(fmt::format(
        "the loader cannot take {}: it reads a colon as the end of a path; install clprobe in "
        "another folder",
        quote(path.string())));
  }
  throw std::runtime_error(
      fmt::format("{} is missing beside the program: install clprobe again", layer_file));
}

/// Ours first: the loader calls the last one first, and ours is to see what reaches the driver.
std::string layers_with(const std::string& ours) {
  const char* const others = std::getenv("OPENCL_LAYERS");
  return others == nullptr || *others == '\0' ? ours : fmt::format("{}:{}", ours, others);
}

system::ProgramEnd run_app(const cli::Options& options, const std::string& layer,
                           const std::string& folder) {
  try {
    return system::run_program(options.app,
                               {{"OPENCL_LAYERS", layers_with(layer)}, {"CLPROBE_SURVEY", folder}});
  } catch (const std::system_error& error) {
    throw cli::UsageError(
        fmt::format("cannot start {}: {}", quote(options.app.front()), error.code().message()));
  }
}

struct Found {
  survey::Survey survey{};
  std::size_t files{0};
  std::string problem{};  ///< why one of them could not be read
};

Found read_surveys(const std::string& folder) {
  // Far more than 20,000 rows take.
  constexpr std::size_t max_bytes = std::size_t{256} << 20U;
  Found found;
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".survey") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  found.files = paths.size();
  for (const std::string& path : paths) {
    try {
      survey::merge(found.survey, survey::from_text(system::read_file(path, max_bytes)));
    } catch (const std::exception& error) {
      found.problem = error.what();
    }
  }
  survey::sort_by_time(found.survey);
  return found;
}

/// What was not as it should be; empty where all was.
std::string describe_problem(const SurveyedApp& app, const Found& found) {
  const std::string name = quote(app.words.front());
  const std::string end = report::end_text(app);
  if (found.files == 0) {
    return fmt::format(
        "{} {}used no OpenCL, or not by a loader that takes layers (ocl-icd 2.3 or newer, or "
        "Khronos'): nothing to list",
        name, end.empty() ? "" : end + " and ");
  }
  std::string problem = end.empty() ? "" : fmt::format("{} {}", name, end);
  if (!found.problem.empty()) {
    problem += fmt::format("{}a process of {} left no whole survey: {}",
                           problem.empty() ? "" : "; ", name, found.problem);
  }
  return problem;
}

std::string render(const SurveyedApp& app, cli::Format format, const TableStyle& style) {
  if (format == cli::Format::json) return render_survey_json(app);
  if (format == cli::Format::csv) return render_survey_csv(app);
  if (format == cli::Format::markdown) return render_survey_markdown(app);
  return render_survey_table(app, style);
}

}  // namespace

int profile(const cli::Options& options, const std::vector<std::string>& arguments) {
  Results results(options);
  results.check_stdout();
  const std::string layer = find_layer();
  const system::TemporaryFolder folder;
  system::watch_for_interrupts();
  SurveyedApp app{.words = arguments, .started = utc_now(), .tool = tool_info()};
  const system::ProgramEnd end = run_app(options, layer, folder.path());
  app.status = end.status;
  app.signal = end.signal;
  app.wall_s = end.seconds;
  app.interrupted = system::is_interrupted();
  Found found = read_surveys(folder.path());
  app.survey = std::move(found.survey);
  const std::string problem = describe_problem(app, found);
  if (!problem.empty()) terminal::complain(problem);
  const int written = found.files == 0
                          ? exit_failed
                          : results.finish([&](cli::Format format, const TableStyle& style) {
                              return render(app, format, style);
                            });
  if (app.interrupted) return exit_interrupted;
  return problem.empty() ? written : exit_failed;
}

}  // namespace clprobe::commands
