// SPDX-License-Identifier: Apache-2.0
#include "commands/capture_app.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "clprobe/launch.hpp"
#include "system/read_file.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

namespace fs = std::filesystem;

/// The second launch: the first one of many also pays for what a driver does late. Of a program of
/// several processes nobody knows that any of them makes a second one.
std::uint64_t usual_ordinal(std::uint64_t launches, const survey::Survey& survey) {
  return launches > 1 && survey.processes.size() == 1 ? 2 : 1;
}

survey::Wanted wanted_of(const survey::Row& row, const survey::Survey& survey,
                         const survey::Sum& total) {
  survey::Wanted wanted{.kernel = row.signature.kernel,
                        .ordinal = usual_ordinal(row.sum.launches, survey),
                        .launches = row.sum.launches,
                        .share = row.sum.share_of(total),
                        .mean_ns = row.sum.mean_ns()};
  // Of too many sizes to tell apart any will do.
  if (row.signature.dimensions > 0) wanted.signature = row.signature;
  return wanted;
}

[[noreturn]] void refuse_name(const std::string& name, const survey::Survey& survey) {
  std::set<std::string> names;
  for (const survey::Row& row : survey.rows) names.insert(printable(row.signature.kernel));
  throw cli::UsageError(fmt::format("--kernel: the program launches no kernel {}, but {}",
                                    quote(name),
                                    message_line(fmt::format("{}", fmt::join(names, ", ")))));
}

survey::Wanted wanted_by_name(const survey::Survey& survey, const cli::Options& options) {
  survey::Sum sum;
  for (const survey::Row& row : survey.rows) {
    if (row.signature.kernel == options.kernel) sum.add(row.sum);
  }
  if (sum.launches == 0) refuse_name(options.kernel, survey);
  return {.kernel = options.kernel,
          .ordinal = options.kernel_launch > 0 ? options.kernel_launch
                                               : usual_ordinal(sum.launches, survey),
          .launches = sum.launches,
          .share = sum.share_of(survey.total()),
          .mean_ns = sum.mean_ns()};
}

/// What the layer left in the launch's folder.
Captured look_into(const std::string& folder, const survey::Wanted& wanted) {
  Captured captured{.wanted = wanted, .folder = folder};
  std::error_code error;
  if (fs::exists(fs::path(folder) / bundle::launch_file, error)) return captured;
  constexpr std::size_t max_reason_bytes = 4096;
  try {
    captured.refusal = system::read_file(folder + "/refused", max_reason_bytes);
  } catch (const std::system_error&) {
    captured.refusal = fs::exists(folder, error)
                           ? "the program ended before the launch did"
                           : fmt::format("the program's second run launched nothing like it {}",
                                         format_count(wanted.ordinal, "time"));
  }
  return captured;
}

}  // namespace

std::vector<survey::Wanted> choose_launches(const survey::Survey& survey,
                                            const cli::Options& options) {
  if (!options.kernel.empty()) return {wanted_by_name(survey, options)};
  const survey::Sum total = survey.total();
  std::vector<survey::Wanted> wanted;
  for (std::size_t i = 0; i < survey::count_main_rows(survey.rows); ++i) {
    wanted.push_back(wanted_of(survey.rows[i], survey, total));
  }
  return wanted;
}

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

CapturedRun capture_launches(const std::vector<std::string>& words,
                             const std::vector<survey::Wanted>& wanted, const std::string& folder) {
  std::ofstream(folder + "/wanted", std::ios::binary) << survey::wanted_to_text(wanted);
  const std::string caches = folder + "/caches";
  fs::create_directory(caches);
  std::vector<std::pair<std::string, std::string>> variables = without_caches(caches);
  variables.emplace_back("CLPROBE_CAPTURE", folder);
  CapturedRun captured{.run = survey_app(words, variables)};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    captured.launches.push_back(look_into(fmt::format("{}/{}", folder, i), wanted[i]));
  }
  return captured;
}

}  // namespace clprobe::commands
