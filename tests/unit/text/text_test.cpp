// SPDX-License-Identifier: Apache-2.0
#include "text/api/text.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "unit/hidden_text.hpp"

namespace clprobe {

TEST_CASE("widths are of columns, not of bytes") {
  CHECK(display_width("") == 0);
  CHECK(display_width("latency") == 7);
  CHECK(display_width("1.35 µs ± 2 %") == 13);
  CHECK(display_width("▁▃█⠿│") == 5);
  CHECK(display_width("e\xCC\x81") == 1);  // e and a combining acute accent
  CHECK(display_width("測定") == 4);
  CHECK(display_width("\xF0\x9F\x9A\x80") == 2);  // a rocket: an emoji beyond U+1F64F
  CHECK(display_width("\xFF\xFE") == 2);          // no UTF-8: a column each
  CHECK(display_width("\xC0\xAF") == 2);          // an overlong form is no UTF-8 either
  CHECK(display_width("\xE2\x96") == 2);          // cut off
  CHECK(display_width("\xED\xA0\x80") == 3);      // a surrogate
  CHECK(display_width("\xF4\x90\x80\x80") == 4);  // beyond U+10FFFF
}

TEST_CASE("text is cut between characters") {
  CHECK(cut_to_width("latency", 3) == "lat");
  CHECK(cut_to_width("latency", 7) == "latency");
  CHECK(cut_to_width("µµµ", 2) == "µµ");
  CHECK(cut_to_width("測定", 3) == "測");
  CHECK(cut_to_width("測定", 1).empty());
  CHECK(cut_to_width("a", -1).empty());
  CHECK(cut_to_width("e\xCC\x81x", 1) == "e\xCC\x81");  // an accent stays with its letter
  CHECK(cut_to_width("漢字漢字", 5, "…") == "漢字…");
  CHECK(cut_to_width("漢字漢字", 4, "…") == "漢…");
  CHECK(cut_to_width("漢字", 4, "…") == "漢字");
  CHECK(cut_to_width("abcdef", 2, "...") == "ab");
}

TEST_CASE("text is filled and broken by its width") {
  CHECK(pad_left("µ", 3) == "  µ");
  CHECK(pad_right("測", 3) == "測 ");
  CHECK(pad_right("測定", 3) == "測定");
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(wrap("測定測定", 5) == std::vector<std::string>{"測定", "測定"});
  CHECK(wrap("", 3).empty());
  CHECK(characters("ae\xCC\x81測") == std::vector<std::string>{"a", "e\xCC\x81", "測"});
}

TEST_CASE("text from outside is made safe to show") {
  CHECK(printable("a\x1b[31mb\x7f\tc\r\n") == "a?[31mb? c  ");
  const std::string csi{'\xC2', '\x9B'};  // C1: the same as ESC [
  CHECK(printable(csi + "31m") == "?31m");
  CHECK(printable("\xff\xC0\xAF\xED\xA0\x80\xE6\xBC") == "????????");  // no UTF-8, each byte
  CHECK(printable("Intel® µ 漢 e\xCC\x81") == "Intel® µ 漢 e\xCC\x81");
  CHECK(printable_ascii("Intel® 5 µs ±1% 漢 e\xCC\x81") == "Intel(R) 5 us +-1% ? e?");
  CHECK(printable(std::string_view("a\0b", 3)) == "a?b");
}

TEST_CASE("what is not seen is neither printed nor quoted, and has the width of what is") {
  for (const HiddenCharacter& each : hidden_characters) {
    CAPTURE(each.name);
    const std::string name = "gpu" + std::string(each.utf8) + "xyz";
    CHECK(printable(name) == "gpu?xyz");
    CHECK(printable_ascii(name) == "gpu?xyz");
    CHECK(display_width(name) == 7);
    const std::string quoted = quote(name);
    CHECK(quoted.starts_with("'gpu\\x"));
    CHECK(quoted.ends_with("xyz'"));
    CHECK(first_hidden(quoted).empty());
  }
  CHECK(quote("gpu\xE2\x80\xAExyz") == "'gpu\\xe2\\x80\\xaexyz'");
}

TEST_CASE("a line for stderr shows what is seen, and no more than a screen of it") {
  CHECK(message_line("clprobe: 5 µs\n\x1b[31m") == "clprobe: 5 µs ?[31m");
  for (const HiddenCharacter& each : hidden_characters) {
    CAPTURE(each.name);
    CHECK(first_hidden(message_line("gpu" + std::string(each.utf8))).empty());
  }
  CHECK(message_line(std::string(1920, 'x')) == std::string(1920, 'x'));
  CHECK(message_line(std::string(1921, 'x')) == std::string(1917, 'x') + "...");
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

}  // namespace clprobe
