// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
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

#include "cli/flags.hpp"
#include "cli/options.hpp"
#include "unit/example_probes.hpp"
#include "unit/golden.hpp"

namespace clprobe::cli {
namespace {

std::string golden_path(std::string_view shell) {
  const std::string name = "clprobe." + std::string(shell);
  return (std::filesystem::path(CLPROBE_GOLDEN_FOLDER) / name).string();
}

bool is_installed(std::string_view program) {
  return std::system(("command -v " + std::string(program) + " >/dev/null 2>&1").c_str()) == 0;
}

constexpr std::array<std::string_view, 2> machines{"sim:gsi", "sim:kepler"};

constexpr std::array<std::string_view, 3> terms{"knee", "lanes together", "local memory"};

std::string completion_of(std::string_view shell) {
  return completion(shell, example::probes(), machines, terms);
}

/// What the script prints, which the shell reads from a file: nothing has to be quoted twice. Its
/// home is a folder of its own: fish complains where it can write no history, and zsh reads the
/// user's .zshrc, or asks a user who has none for settings.
std::string printed_by(std::string_view shell, const std::string& script) {
  std::string home = (std::filesystem::temp_directory_path() / "clprobe-home-XXXXXX").string();
  REQUIRE(::mkdtemp(home.data()) != nullptr);
  std::ofstream(home + "/script") << script;
  std::ofstream(home + "/.zshrc") << '\n';
  std::string text;
  const std::string command = "env -u XDG_CONFIG_HOME -u XDG_DATA_HOME -u ZDOTDIR HOME='" + home +
                              "' timeout 30 " + std::string(shell) + " '" + home + "/script' 2>&1";
  std::FILE* const output = ::popen(command.c_str(), "r");
  REQUIRE(output != nullptr);
  for (int letter = std::fgetc(output); letter != EOF; letter = std::fgetc(output)) {
    text += static_cast<char>(letter);
  }
  ::pclose(output);
  std::filesystem::remove_all(home);
  return text;
}

/// What bash offers for the last of `words`, which follow "clprobe"; sorted, a line. The program
/// lists a device 0.
std::string offered_by_bash(const std::string& words) {
  return printed_by("bash", "clprobe() { :; }\n. '" + golden_path("bash") +
                                "'\n_clprobe_devices() { echo 0; }\nCOMP_WORDS=(clprobe " + words +
                                ")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_clprobe\n" +
                                R"(printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ')");
}

/// What fish offers for the line; sorted, without the descriptions.
std::string offered_by_fish(const std::string& line) {
  return printed_by("fish", "source '" + golden_path("fish") +
                                "'\nfunction __clprobe_devices; echo 0; end\n"
                                "complete -C '" +
                                line +
                                "' | string split -f1 \\t | sort | "
                                "string join ' '\n");
}

/// What becomes of each line in zsh when Tab is typed behind it, in a terminal of its own; each
/// with a full stop and a line end behind it. A key writes the line to a file: what stands on the
/// screen is wrapped and drawn over.
std::string completed_by_zsh(const std::string& lines) {
  return printed_by("zsh", R"zsh(zmodload zsh/zpty
seen=$(mktemp -d)
export TERM=xterm
zpty shell zsh -i
send() { zpty -w shell "$1" }
send 'autoload -Uz compinit; compinit -D -u'
send '. ')zsh" + golden_path("zsh") +
                               R"zsh(' ; clprobe() { }'
send '_clprobe_devices() { _sequence compadd - all sim:gsi sim:kepler 0 }'
send "show() { print -rn -- \$BUFFER >$seen/new; mv $seen/new $seen/line; BUFFER='' }"
send 'zle -N show; bindkey "^X" show; KEYTIMEOUT=1'
send ": >$seen/ready"
while [[ ! -e $seen/ready ]]; do zpty -r -t shell ignored; sleep 0.05; done
while read -r line; do
  zpty -n -w shell "$line"$'\t\C-x'
  while [[ ! -e $seen/line ]]; do zpty -r -t shell ignored; sleep 0.02; done
  print -r -- "$(<$seen/line)."
  rm $seen/line
done <<'end'
)zsh" + lines + R"zsh(end
zpty -d shell
rm -r $seen
)zsh");
}

/// The long options that _arguments of zsh is told behind the words; sorted.
std::string described_to_zsh(const std::string& words) {
  return printed_by("zsh", R"zsh(compdef() { }
. ')zsh" + golden_path("zsh") + R"zsh('
_arguments() { print -l -- "$@" | grep -o '^[*]*--[a-z-]*' | tr -d '*' | sort | paste -sd ' ' }
words=(clprobe )zsh" + words + R"zsh( '')
CURRENT=$#words
_clprobe | grep . || true
)zsh");
}

}  // namespace

TEST_CASE("completions are as they were read last") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    CHECK(golden_difference("clprobe." + std::string(shell), completion_of(shell)) == "");
  }
  CHECK_THROWS_AS(completion_of("tcsh"), std::invalid_argument);
}

TEST_CASE("completions offer what is not hidden") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string text = completion_of(shell);
    CHECK(text.find("worker") == std::string::npos);
    for (const Flag& flag : visible_flags()) {
      CAPTURE(flag.name);
      CHECK(text.find(flag.name) != std::string::npos);
    }
    CHECK(text.find("bandwidth") != std::string::npos);
    CHECK(text.find("explain") != std::string::npos);
  }
}

TEST_CASE("the shells can read their completions, with and without probes") {
  const std::string folder =
      (std::filesystem::temp_directory_path() / "clprobe-complete-XXXXXX").string();
  std::string name = folder;
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string path = name + "/clprobe";
    if (!is_installed(shell)) {
      MESSAGE("skipped: " << shell << " is not installed");
      continue;
    }
    for (const std::span<const Probe* const> probes :
         {example::probes(), std::span<const Probe* const>{}}) {
      std::ofstream(path) << completion(shell, probes, machines, terms);
      const std::string command = std::string(shell) + " -n '" + path + "' >&2";
      CHECK(std::system(command.c_str()) == 0);
    }
  }
  std::filesystem::remove_all(name);
}

TEST_CASE("bash offers what fits") {
  if (!is_installed("bash")) {
    MESSAGE("skipped: bash is not installed");
    return;
  }
  CHECK(offered_by_bash("''") ==
        "bandwidth compare explain help import latency list profile report version ");
  CHECK(offered_by_bash("la") == "latency ");
  CHECK(offered_by_bash("--f") == "--format ");
  CHECK(offered_by_bash("compare --f") == "--fail-on --format ");
  CHECK(offered_by_bash("-f ''") == "csv curves findings html json markdown svg table ");
  CHECK(offered_by_bash("--color = ''") == "always auto never ");
  CHECK(offered_by_bash("--color =") == "always auto never ");
  CHECK(offered_by_bash("--color = n") == "never ");
  CHECK(offered_by_bash("--seed ''") == " ");
  CHECK(offered_by_bash("explain l") == "lanes together latency local memory ");
  CHECK(offered_by_bash("report run.json latenc") == "latency ");
  CHECK(offered_by_bash("report latenc") == " ");
  CHECK(offered_by_bash("compare a.json latenc") == " ");
  CHECK(offered_by_bash("list ''") == " ");
  CHECK(offered_by_bash("latency b") == "bandwidth ");
  CHECK(offered_by_bash("latency ''") == "bandwidth latency ");
  CHECK(offered_by_bash("latency li") == " ");
  CHECK(offered_by_bash("latency --s") == "--seed --series --sizes --step ");
  CHECK(offered_by_bash("bandwidth --s") == "--seed --step ");
  CHECK(offered_by_bash("latency --series ''") == "global local ");
  CHECK(offered_by_bash("bandwidth --operation ''") == "copy read write ");
  CHECK(offered_by_bash("bandwidth --grid ''") == " ");
  CHECK(offered_by_bash("help l") == "latency list ");
  CHECK(offered_by_bash("version ''") == " ");
  CHECK(offered_by_bash("explain --f") == "--full ");
  CHECK(offered_by_bash("profile --l") == "--launch --levels --list ");
  CHECK(offered_by_bash("profile /et") == "/etc ");
  // Behind -- are the program and its own words.
  CHECK(offered_by_bash("profile -- --l") == " ");
  CHECK(offered_by_bash("profile -- /et") == "/etc ");
}

TEST_CASE("bash completes comma lists, series and devices") {
  if (!is_installed("bash")) {
    MESSAGE("skipped: bash is not installed");
    return;
  }
  CHECK(offered_by_bash("latency --series global,") == "global,local ");
  CHECK(offered_by_bash("latency --series global,l") == "global,local ");
  CHECK(offered_by_bash("latency --series = lo") == "local ");
  CHECK(offered_by_bash("bandwidth --operation read,copy,") == "read,copy,write ");
  CHECK(offered_by_bash("report --series g") == "global ");
  CHECK(offered_by_bash("import --series global,") == "global,local ");
  CHECK(offered_by_bash("-d ''") == "0 all sim:gsi sim:kepler ");
  CHECK(offered_by_bash("list --device = a") == "all ");
  CHECK(offered_by_bash("-d 0,s") == "0,sim:gsi 0,sim:kepler ");
  // Only what follows the colon is replaced.
  CHECK(offered_by_bash("-d sim : ''") == "gsi kepler ");
  CHECK(offered_by_bash("-d sim :") == "gsi kepler ");
  CHECK(offered_by_bash("-d sim : gsi,sim : k") == "kepler ");
  CHECK(offered_by_bash("compare --live --b-device sim : g") == "gsi ");
}

TEST_CASE("shells offer a command the options that it takes, and no others") {
  for (const CommandRow& row : all_commands()) {
    std::set<std::string> expected;
    for (const Flag& flag : visible_flags()) {
      if ((flag.commands & bit(row.command)) != 0) expected.insert("--" + std::string(flag.name));
    }
    if (row.word.empty()) expected.insert("--generate");
    std::string words;
    for (const std::string& word : expected) words += word + " ";
    const std::string command(row.word);
    CAPTURE(command);
    if (is_installed("bash")) {
      CHECK(offered_by_bash(command + " --") == (words.empty() ? " " : words));
    }
    if (!words.empty()) words.back() = '\n';
    if (is_installed("fish")) {
      CHECK(offered_by_fish("clprobe " + command + " --") == words);
    }
    if (is_installed("zsh")) CHECK(described_to_zsh(command) == words);
  }
}

TEST_CASE("fish offers what fits") {
  if (!is_installed("fish")) {
    MESSAGE("skipped: fish is not installed");
    return;
  }
  CHECK(offered_by_fish("clprobe re") == "report\n");
  CHECK(offered_by_fish("clprobe la") == "latency\n");
  CHECK(offered_by_fish("clprobe latency l") == "latency\n");
  CHECK(offered_by_fish("clprobe explain l") == "lanes together latency local memory\n");
  CHECK(offered_by_fish("clprobe report run.json latenc") == "latency\n");
  CHECK(offered_by_fish("clprobe report latenc") == "");
  CHECK(offered_by_fish("clprobe help l") == "latency list\n");
  CHECK(offered_by_fish("clprobe version l") == "");
  CHECK(offered_by_fish("clprobe latency --series ") == "global local\n");
  CHECK(offered_by_fish("clprobe latency --series global,") == "global,local\n");
  CHECK(offered_by_fish("clprobe latency --series=global,") == "--series=global,local\n");
  CHECK(offered_by_fish("clprobe report --series g") == "global\n");
  CHECK(offered_by_fish("clprobe -d 0,sim:") == "0,sim:gsi 0,sim:kepler\n");
  CHECK(offered_by_fish("clprobe list -d ") == "0 all sim:gsi sim:kepler\n");
  CHECK(offered_by_fish("clprobe report --f") == "--format\n");
  CHECK(offered_by_fish("clprobe compare --f") == "--fail-on --format\n");
  CHECK(offered_by_fish("clprobe explain --f") == "--full\n");
  CHECK(offered_by_fish("clprobe bandwidth --st") == "--step\n");
  CHECK(offered_by_fish("clprobe latency bandwidth --un") == "");
  CHECK(offered_by_fish("clprobe compare --live --b-d") == "--b-device\n");
}

TEST_CASE("zsh completes what fits") {
  if (!is_installed("zsh")) {
    MESSAGE("skipped: zsh is not installed");
    return;
  }
  using Completed = std::pair<std::string_view, std::string_view>;
  // The comma of a list goes away where a space is typed.
  constexpr std::array lines{
      Completed{"clprobe rep", "clprobe report "},
      Completed{"clprobe lat", "clprobe latency "},
      Completed{"clprobe explain lat", "clprobe explain latency "},
      Completed{"clprobe explain lan", "clprobe explain lanes together "},
      Completed{"clprobe report run.json lat", "clprobe report run.json latency "},
      Completed{"clprobe report lat", "clprobe report lat"},
      Completed{"clprobe latency rep", "clprobe latency rep"},
      Completed{"clprobe latency --series glo", "clprobe latency --series global,"},
      Completed{"clprobe latency --series global,lo", "clprobe latency --series global,local,"},
      Completed{"clprobe report --series lo", "clprobe report --series local,"},
      Completed{"clprobe -d sim:g", "clprobe -d sim:gsi,"},
      Completed{"clprobe list --device all,sim:k", "clprobe list --device all,sim:kepler,"},
      Completed{"clprobe report --form", "clprobe report --format="},
      Completed{"clprobe report --thor", "clprobe report --thor"},
      Completed{"clprobe explain --fu", "clprobe explain --full "},
      Completed{"clprobe bandwidth --gri", "clprobe bandwidth --grid="},
      Completed{"clprobe compare --live --b-d", "clprobe compare --live --b-device="},
  };
  std::string typed;
  std::string completed;
  for (const auto& [before, after] : lines) {
    typed += std::string(before) + "\n";
    completed += std::string(after) + ".\n";
  }
  CHECK(completed_by_zsh(typed) == completed);
}

}  // namespace clprobe::cli
