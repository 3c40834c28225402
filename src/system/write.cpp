// SPDX-License-Identifier: Apache-2.0
#include "system/api/files.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>

#include "system/api/processes.hpp"

namespace clprobe::system {
namespace {

/// Short, since a signal that arrives just before it would else go unseen.
void wait_for_room(int descriptor) {
  constexpr int longest_wait_ms = 100;
  pollfd waiting{descriptor, POLLOUT, 0};
  static_cast<void>(::poll(&waiting, 1, longest_wait_ms));
}

}  // namespace

int write_all(int descriptor, std::string_view text) {
  // An earlier interrupt does not stop this write; a new one does.
  const bool was_interrupted = is_interrupted();
  while (!text.empty()) {
    // Looked at each time: a write that has got a part away before the signal does not say EINTR.
    if (!was_interrupted && is_interrupted()) return EINTR;
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    // POSIX allows 0 for no regular file; trying again could spin for ever.
    if (written == 0) return EIO;
    const bool is_full = errno == EAGAIN || errno == EWOULDBLOCK;
    if (!is_full && errno != EINTR) return errno;
    // Another user of the terminal or pipe (a shell, ssh) may have made it non-blocking.
    if (is_full) wait_for_room(descriptor);
  }
  return 0;
}

void ignore_signals_of_writing() {
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
}

}  // namespace clprobe::system
