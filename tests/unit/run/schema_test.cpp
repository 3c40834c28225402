// SPDX-License-Identifier: Apache-2.0
// The schema in tools/schema against the list of fields: apart from its descriptions, it follows
// from them.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "golden.hpp"
#include "run/api/json.hpp"
#include "run/fields.hpp"

namespace clprobe {
namespace {

/// Collects a definition of each type of object, in the order of first use.
class Schema {
 public:
  Schema() {
    definitions_["natural"] = integer(0, std::numeric_limits<std::uint64_t>::max());
    definitions_["parameters"] = {
        {"type", "object"},
        {"maxProperties", json::max_members},
        {"additionalProperties", {{"type", {"integer", "number", "string"}}}}};
  }

  template <json::HasFields T>
  json::Json reference() {
    const std::string name(json::Fields<T>::name);
    if (!definitions_.contains(name)) {
      definitions_[name] = nullptr;  // keeps the definition before those of its members
      json::Json object = describe<T>();
      definitions_[name] = std::move(object);
    }
    return {{"$ref", "#/definitions/" + name}};
  }

  [[nodiscard]] const json::Json& definitions() const { return definitions_; }

 private:
  template <typename Bound>
  static json::Json integer(std::int64_t least, Bound most) {
    return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
  }

  template <json::HasFields T>
  json::Json describe() {
    json::Json required = json::Json::array();
    json::Json properties = json::Json::object();
    json::for_each_field<T>([&](const auto& field) {
      const std::string key(field.key);
      if constexpr (json::is_fixed<std::decay_t<decltype(field)>>) {
        required.push_back(key);
        properties[key] = {{"const", field.value}};
      } else {
        if (!field.is_optional) required.push_back(key);
        json::Json& property = properties[key] = json::Json::object();
        property.update(type_of_member(field));
      }
    });
    return {{"type", "object"},
            {"additionalProperties", false},
            {"required", required},
            {"properties", properties}};
  }

  template <typename Class, typename Member>
  json::Json type_of_member(const json::Field<Class, Member>& field) {
    const Member* const member = nullptr;
    return type_of(member, field.limits);
  }

  // Returns the schema of a member. The pointer selects the overload and is null.
  template <typename T>
  json::Json type_of(const T*, const json::Limits&) {
    if constexpr (json::HasFields<T>) {
      return reference<T>();
    } else {
      static_assert(std::is_enum_v<T>);
      return {{"enum", all_words<T>()}};
    }
  }
  template <typename T>
  json::Json type_of(const std::vector<T>*, const json::Limits& limits) {
    const T* const element = nullptr;
    return {{"type", "array"}, {"items", type_of(element, limits)}};
  }
  template <typename T>
  json::Json type_of(const std::optional<T>*, const json::Limits& limits) {
    const T* const value = nullptr;
    return type_of(value, limits);
  }
  static json::Json type_of(const std::string*, const json::Limits&) {
    return {{"type", "string"}};
  }
  static json::Json type_of(const bool*, const json::Limits&) { return {{"type", "boolean"}}; }
  static json::Json type_of(const double*, const json::Limits& limits) {
    return {{"type", "number"}, {"minimum", limits.low}, {"maximum", limits.high}};
  }
  static json::Json type_of(const Bytes*, const json::Limits&) {
    return {{"$ref", "#/definitions/natural"}};
  }
  static json::Json type_of(const std::uint64_t*, const json::Limits&) {
    return {{"$ref", "#/definitions/natural"}};
  }
  static json::Json type_of(const Parameters*, const json::Limits&) {
    return {{"$ref", "#/definitions/parameters"}};
  }
  static json::Json type_of(const std::int64_t*, const json::Limits& limits) {
    return integer(limits.least, limits.most);
  }
  static json::Json type_of(const int*, const json::Limits& limits) {
    return integer(limits.least, std::numeric_limits<int>::max());
  }

  json::Json definitions_ = json::Json::object();
};

/// Removes what is written for people only.
void drop_descriptions(json::Json& value) {
  if (value.is_object() && value.contains("description") && value.at("description").is_string()) {
    value.erase("description");
  }
  for (json::Json& each : value) {
    if (each.is_structured()) drop_descriptions(each);
  }
}

}  // namespace

TEST_CASE("the schema in tools/schema has the keys, types and limits of the list of fields") {
  json::Json stored = json::parse(read_golden("../../tools/schema/clprobe-run-2.schema.json"));
  for (const json::Json& each : stored.at("definitions")) CHECK(each.contains("type"));
  drop_descriptions(stored);
  Schema schema;
  const json::Json run = schema.reference<Run>();
  const json::Json made{
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"$id", fmt::format("https://clprobe.invalid/schema/{}-{}.schema.json", run_schema_name,
                          run_schema_version)},
      {"title", fmt::format("clprobe run document, version {}", run_schema_version)},
      {"anyOf", {run, {{"type", "array"}, {"items", run}}}},
      {"definitions", schema.definitions()}};
  CHECK(json::many_lines(stored) == json::many_lines(made));
}

}  // namespace clprobe
