// SPDX-License-Identifier: Apache-2.0
#include "system/api/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace clprobe::system {

void open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // Gets the number of the stream, the lowest that is free.
    const int opened = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    // A bare chroot has no /dev/null; any read-only file will do.
    if (opened < 0) static_cast<void>(::open("/", O_RDONLY | O_DIRECTORY));
  }
}

bool is_open_for_writing(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags != -1 && (flags & O_ACCMODE) != O_RDONLY;
}

void write_to_stderr(std::string_view text) noexcept {
  static_cast<void>(write_all(STDERR_FILENO, text));
}

}  // namespace clprobe::system
