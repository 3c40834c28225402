// SPDX-License-Identifier: Apache-2.0
#include "system/api/processes.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>

#include "system/api/files.hpp"

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

TEST_CASE("a folder that a killed run left is removed by the next, and no other") {
  const TemporaryFolder folder;
  const std::filesystem::path parent = folder.path();
  REQUIRE(::setenv("TMPDIR", folder.path().c_str(), 1) == 0);
  std::array<int, 2> ready{};
  REQUIRE(::pipe(ready.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const TemporaryFolder left;
    std::filesystem::create_directory(left.path() + "/data");
    std::ofstream(left.path() + "/data/file") << "text";
    static_cast<void>(::write(ready[1], left.path().c_str(), left.path().size()));
    ::pause();
  }
  std::string path(4096, '\0');
  path.resize(
      static_cast<std::size_t>(std::max<ssize_t>(0, ::read(ready[0], path.data(), path.size()))));
  std::filesystem::create_directory(parent / "clprobe-ABCDEF");  // of somebody else: no lock
  std::filesystem::create_directory_symlink(parent / "clprobe-ABCDEF", parent / "clprobe-GHIJKL");
  { const TemporaryFolder next; }
  CHECK(std::filesystem::exists(path + "/data/file"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(std::filesystem::exists(path + "/data/file"));
  { const TemporaryFolder next; }
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(std::filesystem::exists(parent / "clprobe-GHIJKL"));
  ::unsetenv("TMPDIR");
  for (const int each : ready) ::close(each);
}

TEST_CASE("a temporary folder goes though somebody still writes to it") {
  const TemporaryFolder parent;
  std::atomic<bool> is_over{false};
  std::string path;
  std::thread writer;
  {
    const TemporaryFolder folder;
    path = folder.path();
    writer = std::thread([&] {
      for (int i = 0; !is_over && i < 2000; ++i) {
        std::ofstream(path + "/" + std::to_string(i)) << "text";
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  is_over = true;
  writer.join();
  CHECK_FALSE(std::filesystem::exists(path));
}

}  // namespace clprobe::system
