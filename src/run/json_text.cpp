// SPDX-License-Identifier: Apache-2.0
// JSON text: a parser that refuses what nlohmann's would quietly accept, and a compact layout.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "run/json.hpp"

namespace clprobe::json {
namespace {

// A sample with two clocks and a 64-bit witness fits, and a finding with its interval and role.
constexpr std::size_t line_columns = 240;

/// Follows the parser through the document: nlohmann keeps the last of two equal keys.
class Trail {
 public:
  bool follow(Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    switch (event) {
      case Event::object_start:
      case Event::array_start:
        open(event == Event::array_start);
        break;
      case Event::object_end:
      case Event::array_end:
        places_.pop_back();
        step();
        break;
      case Event::key:
        enter(parsed.get_ref<const std::string&>());
        break;
      case Event::value:
        step();
        break;
    }
    return true;
  }

  [[nodiscard]] std::string path() const {
    std::string path;
    for (const Place& place : places_) {
      if (place.is_array) {
        path += fmt::format("[{}]", place.index);
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
  struct Place {
    bool is_array{false};
    std::size_t index{0};
    std::string key{};
    std::set<std::string> keys{};
  };

  void open(bool is_array) {
    if (places_.size() == deepest_nesting) {
      refuse(fmt::format("expected at most {} levels of nesting", deepest_nesting));
    }
    places_.push_back(Place{.is_array = is_array});
  }

  void enter(const std::string& key) {
    places_.back().key = key;
    if (!places_.back().keys.insert(key).second) refuse("expected this key only once");
    if (places_.back().keys.size() > max_members) {
      refuse(fmt::format("expected at most {} keys in an object", max_members));
    }
  }

  void step() {
    if (!places_.empty() && places_.back().is_array) ++places_.back().index;
  }

  std::vector<Place> places_;
};

[[noreturn]] void refuse_syntax(std::string_view text, std::size_t byte, const Trail& trail) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    trail.refuse("expected JSON, found an empty file");
  }
  if (byte > text.size()) {
    trail.refuse("expected the rest of the JSON, found its end (cut short?)");
  }
  const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  trail.refuse(fmt::format("expected JSON, found something else at line {}, column {}", line,
                           before.size() - line_start + 1));
}

void lay_out(const Json& value, std::size_t indent, std::string& text) {
  std::string line = one_line(value);
  if (!value.is_structured() || value.empty() || line.size() + indent <= line_columns) {
    text += line;
    return;
  }
  const bool is_array = value.is_array();
  const std::string margin(indent + 1, ' ');
  text += is_array ? "[\n" : "{\n";
  bool is_first = true;
  for (const auto& item : value.items()) {
    if (!is_first) text += ",\n";
    is_first = false;
    text += margin;
    if (!is_array) text += one_line(Json(item.key())) + ": ";
    lay_out(item.value(), indent + 1, text);
  }
  text += '\n' + std::string(indent, ' ') + (is_array ? ']' : '}');
}

}  // namespace

Json parse(std::string_view text) {
  Trail trail;
  try {
    return Json::parse(text, [&](int /*depth*/, Json::parse_event_t event, const Json& parsed) {
      return trail.follow(event, parsed);
    });
  } catch (const Json::parse_error& error) {
    refuse_syntax(text, error.byte, trail);
  } catch (const Json::out_of_range&) {
    trail.refuse("expected a number that a double can hold");
  }
}

std::string one_line(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string many_lines(const Json& value) {
  std::string text;
  lay_out(value, 0, text);
  return text + '\n';
}

}  // namespace clprobe::json
