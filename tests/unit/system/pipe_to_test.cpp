// SPDX-License-Identifier: Apache-2.0
#include "system/api/files.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace clprobe::system {
namespace {

/// A file that goes with the test.
class TemporaryFile {
 public:
  TemporaryFile() {
    const int descriptor = ::mkstemp(path_.data());
    REQUIRE(descriptor >= 0);
    ::close(descriptor);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  TemporaryFile(TemporaryFile&&) = delete;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "clprobe-XXXXXX").string();
};

}  // namespace

TEST_CASE("a command reads all of the text, and its status comes back") {
  ignore_signals_of_writing();
  const TemporaryFile file;
  const std::string text(1'000'000, 'a');
  CHECK(pipe_to("cat >'" + file.path() + "'", text) == 0);
  CHECK(file.text() == text);
  CHECK(pipe_to("exit 3", "a") == 3);
  CHECK(pipe_to("/nonexistent/pager 2>/dev/null", "a") == 127);
  CHECK(pipe_to("kill -9 $$", "a") == 137);
}

TEST_CASE("a command that does not read to the end is no error") {
  ignore_signals_of_writing();
  CHECK(pipe_to("exec true", std::string(1'000'000, 'a')) == 0);
  CHECK(pipe_to("exec head -c 1 >/dev/null", std::string(1'000'000, 'a')) == 0);
}

TEST_CASE("a writer behind the command ends by the signal, as in a shell") {
  ignore_signals_of_writing();
  // Were SIGPIPE ignored in it, `yes` would say "Broken pipe" and end with 1.
  const TemporaryFile file;
  CHECK(pipe_to("{ yes 2>&1 >&3 | cat >'" + file.path() + "'; } 3>&1 | exec head -n 1 >/dev/null",
                "") == 0);
  CHECK(file.text().empty());
}

TEST_CASE("defaults are for variables that are not there") {
  const TemporaryFile file;
  ::unsetenv("CLPROBE_ONE");
  ::setenv("CLPROBE_TWO", "mine", 1);
  CHECK(pipe_to("echo \"$CLPROBE_ONE $CLPROBE_TWO\" >'" + file.path() + "'", "",
                {{"CLPROBE_ONE", "default"}, {"CLPROBE_TWO", "default"}}) == 0);
  CHECK(file.text() == "default mine\n");
}

}  // namespace clprobe::system
