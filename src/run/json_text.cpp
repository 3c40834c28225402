// SPDX-License-Identifier: Apache-2.0
// JSON text: a parser that refuses what nlohmann's would quietly accept, and a compact layout.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "run/api/json.hpp"

namespace clprobe::json {
namespace {

// A sample with two clocks and a 64-bit witness fits, and a finding with its interval and role.
constexpr std::size_t line_columns = 240;

/// Builds the document from the parser's events, in time linear in the text: nlohmann's own filter
/// walks through all siblings at the end of each object, and seeks each new key among all before
/// it. Knows its place, and refuses equal keys, of which nlohmann keeps the last.
class Builder {
 public:
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  static bool binary(Json::binary_t& /*value*/) { return false; }  // JSON text has none
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& key) {
    Place& place = places_.back();
    place.key = key;
    if (!place.keys.insert(key).second) refuse("expected this key only once");
    if (place.keys.size() > max_members) {
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
    for (const Place& place : places_) {
      if (place.value->is_array()) {
        // Open values already have a place; the value that is being read comes next.
        path += fmt::format("[{}]", place.value->size() - (&place == &places_.back() ? 0 : 1));
      } else if (!place.keys.empty()) {
        path += path_step(place.key);
      }
    }
    if (path.starts_with('.')) path.erase(0, 1);
    return path.empty() ? "document" : path;
  }

  [[noreturn]] void refuse(std::string_view problem) const {
    throw RunFormatError(fmt::format("{}: {}", path(), problem));
  }

 private:
  /// An array or object that is still open. Its own place in its parent does not move: nothing is
  /// added to the parent while it is open.
  struct Place {
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
    if (places_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Place& place = places_.back();
    if (place.value->is_array()) {
      auto& elements = place.value->get_ref<Json::array_t&>();
      return &elements.emplace_back(std::move(value));
    }
    // Appends without a search: the key is known to be new.
    std::vector<std::pair<const std::string, Json>>& members =
        place.value->get_ref<Json::object_t&>();
    return &members.emplace_back(place.key, std::move(value)).second;
  }

  bool open(Json&& empty) {
    if (places_.size() == deepest_nesting) {
      refuse(fmt::format("expected at most {} levels of nesting", deepest_nesting));
    }
    places_.push_back({put(std::move(empty))});
    return true;
  }

  bool close() {
    places_.pop_back();
    return true;
  }

  Json root_{};
  std::vector<Place> places_{};
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

/// A value as text, which may be of several lines.
struct LaidOut {
  std::string text{};
  bool is_one_line{true};
};

/// Joins parts, with `gap` between keys and values.
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

/// Every part is laid out once, and tells whether the whole may be one line: to try the line first
/// at each depth writes what is deep inside again and again.
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
