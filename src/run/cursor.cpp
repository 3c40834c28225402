// SPDX-License-Identifier: Apache-2.0
#include "run/cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

namespace clprobe::json {
namespace {

// Long enough to recognise a value by, short enough for one line.
constexpr std::size_t shown_characters = 40;

// As a JSON string in ASCII: the document is not trusted, and the error goes to a terminal.
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
  const auto found = object->find(std::string(key));
  return found == object->end() ? nullptr : &*found;
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
    : value_(member(parent.value_, key)), parent_(&parent), key_(key) {
  if (!parent.is_element_ || !parent.element_.is_object()) return;
  is_element_ = parent.element_.at_key(key).get(element_) == simdjson::SUCCESS;
}

std::string Cursor::path() const {
  if (parent_ == nullptr) return {};
  const std::string step = key_.data() == nullptr ? fmt::format("[{}]", index_) : path_step(key_);
  return parent_->path() + step;
}

void Cursor::refuse(std::string_view expected) const {
  if (value_ == nullptr && is_element_) throw RunFormatError("");
  std::string where = path();
  if (where.starts_with('.')) where.erase(0, 1);
  if (where.empty()) where = "document";
  throw RunFormatError(fmt::format("{}: expected {}, found {}", where, expected, describe(value_)));
}

void Cursor::expect_object(std::initializer_list<std::string_view> known) const {
  if (!is_element_) {
    for (const auto& item : object().items()) {
      const std::string& key = item.key();
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        Cursor(*this, key).refuse("no key of this name");
      }
    }
    return;
  }
  std::uint64_t seen = 0;  // a bit a key; no object knows 64 of them
  for_each_member([&](std::string_view key, const Cursor& value) {
    const auto place = std::find(known.begin(), known.end(), key) - known.begin();
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(place);
    if (static_cast<std::size_t>(place) == known.size()) value.refuse("no key of this name");
    if ((seen & bit) != 0) value.refuse("this key only once");
    seen |= bit;
  });
}

std::size_t Cursor::size_hint() const {
  // A hostile file can say little of much; what a file does hold, it has in its text.
  if (!is_element_) return value_ != nullptr && value_->is_structured() ? value_->size() : 0;
  if (simdjson::dom::array array; element_.get(array) == simdjson::SUCCESS) return array.size();
  if (simdjson::dom::object object; element_.get(object) == simdjson::SUCCESS) return object.size();
  return 0;
}

bool Cursor::is_text() const {
  return is_element_ ? element_.is_string() : value_ != nullptr && value_->is_string();
}

bool Cursor::is_whole() const {
  return is_element_ ? element_.is_int64() || element_.is_uint64()
                     : value_ != nullptr && value_->is_number_integer();
}

bool Cursor::is_number() const {
  return is_element_ ? element_.is_number() : value_ != nullptr && value_->is_number();
}

void Cursor::expect_any_object() const {
  if (is_element_) {
    static_cast<void>(got(element_.get_object(), "an object"));
  } else {
    static_cast<void>(object());
  }
}

std::uint64_t Cursor::natural() const {
  if (is_element_) return got(element_.get_uint64(), "a non-negative integer");
  const bool is_minus_zero =
      value_ != nullptr && value_->is_number_integer() && value_->get<std::int64_t>() == 0;
  if (is_minus_zero) return 0;
  if (value_ == nullptr || !value_->is_number_unsigned()) refuse("a non-negative integer");
  return value_->get<std::uint64_t>();
}

std::int64_t Cursor::integer() const {
  if (is_element_) return got(element_.get_int64(), "an integer");
  const bool is_integer = value_ != nullptr && value_->is_number_integer();
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!is_integer) refuse("an integer");
  if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > largest) {
    refuse("an integer below 2^63");
  }
  return value_->get<std::int64_t>();
}

std::int64_t Cursor::integer_from(std::int64_t least) const {
  const std::int64_t value = integer();
  if (value < least) refuse(fmt::format("an integer from {}", least));
  return value;
}

double Cursor::number() const {
  if (is_element_) return got(element_.get_double(), "a number");
  if (value_ == nullptr || !value_->is_number()) refuse("a number");
  return value_->get<double>();
}

bool Cursor::boolean() const {
  if (is_element_) return got(element_.get_bool(), "true or false");
  if (value_ == nullptr || !value_->is_boolean()) refuse("true or false");
  return value_->get<bool>();
}

std::string Cursor::text() const {
  if (is_element_) return std::string(got(element_.get_string(), "a string"));
  if (value_ == nullptr || !value_->is_string()) refuse("a string");
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
