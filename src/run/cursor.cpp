// SPDX-License-Identifier: Apache-2.0
#include "run/api/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

namespace clprobe::json {
namespace {

// Long enough to recognise a value by, short enough for one line.
constexpr std::size_t shown_characters = 40;

// Returns a JSON string in ASCII: the document is not trusted, and the error goes to a terminal.
std::string excerpt(std::string_view text) {
  std::string shown =
      Json(text.substr(0, shown_characters)).dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > shown_characters) shown.insert(shown.size() - 1, "...");
  return shown;
}

std::string describe(const Json* value) {
  if (value == nullptr) return "nothing";
  switch (value->type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::string:
      return fmt::format("the string {}", excerpt(value->get_ref<const std::string&>()));
    case Json::value_t::boolean:
      return value->get<bool>() ? "true" : "false";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
      return value->dump();
    case Json::value_t::binary:
    case Json::value_t::discarded:
      break;
  }
  return "no JSON value";
}

const Json* member(const Json* object, std::string_view key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  for (const auto& [name, value] : object->get_ref<const Json::object_t&>()) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace

std::string path_step(std::string_view key) {
  const bool is_plain = !key.empty() && key.size() <= shown_characters &&
                        std::all_of(key.begin(), key.end(), [](unsigned char c) {
                          return std::isalnum(c) != 0 || c == '_' || c == '-';
                        });
  return is_plain ? fmt::format(".{}", key) : fmt::format("[{}]", excerpt(key));
}

Cursor::Cursor(const Cursor& parent, std::string_view key)
    : value_(member(parent.value_, key)), parent_(&parent), key_(key) {}

std::string Cursor::path() const {
  if (parent_ == nullptr) return {};
  const std::string step = key_.data() == nullptr ? fmt::format("[{}]", index_) : path_step(key_);
  return parent_->path() + step;
}

void Cursor::refuse(std::string_view expected) const {
  std::string where = path();
  if (where.starts_with('.')) where.erase(0, 1);
  if (where.empty()) where = "document";
  throw RunFormatError(fmt::format("{}: expected {}, found {}", where, expected, describe(value_)));
}

std::size_t Cursor::size_hint() const {
  return value_ != nullptr && value_->is_array() ? value_->size() : 0;
}

std::uint64_t Cursor::natural() const {
  const bool is_minus_zero = is_whole() && value_->get<std::int64_t>() == 0;
  if (is_minus_zero) return 0;
  if (value_ == nullptr || !value_->is_number_unsigned()) refuse("a non-negative integer");
  return value_->get<std::uint64_t>();
}

std::int64_t Cursor::integer() const {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!is_whole()) refuse("an integer");
  if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > largest) {
    refuse("an integer below 2^63");
  }
  return value_->get<std::int64_t>();
}

double Cursor::number() const {
  if (!is_number()) refuse("a number");
  return value_->get<double>();
}

bool Cursor::boolean() const {
  if (value_ == nullptr || !value_->is_boolean()) refuse("true or false");
  return value_->get<bool>();
}

std::string Cursor::text() const {
  if (!is_text()) refuse("a string");
  return value_->get<std::string>();
}

const Json& Cursor::array() const {
  if (value_ == nullptr || !value_->is_array()) refuse("an array");
  return *value_;
}

const Json& Cursor::object() const {
  if (value_ == nullptr || !value_->is_object()) refuse("an object");
  return *value_;
}

}  // namespace clprobe::json
