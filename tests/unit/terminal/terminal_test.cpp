// SPDX-License-Identifier: Apache-2.0
#include "app/terminal/terminal.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "system/api/files.hpp"
#include "unit/pseudo_terminal.hpp"

namespace clprobe::terminal {

TEST_CASE("colour: the user's word, then NO_COLOR, then CLICOLOR_FORCE, then the terminal") {
  const ColourFacts pipe{.term = "xterm"};
  const ColourFacts screen{.term = "xterm", .is_terminal = true};
  CHECK(decide_colour(ColourMode::automatic, screen));
  CHECK_FALSE(decide_colour(ColourMode::automatic, pipe));
  CHECK(decide_colour(ColourMode::always, pipe));
  CHECK_FALSE(decide_colour(ColourMode::never, screen));

  CHECK_FALSE(decide_colour(ColourMode::automatic,
                            {.no_color = "1", .clicolor_force = "1", .is_terminal = true}));
  CHECK(decide_colour(ColourMode::always, {.no_color = "1", .term = "dumb"}));
  CHECK(decide_colour(ColourMode::automatic, {.clicolor_force = "1", .term = "dumb"}));
  CHECK_FALSE(decide_colour(ColourMode::automatic, {.clicolor_force = "0", .term = "xterm"}));
  CHECK_FALSE(decide_colour(ColourMode::never, {.clicolor_force = "1", .is_terminal = true}));
  CHECK_FALSE(decide_colour(ColourMode::automatic, {.term = "dumb", .is_terminal = true}));
  CHECK_FALSE(decide_colour(ColourMode::automatic, {.is_terminal = true}));
}

TEST_CASE("the locale's first name that is set says whether it is UTF-8") {
  CHECK(locale_is_utf8("", "", "en_GB.UTF-8"));
  CHECK(locale_is_utf8("", "C.utf8", "C"));
  CHECK_FALSE(locale_is_utf8("C", "C.UTF-8", "C.UTF-8"));
  CHECK_FALSE(locale_is_utf8("", "", "de_DE.ISO-8859-1"));
  CHECK_FALSE(locale_is_utf8("", "", ""));
}

TEST_CASE("a terminal says its own width, a pipe has COLUMNS or 80") {
  const PseudoTerminal screen(132);
  CHECK(is_terminal(screen.user_side()));
  CHECK(width_columns(screen.user_side()) == 132);

  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  CHECK_FALSE(is_terminal(ends[1]));
  CHECK_FALSE(can_redraw(ends[1]));
  ::setenv("COLUMNS", "57", 1);
  CHECK(width_columns(ends[1]) == 57);
  for (const char* nonsense :
       {"", "0", "-3", "wide", "80x", "1001", "100000000", "2147483647", "99999999999999"}) {
    ::setenv("COLUMNS", nonsense, 1);
    CHECK(width_columns(ends[1]) == 80);
  }
  ::setenv("COLUMNS", "1000", 1);
  CHECK(width_columns(ends[1]) == 1000);
  ::unsetenv("COLUMNS");
  CHECK(width_columns(ends[1]) == 80);
  ::close(ends[0]);
  ::close(ends[1]);
  CHECK_FALSE(is_terminal(-1));
}

}  // namespace clprobe::terminal
