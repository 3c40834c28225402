// SPDX-License-Identifier: Apache-2.0
#include "system/api/files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "system/api/processes.hpp"

namespace clprobe::system {
namespace {

constexpr std::size_t ample = 1U << 20U;

int error_of(const std::string& path, std::size_t max_bytes) {
  try {
    read_file(path, max_bytes);
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  return 0;
}

/// A file or a named pipe that is gone afterwards.
class TestFile {
 public:
  TestFile() {
    path_ = (std::filesystem::temp_directory_path() / "clprobe-read-XXXXXX").string();
    ::close(::mkstemp(path_.data()));
  }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;
  TestFile(TestFile&&) = delete;
  TestFile& operator=(TestFile&&) = delete;
  ~TestFile() { std::filesystem::remove(path_); }

  void become_pipe() const {
    std::filesystem::remove(path_);
    REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_{};
};

}  // namespace

TEST_CASE("a whole file, up to the limit and not a byte more") {
  const TestFile file;
  CHECK(read_file(file.path(), ample).empty());
  const std::string text(700'000, 'x');  // several pieces
  std::ofstream(file.path()) << text;
  CHECK(read_file(file.path(), ample) == text);
  CHECK(read_file(file.path(), text.size()) == text);
  CHECK(error_of(file.path(), text.size() - 1) == EFBIG);
  CHECK(error_of("/dev/zero", ample) == EFBIG);
}

TEST_CASE("what cannot be read says why") {
  CHECK(error_of("/no/such/file", ample) == ENOENT);
  CHECK(error_of("/", ample) == EISDIR);
}

TEST_CASE("a named pipe is read to its end, however late its writer comes") {
  const TestFile file;
  file.become_pipe();
  const pid_t writer = ::fork();
  if (writer == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    std::ofstream(file.path()) << std::string(300'000, 'y');
    ::_exit(0);
  }
  CHECK(read_file(file.path(), ample) == std::string(300'000, 'y'));
  ::waitpid(writer, nullptr, 0);
}

TEST_CASE("an interrupt ends the wait for a pipe's writer") {
  const TestFile file;
  file.become_pipe();
  const pid_t reader = ::fork();
  if (reader == 0) {
    ::alarm(20);
    static_cast<void>(std::signal(SIGINT, SIG_DFL));
    watch_for_interrupts();
    const pid_t parent = ::getpid();
    if (::fork() == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
      ::kill(parent, SIGINT);
      ::_exit(0);
    }
    ::_exit(error_of(file.path(), ample) == EINTR ? 0 : 1);
  }
  int status = 1;
  ::waitpid(reader, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("read_plain_file: neither links, nor pipes, nor folders") {
  const auto error_of_plain = [](const std::string& path) {
    try {
      read_plain_file(path, ample);
    } catch (const std::system_error& error) {
      return error.code().value();
    }
    return 0;
  };
  const TestFile file;
  const std::string link = file.path() + "-link";
  std::filesystem::create_symlink(file.path(), link);
  CHECK(error_of_plain(file.path()) == 0);
  CHECK(error_of_plain(link) == ELOOP);
  std::filesystem::remove(link);
  REQUIRE(::mkfifo(link.c_str(), 0600) == 0);
  CHECK(error_of_plain(link) == EINVAL);
  std::filesystem::remove(link);
  CHECK(error_of_plain("/dev/null") == EINVAL);
  CHECK(error_of_plain(std::filesystem::temp_directory_path().string()) == EINVAL);
}

}  // namespace clprobe::system
