// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>

#include "cli/flags.hpp"
#include "cli/options.hpp"
#include "unit/example_probes.hpp"
#include "unit/golden.hpp"

namespace clprobe::cli {
namespace {

std::string golden_path(std::string_view shell) {
  const std::string name = "clprobe." + std::string(shell);
  return (std::filesystem::path(CLPROBE_GOLDEN_FOLDER) / name).string();
}

bool is_installed(std::string_view program) {
  return std::system(("command -v " + std::string(program) + " >/dev/null 2>&1").c_str()) == 0;
}

/// What bash offers for the last of `words`, which follow "clprobe"; sorted, a line.
std::string offered_by_bash(const std::string& words) {
  const std::string script = ". '" + golden_path("bash") + "'; COMP_WORDS=(clprobe " + words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _clprobe; " +
                             R"(printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ')";
  std::string command = "bash -c ";
  command += '"';
  for (const char letter : script) {
    if (letter == '"' || letter == '$' || letter == '\\') command += '\\';
    command += letter;
  }
  command += '"';
  std::string text;
  std::FILE* const output = ::popen(command.c_str(), "r");
  REQUIRE(output != nullptr);
  for (int letter = std::fgetc(output); letter != EOF; letter = std::fgetc(output)) {
    text += static_cast<char>(letter);
  }
  ::pclose(output);
  return text;
}

}  // namespace

TEST_CASE("completions are as they were read last") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    CHECK(golden_difference("clprobe." + std::string(shell),
                            completion(shell, example::probes())) == "");
  }
  CHECK_THROWS_AS(completion("tcsh", example::probes()), std::invalid_argument);
}

TEST_CASE("completions offer what is not hidden") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string text = completion(shell, example::probes());
    CHECK(text.find("worker") == std::string::npos);
    for (const Flag& flag : visible_flags()) {
      CAPTURE(flag.name);
      CHECK(text.find(flag.name) != std::string::npos);
    }
    CHECK(text.find("bandwidth") != std::string::npos);
    CHECK(text.find("explain") != std::string::npos);
  }
}

TEST_CASE("the shells can read their completions, with and without probes") {
  const std::string folder =
      (std::filesystem::temp_directory_path() / "clprobe-complete-XXXXXX").string();
  std::string name = folder;
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string path = name + "/clprobe";
    if (!is_installed(shell)) {
      MESSAGE("skipped: " << shell << " is not installed");
      continue;
    }
    for (const std::span<const Probe* const> probes :
         {example::probes(), std::span<const Probe* const>{}}) {
      std::ofstream(path) << completion(shell, probes);
      const std::string command = std::string(shell) + " -n '" + path + "' >&2";
      CHECK(std::system(command.c_str()) == 0);
    }
  }
  std::filesystem::remove_all(name);
}

TEST_CASE("bash offers what fits") {
  if (!is_installed("bash")) {
    MESSAGE("skipped: bash is not installed");
    return;
  }
  CHECK(offered_by_bash("''") == "bandwidth compare explain import latency list report ");
  CHECK(offered_by_bash("la") == "latency ");
  CHECK(offered_by_bash("--f") == "--format ");
  CHECK(offered_by_bash("compare --f") == "--fail-on --format ");
  CHECK(offered_by_bash("-f ''") == "csv html json markdown svg table ");
  CHECK(offered_by_bash("--color = ''") == "always auto never ");
  CHECK(offered_by_bash("--color =") == "always auto never ");
  CHECK(offered_by_bash("--color = n") == "never ");
  CHECK(offered_by_bash("--seed ''") == " ");
  CHECK(offered_by_bash("explain l") == "latency ");
  CHECK(offered_by_bash("list ''") == " ");
  CHECK(offered_by_bash("latency b") == "bandwidth ");
  CHECK(offered_by_bash("latency --s") == "--seed --series --sizes --step ");
  CHECK(offered_by_bash("bandwidth --s") == "--seed --step ");
  CHECK(offered_by_bash("latency --series ''") == "global local ");
  CHECK(offered_by_bash("bandwidth --operation ''") == "copy read write ");
  CHECK(offered_by_bash("bandwidth --grid ''") == " ");
}

}  // namespace clprobe::cli
