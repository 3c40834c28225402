// SPDX-License-Identifier: Apache-2.0
#include "clprobe/parameters.hpp"

#include <algorithm>
#include <stdexcept>

namespace clprobe {

void Parameters::set(std::string_view name, Value value) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  if (found != entries_.end()) {
    found->second = std::move(value);
  } else {
    entries_.emplace_back(std::string(name), std::move(value));
  }
}

const Value* Parameters::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == entries_.end() ? nullptr : &found->second;
}

std::int64_t Parameters::integer(std::string_view name) const {
  const Value* const value = find(name);
  if (value == nullptr || !std::holds_alternative<std::int64_t>(*value)) {
    throw std::out_of_range("no integer parameter '" + std::string(name) + "'");
  }
  return std::get<std::int64_t>(*value);
}

std::int64_t Parameters::integer_or(std::string_view name, std::int64_t fallback) const {
  const Value* const value = find(name);
  const auto* const whole = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
  return whole == nullptr ? fallback : *whole;
}

const std::string& Parameters::text(std::string_view name) const {
  const Value* const value = find(name);
  if (value == nullptr || !std::holds_alternative<std::string>(*value)) {
    throw std::out_of_range("no text parameter '" + std::string(name) + "'");
  }
  return std::get<std::string>(*value);
}

std::string Parameters::text_or(std::string_view name, std::string_view fallback) const {
  const Value* const value = find(name);
  const auto* const word = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return word == nullptr ? std::string(fallback) : *word;
}

}  // namespace clprobe
