// SPDX-License-Identifier: Apache-2.0
#include "system/api/files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace clprobe::system {
namespace {

constexpr int streams = 3;

/// In a process whose streams of the bits in `closed` are closed.
bool are_filled(unsigned closed) {
  const pid_t child = ::fork();
  if (child == 0) {
    // What the test runs under may be read-only or a file: known ones in its place.
    const int known = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int stream = 0; stream < streams; ++stream) {
      ::dup2(known, stream);
      if ((closed >> static_cast<unsigned>(stream) & 1U) != 0) ::close(stream);
    }
    open_missing_streams();
    bool is_right = true;
    for (int stream = 0; stream < streams; ++stream) {
      const bool was_closed = (closed >> static_cast<unsigned>(stream) & 1U) != 0;
      is_right = is_right && ::fcntl(stream, F_GETFD) != -1;
      if (stream == STDIN_FILENO) continue;
      is_right = is_right && is_open_for_writing(stream) != was_closed;
      is_right = is_right && (write_all(stream, "x") == 0) != was_closed;
    }
    // The next file gets none of their numbers.
    is_right = is_right && ::open("/dev/null", O_RDONLY | O_CLOEXEC) >= streams;
    ::_exit(is_right ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  return status == 0;
}

}  // namespace

TEST_CASE("closed streams are filled with what nobody can write to, and open ones stay") {
  for (unsigned closed = 0; closed < 1U << static_cast<unsigned>(streams); ++closed) {
    CAPTURE(closed);
    CHECK(are_filled(closed));
  }
}

TEST_CASE("a descriptor that is not there is not open for writing") {
  CHECK_FALSE(is_open_for_writing(-1));
}

}  // namespace clprobe::system
