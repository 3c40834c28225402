// SPDX-License-Identifier: Apache-2.0
// Writes what `profile` makes of users' kernels for compile_kernels.py: for each pair of words, a
// text and its launch, a line for every program that replays build of it.
#include <fmt/format.h>

#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "probes/kernel/kernel.hpp"
#include "profile/api/bundle.hpp"
#include "profile/api/prelude.hpp"

namespace clprobe {
namespace {

/// As compile_kernels.py reads it.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    if (letter == '\n') {
      line += "\\n";
    } else if (letter == '\t') {
      line += "\\t";
    } else if (letter == '\\') {
      line += "\\\\";
    } else {
      line += letter;
    }
  }
  return line;
}

void write_lines(const std::string& text_path, const std::string& launch_path) {
  const bundle::Bundle read =
      bundle::read_source({.launch = launch_path, .kernel_file = text_path, .headers = {}});
  const prelude::NdRange range = kernel::range_for_prelude(read.launch.range);
  const DeviceInfo gpu{.type = DeviceType::gpu, .sub_group_size = 32};
  const prelude::Judgement judgement = kernel::judge_kernel(read, gpu);
  for (const prelude::Verdict& each : {judgement.renaming, judgement.entry}) {
    if (each.possibility == prelude::Possibility::usable) continue;
    throw std::invalid_argument(fmt::format("{}: {}", text_path, each.reason));
  }
  const std::string& options = read.launch.program.units.front().options;
  const auto write = [&](const std::string& preamble, const std::string& text) {
    fmt::print("{}\t{}\t{}\n", text_path, options, on_one_line(preamble + text));
  };
  const std::string& text = read.texts.front();
  const std::string entered = prelude::with_entry(text, read.launch.kernel);
  if (entered == text) throw std::invalid_argument(text_path + " gets no entry");
  write(prelude::prelude_text(), text);
  prelude::Switches switches = kernel::switches_of(judgement, range, gpu);
  if (switches.barriers || switches.atomics || switches.lanes || switches.fences) {
    write(prelude::prelude_text(switches), text);
  }
  if (judgement.functions.possibility == prelude::Possibility::usable) {
    switches.without_functions = true;
    write(prelude::prelude_text(switches), text);
  }
  write(prelude::entry_text(range), entered);
}

}  // namespace
}  // namespace clprobe

int main(int argc, char** argv) {
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  try {
    for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
      clprobe::write_lines(words[i], words[i + 1]);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
