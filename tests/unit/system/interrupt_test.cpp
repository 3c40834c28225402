// SPDX-License-Identifier: Apache-2.0
#include "system/api/processes.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "system/api/files.hpp"

namespace clprobe::system {
namespace {

constexpr std::array requests{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// What a process of its own comes to: signals and their handlers are a whole process'.
template <typename Action>
int status_of(Action action) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{};
    ::setrlimit(RLIMIT_CORE, &none);  // SIGQUIT would leave one
    ::alarm(20);
    for (const int request : requests) static_cast<void>(std::signal(request, SIG_DFL));
    ::_exit(action() ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  return status;
}

/// Longer than a request that was sent twice takes.
void wait_for_another_request() { std::this_thread::sleep_for(std::chrono::milliseconds(600)); }

}  // namespace

TEST_CASE("every request to end is noted, and is one even when it comes twice") {
  for (const int request : requests) {
    CAPTURE(request);
    CHECK(status_of([&] {
            watch_for_interrupts();
            if (is_interrupted()) return false;
            static_cast<void>(std::raise(request));
            static_cast<void>(std::raise(request));
            static_cast<void>(std::raise(SIGTERM));
            return is_interrupted();
          }) == 0);
  }
}

TEST_CASE("a later request ends the program, whichever the first was; a hang-up never does") {
  for (const int request : requests) {
    CAPTURE(request);
    const int status = status_of([&] {
      watch_for_interrupts();
      static_cast<void>(std::raise(SIGHUP));
      wait_for_another_request();
      static_cast<void>(std::raise(request));
      return is_interrupted();
    });
    CHECK((WIFSIGNALED(status) ? WTERMSIG(status) : 0) == (request == SIGHUP ? 0 : request));
  }
}

TEST_CASE("what was ignored at the start stays ignored") {
  for (const int request : requests) {
    CAPTURE(request);
    CHECK(status_of([&] {
            static_cast<void>(std::signal(request, SIG_IGN));
            watch_for_interrupts();
            static_cast<void>(std::raise(request));
            return !is_interrupted();
          }) == 0);
  }
}

TEST_CASE("signals wait while they are held back") {
  CHECK(status_of([] {
          watch_for_interrupts();
          {
            const HeldBackSignals held;
            static_cast<void>(std::raise(SIGINT));
            if (is_interrupted()) return false;
          }
          return is_interrupted();
        }) == 0);
}

TEST_CASE("an interrupt ends the writing to a pipe that nobody empties, whatever its mode") {
  for (const int mode : {0, O_NONBLOCK}) {
    CAPTURE(mode);
    CHECK(status_of([&] {
            watch_for_interrupts();
            std::array<int, 2> ends{};
            if (::pipe2(ends.data(), mode) != 0) return false;
            const pid_t parent = ::getpid();
            if (::fork() == 0) {
              std::this_thread::sleep_for(std::chrono::milliseconds(200));
              ::kill(parent, SIGINT);
              ::_exit(0);
            }
            return write_all(ends[1], std::string(std::size_t{1} << 21U, 'x')) == EINTR;
          }) == 0);
  }
}

TEST_CASE("after an interrupt what there is can still be written") {
  CHECK(status_of([] {
          watch_for_interrupts();
          static_cast<void>(std::raise(SIGINT));
          std::array<int, 2> ends{};
          return ::pipe(ends.data()) == 0 && write_all(ends[1], "text") == 0;
        }) == 0);
}

}  // namespace clprobe::system
