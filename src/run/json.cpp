// SPDX-License-Identifier: Apache-2.0
// JSON values with their paths, a parser that rejects text which nlohmann's parser would silently
// accept, and a compact layout.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "run/api/json.hpp"

namespace clprobe::json {
namespace {

// Maximum number of bytes of a string or key in an error message, which must fit on one line.
constexpr std::size_t shown_characters = 40;

// Returns the beginning of an untrusted string as a JSON string in ASCII, safe for a terminal.
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

namespace {

// Maximum width of an array or object on one line, in columns: its indent and text, without its
// key. A sample with two clocks and a checksum fits, and so does a finding with interval and role.
constexpr std::size_t line_columns = 240;

/// Builds the document from the parser's events, in time linear in the text. The builder of
/// nlohmann's library takes longer, since it searches all siblings for each key and at each end of
/// an object. That builder also keeps the last of two equal keys. This class rejects equal keys,
/// and reports the path of an error.
class Builder {
 public:
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  static bool binary(Json::binary_t& /*value*/) { return false; }  // JSON text has no binary values
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& key) {
    OpenValue& last = open_.back();
    last.key = key;
    if (!last.keys.insert(key).second) refuse("expected this key only once");
    if (last.keys.size() > max_members) {
      refuse(fmt::format("expected at most {} keys in an object", max_members));
    }
    return true;
  }

  template <typename Error>
  bool parse_error(std::size_t byte, const std::string& /*token*/, const Error& /*error*/) {
    bad_byte_ = byte;
    is_out_of_range_ = std::is_same_v<Error, Json::out_of_range>;
    return false;
  }

  [[nodiscard]] std::size_t bad_byte() const { return bad_byte_; }
  [[nodiscard]] bool is_out_of_range() const { return is_out_of_range_; }
  [[nodiscard]] Json take() { return std::move(root_); }

  [[nodiscard]] std::string path() const {
    std::string path;
    for (const OpenValue& each : open_) {
      if (each.value->is_array()) {
        // An open array or object is already an element of its parent. The value that is being read
        // is not yet an element.
        path += fmt::format("[{}]", each.value->size() - (&each == &open_.back() ? 0 : 1));
      } else if (!each.keys.empty()) {
        path += path_step(each.key);
      }
    }
    if (path.starts_with('.')) path.erase(0, 1);
    return path.empty() ? "document" : path;
  }

  [[noreturn]] void refuse(std::string_view problem) const {
    throw RunFormatError(fmt::format("{}: {}", path(), problem));
  }

 private:
  /// An array or object whose end was not yet read. The pointer stays valid, since the parent gets
  /// no new member until then.
  struct OpenValue {
    Json* value;
    std::string key{};
    std::set<std::string, std::less<>> keys{};
  };

  template <typename Value>
  bool add(Value&& value) {
    static_cast<void>(put(Json(std::forward<Value>(value))));
    return true;
  }

  Json* put(Json&& value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    OpenValue& last = open_.back();
    if (last.value->is_array()) {
      auto& elements = last.value->get_ref<Json::array_t&>();
      return &elements.emplace_back(std::move(value));
    }
    // The key is known to be new, so that no search is needed.
    std::vector<std::pair<const std::string, Json>>& members =
        last.value->get_ref<Json::object_t&>();
    return &members.emplace_back(last.key, std::move(value)).second;
  }

  bool open(Json&& empty) {
    if (open_.size() == deepest_nesting) {
      refuse(fmt::format("expected at most {} levels of nesting", deepest_nesting));
    }
    open_.push_back({put(std::move(empty))});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  Json root_{};
  std::vector<OpenValue> open_{};
  std::size_t bad_byte_{0};
  bool is_out_of_range_{false};
};

[[noreturn]] void refuse_syntax(std::string_view text, std::size_t byte, const Builder& builder) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    builder.refuse("expected JSON, found an empty file");
  }
  if (byte > text.size()) {
    builder.refuse("expected more JSON, found the end of the file, which may be truncated");
  }
  const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  builder.refuse(fmt::format("expected JSON, found a syntax error at line {}, column {}", line,
                             before.size() - line_start + 1));
}

/// Text of a value, on one or more lines.
struct LaidOut {
  std::string text{};
  bool is_one_line{true};
};

/// Joins the members of a value, with `gap` between keys and values.
std::string join(const Json& value, const std::vector<LaidOut>& parts, const std::string& margin,
                 std::string_view gap) {
  const bool is_array = value.is_array();
  std::string text;
  std::size_t i = 0;
  for (const auto& item : value.items()) {
    if (i > 0) text += ',';
    text += margin;
    if (!is_array) text.append(one_line(Json(item.key()))).append(gap);
    text += parts[i++].text;
  }
  return text;
}

/// Returns the layout of a value. Each member is laid out once, bottom-up, so that deep values are
/// not written again at each level.
LaidOut lay_out(const Json& value, std::size_t indent) {
  const auto fits = [&](const std::string& text) { return text.size() + indent <= line_columns; };
  const auto is_nested = [](const Json& each) { return each.is_structured() && !each.empty(); };
  if (!is_nested(value)) return {one_line(value)};
  if (std::none_of(value.begin(), value.end(), is_nested)) {
    LaidOut line{one_line(value)};
    if (fits(line.text)) return line;
  }
  const std::string_view brackets = value.is_array() ? "[]" : "{}";
  std::vector<LaidOut> parts;
  parts.reserve(value.size());
  for (const Json& each : value) parts.push_back(lay_out(each, indent + 1));
  if (std::all_of(parts.begin(), parts.end(),
                  [](const LaidOut& each) { return each.is_one_line; })) {
    LaidOut line{brackets.front() + join(value, parts, "", ":") + brackets.back()};
    if (fits(line.text)) return line;
  }
  const std::string margin = '\n' + std::string(indent + 1, ' ');
  return {fmt::format("{}{}\n{}{}", brackets.front(), join(value, parts, margin, ": "),
                      std::string(indent, ' '), brackets.back()),
          false};
}

}  // namespace

Json parse(std::string_view text) {
  Builder builder;
  if (Json::sax_parse(text, &builder)) return builder.take();
  if (builder.is_out_of_range()) builder.refuse("expected a number that a double can hold");
  refuse_syntax(text, builder.bad_byte(), builder);
}

std::string one_line(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string many_lines(const Json& value) { return lay_out(value, 0).text + '\n'; }

}  // namespace clprobe::json
