// SPDX-License-Identifier: Apache-2.0
// A terminal of the kernel's, for tests of what is drawn on one.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace clprobe {

class PseudoTerminal {
 public:
  explicit PseudoTerminal(unsigned short columns)
      : screen_side_(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
    if (screen_side_ < 0 || ::grantpt(screen_side_) != 0 || ::unlockpt(screen_side_) != 0) {
      throw std::runtime_error("cannot open a pseudo-terminal");
    }
    user_side_ = ::open(::ptsname(screen_side_), O_RDWR | O_NOCTTY);
    if (user_side_ < 0) throw std::runtime_error("cannot open the user's side of a terminal");
    winsize window{};
    window.ws_col = columns;
    window.ws_row = 24;
    ::ioctl(screen_side_, TIOCSWINSZ, &window);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;
  PseudoTerminal(PseudoTerminal&&) = delete;
  PseudoTerminal& operator=(PseudoTerminal&&) = delete;
  ~PseudoTerminal() {
    ::close(user_side_);
    ::close(screen_side_);
  }

  /// What a program writes to.
  [[nodiscard]] int user_side() const { return user_side_; }

  /// What was written since the last call.
  [[nodiscard]] std::string take_written() const {
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t size = 1; size > 0;) {
      size = ::read(screen_side_, piece.data(), piece.size());
      if (size > 0) text.append(piece.data(), static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  int screen_side_;
  int user_side_{-1};
};

}  // namespace clprobe
