// SPDX-License-Identifier: Apache-2.0
// `profile` has a program, bundles, or a kernel without either; what was typed fits one of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cli/resolve.hpp"
#include "text/text.hpp"

namespace clprobe::cli {
namespace {

/// A survey is no run: it has no findings and no charts, and measures nothing.
void check_list(const Typed& typed) {
  constexpr std::array<std::string_view, 7> flags{"list",  "output",  "format",      "json",
                                                  "color", "verbose", "with-secrets"};
  for (const auto& [flag, value] : typed.flags) {
    if (std::find(flags.begin(), flags.end(), flag->name) != flags.end()) continue;
    throw UsageError(
        fmt::format("--{} does not apply to profile --list: leave one of them out", flag->name));
  }
}

/// What only a program can have.
void check_without_program(const Options& options) {
  const std::array<std::pair<bool, std::string_view>, 4> asked{
      std::pair{options.list_kernels, std::string_view("list")},
      std::pair{!options.kernel.empty(), std::string_view("kernel")},
      std::pair{!options.keep_folder.empty(), std::string_view("keep")},
      std::pair{options.with_secrets, std::string_view("with-secrets")}};
  for (const auto& [is_asked, name] : asked) {
    if (!is_asked) continue;
    throw UsageError(fmt::format(
        "--{} needs a program: write `clprobe profile --{} ... -- PROGRAM`", name, name));
  }
}

/// Both parts of a kernel without a program, or neither.
void check_kernel_file(const Options& options) {
  if (options.kernel_file.empty() == options.launch_file.empty()) return;
  const bool has_file = !options.kernel_file.empty();
  throw UsageError(has_file ? "--kernel-file needs --launch FILE.json, which describes the launch"
                            : "--launch needs --kernel-file FILE.cl, the text of the kernel");
}

}  // namespace

void settle_profile(Options& options, const Typed& typed, std::vector<std::string> app) {
  options.app = std::move(app);
  const bool has_program = !options.app.empty() && !options.app.front().empty();
  const bool has_kernel = !options.kernel_file.empty() || !options.launch_file.empty();
  const auto kinds = static_cast<int>(has_program) + static_cast<int>(!options.words.empty()) +
                     static_cast<int>(has_kernel);
  if (has_program && !options.words.empty()) {
    throw UsageError(fmt::format("{} needs -- before it: write `clprobe profile -- {}`",
                                 quote(options.words.front()), printable(options.words.front())));
  }
  if (kinds == 0 || (!options.app.empty() && !has_program)) {
    throw UsageError(
        "profile needs a program or a captured launch: write `clprobe profile -- PROGRAM` or "
        "`clprobe profile FOLDER`");
  }
  if (kinds > 1) {
    throw UsageError(
        "--kernel-file launches a kernel without a program: leave out the program or folder");
  }
  if (!has_program) check_without_program(options);
  if (options.list_kernels) check_list(typed);
  check_kernel_file(options);
}

}  // namespace clprobe::cli
