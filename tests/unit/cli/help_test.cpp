// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags.hpp"
#include "app/cli/options.hpp"
#include "clprobe/registry.hpp"
#include "text/api/text.hpp"
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

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// "| 130 | interrupted |"
std::size_t count_numbered_rows(std::string_view text) {
  std::size_t rows = 0;
  for (std::size_t at = text.find("| "); at != std::string_view::npos;
       at = text.find("| ", at + 1)) {
    const std::size_t end = text.find_first_not_of("0123456789", at + 2);
    if (end == std::string_view::npos) break;
    if (end != at + 2 && text.substr(end, 3) == " | ") ++rows;
  }
  return rows;
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
  for (const std::string_view word : command_words()) {
    text += command_help(word);
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    CAPTURE(std::string(line));
    CHECK(display_width(line) <= 80);
    CHECK((line.empty() || line.back() != ' '));
  }
}

TEST_CASE("each command has a help of its own, with its options alone") {
  std::string all;
  for (const std::string_view word : command_words()) {
    all += command_help(word) + "\n";
  }
  CHECK(golden_difference("help-commands.txt", all) == "");
  CHECK_THROWS_AS(command_help("lst"), std::invalid_argument);
  CHECK_THROWS_AS(command_help(""), std::invalid_argument);
}

TEST_CASE("exit codes are the same in the help, the man page and docs/formats.md") {
  const std::string help = help_text({});
  const std::string man = man_page({});
  const std::filesystem::path root =
      std::filesystem::path(CLPROBE_GOLDEN_FOLDER).parent_path().parent_path();
  const std::string formats = in_one_line(text_of(root / "docs" / "formats.md"));
  std::size_t rows = 0;
  for (const ExitRow& row : exit_rows) {
    const std::string code = std::to_string(row.code);
    CAPTURE(code);
    CHECK(in_one_line(help).find(" " + code + " " + std::string(row.summary) + " ") !=
          std::string::npos);
    CHECK(man.find(".TP\n\\fB" + code + "\\fR\n") != std::string::npos);
    CHECK(formats.find("| " + code + " | " + std::string(row.details) + " |") != std::string::npos);
    ++rows;
  }
  // No row of the page is without an exit code of the program.
  const std::size_t table = formats.find("| exit code |");
  REQUIRE(table != std::string::npos);
  CHECK(count_numbered_rows(std::string_view(formats).substr(table)) == rows);
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
