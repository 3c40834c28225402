// SPDX-License-Identifier: Apache-2.0
#include "commands/survey_app.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/options.hpp"
#include "cli/without_folders.hpp"
#include "clprobe/survey.hpp"
#include "commands/provenance.hpp"
#include "report/survey_words.hpp"
#include "system/interrupt.hpp"
#include "system/read_file.hpp"
#include "system/run_program.hpp"
#include "system/temporary_folder.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

/// The loader that programs start with, and an installed one that takes layers. Both are empty
/// where the first one takes layers, or no other does.
struct OtherLoader {
  std::string without{};
  std::string with{};
};

namespace fs = std::filesystem;

constexpr const char* loader_file = "libOpenCL.so.1";

/// The file that the dynamic linker finds.
std::string usual_loader() {
  void* const library = ::dlopen(loader_file, RTLD_LAZY);
  Dl_info info{};
  void* const function = library == nullptr ? nullptr : ::dlsym(library, "clGetPlatformIDs");
  if (function == nullptr || ::dladdr(function, &info) == 0) return "";
  return info.dli_fname;
}

/// What the file has; nothing where it cannot be read.
std::string content(const std::string& path) {
  constexpr std::size_t max_bytes = std::size_t{64} << 20U;
  try {
    return system::read_file(path, max_bytes);
  } catch (const std::exception&) {
    return "";
  }
}

/// A loader that takes layers asks for this variable.
bool takes_layers(std::string_view loader) {
  return loader.find("OPENCL_LAYERS") != std::string_view::npos;
}

/// For what a library was built: its class (32 or 64 bits) and its machine. Empty: no library.
std::string architecture(std::string_view library) {
  constexpr std::size_t machine = offsetof(Elf64_Ehdr, e_machine);
  if (library.size() < machine + sizeof(Elf64_Half)) return "";
  return library[EI_CLASS] + std::string(library.substr(machine, sizeof(Elf64_Half)));
}

/// Where distributions put it.
std::vector<std::string> installed_loaders() {
  std::vector<fs::path> folders{"/usr/lib64", "/usr/lib", "/usr/local/lib"};
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/lib", error)) {
    if (entry.path().filename().string().find("-linux-gnu") != std::string::npos) {
      folders.push_back(entry.path());
    }
  }
  std::vector<std::string> files;
  std::transform(folders.begin(), folders.end(), std::back_inserter(files),
                 [](const fs::path& folder) { return (folder / loader_file).string(); });
  return files;
}

OtherLoader loader_with_layers() {
  const std::string usual = usual_loader();
  const std::string library = content(usual);
  if (library.empty() || takes_layers(library)) return {};
  for (const std::string& other : installed_loaders()) {
    const std::string found = content(other);
    if (takes_layers(found) && architecture(found) == architecture(library)) return {usual, other};
  }
  return {};
}

constexpr std::string_view layer_file = "libclprobe_layer.so";

/// Beside the program where it was built, in libexec/clprobe where it was installed.
std::string find_layer() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& path :
       {folder / layer_file, folder.parent_path() / "libexec/clprobe" / layer_file}) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) continue;
    if (path.string().find(':') == std::string::npos) return path.string();
    throw std::runtime_error(
        fmt::format("the OpenCL loader cannot load {}: it reads a colon as the end of a path; "
                    "install clprobe in another folder",
                    quote(path.string())));
  }
  throw std::runtime_error(
      fmt::format("{} is missing next to the program: install clprobe again", layer_file));
}

/// Ours first: the loader calls the last one first, and ours is to see what reaches the driver.
std::string layers_with(const std::string& ours) {
  const char* const others = std::getenv("OPENCL_LAYERS");
  return others == nullptr || *others == '\0' ? ours : fmt::format("{}:{}", ours, others);
}

/// Behind what the user preloads, which may be there to come before the loader.
std::string preloaded_with(const std::string& loader) {
  const char* const others = std::getenv("LD_PRELOAD");
  return others == nullptr || *others == '\0' ? loader : fmt::format("{}:{}", others, loader);
}

using Variables = std::vector<std::pair<std::string, std::string>>;

system::ProgramEnd run_app(const std::vector<std::string>& words, const std::string& folder,
                           Variables variables, const OtherLoader& loader) {
  if (!loader.with.empty()) variables.emplace_back("LD_PRELOAD", preloaded_with(loader.with));
  variables.emplace_back("OPENCL_LAYERS", layers_with(find_layer()));
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
  // An interrupt that ended the program leaves what it had launched; one while it is read ends
  // that.
  const bool had_interrupt = system::is_interrupted();
  survey::Merged merged;
  for (const std::string& path : paths) {
    if (!had_interrupt && system::is_interrupted()) {
      found.problem = "interrupted while the survey was read";
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

/// What was not as it should be; empty where all was.
std::string describe_problem(const SurveyedApp& app, const Found& found) {
  const std::string name = quote(app.words.front());
  const std::string end = report::end_text(app);
  if (found.files == 0) {
    return fmt::format(
        "{} {}made no OpenCL calls, or its OpenCL loader does not support layers (ocl-icd from 2.3 "
        "and Khronos' do); nothing to profile",
        name, end.empty() ? "" : end + " and ");
  }
  std::string problem = end.empty() ? "" : fmt::format("{} {}", name, end);
  if (!found.problem.empty()) {
    problem += fmt::format("{}a process of {} left an incomplete survey: {}",
                           problem.empty() ? "" : "; ", name, found.problem);
  }
  return problem;
}

}  // namespace

SurveyedRun survey_app(const std::vector<std::string>& words, const Variables& variables) {
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

}  // namespace clprobe::commands
