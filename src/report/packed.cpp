// SPDX-License-Identifier: Apache-2.0
#include "report/packed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
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

/// The 85 characters that need no escape in JSON or HTML.
constexpr std::string_view digits =
    "#$%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|";

constexpr char no_digit = '~';  // in the place of null

/// Natural numbers with as many digits each as the largest needs. Samples are most of a page.
Json pack_naturals(const std::vector<Json>& values) {
  std::uint64_t largest = 0;
  for (const Json& value : values) {
    if (!value.is_null()) largest = std::max(largest, value.get<std::uint64_t>());
  }
  std::size_t width = 1;
  for (std::uint64_t rest = largest; rest >= digits.size(); rest /= digits.size()) ++width;
  std::string text(values.size() * width, digits.front());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_null()) text.replace(i * width, width, width, no_digit);
    auto rest = values[i].is_null() ? std::uint64_t{0} : values[i].get<std::uint64_t>();
    for (std::size_t place = (i + 1) * width; rest > 0; rest /= digits.size()) {
      text[--place] = digits[rest % digits.size()];
    }
  }
  return {{"$base85", std::move(text)}, {"$width", width}};
}

Json pack_words(const std::vector<Json>& values) {
  std::vector<Json> at;
  at.reserve(values.size());
  Json words = Json::array();
  std::map<Json, std::size_t> places;
  for (const Json& value : values) {
    const auto [place, is_new] = places.emplace(value, words.size());
    if (is_new) words.push_back(pack(value));
    at.emplace_back(place->second);
  }
  return {{"$words", std::move(words)}, {"$at", pack_naturals(at)}};
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
  Json shortest =
      repeats.size() < all.size() ? Json{{"$repeats", std::move(repeats)}} : std::move(all);
  const auto offer = [&](Json other) {
    if (other.dump().size() < shortest.dump().size()) shortest = std::move(other);
  };
  const auto are_all = [&](auto is_kind) {
    return std::all_of(values.begin(), values.end(), is_kind);
  };
  constexpr std::size_t few = 8;  // which are better readable
  if (values.size() < few) return shortest;
  if (are_all([](const Json& each) { return each.is_number_unsigned() || each.is_null(); })) {
    offer(pack_naturals(values));
  }
  if (are_all([](const Json& each) { return each.is_primitive(); })) offer(pack_words(values));
  return shortest;
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
