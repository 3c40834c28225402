// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/flags.hpp"
#include "app/cli/options.hpp"
#include "unit/example_probes.hpp"
#include "unit/golden.hpp"

namespace clprobe::cli {
namespace {

constexpr std::array<const char*, 3> shells{"bash", "zsh", "fish"};

bool is_installed(std::string_view program) {
  if (std::system(("command -v " + std::string(program) + " >/dev/null 2>&1").c_str()) == 0) {
    return true;
  }
  MESSAGE("skipped: " << program << " is not installed");
  return false;
}

std::string answer_to(const std::vector<std::string>& words) {
  const Completed known{.probes = example::probes(),
                        .devices =
                            [] {
                              return std::vector<Described>{
                                  {"all", ""}, {"0", ""}, {"sim:gsi", ""}, {"sim:kepler", ""}};
                            },
                        .terms = {"knee", "lanes together", "local memory"}};
  return complete(words, known);
}

/// "KIND: WORD, WORD": the answer without its descriptions, sorted. The words are apart by spaces;
/// a line that ends in a space has an empty last word.
std::string offered(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char letter : line) {
    if (letter == ' ') {
      words.emplace_back();
    } else {
      words.back() += letter;
    }
  }
  std::istringstream answer(answer_to(words));
  std::string kind;
  std::getline(answer, kind);
  std::set<std::string> found;
  for (std::string each; std::getline(answer, each);) found.insert(each.substr(0, each.find('\t')));
  std::string text = kind + ":";
  for (const std::string& each : found) text += (text.ends_with(':') ? " " : ", ") + each;
  return text;
}

/// What the script prints in a home of its own: fish complains where it can write no history, and
/// zsh asks a user without .zshrc for settings. `clprobe` answers with the text.
std::string printed_by(std::string_view shell, const std::string& script,
                       const std::string& answer) {
  std::string home = (std::filesystem::temp_directory_path() / "clprobe-home-XXXXXX").string();
  REQUIRE(::mkdtemp(home.data()) != nullptr);
  std::ofstream(home + "/completion") << completion_script(shell);
  std::ofstream(home + "/script") << script;
  std::ofstream(home + "/.zshrc") << '\n';
  std::ofstream(home + "/answer") << answer;
  std::ofstream(home + "/clprobe") << "#!/bin/sh\nprintf '<%s>' \"$@\" >\"$HOME/asked\"\n"
                                      "cat \"$HOME/answer\"\n";
  std::filesystem::permissions(home + "/clprobe", std::filesystem::perms::owner_all);
  std::string text;
  const std::string command =
      "cd '" + home +
      "' && env -u XDG_CONFIG_HOME -u XDG_DATA_HOME -u ZDOTDIR HOME=\"$PWD\" "
      "PATH=\"$PWD:$PATH\" timeout 30 " +
      std::string(shell) + " script 2>&1; cat asked";
  std::FILE* const output = ::popen(command.c_str(), "r");
  REQUIRE(output != nullptr);
  for (int letter = std::fgetc(output); letter != EOF; letter = std::fgetc(output)) {
    text += static_cast<char>(letter);
  }
  ::pclose(output);
  std::filesystem::remove_all(home);
  return text;
}

/// What bash replaces the last of these words by, and the words with which it asks.
std::string bash_replies(const std::string& words, const std::string& answer) {
  return printed_by("bash",
                    ". ./completion\nCOMP_WORDS=(clprobe " + words +
                        ")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_clprobe\n" +
                        R"(printf '%s ' "${COMPREPLY[@]}")",
                    answer);
}

std::string fish_offers(const std::string& line, const std::string& answer) {
  return printed_by(
      "fish",
      "source ./completion\ncomplete -C '" + line + "' | string replace \\t = | string join ' '\n",
      answer);
}

/// The line in zsh once Tab is typed after it, in a terminal of its own. A key writes the line to a
/// file: what stands on the screen is wrapped and drawn over.
std::string zsh_completes(const std::string& line, const std::string& answer) {
  return printed_by("zsh",
                    R"zsh(zmodload zsh/zpty
export TERM=xterm
zpty shell zsh -i
send() { zpty -w shell "$1" }
send 'autoload -Uz compinit; compinit -D -u'
send '. ./completion'
send "show() { print -rn -- \$BUFFER >new; mv new line; BUFFER='' }"
send 'zle -N show; bindkey "^X" show; KEYTIMEOUT=1'
send ': >ready'
while [[ ! -e ready ]]; do zpty -r -t shell ignored; sleep 0.05; done
zpty -n -w shell ')zsh" +
                        line + R"zsh('$'\t\C-x'
while [[ ! -e line ]]; do zpty -r -t shell ignored; sleep 0.02; done
print -r -- "$(<line)."
zpty -d shell
)zsh",
                    answer);
}

}  // namespace

TEST_CASE("completions are as they were read last") {
  for (const char* shell : shells) {
    CHECK(golden_difference("clprobe." + std::string(shell), completion_script(shell)) == "");
  }
  CHECK_THROWS_AS(completion_script("tcsh"), std::invalid_argument);
}

TEST_CASE("shells ask the program, and offer what it answers") {
  if (is_installed("bash")) {
    CHECK(bash_replies("latency --f", "words\n--format\tformat of stdout\n") ==
          "--format <--complete><latency><--f>");
    CHECK(bash_replies("''", "words\n") == " <--complete><>");
    // bash replaces what follows "=" or ":".
    CHECK(bash_replies("--color = n", "words\n--color=never\t\n") ==
          "never <--complete><--color=n>");
    CHECK(bash_replies("--color =", "words\n--color=never\t\n") == "never <--complete><--color=>");
    CHECK(bash_replies("-d sim : g", "list\nsim:gsi\t\n") == "gsi <--complete><-d><sim:g>");
    CHECK(bash_replies("-d sim : gsi,sim : k", "list\nsim:gsi,sim:kepler\t\n") ==
          "kepler <--complete><-d><sim:gsi,sim:k>");
    CHECK(bash_replies("report scr", "files\nscreen\t\n") ==
          "screen script <--complete><report><scr>");
    CHECK(bash_replies("--output = scr", "files\n") == "script <--complete><--output=scr>");
    CHECK(bash_replies("explain l", "words\nlanes together\t\n") ==
          "lanes together <--complete><explain><l>");
  }
  if (is_installed("fish")) {
    CHECK(fish_offers("clprobe latency --f", "words\n--format\tformat of stdout\n") ==
          "--format=format of stdout\n<--complete><latency><--f>");
    CHECK(fish_offers("clprobe -d ", "list\nsim:gsi\tsimulated\n0\tGPU\n") ==
          "0=GPU sim:gsi=simulated\n<--complete><-d><>");
    CHECK(fish_offers("clprobe report scr", "files\n") == "script\n<--complete><report><scr>");
  }
  if (is_installed("zsh")) {
    CHECK(zsh_completes("clprobe rep", "words\nreport\tprint runs: saved ones\n") ==
          "clprobe report .\n<--complete><rep>");
    CHECK(zsh_completes("clprobe -d sim:g", "list\nsim:gsi\t\n") ==
          "clprobe -d sim:gsi.\n<--complete><-d><sim:g>");
    CHECK(zsh_completes("clprobe latency --for", "words\n--format\tformat of stdout\n") ==
          "clprobe latency --format .\n<--complete><latency><--for>");
    CHECK(zsh_completes("clprobe report scr", "files\n") ==
          "clprobe report script .\n<--complete><report><scr>");
  }
}

TEST_CASE("candidates have their description") {
  CHECK(answer_to({"latency", "--form"}) == "words\n--format\tformat of the results on stdout\n");
  CHECK(answer_to({}) == "words\n");
}

TEST_CASE("words are completed by what can follow") {
  CHECK(offered("") ==
        "words: bandwidth, compare, describe, doctor, explain, fleet, help, import, latency, list, "
        "profile, report, "
        "version");
  CHECK(offered("la") == "words: latency");
  CHECK(offered("explain l") == "words: lanes together, latency, local memory");
  CHECK(offered("report run.json latenc") == "files: latency");
  CHECK(offered("report latenc") == "files:");
  CHECK(offered("compare a.json latenc") == "files:");
  CHECK(offered("list ") == "words:");
  CHECK(offered("version ") == "words:");
  CHECK(offered("latency b") == "words: bandwidth");
  CHECK(offered("latency ") == "words: bandwidth, latency");
  CHECK(offered("latency li") == "words:");
  CHECK(offered("help l") == "words: latency, list");
  CHECK(offered("compare --live ") == "words: bandwidth, latency");
  CHECK(offered("profile /et") == "files:");
  // After -- come the program and its own words.
  CHECK(offered("profile -- --l") == "files:");
  // A value is no word.
  CHECK(offered("--label list la") == "words: latency");
}

TEST_CASE("values are completed by their option") {
  std::vector<std::string_view> formats = format_names([](const Writer&) { return true; });
  std::ranges::sort(formats);
  CHECK(offered("-f ") == fmt::format("words: {}", fmt::join(formats, ", ")));
  CHECK(offered("--color=") == "words: --color=always, --color=auto, --color=never");
  CHECK(offered("--color=n") == "words: --color=never");
  CHECK(offered("--seed ") == "words:");
  CHECK(offered("--nosuch=") == "words:");
  CHECK(offered("-o ") == "files:");
  CHECK(offered("latency --series ") == "list: global, local");
  CHECK(offered("latency --series global,") == "list: global,local");
  CHECK(offered("latency --series global,l") == "list: global,local");
  CHECK(offered("latency --series=lo") == "list: --series=local");
  CHECK(offered("bandwidth --operation read,copy,") == "list: read,copy,write");
  CHECK(offered("bandwidth --grid ") == "words:");
  CHECK(offered("report --series g") == "list: global");
  CHECK(offered("import --series global,") == "list: global,local");
  CHECK(offered("-d ") == "list: 0, all, sim:gsi, sim:kepler");
  CHECK(offered("list --device=a") == "list: --device=all");
  CHECK(offered("-d 0,s") == "list: 0,sim:gsi, 0,sim:kepler");
  CHECK(offered("compare --live --b-device sim:g") == "list: sim:gsi");
}

TEST_CASE("options follow their probe and their command") {
  CHECK(offered("--f") == "words: --format");
  CHECK(offered("compare --f") == "words: --fail-on, --format");
  CHECK(offered("explain --f") == "words: --full");
  CHECK(offered("latency --s") == "words: --seed, --series, --sizes, --step");
  CHECK(offered("bandwidth --s") == "words: --seed, --step");
  CHECK(offered("latency bandwidth --un") == "words:");
  CHECK(offered("profile --l") == "words: --launch, --levels, --list");
  CHECK(offered("compare --live --b-d") == "words: --b-device");
  CHECK(offered("compare --live bandwidth --gr") == "words: --grid");
}

TEST_CASE("a command has the options that it takes, and no others") {
  for (const CommandRow& row : all_commands()) {
    std::set<std::string> expected;
    for (const Flag& flag : visible_flags()) {
      if ((flag.commands & bit(row.command)) != 0) expected.insert("--" + std::string(flag.name));
    }
    if (row.word.empty()) expected.insert("--generate");
    std::string text = "words:";
    for (const std::string& each : expected) text += (text.ends_with(':') ? " " : ", ") + each;
    const std::string command(row.word);
    CAPTURE(command);
    CHECK(offered(command + (command.empty() ? "--" : " --")) == text);
  }
}

}  // namespace clprobe::cli
