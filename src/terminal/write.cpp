// SPDX-License-Identifier: Apache-2.0
#include "terminal/write.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>

namespace clprobe::terminal {

int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0) {
      // POSIX allows it for no regular file; trying again could spin for ever.
      return EIO;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // Whoever shares our terminal or pipe (a shell, ssh) may have made it non-blocking.
      pollfd waiting{descriptor, POLLOUT, 0};
      if (::poll(&waiting, 1, -1) < 0 && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void ignore_broken_pipes() { static_cast<void>(std::signal(SIGPIPE, SIG_IGN)); }

}  // namespace clprobe::terminal
