// SPDX-License-Identifier: Apache-2.0
// Characters that do something to a terminal or a page, or nothing, and are not seen. Written down
// by hand as bytes: what the program hides must not be judged by the program's own table.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe {

struct HiddenCharacter {
  std::string_view name;
  std::string_view utf8;
};

constexpr std::array hidden_characters{
    HiddenCharacter{"escape", "\x1B"},
    HiddenCharacter{"bell", "\x07"},
    HiddenCharacter{"delete", "\x7F"},
    HiddenCharacter{"C1 control sequence introducer", "\xC2\x9B"},
    HiddenCharacter{"soft hyphen", "\xC2\xAD"},
    HiddenCharacter{"combining grapheme joiner", "\xCD\x8F"},
    HiddenCharacter{"Arabic letter mark", "\xD8\x9C"},
    HiddenCharacter{"Mongolian vowel separator", "\xE1\xA0\x8E"},
    HiddenCharacter{"zero-width space", "\xE2\x80\x8B"},
    HiddenCharacter{"zero-width non-joiner", "\xE2\x80\x8C"},
    HiddenCharacter{"zero-width joiner", "\xE2\x80\x8D"},
    HiddenCharacter{"left-to-right mark", "\xE2\x80\x8E"},
    HiddenCharacter{"right-to-left mark", "\xE2\x80\x8F"},
    HiddenCharacter{"line separator", "\xE2\x80\xA8"},
    HiddenCharacter{"paragraph separator", "\xE2\x80\xA9"},
    HiddenCharacter{"left-to-right embedding", "\xE2\x80\xAA"},
    HiddenCharacter{"right-to-left embedding", "\xE2\x80\xAB"},
    HiddenCharacter{"pop directional formatting", "\xE2\x80\xAC"},
    HiddenCharacter{"left-to-right override", "\xE2\x80\xAD"},
    HiddenCharacter{"right-to-left override", "\xE2\x80\xAE"},
    HiddenCharacter{"word joiner", "\xE2\x81\xA0"},
    HiddenCharacter{"invisible plus", "\xE2\x81\xA4"},
    HiddenCharacter{"left-to-right isolate", "\xE2\x81\xA6"},
    HiddenCharacter{"right-to-left isolate", "\xE2\x81\xA7"},
    HiddenCharacter{"first strong isolate", "\xE2\x81\xA8"},
    HiddenCharacter{"pop directional isolate", "\xE2\x81\xA9"},
    HiddenCharacter{"Hangul filler", "\xE3\x85\xA4"},
    HiddenCharacter{"variation selector", "\xEF\xB8\x8F"},
    HiddenCharacter{"byte order mark", "\xEF\xBB\xBF"},
    HiddenCharacter{"interlinear annotation", "\xEF\xBF\xB9"},
    HiddenCharacter{"noncharacter", "\xEF\xBF\xBE"},
    HiddenCharacter{"musical format character", "\xF0\x9D\x85\xB3"},
    HiddenCharacter{"language tag", "\xF3\xA0\x80\x81"},
    HiddenCharacter{"tag letter A", "\xF3\xA0\x81\x81"},
    HiddenCharacter{"cancel tag", "\xF3\xA0\x81\xBF"},
    HiddenCharacter{"supplementary variation selector", "\xF3\xA0\x84\x80"},
};

/// All of them behind each other, for names of devices, files, findings.
inline std::string all_hidden() {
  std::string text;
  for (const HiddenCharacter& each : hidden_characters) text += each.utf8;
  return text;
}

/// The name of the first of them that occurs in the text; empty when none does.
inline std::string_view first_hidden(std::string_view text) {
  const auto* const found = std::find_if(
      hidden_characters.begin(), hidden_characters.end(),
      [&](const auto& each) { return text.find(each.utf8) != std::string_view::npos; });
  return found == hidden_characters.end() ? std::string_view() : found->name;
}

/// The run with such characters in every text that a driver or a file may choose.
Run with_hidden_text(Run run);

}  // namespace clprobe
