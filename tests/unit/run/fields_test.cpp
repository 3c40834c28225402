// SPDX-License-Identifier: Apache-2.0
// The lists of fields, walked by the tests too: every field that there is, and each one added
// later, is written, read and described.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "example_runs.hpp"
#include "golden.hpp"
#include "random.hpp"
#include "run/api/json.hpp"
#include "run/fields.hpp"

namespace clprobe {
namespace {

using json::Json;

/// Random documents, as large as a test can afford and as odd as the format allows.
class Author {
 public:
  explicit Author(std::uint64_t seed) : random_(seed) {}

  template <json::HasFields T>
  void write(T& object, const json::Limits& = {}) {
    json::for_each_field<T>([&](const auto& field) {
      if constexpr (!json::is_fixed<std::decay_t<decltype(field)>>) {
        write(object.*field.member, field.limits);
      }
    });
  }
  template <typename T>
  void write(std::vector<T>& values, const json::Limits& = {}) {
    values.resize(count_up_to(2));
    for (T& value : values) write(value);
  }
  template <typename T>
  void write(std::optional<T>& value, const json::Limits& limits = {}) {
    if (random_.chance(0.5)) write(value.emplace(), limits);
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void write(Enum& value, const json::Limits& = {}) {
    value = from_word<Enum>(random_.one_of(all_words<Enum>())).value();
  }
  void write(Parameters& parameters, const json::Limits& = {}) {
    for (std::size_t left = count_up_to(3); left > 0; --left) {
      std::int64_t whole = 0;
      double number = 0.0;
      std::string text;
      write(whole, {.least = std::numeric_limits<int>::min()});
      write(number);
      write(text);
      const std::array<Value, 3> values{whole, number, text};
      std::string name;
      write(name);
      parameters.set(name, random_.one_of(values));
    }
  }
  void write(std::string& text, const json::Limits& = {}) {
    constexpr std::array<const char*, 9> pieces{
        "a", "_bytes", "\"", "\\", "{", "\n\x1b[31m", "\x7f", "\xC2\xB5", "\xF0\x9F\x94\xA5"};
    text.clear();
    for (std::size_t left = count_up_to(4); left > 0; --left) text += random_.one_of(pieces);
  }
  void write(bool& value, const json::Limits& = {}) { value = random_.chance(0.5); }
  void write(double& value, const json::Limits& limits = {}) {
    constexpr std::array special{0.0, -1.5, 3.0, 1.0 / 3.0, max_magnitude, min_magnitude};
    value = random_.chance(0.5) ? random_.one_of(special) : random_.normal() * 1e-9;
    value = std::clamp(value, limits.low, limits.high);
  }
  void write(Bytes& value, const json::Limits& = {}) { write(value.count); }
  void write(std::uint64_t& value, const json::Limits& = {}) {
    constexpr std::array<std::uint64_t, 4> special{0, 1, std::uint64_t{1} << 63U,
                                                   std::numeric_limits<std::uint64_t>::max()};
    value = random_.chance(0.5) ? random_.one_of(special)
                                : static_cast<std::uint64_t>(random_.log_uniform(1, 1e18));
  }
  void write(std::int64_t& value, const json::Limits& limits) {
    const std::array<std::int64_t, 3> special{limits.least, limits.least + 1LL, limits.most};
    value = random_.one_of(special);
  }
  void write(int& value, const json::Limits& limits) {
    const std::array special{limits.least, limits.least + 1, std::numeric_limits<int>::max()};
    value = random_.one_of(special);
  }

 private:
  std::size_t count_up_to(int most) {
    return static_cast<std::size_t>(random_.uniform(0.0, most + 0.999));
  }

  Random random_;
};

Run random_run(std::uint64_t seed) {
  Run run;
  Author(seed).write(run);
  for (std::size_t i = 0; i < run.results.size(); ++i) {
    run.results[i].probe += std::to_string(i);  // each is there once
  }
  return run;
}

// One object of every type that a document has.
Run full_run() {
  Run run = example_gpu_run();
  ProbeResult& result = run.results.front();
  result.points.resize(1);
  result.findings.resize(1);
  result.reason = "none";
  run.imported = ImportInfo{"clpeak 2.1.2", "clpeak-json", "a.json"};
  run.warnings = {{"clock_refused", {{"clock", std::string("intel")}}}};
  return run;
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(runs_from_json(text));
  } catch (const RunFormatError& error) {
    return error.what();
  }
  return "accepted";
}

/// Places of all objects of a document, as JSON pointers.
std::vector<Json::json_pointer> objects_in(
    const Json& value, const Json::json_pointer& here = Json::json_pointer("")) {
  std::vector<Json::json_pointer> found;
  if (value.is_object()) found.push_back(here);
  if (!value.is_structured()) return found;
  std::size_t index = 0;
  for (const auto& item : value.items()) {
    const auto next = value.is_object() ? here / item.key() : here / index++;
    const auto inner = objects_in(item.value(), next);
    found.insert(found.end(), inner.begin(), inner.end());
  }
  return found;
}

/// Whether it holds names that are no keys: whatever the driver, a probe or the engine calls them.
bool holds_names(const Json::json_pointer& place) {
  if (place.empty()) return false;
  const std::string& key = place.back();
  return key == "parameters" || key == "facts" || key == "reported";
}

}  // namespace

TEST_CASE("whatever a run holds is written, and read back") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Run run = random_run(seed);
    const std::string text = to_json(std::span(&run, 1));
    REQUIRE(runs_from_json(text) == std::vector<Run>{run});
  }
}

TEST_CASE("an unknown key is refused in every object, with its path") {
  const Run run = full_run();
  const Json good = json::encode(run);
  const std::vector<Json::json_pointer> places = objects_in(good);
  int refused = 0;
  for (const Json::json_pointer& place : places) {
    Json text = good;
    text[place]["unheard-of"] = 1;
    CAPTURE(place.to_string());
    const std::string message = refusal(text.dump());
    if (holds_names(place)) {
      CHECK(message == "accepted");
    } else {
      ++refused;
      CHECK(message.ends_with("unheard-of: expected no key of this name, found 1"));
    }
  }
  // run, tool, host, import, device, clock, warning, result, view, finding, warning, kernel, point
  // and three samples
  CHECK(refused == 16);
}

TEST_CASE("every key but the optional ones is needed in every object") {
  const Json good = json::encode(full_run());
  int needed = 0;
  std::vector<std::string> optional;
  for (const Json::json_pointer& place : objects_in(good)) {
    if (holds_names(place)) continue;
    for (const auto& item : good.at(place).items()) {
      Json text = good;
      text[place].erase(item.key());
      CAPTURE((place / item.key()).to_string());
      const std::string message = refusal(text.dump());
      if (message == "accepted") {
        optional.push_back(item.key());
        continue;
      }
      ++needed;
      CHECK(message.find(item.key() + ": expected ") != std::string::npos);
      CHECK(message.ends_with(", found nothing"));
    }
  }
  CHECK(needed > 80);
  const std::vector<std::string> expected{"imported", "uuid",   "pci",      "isa",    "reason",
                                          "x",        "level",  "value",    "low",    "high",
                                          "unit",     "method", "role",     "better", "ticks",
                                          "event_ns", "ticks",  "event_ns", "ticks",  "event_ns"};
  CHECK(optional == expected);
}

TEST_CASE("a repeated key is refused in every object") {
  const std::string good = json::one_line(json::encode(full_run()));
  REQUIRE(refusal(good) == "accepted");
  int refused = 0;
  for (std::size_t at = good.find("{\""); at != std::string::npos; at = good.find("{\"", at + 1)) {
    const std::string key = good.substr(at + 1, good.find(':', at) - at - 1);
    std::string text = good;
    text.insert(at + 1, key + ":0,");
    CAPTURE(key);
    CHECK(refusal(text).ends_with("expected this key only once"));
    ++refused;
  }
  CHECK(refused == 21);  // those above, and parameters, reported and three times facts
}

}  // namespace clprobe
