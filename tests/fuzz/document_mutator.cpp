// SPDX-License-Identifier: Apache-2.0
// How libFuzzer changes run documents: one place of the document at a time, to a value that nobody
// thought of. Bytes changed at random are refused by the parser nearly always, and never reach what
// reads the numbers; one in eight is left to those.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "clprobe/run.hpp"
#include "hostile/extremes.hpp"
#include "run/api/json.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t max);

namespace {

using clprobe::json::Json;

/// A place in the document: its parent, and where it is in there.
struct Place {
  Json* parent;
  std::size_t index;
};

void find_places(Json& value, std::vector<Place>& places) {
  if (!value.is_structured()) return;
  std::size_t index = 0;
  for (Json& each : value) {
    places.push_back({&value, index++});
    find_places(each, places);
  }
}

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  void mutate(Json& document) {
    const std::size_t changes = 1 + below(3);
    for (std::size_t i = 0; i < changes; ++i) change_one(document);
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }
  const Json& any_of(const std::vector<Json>& values) { return values[below(values.size())]; }

  void change_one(Json& document) {
    std::vector<Place> places;
    find_places(document, places);
    if (places.empty()) return;
    const Place at = places[below(places.size())];
    // Step by step: an object's iterators have no offsets.
    const auto nth = [&](std::size_t n) {
      return std::next(at.parent->begin(), static_cast<std::ptrdiff_t>(n));
    };
    const auto place = nth(at.index);
    switch (below(8)) {
      case 0:
        at.parent->erase(place);
        break;
      case 1:
        if (at.parent->is_array()) at.parent->push_back(Json(*place));
        break;
      case 2:  // what stands at one place, at another of the same kind
        *place = Json(*nth(below(at.parent->size())));
        break;
      default:
        replace(*place);
    }
  }

  void replace(Json& value) {
    if (value.is_structured()) return;
    if (value.is_string()) {
      value = any_of(texts_);
    } else if (value.is_boolean()) {
      value = !value.get<bool>();
    } else if (value.is_number_integer() && below(4) == 0) {
      value = value.get<std::int64_t>() ^ std::int64_t(std::uint64_t{1} << below(64));
    } else {
      value = any_of(numbers_);
    }
  }

  std::mt19937 random_;
  const std::vector<Json> numbers_{clprobe::hostile::extreme_numbers()};
  const std::vector<Json> texts_{clprobe::hostile::extreme_texts()};
};

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer asks for it
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size,
                                               std::size_t max, unsigned seed) {
  constexpr unsigned one_in = 8;
  if (seed % one_in == 0) return LLVMFuzzerMutate(bytes, size, max);
  try {
    Json document = clprobe::json::parse(std::string(bytes, bytes + size));
    Mutator(seed).mutate(document);
    const std::string text = clprobe::json::one_line(document);
    if (text.size() > max) return LLVMFuzzerMutate(bytes, size, max);
    std::memcpy(bytes, text.data(), text.size());
    return text.size();
  } catch (const clprobe::RunFormatError&) {
    return LLVMFuzzerMutate(bytes, size, max);
  }
}
