// SPDX-License-Identifier: Apache-2.0
#include "system/run_program.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "system/temporary_folder.hpp"

namespace clprobe::system {
namespace {

/// What the shell's `script` leaves in a file that it knows as $FILE.
std::string written_by(const std::string& script,
                       std::vector<std::pair<std::string, std::string>> variables = {}) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  variables.emplace_back("FILE", path);
  CHECK(run_program({"sh", "-c", script}, variables).is_success());
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a program ends with a status or by a signal") {
  CHECK(run_program({"true"}, {}).is_success());
  const ProgramEnd failed = run_program({"sh", "-c", "exit 7"}, {});
  CHECK(failed.status == 7);
  CHECK(failed.signal == 0);
  CHECK(!failed.is_success());
  const ProgramEnd killed = run_program({"sh", "-c", "kill -KILL $$"}, {});
  CHECK(killed.signal == SIGKILL);
  CHECK(!killed.is_success());
}

TEST_CASE("what cannot be started is an error with the system's word") {
  CHECK_THROWS_AS(run_program({"/nowhere/at/all"}, {}), std::system_error);
  try {
    run_program({"/"}, {});
    FAIL("started a folder");
  } catch (const std::system_error& error) {
    CHECK(error.code() == std::errc::permission_denied);
  }
}

TEST_CASE("variables are added, and stronger than those that are there") {
  CHECK(written_by("printf %s \"$CLPROBE_A:${PATH:+path}\" >$FILE", {{"CLPROBE_A", "b=c"}}) ==
        "b=c:path");
  CHECK(written_by("printf %s \"$HOME\" >$FILE", {{"HOME", "/else"}}) == "/else");
}

TEST_CASE("what the program writes to stdout goes to stderr") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/stderr";
  // Where the tests run, both may be the same.
  const int former = ::dup(STDERR_FILENO);
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  ::dup2(file, STDERR_FILENO);
  const ProgramEnd end = run_program({"sh", "-c", "printf out; printf err >&2"}, {});
  ::dup2(former, STDERR_FILENO);
  ::close(former);
  ::close(file);
  CHECK(end.is_success());
  std::ifstream written(path);
  CHECK(std::string(std::istreambuf_iterator<char>(written), {}) == "outerr");
}

TEST_CASE("signals that we ignore are not ignored there") {
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  // The mask of ignored signals: SIGPIPE is the 13th.
  const std::string line = written_by("grep SigIgn /proc/self/status >$FILE");
  static_cast<void>(std::signal(SIGPIPE, SIG_DFL));
  const unsigned long long ignored = std::stoull(line.substr(line.find('\t')), nullptr, 16);
  CHECK((ignored >> (SIGPIPE - 1) & 1U) == 0);
}

TEST_CASE("a temporary folder is for its owner, and goes with what is in it") {
  std::string path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    const auto allowed = std::filesystem::status(path).permissions();
    CHECK(allowed == std::filesystem::perms::owner_all);
    std::ofstream(path + "/file") << "text";
    CHECK(TemporaryFolder().path() != path);
  }
  CHECK(!std::filesystem::exists(path));
}

}  // namespace clprobe::system
