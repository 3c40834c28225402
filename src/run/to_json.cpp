// SPDX-License-Identifier: Apache-2.0
// The writer of run documents. fields.hpp lists the keys.
#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "run/api/json.hpp"
#include "run/fields.hpp"

namespace clprobe::json {
namespace {

// nlohmann would write null, which no reader can tell from "not measured".
double finite(double value, std::string_view name) {
  if (!std::isfinite(value)) throw std::invalid_argument(fmt::format("{} is not finite", name));
  return value;
}

template <HasFields T>
Json encode_fields(const T& object);

// One `encode_value` per kind of member. Errors name the `key`.

template <typename T>
Json encode_value(std::string_view, const T& value) {
  if constexpr (HasFields<T>) {
    return encode_fields(value);
  } else if constexpr (std::is_enum_v<T>) {
    return to_word(value);
  } else {
    return value;
  }
}

Json encode_value(std::string_view key, double value) { return finite(value, key); }

Json encode_value(std::string_view, Bytes size) { return size.count; }

Json encode_value(std::string_view, const Parameters& parameters) {
  Json object = Json::object();
  for (const auto& [name, value] : parameters) {
    if (const auto* const number = std::get_if<double>(&value)) finite(*number, name);
    std::visit([&, &key = name](const auto& held) { object[key] = held; }, value);
  }
  return object;
}

template <typename T>
Json encode_value(std::string_view key, const std::optional<T>& value) {
  return value ? encode_value(key, *value) : Json();
}

template <typename T>
Json encode_value(std::string_view key, const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(encode_value(key, value));
  return array;
}

template <HasFields T>
Json encode_fields(const T& object) {
  Json encoded = Json::object();
  for_each_field<T>([&](const auto& field) {
    if constexpr (is_fixed<std::decay_t<decltype(field)>>) {
      encoded[std::string(field.key)] = field.value;
    } else {
      const auto& value = object.*field.member;
      const bool is_left_out = field.is_optional && value == std::decay_t<decltype(value)>{};
      if (is_left_out) return;
      encoded[std::string(field.key)] = encode_value(field.key, value);
    }
  });
  return encoded;
}

}  // namespace

template <typename T>
Json encode(const T& value) {
  return encode_value({}, value);
}

template Json encode(const Parameters&);
template Json encode(const Sample&);
template Json encode(const Point&);
template Json encode(const Warning&);
template Json encode(const DeviceInfo&);
template Json encode(const KernelBuild&);
template Json encode(const Run&);

}  // namespace clprobe::json

namespace clprobe {

std::string to_json(std::span<const Run> runs) {
  return runs.size() == 1 ? json::many_lines(json::encode(runs.front())) : to_json_array(runs);
}

std::string to_json_array(std::span<const Run> runs) {
  json::Json documents = json::Json::array();
  for (const Run& run : runs) documents.push_back(json::encode(run));
  return json::many_lines(documents);
}

}  // namespace clprobe
