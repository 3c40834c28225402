// SPDX-License-Identifier: Apache-2.0
// Formats are a table: all that is said and done with them follows from its rows.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "app/cli/options.hpp"
#include "clprobe/registry.hpp"
#include "present/api/report.hpp"
#include "text/api/embedded.hpp"

namespace clprobe::cli {
namespace {

bool is_accepted(const std::vector<std::string>& arguments) {
  try {
    parse(arguments, all_probes());
  } catch (const UsageError&) {
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("each format has a word, an ending, and a line in help, completions and documentation") {
  const std::string_view page = embedded_file("formats.md");
  const std::string man = man_page(all_probes());
  const std::string completions =
      complete(std::vector<std::string>{"-f", ""}, {.probes = all_probes()});
  for (const Writer* const format : writers()) {
    const Writer& each = *format;
    CAPTURE(each.name);
    const std::string name(each.name);
    CHECK(find_writer(each.name) == &each);
    std::vector<std::string> words{"-f", name, "-o", "A-1" + std::string(each.ending)};
    if (each.runs == nullptr) words.insert(words.begin(), {"fleet", "report", "a"});
    const Options written = parse(words, all_probes());
    CHECK(written.format == &each);
    CHECK(written.outputs.at(0).format == &each);
    CHECK(page.find(fmt::format("| `{}` (`{}`) |", each.name, each.ending)) !=
          std::string_view::npos);
    CHECK(man.find(name) != std::string::npos);
    CHECK(completions.find(name) != std::string::npos);
    if (each.ending.starts_with('.')) {
      CHECK(command_help("report").find(each.ending) != std::string::npos);
    }
    CHECK(is_accepted({"profile", "--list", "-f", name, "--", "app"}) == (each.survey != nullptr));
  }
  CHECK(find_writer("org") == nullptr);
}

TEST_CASE("the longest ending counts, in capitals too, and a name of nothing else has none") {
  const auto format_of = [](const char* path) {
    return parse({"-o", path}, all_probes()).outputs.at(0).format->name;
  };
  CHECK(format_of("findings.csv") == "findings");
  CHECK(format_of("x/h200-curves.csv") == "curves");
  CHECK(format_of("x.findings.CSV") == "findings");
  CHECK(format_of("finding.csv") == "csv");
  CHECK_FALSE(is_accepted({"-o", ".csv"}));
  CHECK_FALSE(is_accepted({"-o", "csv"}));
}

}  // namespace clprobe::cli
