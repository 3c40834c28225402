// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>

namespace clprobe::report {

/// A chart's lists of places, each of which is there once: the curves of one plan, on all devices,
/// share theirs, and name it by its number.
class PlaceLists {
 public:
  std::size_t number_of(nlohmann::ordered_json places) {
    const auto [known, is_new] = numbers_.emplace(places.dump(), lists_.size());
    if (is_new) lists_.push_back(std::move(places));
    return known->second;
  }
  [[nodiscard]] nlohmann::ordered_json take() { return std::move(lists_); }

 private:
  nlohmann::ordered_json lists_ = nlohmann::ordered_json::array();
  std::unordered_map<std::string, std::size_t> numbers_{};
};

}  // namespace clprobe::report
