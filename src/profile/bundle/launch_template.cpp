// SPDX-License-Identifier: Apache-2.0
// Description of a launch to edit, made from the text of a kernel.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "profile/api/bundle.hpp"
#include "profile/api/prelude.hpp"

namespace clprobe::bundle {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t usual_items = 1U << 20U;
constexpr std::uint64_t usual_group = 64;
constexpr std::uint64_t usual_count = 1024;

std::vector<std::string> words_of(std::string_view declaration) {
  std::vector<std::string> words{""};
  for (const char each : declaration) {
    const bool is_of_word = std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '_';
    if (is_of_word) words.back() += each;
    if (!is_of_word && !words.back().empty()) words.emplace_back();
  }
  return words;
}

bool has_any(const std::vector<std::string>& words, std::initializer_list<std::string_view> any) {
  return std::any_of(any.begin(), any.end(), [&](std::string_view each) {
    return std::find(words.begin(), words.end(), each) != words.end();
  });
}

/// Returns the name of the declaration's type, without the width of a vector; "float" if the type
/// is unknown.
std::string type_in(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    for (const TypeRow& row : rows_of<Type>) {
      const bool is_vector = word.starts_with(row.word) && word.size() > row.word.size() &&
                             std::isdigit(static_cast<unsigned char>(word[row.word.size()])) != 0;
      if (word != row.word && !is_vector) continue;
      return (has_any(words, {"unsigned"}) ? "u" : "") + std::string(row.word);
    }
    if (word == "size_t") return "ulong";
  }
  return has_any(words, {"unsigned", "bool"}) ? "uint" : "float";
}

}  // namespace

std::string launch_template(std::string_view text) {
  const std::vector<prelude::KernelPosition> kernels = prelude::find_kernels(text);
  if (kernels.empty()) throw FormatError("the text has no kernel");
  const prelude::KernelPosition& kernel = kernels.front();
  Json arguments = Json::array();
  Json objects = Json::array();
  for (const prelude::Parameter& each : kernel.parameters) {
    const std::vector<std::string> words = words_of(each.text);
    const std::string type = type_in(words);
    if (has_any(words, {"local", "__local"})) {
      arguments.push_back({{"local_bytes", usual_group * 4}});
    } else if (each.text.find('*') != std::string::npos) {
      arguments.push_back({{"buffer", each.name}});
      objects.push_back({{"buffer", each.name},
                         {"type", type},
                         {"count", usual_items},
                         {"fill", type.starts_with("u") ? "iota" : "random"}});
    } else {
      const bool is_count = type != "float" && type != "double";
      arguments.push_back({{"type", type}, {"value", is_count ? usual_count : 1}});
    }
  }
  return Json{{"schema", schema_name},  {"schema_version", schema_version},
              {"kernel", kernel.name},  {"global", {usual_items}},
              {"local", {usual_group}}, {"arguments", arguments},
              {"objects", objects}}
      .dump(1);
}

}  // namespace clprobe::bundle
