// SPDX-License-Identifier: Apache-2.0
#include "app/cli/without_folders.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "app/cli/flags.hpp"

namespace clprobe::cli {
namespace {

using Words = std::vector<std::string>;

/// Every way in which a word of a command line can hold a path.
std::vector<Words> forms_with(const std::string& path) {
  std::vector<Words> forms{{path},
                           {"--", path},
                           {"-d", "sim:" + path},
                           {"-dsim:" + path},
                           {"-d=sim:" + path},
                           {"-d", "0,sim:" + path + ",sim:gsi,sim:" + path},
                           {"--device", "sim:" + path},
                           {"--device=sim:" + path},
                           {"-qvo" + path},
                           {"-qvo", path},
                           {"--trace=" + path},
                           {"--trace", path}};
  for (const std::string flag : {"--a-env", "--b-env"}) {
    forms.push_back({flag, "LD_PRELOAD=" + path});
    forms.push_back({fmt::format("{}=LD_PRELOAD={}", flag, path)});
  }
  forms.push_back({"--b-device", "sim:" + path});
  for (const Flag& flag : all_flags()) {
    if (flag.kind != ValueKind::file) continue;
    const std::string name = "--" + std::string(flag.name);
    forms.push_back({name, path});
    forms.push_back({fmt::format("{}={}", name, path)});
    if (flag.short_name == '\0') continue;
    const std::string letter = std::string("-") + flag.short_name;
    forms.push_back({letter, path});
    forms.push_back({letter + path});
    forms.push_back({fmt::format("{}={}", letter, path)});
  }
  return forms;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\n';
  return text;
}

}  // namespace

TEST_CASE(
    "secrets of a program's arguments and of variables are hidden unless they are asked for") {
  const Words words{"profile", "-o",     "/a/b.json", "--", "/c/app", "--password=a/hunter2",
                    "-p",      "hunter2"};
  CHECK(without_folders(words) ==
        Words{"profile", "-o", "b.json", "--", "app", "--password=***", "-p", "***"});
  Words asked = words;
  asked.insert(asked.begin() + 1, "--with-secrets");
  CHECK(without_folders(asked).back() == "hunter2");
  CHECK(variable_without_folders("API_TOKEN=a/hunter2") == "API_TOKEN=***");
  CHECK(without_folders({"compare", "--a-env", "API_TOKEN=hunter2"}).back() == "API_TOKEN=***");
}

TEST_CASE("no form of an argument keeps a folder, and all keep the file's name") {
  const std::array<std::string, 5> paths{"/home/alice/customer-x/a.json", "../alice/a.json",
                                         "alice/customer-x/a.json", "/home/al=ice/x y/a.json",
                                         "/alice//customer-x//a.json"};
  for (const std::string& path : paths) {
    for (const Words& form : forms_with(path)) {
      CAPTURE(joined(form));
      const Words shown = without_folders(form);
      CHECK(shown.size() == form.size());
      const std::string text = joined(shown);
      CHECK(text.find("a.json") != std::string::npos);
      CHECK(text.find("al=ice") == std::string::npos);
      CHECK(text.find("alice") == std::string::npos);
      CHECK(text.find("customer") == std::string::npos);
      CHECK(text.find('/') == std::string::npos);
      CHECK(without_folders(shown) == shown);
    }
  }
}

TEST_CASE("what is no path is as it was typed") {
  const Words typed{"latency",
                    "--sizes",
                    "16KiB-1GiB*1.2",
                    "-d",
                    "0,H200,sim:gsi",
                    "-vq",
                    "--json",
                    "-o",
                    "-",
                    "--device-name",
                    "ATI/AMD GPU",
                    "-ocsv.x",
                    "--format=csv",
                    "stride",
                    "--grid=2^20",
                    "--b-env",
                    "POCL_AFFINITY=1"};
  CHECK(without_folders(typed) == typed);
  CHECK(without_folders({}).empty());
  CHECK(without_folders({"-o"}) == Words{"-o"});
  CHECK(without_folders({"-o", "/"}) == Words{"-o", "/"});
  CHECK(without_folders({"-o", "/home/alice/"}) == Words{"-o", "alice"});
  CHECK(without_folders({"", "-", "--"}) == Words{"", "-", "--"});
}

}  // namespace clprobe::cli
