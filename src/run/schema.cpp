// SPDX-License-Identifier: Apache-2.0
// The JSON Schema of run documents.
#include <fmt/format.h>

#include <limits>
#include <type_traits>

#include "run/api/json.hpp"
#include "run/fields.hpp"

namespace clprobe::json {
namespace {

/// Collects a definition for each type of object, in the order in which they are met.
class Schema {
 public:
  Schema() {
    definitions_["natural"] = integer(0, std::numeric_limits<std::uint64_t>::max());
    definitions_["parameters"] = {
        {"description", "Named values, in the order in which they were set."},
        {"type", "object"},
        {"maxProperties", max_members},
        {"additionalProperties", {{"type", {"integer", "number", "string"}}}}};
  }

  template <HasFields T>
  Json reference() {
    const std::string name(Fields<T>::name);
    if (!definitions_.contains(name)) {
      definitions_[name] = nullptr;  // its place, before those of its members
      Json object = describe<T>();
      definitions_[name] = std::move(object);
    }
    return {{"$ref", "#/definitions/" + name}};
  }

  [[nodiscard]] const Json& definitions() const { return definitions_; }

 private:
  template <typename Bound>
  static Json integer(std::int64_t least, Bound most) {
    return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
  }

  template <HasFields T>
  Json describe() {
    Json required = Json::array();
    Json properties = Json::object();
    for_each_field<T>([&](const auto& field) {
      const std::string key(field.key);
      if constexpr (is_fixed<std::decay_t<decltype(field)>>) {
        required.push_back(key);
        properties[key] = {{"const", field.value}};
      } else {
        if (!field.is_optional) required.push_back(key);
        Json& property = properties[key] = Json::object();
        if (!field.about.empty()) property["description"] = field.about;
        property.update(type_of_member(field));
      }
    });
    return {{"type", "object"},
            {"additionalProperties", false},
            {"required", required},
            {"properties", properties}};
  }

  template <typename Class, typename Member>
  Json type_of_member(const Field<Class, Member>& field) {
    const Member* const member = nullptr;
    return type_of(member, field.limits);
  }

  // Schema of a member by its type. The pointer is null.
  template <typename T>
  Json type_of(const T*, const Limits&) {
    if constexpr (HasFields<T>) {
      return reference<T>();
    } else {
      static_assert(std::is_enum_v<T>);
      return {{"enum", all_words<T>()}};
    }
  }
  template <typename T>
  Json type_of(const std::vector<T>*, const Limits& limits) {
    const T* const element = nullptr;
    return {{"type", "array"}, {"items", type_of(element, limits)}};
  }
  template <typename T>
  Json type_of(const std::optional<T>*, const Limits& limits) {
    const T* const value = nullptr;
    return type_of(value, limits);
  }
  static Json type_of(const std::string*, const Limits&) { return {{"type", "string"}}; }
  static Json type_of(const bool*, const Limits&) { return {{"type", "boolean"}}; }
  static Json type_of(const double*, const Limits& limits) {
    return {{"type", "number"}, {"minimum", limits.low}, {"maximum", limits.high}};
  }
  static Json type_of(const Bytes*, const Limits&) { return {{"$ref", "#/definitions/natural"}}; }
  static Json type_of(const std::uint64_t*, const Limits&) {
    return {{"$ref", "#/definitions/natural"}};
  }
  static Json type_of(const Parameters*, const Limits&) {
    return {{"$ref", "#/definitions/parameters"}};
  }
  static Json type_of(const std::int64_t*, const Limits& limits) {
    return integer(limits.least, limits.most);
  }
  static Json type_of(const int*, const Limits& limits) {
    return integer(limits.least, std::numeric_limits<int>::max());
  }

  Json definitions_ = Json::object();
};

}  // namespace
}  // namespace clprobe::json

namespace clprobe {

std::string run_schema() {
  json::Schema schema;
  const json::Json run = schema.reference<Run>();
  const std::string title = fmt::format("clprobe run document, version {}", run_schema_version);
  return json::many_lines(
      {{"$schema", "http://json-schema.org/draft-07/schema#"},
       {"$id", fmt::format("https://clprobe.invalid/schema/{}-{}.schema.json", run_schema_name,
                           run_schema_version)},
       {"title", title},
       {"description",
        "One run on one device, or an array of them. Units are in the names; values are SI base "
        "units, bytes or integers. A key without a value is left out."},
       {"anyOf", {run, {{"type", "array"}, {"items", run}}}},
       {"definitions", schema.definitions()}});
}

}  // namespace clprobe
