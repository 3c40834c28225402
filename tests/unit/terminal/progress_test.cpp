// SPDX-License-Identifier: Apache-2.0
#include "app/terminal/terminal.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

#include "system/api/files.hpp"
#include "text/api/text.hpp"
#include "unit/pseudo_terminal.hpp"

namespace clprobe::terminal {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("time left is rounded up and left out when nobody knows it") {
  CHECK(format_time_left(6.2) == "0:07 left");
  CHECK(format_time_left(0.0) == "0:00 left");
  CHECK(format_time_left(59.5) == "1:00 left");
  CHECK(format_time_left(3725.0) == "1:02:05 left");
  for (const double unknown : {-1.0, nan, infinity, -infinity, 1e300}) {
    CHECK(format_time_left(unknown).empty());
  }
}

TEST_CASE("the line has title, bar, percent and time left") {
  const Progress progress{.title = "latency", .done_share = 0.42, .seconds_left = 6.2};
  CHECK(compose_progress(progress, 80, false) ==
        "latency  [###########.................]   42 %  0:07 left");
  CHECK(compose_progress(progress, 40, true) == "latency  [████░░░░░░░]   42 %  0:07 left");
}

TEST_CASE("what has no room is left out: bar, title, time") {
  const Progress progress{.title = "global_latency", .done_share = 0.42, .seconds_left = 6.2};
  CHECK(compose_progress(progress, 36, true) == "global_latency   42 %  0:07 left");
  CHECK(compose_progress(progress, 26, true) == "global_…   42 %  0:07 left");
  CHECK(compose_progress(progress, 26, false) == "global_~   42 %  0:07 left");
  CHECK(compose_progress(progress, 17, true) == " 42 %  0:07 left");
  CHECK(compose_progress(progress, 8, true) == " 42 %");
  CHECK(compose_progress(progress, 3, true) == " 42");
  CHECK(compose_progress(progress, 0, true).empty());
}

TEST_CASE("no line is wider than the terminal, and nonsense has a line too") {
  for (const double share : {0.0, 0.5, 1.0, 7.0, -3.0, nan, infinity}) {
    for (const double left : {0.0, 61.0, 7200.0, -1.0, nan}) {
      for (const char* title : {"", "latency", "測定 of the memory", "\xFF\n", "a\x1b[2J"}) {
        for (int columns = -1; columns <= 100; ++columns) {
          const Progress progress{.title = title, .done_share = share, .seconds_left = left};
          for (const bool unicode : {false, true}) {
            const std::string line = compose_progress(progress, columns, unicode);
            REQUIRE(display_width(line) <= std::max(columns, 0));
            REQUIRE(line.find_first_of("\n\r\x1b") == std::string::npos);
          }
        }
      }
    }
  }
}

TEST_CASE("where no share is known, the time that has passed stands in its place") {
  CHECK(format_time_passed(0.9) == "0:00");
  CHECK(format_time_passed(75.2) == "1:15");
  for (const double unknown : {-1.0, nan, infinity}) CHECK(format_time_passed(unknown).empty());
  const Progress progress{.title = "trying a device", .seconds_passed = 12.7};
  CHECK(compose_progress(progress, 80, true) == "trying a device  0:12");
  CHECK(compose_progress(progress, 14, true) == "trying …  0:12");
}

TEST_CASE("what goes on is told once it lasts") {
  CHECK(compose_title("latency", "preparing 1 GiB", 0.2) == "latency");
  CHECK(compose_title("latency", "preparing 1 GiB", 0.3) == "latency: preparing 1 GiB");
  CHECK(compose_title("latency", "preparing 1 GiB", 3.9) == "latency: preparing 1 GiB (3 s)");
  CHECK(compose_title("latency", "", 3.9) == "latency");
}

TEST_CASE("a terminal is redrawn in place, seldom, and left clean") {
  ::setenv("TERM", "xterm", 1);
  ::setenv("LC_ALL", "C.UTF-8", 1);
  const PseudoTerminal screen(41);
  const auto start = ProgressLine::Clock::now();
  {
    ProgressLine line(screen.user_side());
    line.show({.title = "latency", .done_share = 0.42, .seconds_left = 6.2}, start);
    CHECK(screen.take_written() == "\r\x1b[Klatency  [████░░░░░░░]   42 %  0:07 left");
    line.show({.title = "latency", .done_share = 0.5}, start + std::chrono::milliseconds(99));
    CHECK(screen.take_written().empty());
    line.show({.title = "latency", .done_share = 0.5}, start + std::chrono::milliseconds(100));
    CHECK_FALSE(screen.take_written().empty());
    line.clear();
    CHECK(screen.take_written() == "\r\x1b[K");
    line.clear();
    CHECK(screen.take_written().empty());
    line.show({.title = "latency"}, start + std::chrono::milliseconds(110));
    CHECK_FALSE(screen.take_written().empty());
  }
  CHECK(screen.take_written() == "\r\x1b[K");
}

TEST_CASE("a line is redrawn with what goes on, and how long") {
  using std::chrono::milliseconds;
  ::setenv("TERM", "xterm", 1);
  ::setenv("LC_ALL", "C.UTF-8", 1);
  const PseudoTerminal screen(81);
  const auto start = ProgressLine::Clock::now();
  ProgressLine line(screen.user_side());
  line.redraw(start);
  CHECK(screen.take_written().empty());
  line.show({.title = "trying a device"}, start);
  line.tell("testing the clock", start + milliseconds(1000));
  line.tell("testing the clock", start + milliseconds(1900));
  CHECK(screen.take_written() == "\r\x1b[Ktrying a device  0:00");
  line.redraw(start + milliseconds(4000));
  CHECK(screen.take_written() == "\r\x1b[Ktrying a device: testing the clock (3 s)  0:04");
  // Shown again it is still the same wait; with a share it is over.
  line.show({.title = "trying a device"}, start + milliseconds(5000));
  CHECK(screen.take_written() == "\r\x1b[Ktrying a device: testing the clock (4 s)  0:05");
  line.tell("", start + milliseconds(5000));
  line.show({.title = "latency", .done_share = 0.5}, start + milliseconds(6000));
  CHECK(screen.take_written().find("latency  [") != std::string::npos);
  line.show({.title = "trying another"}, start + milliseconds(7000));
  CHECK(screen.take_written() == "\r\x1b[Ktrying another  0:00");
  line.clear();
  CHECK_FALSE(screen.take_written().empty());
  line.redraw(start + milliseconds(8000));
  CHECK(screen.take_written().empty());
}

TEST_CASE("a line that keeps moving is redrawn while nobody shows anything, until it is cleared") {
  ::setenv("TERM", "xterm", 1);
  const PseudoTerminal screen(81);
  ProgressLine line(screen.user_side());
  line.keep_moving();
  line.keep_moving();
  line.show({.title = "trying a device"});
  std::string written;
  // However long the thread takes to get its turn.
  for (int i = 0; i < 3000 && written.find("0:01") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    written += screen.take_written();
  }
  CHECK(written.find("trying a device  0:01") != std::string::npos);
  line.clear();
  CHECK_FALSE(screen.take_written().empty());
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  CHECK(screen.take_written().empty());
}

TEST_CASE("nothing is drawn on a dumb terminal or a pipe, and a closed pipe does not matter") {
  system::ignore_signals_of_writing();
  ::setenv("TERM", "dumb", 1);
  const PseudoTerminal screen(80);
  { ProgressLine(screen.user_side()).show({.title = "latency"}); }
  CHECK(screen.take_written().empty());
  ::setenv("TERM", "xterm", 1);

  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  { ProgressLine(ends[1]).show({.title = "latency"}); }
  ::close(ends[1]);
  char byte = 0;
  CHECK(::read(ends[0], &byte, 1) == 0);
  ::close(ends[0]);
  CHECK_NOTHROW(ProgressLine(-1).show({.title = "latency"}));
}

}  // namespace clprobe::terminal
