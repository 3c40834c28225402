// SPDX-License-Identifier: Apache-2.0
#include "terminal/terminal.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "terminal/text.hpp"
#include "terminal/write.hpp"
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
  for (const char* nonsense : {"", "0", "-3", "wide", "80x", "99999999999999"}) {
    ::setenv("COLUMNS", nonsense, 1);
    CHECK(width_columns(ends[1]) == 80);
  }
  ::unsetenv("COLUMNS");
  CHECK(width_columns(ends[1]) == 80);
  ::close(ends[0]);
  ::close(ends[1]);
  CHECK_FALSE(is_terminal(-1));
}

TEST_CASE("display width counts what is seen, not bytes") {
  CHECK(display_width("") == 0);
  CHECK(display_width("latency") == 7);
  CHECK(display_width("1.35 µs ± 2 %") == 13);
  CHECK(display_width("▁▃█") == 3);
  CHECK(display_width("e\xCC\x81") == 1);  // e and a combining acute accent
  CHECK(display_width("測定") == 4);
  CHECK(display_width("\xFF\xFE") == 2);      // no UTF-8: a column each
  CHECK(display_width("\xC0\xAF") == 2);      // an overlong form is no UTF-8 either
  CHECK(display_width("\xE2\x96") == 2);      // cut off
  CHECK(display_width("\xED\xA0\x80") == 3);  // a surrogate
}

TEST_CASE("text is cut between characters and cannot move the cursor") {
  CHECK(cut_to_width("latency", 3) == "lat");
  CHECK(cut_to_width("µµµ", 2) == "µµ");
  CHECK(cut_to_width("測定", 3) == "測");
  CHECK(cut_to_width("測定", 1).empty());
  CHECK(cut_to_width("a\nb\x1b[2J", 9) == "a?b?[2J");
  CHECK(cut_to_width("a\xC2\x9B\xFF", 9) == "a??");
  CHECK(cut_to_width("a", -1).empty());
}

TEST_CASE("a quote is one line of UTF-8, whatever was typed") {
  CHECK(quote("plain") == "'plain'");
  CHECK(quote("Größe") == "'Größe'");
  CHECK(quote("a\nb\x1b\x7f") == "'a\\x0ab\\x1b\\x7f'");
  CHECK(quote("\xC3") == "'\\xc3'");
  CHECK(quote("") == "''");
  const std::string cut = quote(std::string(500, 'x'));
  CHECK(cut.size() < 130);
  CHECK(cut.substr(cut.size() - 4) == "...'");
}

}  // namespace clprobe::terminal
