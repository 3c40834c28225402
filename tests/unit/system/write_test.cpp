// SPDX-License-Identifier: Apache-2.0
#include "system/api/files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

namespace clprobe::system {

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

TEST_CASE("a file beyond the limit and a pipe without a reader are errors, and no signal") {
  const pid_t writer = ::fork();
  if (writer == 0) {
    ignore_signals_of_writing();
    const rlimit small{.rlim_cur = 1000, .rlim_max = 1000};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const bool is_too_large = write_all(::fileno(std::tmpfile()), std::string(2000, 'x')) == EFBIG;
    std::array<int, 2> ends{};
    const bool has_pipe = ::pipe(ends.data()) == 0;
    ::close(ends[0]);
    const bool is_broken = write_all(ends[1], "x") == EPIPE;
    ::_exit(is_too_large && has_pipe && is_broken ? 0 : 1);
  }
  int status = 1;
  ::waitpid(writer, &status, 0);
  CHECK(status == 0);
}

}  // namespace clprobe::system
