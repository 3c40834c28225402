// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "profile/api/prelude.hpp"
#include "text/api/secrets.hpp"
#include "text/api/text.hpp"

namespace clprobe::kernel {
namespace {

std::string log_of(const cl::Program& program, const cl::Device& device) {
  std::string log;
  program.getBuildInfo(device, CL_PROGRAM_BUILD_LOG, &log);
  return log;
}

[[noreturn]] void fail(const cl::Program& program, const cl::Device& device,
                       const cl::Error& error) {
  throw DeviceError(fmt::format("the program does not build on this device: {}: {}",
                                describe(error), first_error_line(log_of(program, device))));
}

cl::Program build_one(const Session& session, const std::string& text, const std::string& options) {
  cl::Program program(session.context(), text);
  try {
    program.build(session.device(), options.c_str());
  } catch (const cl::Error& error) {
    fail(program, session.device(), error);
  }
  return program;
}

cl::Program compile_one(const Session& session, const std::string& text,
                        const std::string& options) {
  cl::Program program(session.context(), text);
  try {
    program.compile(options.c_str());
  } catch (const cl::Error& error) {
    fail(program, session.device(), error);
  }
  return program;
}

/// The options without those that name files or folders.
std::string without_paths(const std::string& options) {
  std::string kept;
  bool is_folder = false;
  for (std::size_t at = 0; at < options.size();) {
    const std::size_t begin = options.find_first_not_of(' ', at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(options.find(' ', begin), options.size());
    const std::string word = options.substr(begin, end - begin);
    at = end;
    const bool has_path = word.find('/') != std::string::npos;
    if (!has_path && !is_folder && word != "-I") kept += (kept.empty() ? "" : " ") + word;
    is_folder = word == "-I";
  }
  return kept;
}

}  // namespace

cl::Program build_program(const Session& session, const bundle::Bundle& bundle,
                          const std::string& preamble) {
  const bundle::Program& made = bundle.launch.program;
  if (made.units.size() == 1 && made.link_options.empty()) {
    return build_one(session, preamble + bundle.texts.front(), bundle.options.front());
  }
  std::vector<cl::Program> units;
  for (std::size_t i = 0; i < made.units.size(); ++i) {
    units.push_back(compile_one(session, preamble + bundle.texts[i], bundle.options[i]));
  }
  return cl::linkProgram(units, includes::without_folders(made.link_options).c_str());
}

bundle::Bundle without_redefinitions(const bundle::Bundle& bundle) {
  bundle::Bundle same = bundle;
  for (std::string& each : same.texts) each = prelude::without_redefinitions(each);
  return same;
}

KernelBuild build_of(const bundle::Bundle& bundle) {
  std::string all;
  std::string options;
  for (std::size_t i = 0; i < bundle.texts.size(); ++i) {
    all += bundle.texts[i];
    const std::string own = options_without_secrets(without_paths(bundle.options[i]));
    options += (options.empty() || own.empty() ? "" : " ") + own;
  }
  return {bundle::sha256_of(all), options};
}

}  // namespace clprobe::kernel
