// SPDX-License-Identifier: Apache-2.0
// Why there are two cursors: `compare` reads a thousand files, and simdjson parses ten times as
// fast as nlohmann does. But simdjson neither says where a document is wrong nor sees that a key is
// repeated. So a document is read with this cursor, which asks the same questions as Cursor and
// throws a Doubt at whatever may be wrong; the document is then read again with Cursor, which says
// what. A good document, which most are, is read once.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "run/cursor.hpp"

namespace clprobe::json {

/// Something may be wrong with the document.
class Doubt : public std::exception {};

class FastCursor {
 public:
  FastCursor() = default;  ///< missing
  explicit FastCursor(simdjson::dom::element element) : element_(element), is_here_(true) {}
  FastCursor(const FastCursor& parent, std::string_view key) {
    is_here_ = parent.object().at_key(key).get(element_) == simdjson::SUCCESS;
  }

  [[nodiscard]] bool is_missing() const { return !is_here_; }
  [[nodiscard]] bool is_text() const { return is_here_ && element_.is_string(); }
  [[nodiscard]] bool is_whole() const {
    return is_here_ && (element_.is_int64() || element_.is_uint64());
  }
  [[nodiscard]] bool is_number() const { return is_here_ && element_.is_number(); }
  void expect_any_object() const { static_cast<void>(object()); }
  /// In one pass: a run has ten thousand samples, and to look for each key is most of reading them.
  template <std::size_t count>
  [[nodiscard]] std::array<FastCursor, count> members(
      const std::array<std::string_view, count>& keys) const;
  [[nodiscard]] std::uint64_t natural() const { return got(here().get_uint64()); }
  [[nodiscard]] std::int64_t integer() const { return got(here().get_int64()); }
  [[nodiscard]] double number() const { return got(here().get_double()); }
  [[nodiscard]] bool boolean() const { return got(here().get_bool()); }
  [[nodiscard]] std::string text() const { return std::string(got(here().get_string())); }

  template <typename Visit>
  void for_each_member(Visit visit) const {
    const simdjson::dom::object members = object();
    if (members.size() > max_members) throw Doubt();
    for (const auto field : members) visit(field.key, FastCursor(field.value));
  }
  template <typename Visit>
  void for_each_element(Visit visit) const {
    for (const simdjson::dom::element each : array()) visit(FastCursor(each));
  }
  [[nodiscard]] std::size_t size_hint() const { return array().size(); }

  [[noreturn]] static void refuse(std::string_view /*expected*/) { throw Doubt(); }

 private:
  template <typename T>
  static T got(simdjson::simdjson_result<T> result) {
    T value{};
    if (std::move(result).get(value) != simdjson::SUCCESS) throw Doubt();
    return value;
  }
  [[nodiscard]] const simdjson::dom::element& here() const {
    if (!is_here_) throw Doubt();
    return element_;
  }
  [[nodiscard]] simdjson::dom::object object() const { return got(here().get_object()); }
  [[nodiscard]] simdjson::dom::array array() const { return got(here().get_array()); }

  simdjson::dom::element element_{};
  bool is_here_{false};
};

template <std::size_t count>
std::array<FastCursor, count> FastCursor::members(
    const std::array<std::string_view, count>& keys) const {
  std::array<FastCursor, count> found;
  std::size_t next = 0;  // as clprobe writes them, keys come in the order in which they are known
  for_each_member([&](std::string_view key, const FastCursor& value) {
    std::size_t place = next;
    while (place < count && keys[place] != key) ++place;
    if (place == count) {
      place = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
    }
    const bool is_known_once = place < count && found[place].is_missing();
    if (!is_known_once) throw Doubt();
    found[place] = value;
    next = place + 1;
  });
  return found;
}

}  // namespace clprobe::json
