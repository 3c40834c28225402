// SPDX-License-Identifier: Apache-2.0
#include "terminal/output.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "terminal/write.hpp"
#include "unit/golden.hpp"

namespace clprobe::terminal {
namespace {

namespace fs = std::filesystem;

/// A new folder that is gone afterwards.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "clprobe-output-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() { fs::remove_all(path_); }

  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }
  [[nodiscard]] auto count() const {
    return std::distance(fs::directory_iterator(path_), fs::directory_iterator());
  }

 private:
  fs::path path_;
};

void write_file(const std::string& path, std::string_view text) { std::ofstream(path) << text; }

std::string message_of(const std::string& path) {
  try {
    OutputFile file(path);
    file.commit("text");
  } catch (const OutputError& error) {
    return error.what();
  }
  return "";
}

/// Stands in for stdout while it lives.
class ReplacedStdout {
 public:
  explicit ReplacedStdout(int replacement) : saved_(::dup(STDOUT_FILENO)) {
    ::dup2(replacement, STDOUT_FILENO);
  }
  ReplacedStdout(const ReplacedStdout&) = delete;
  ReplacedStdout& operator=(const ReplacedStdout&) = delete;
  ReplacedStdout(ReplacedStdout&&) = delete;
  ReplacedStdout& operator=(ReplacedStdout&&) = delete;
  ~ReplacedStdout() {
    ::dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
  }

 private:
  int saved_;
};

}  // namespace

TEST_CASE("each commit replaces the whole file and leaves nothing beside it") {
  const Folder folder;
  const std::string path = folder.file("run.json");
  {
    OutputFile file(path);
    CHECK_FALSE(fs::exists(path));
    CHECK(folder.count() == 1);
    file.commit("a first, longer text");
    CHECK(read_text(path) == "a first, longer text");
    file.commit("second");
    CHECK(read_text(path) == "second");
    CHECK_FALSE(file.is_stream());
  }
  CHECK(read_text(path) == "second");
  CHECK(folder.count() == 1);
}

TEST_CASE("without a commit the target stays as it was and the temporary file goes") {
  const Folder folder;
  const std::string path = folder.file("run.json");
  write_file(path, "old");
  { const OutputFile file(path); }
  CHECK(read_text(path) == "old");
  CHECK(folder.count() == 1);
  {
    OutputFile first(path);
    OutputFile second(std::move(first));
    second.commit("moved");
  }
  CHECK(read_text(path) == "moved");
  CHECK(folder.count() == 1);
}

TEST_CASE("permissions and links of the target stay") {
  const Folder folder;
  const std::string path = folder.file("run.json");
  write_file(path, "old");
  ::chmod(path.c_str(), 0640);
  fs::create_symlink(path, folder.file("link.json"));
  OutputFile(folder.file("link.json")).commit("new");
  CHECK(fs::is_symlink(folder.file("link.json")));
  CHECK(read_text(path) == "new");
  CHECK(fs::status(path).permissions() == fs::perms{0640});

  const mode_t mask = ::umask(022);
  OutputFile(folder.file("fresh.json")).commit("new");
  ::umask(mask);
  CHECK(fs::status(folder.file("fresh.json")).permissions() == fs::perms{0644});
}

TEST_CASE("what cannot be written is said at once, in one line, with what to do") {
  const Folder folder;
  const std::string missing = folder.file("no-such/run.json");
  CHECK(message_of(missing) ==
        "cannot write '" + missing + "': No such file or directory; choose another path with -o");
  CHECK(message_of(folder.file("")).find("Is a directory; choose") != std::string::npos);
  write_file(folder.file("plain"), "");
  CHECK(message_of(folder.file("plain/run.json")).find("Not a directory") != std::string::npos);
  CHECK(message_of("").find("No such file or directory") != std::string::npos);
  CHECK(message_of("/no\nsuch/run.json").find('\n') == std::string::npos);
  fs::create_symlink(folder.file("nowhere"), folder.file("dangling.json"));
  CHECK(message_of(folder.file("dangling.json")).find("No such file") != std::string::npos);
  CHECK(message_of(folder.file(std::string(400, 'x'))).find("too long") != std::string::npos);
}

TEST_CASE("a read-only file is not replaced behind its owner's back") {
  if (::geteuid() == 0) {
    MESSAGE("skipped: the superuser may write to every file");
    return;
  }
  const Folder folder;
  const std::string path = folder.file("run.json");
  write_file(path, "old");
  ::chmod(path.c_str(), 0444);
  CHECK(message_of(path).find("Permission denied") != std::string::npos);
  CHECK(read_text(path) == "old");
}

TEST_CASE("devices are written directly, and a full one is an error") {
  CHECK(message_of("/dev/null").empty());
  CHECK(message_of("/dev/full") ==
        "cannot write '/dev/full': No space left on device; choose another path with -o");
  CHECK(OutputFile("/dev/null").is_stream());
}

TEST_CASE("a name of an open descriptor is written to, whatever is behind it") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  OutputFile("/dev/fd/" + std::to_string(ends[1])).commit("piped");
  std::array<char, 16> piped{};
  CHECK(::read(ends[0], piped.data(), piped.size()) == 5);
  ::close(ends[0]);
  ::close(ends[1]);

  const Folder folder;
  const std::string path = folder.file("redirected");
  write_file(path, "before ");
  const int redirected = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  OutputFile("/dev/fd/" + std::to_string(redirected)).commit("after");
  ::close(redirected);
  CHECK(read_text(path) == "before after");
}

TEST_CASE("a write that ends half-way leaves the old file intact") {
  const Folder folder;
  const std::string path = folder.file("run.json");
  write_file(path, "old");
  rlimit saved{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &saved) == 0);
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  const rlimit small{.rlim_cur = 10000, .rlim_max = saved.rlim_max};
  OutputFile file(path);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string message;
  try {
    file.commit(std::string(20000, 'x'));
  } catch (const OutputError& error) {
    message = error.what();
  }
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &saved) == 0);
  CHECK(message.find("File too large") != std::string::npos);
  CHECK(read_text(path) == "old");
  CHECK(folder.count() == 1);
  file.commit("it can be tried again");
  CHECK(read_text(path) == "it can be tried again");
}

TEST_CASE("stdout: a closed pipe is no error, a full device is") {
  ignore_broken_pipes();
  OutputFile out("-");
  CHECK(out.is_stream());
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  {
    const ReplacedStdout replaced(ends[1]);
    out.commit("result");
  }
  std::array<char, 16> read_back{};
  CHECK(::read(ends[0], read_back.data(), read_back.size()) == 6);
  ::close(ends[0]);
  bool is_quiet = true;
  {
    const ReplacedStdout replaced(ends[1]);
    try {
      out.commit("nobody reads this");
    } catch (const OutputError&) {
      is_quiet = false;
    }
  }
  ::close(ends[1]);
  CHECK(is_quiet);

  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  std::string message;
  {
    const ReplacedStdout replaced(full);
    message = message_of("-");
  }
  ::close(full);
  CHECK(message == "cannot write to stdout: No space left on device; name a file with -o");
}

TEST_CASE("whatever the pipe takes at a time, all of a long text arrives") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_NONBLOCK) == 0);
  // Longer than any pipe's buffer, so that writing has to wait for the reader.
  const std::string text(std::size_t{1} << 21U, 'x');
  std::size_t arrived = 0;
  const pid_t reader = ::fork();
  if (reader == 0) {
    ::close(ends[1]);
    ::fcntl(ends[0], F_SETFL, 0);
    std::array<char, 65536> piece{};
    for (ssize_t size = 1; size > 0; arrived += static_cast<std::size_t>(size)) {
      size = ::read(ends[0], piece.data(), piece.size());
    }
    ::_exit(arrived == text.size() ? 0 : 1);
  }
  ::close(ends[0]);
  CHECK(write_all(ends[1], text) == 0);
  ::close(ends[1]);
  int status = 1;
  ::waitpid(reader, &status, 0);
  CHECK(status == 0);
}

}  // namespace clprobe::terminal
