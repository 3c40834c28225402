// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "cli/flags.hpp"
#include "cli/options.hpp"
#include "clprobe/registry.hpp"
#include "text/text.hpp"
#include "unit/example_probes.hpp"
#include "unit/golden.hpp"

namespace clprobe::cli {
namespace {

/// With its dashes as roff prints them.
std::string escaped(std::string_view words) {
  std::string text;
  for (const char letter : words) {
    if (letter == '-') text += '\\';
    text += letter;
  }
  return text;
}

}  // namespace

TEST_CASE("help and the man page are as they were read last") {
  CHECK(golden_difference("help.txt", help_text(example::probes())) == "");
  CHECK(golden_difference("clprobe.1", man_page(example::probes())) == "");
}

TEST_CASE("every probe has a help of its own") {
  std::string all;
  for (const Probe* const probe : example::probes()) all += probe_help(*probe) + "\n";
  CHECK(golden_difference("help-probes.txt", all) == "");
}

TEST_CASE("help fits on a terminal of 80 columns, without blanks at the ends") {
  std::string text = help_text(all_probes());
  for (const Probe* const probe : all_probes()) text += probe_help(*probe);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    CAPTURE(std::string(line));
    CHECK(display_width(line) <= 80);
    CHECK((line.empty() || line.back() != ' '));
  }
}

TEST_CASE("every flag and command is in both, but the hidden ones") {
  const std::string help = help_text(all_probes());
  const std::string man = man_page(all_probes());
  for (const Flag& flag : all_flags()) {
    const bool is_hidden = flag.category == Category::hidden;
    const std::string name(flag.name);
    CAPTURE(name);
    CHECK((help.find("--" + name) == std::string::npos) == is_hidden);
    CHECK((man.find("\\fB\\-\\-" + escaped(name) + "\\fR") == std::string::npos) == is_hidden);
    if (is_hidden) CHECK(man.find(name) == std::string::npos);
  }
  for (const CommandRow& row : all_commands()) {
    CHECK(help.find("clprobe " + std::string(row.word)) != std::string::npos);
    CHECK(man.find("\\fB" + escaped(row.word)) != std::string::npos);
  }
}

TEST_CASE("the man page has no faults that mandoc knows") {
  if (std::system("command -v mandoc >/dev/null 2>&1") != 0) {
    MESSAGE("skipped: mandoc is not installed");
    return;
  }
  const std::filesystem::path page = std::filesystem::path(CLPROBE_GOLDEN_FOLDER) / "clprobe.1";
  CHECK(std::system(("mandoc -Tlint -Wwarning '" + page.string() + "' >&2").c_str()) == 0);
}

}  // namespace clprobe::cli
