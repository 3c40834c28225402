// SPDX-License-Identifier: Apache-2.0
#include "app/terminal/output.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "system/api/files.hpp"
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
    CHECK(folder.count() == 0);
    file.commit("a first, longer text");
    CHECK(read_text(path) == "a first, longer text");
    file.commit("second");
    CHECK(read_text(path) == "second");
    CHECK_FALSE(file.is_stream());
  }
  CHECK(read_text(path) == "second");
  CHECK(folder.count() == 1);
}

TEST_CASE("without a commit the target stays as it was, and nothing is beside it") {
  const Folder folder;
  const std::string path = folder.file("run.json");
  write_file(path, "old");
  {
    const OutputFile file(path);
    // Nor is there anything that a program which is killed now could leave.
    CHECK(folder.count() == 1);
  }
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
  fs::create_symlink(folder.file("no-such/run.json"), folder.file("dangling.json"));
  CHECK(message_of(folder.file("dangling.json")).find("No such file") != std::string::npos);
  CHECK(message_of(folder.file(std::string(256, 'x'))).find("too long") != std::string::npos);
}

TEST_CASE("a name may be as long as the file system takes") {
  const Folder folder;
  const std::string path = folder.file(std::string(255, 'x'));
  OutputFile(path).commit("text");
  CHECK(read_text(path) == "text");
  CHECK(folder.count() == 1);
}

TEST_CASE("a link to what is not there yet makes it, as a shell does") {
  const Folder folder;
  fs::create_symlink("second", folder.file("first"));
  fs::create_symlink(folder.file("target"), folder.file("second"));
  OutputFile(folder.file("first")).commit("text");
  CHECK(fs::is_symlink(folder.file("first")));
  CHECK(fs::is_symlink(folder.file("second")));
  CHECK(read_text(folder.file("target")) == "text");
  CHECK(folder.count() == 3);
}

TEST_CASE("what a commit would replace is known by every name of it") {
  const Folder folder;
  const std::string path = folder.file("run.json");
  CHECK_FALSE(OutputFile(path).replaces(path));
  write_file(path, "old");
  write_file(folder.file("other.json"), "old");
  fs::create_symlink(path, folder.file("link.json"));
  fs::create_hard_link(path, folder.file("hard.json"));
  for (const char* const name : {"run.json", "link.json", "hard.json", "./run.json"}) {
    CAPTURE(name);
    CHECK(OutputFile(folder.file(name)).replaces(path));
    CHECK(OutputFile(path).replaces(folder.file(name)));
  }
  CHECK_FALSE(OutputFile(path).replaces(folder.file("other.json")));
  CHECK_FALSE(OutputFile(path).replaces(folder.file("no-such.json")));
  CHECK_FALSE(OutputFile("-").replaces(path));
}

TEST_CASE("a folder that vanishes is an error of each commit, and of none once it is back") {
  const Folder folder;
  const std::string path = folder.file("new/run.json");
  fs::create_directory(folder.file("new"));
  OutputFile file(path);
  fs::remove(folder.file("new"));
  CHECK_THROWS_WITH_AS(file.commit("text"), doctest::Contains("No such file"), OutputError);
  CHECK_THROWS_AS(file.commit("text"), OutputError);
  fs::create_directory(folder.file("new"));
  file.commit("text");
  CHECK(read_text(path) == "text");
}

TEST_CASE("a named pipe is opened at once, and its reader may come later") {
  const Folder folder;
  const std::string path = folder.file("pipe");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  OutputFile file(path);
  CHECK(file.is_stream());
  std::string piped;
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    piped = read_text(path);
  });
  file.commit("text");
  // The reader comes to the end of the pipe when it is closed.
  { const OutputFile closed(std::move(file)); }
  reader.join();
  CHECK(piped == "text");
}

TEST_CASE("an open descriptor that is not open for writing takes no results") {
  const int unwritable = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  CHECK(message_of("/dev/fd/" + std::to_string(unwritable)).find("Bad file descriptor") !=
        std::string::npos);
  std::string message;
  {
    const ReplacedStdout replaced(unwritable);
    try {
      OutputFile("-").check_open();
    } catch (const OutputError& error) {
      message = error.what();
    }
  }
  ::close(unwritable);
  CHECK(message == "cannot write to stdout: Bad file descriptor; name a file with -o");
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
  system::ignore_signals_of_writing();
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

}  // namespace clprobe::terminal
