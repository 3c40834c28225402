// SPDX-License-Identifier: Apache-2.0
#include "report/packed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
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

constexpr std::uint64_t base = digits.size();
constexpr std::size_t block_size = 32;
// Of a range: two digits by a number of seven, and what is carried, are less than 2^64.
constexpr std::size_t most_range_digits = 7;

std::size_t count_digits(std::uint64_t number) {
  std::size_t count = 0;
  for (; number > 0; number /= base) ++count;
  return count;
}

void append(std::string& text, std::uint64_t number, std::size_t width) {
  text.append(width, digits.front());
  for (std::size_t place = text.size(); number > 0; number /= base) {
    text[--place] = digits[number % base];
  }
}

/// The numbers, all below `radix`, as digits of one number to that base.
void append_mixed(std::string& text, std::span<const std::uint64_t> numbers, std::uint64_t radix) {
  constexpr std::uint64_t limb = base * base;
  std::vector<std::uint64_t> limbs;  // the least first
  for (std::uint64_t carry : numbers) {
    for (std::uint64_t& each : limbs) {
      const std::uint64_t sum = each * radix + carry;
      each = sum % limb;
      carry = sum / limb;
    }
    for (; carry > 0; carry /= limb) limbs.push_back(carry % limb);
  }
  const double length = static_cast<double>(numbers.size()) * std::log(static_cast<double>(radix)) /
                        std::log(static_cast<double>(base));
  const auto width = static_cast<std::size_t>(std::ceil(length + 1e-9));
  text.append(width, digits.front());
  std::size_t place = text.size();
  const std::size_t first = text.size() - width;
  for (const std::uint64_t each : limbs) {
    for (const std::uint64_t digit : {each % base, each / base}) {
      if (place > first) text[--place] = digits[digit];
    }
  }
}

std::string block_text(std::span<const std::uint64_t> numbers) {
  std::string text;
  for (std::size_t at = 0; at < numbers.size(); at += block_size) {
    const auto block = numbers.subspan(at, std::min(block_size, numbers.size() - at));
    const auto [least, most] = std::minmax_element(block.begin(), block.end());
    const std::uint64_t range = *most - *least;
    const std::size_t width = count_digits(range);
    append(text, count_digits(*least), 1);
    append(text, *least, count_digits(*least));
    append(text, width, 1);
    append(text, range, width);
    std::vector<std::uint64_t> above;
    for (const std::uint64_t number : block) above.push_back(number - *least);
    if (width > most_range_digits) {
      for (const std::uint64_t number : above) append(text, number, width);
    } else if (width > 0) {
      append_mixed(text, above, range + 1);
    }
  }
  return text;
}

/// Natural numbers, or nulls. Samples are most of a page.
Json pack_naturals(const std::vector<Json>& values) {
  std::vector<std::uint64_t> numbers;
  std::vector<std::uint64_t> nulls;
  numbers.reserve(values.size());
  for (const Json& value : values) {
    nulls.push_back(value.is_null() ? 1 : 0);
    // A neighbour's number in the place of a null makes no range wider.
    const std::uint64_t before = numbers.empty() ? 0 : numbers.back();
    numbers.push_back(value.is_null() ? before : value.get<std::uint64_t>());
  }
  Json packed{{"$base85", block_text(numbers)}, {"$count", values.size()}};
  const bool has_nulls = std::find(nulls.begin(), nulls.end(), 1U) != nulls.end();
  if (has_nulls) packed["$nulls"] = block_text(nulls);
  return packed;
}

Json pack_words(const std::vector<Json>& values) {
  std::vector<Json> at;
  at.reserve(values.size());
  std::vector<Json> words;
  std::map<Json, std::size_t> places;
  for (const Json& value : values) {
    const auto [place, is_new] = places.emplace(value, words.size());
    if (is_new) words.push_back(value);
    at.emplace_back(place->second);
  }
  Json packed = Json::array();
  for (const Json& word : words) packed.push_back(pack(word));
  // Objects are worth columns of their own.
  const bool are_objects = !words.empty() && words.front().is_object();
  return {{"$words", are_objects ? pack_list(words) : std::move(packed)},
          {"$at", pack_naturals(at)}};
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

/// Whether at most half of the objects are different, as the parameters of several runs are.
bool repeats_itself(const std::vector<Json>& objects) {
  constexpr std::size_t few = 8;
  if (objects.size() < few) return false;
  std::unordered_set<std::size_t> hashes;
  for (const Json& object : objects) {
    hashes.insert(std::hash<Json>{}(object));
    if (2 * hashes.size() > objects.size()) return false;
  }
  return true;
}

Json pack_list(const std::vector<Json>& values) {
  const auto all = [&](auto is_kind) {
    return !values.empty() && std::all_of(values.begin(), values.end(), is_kind);
  };
  if (all([](const Json& each) { return each.is_object(); })) {
    return repeats_itself(values) ? pack_words(values) : pack_rows(values);
  }
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
