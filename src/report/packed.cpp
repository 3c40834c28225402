// SPDX-License-Identifier: Apache-2.0
#include "report/packed.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace clprobe::report {
namespace {

using Json = nlohmann::ordered_json;

bool changes_in_javascript(const Json& number) {
  constexpr double safe = 9007199254740991.0;  // 2^53 - 1: Number.MAX_SAFE_INTEGER
  if (number.is_number_float()) {
    const auto value = number.get<double>();
    return value == std::floor(value);
  }
  return number.is_number_integer() && std::fabs(number.get<double>()) > safe;
}

std::string pack_key(const std::string& key) { return key.starts_with('$') ? '$' + key : key; }

Json pack_list(const std::vector<Json>& values);

Json pack_rows(const std::vector<Json>& objects) {
  std::vector<std::string> keys;
  for (const Json& object : objects) {
    for (const auto& item : object.items()) {
      if (std::find(keys.begin(), keys.end(), item.key()) == keys.end()) keys.push_back(item.key());
    }
  }
  Json columns = Json::array();
  for (const std::string& key : keys) {
    std::vector<Json> column;
    column.reserve(objects.size());
    for (const Json& object : objects) {
      const auto found = object.find(key);
      column.push_back(found == object.end() ? Json() : *found);
    }
    columns.push_back(Json::array({pack_key(key), pack_list(column)}));
  }
  return {{"$rows", objects.size()}, {"$columns", std::move(columns)}};
}

Json pack_joined(const std::vector<Json>& lists) {
  std::vector<Json> lengths;
  std::vector<Json> joined;
  for (const Json& list : lists) {
    lengths.emplace_back(list.size());
    joined.insert(joined.end(), list.begin(), list.end());
  }
  return {{"$lengths", pack_list(lengths)}, {"$joined", pack_list(joined)}};
}

Json pack_values(const std::vector<Json>& values) {
  Json repeats = Json::array();
  Json all = Json::array();
  std::size_t first = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    all.push_back(pack(values[i]));
    const bool is_last = i + 1 == values.size() || values[i + 1] != values[i];
    if (!is_last) continue;
    repeats.push_back(all.back());
    repeats.push_back(i + 1 - first);
    first = i + 1;
  }
  if (repeats.size() < all.size()) return {{"$repeats", std::move(repeats)}};
  return all;
}

Json pack_list(const std::vector<Json>& values) {
  const auto all = [&](auto is_kind) {
    return !values.empty() && std::all_of(values.begin(), values.end(), is_kind);
  };
  if (all([](const Json& each) { return each.is_object(); })) return pack_rows(values);
  if (all([](const Json& each) { return each.is_array(); })) return pack_joined(values);
  return pack_values(values);
}

}  // namespace

Json pack(const Json& document) {
  if (document.is_array()) return pack_list({document.begin(), document.end()});
  if (document.is_number() && changes_in_javascript(document)) {
    return {{"$number", document.dump()}};
  }
  if (!document.is_object()) return document;
  Json packed = Json::object();
  for (const auto& item : document.items()) packed[pack_key(item.key())] = pack(item.value());
  return packed;
}

}  // namespace clprobe::report
