// SPDX-License-Identifier: Apache-2.0
#include "clprobe/run.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace clprobe {

void Parameters::set(std::string_view name, Value value) {
  const auto found = std::ranges::find(entries_, name, &std::pair<std::string, Value>::first);
  if (found != entries_.end()) {
    found->second = std::move(value);
  } else {
    entries_.emplace_back(std::string(name), std::move(value));
  }
}

const Value* Parameters::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &std::pair<std::string, Value>::first);
  return found == entries_.end() ? nullptr : &found->second;
}

std::int64_t Parameters::integer(std::string_view name) const {
  const auto* const whole = std::get_if<std::int64_t>(find(name));
  if (whole == nullptr) {
    throw std::out_of_range("no integer parameter '" + std::string(name) + "'");
  }
  return *whole;
}

std::int64_t Parameters::integer_or(std::string_view name, std::int64_t fallback) const {
  const auto* const whole = std::get_if<std::int64_t>(find(name));
  return whole == nullptr ? fallback : *whole;
}

const std::string& Parameters::text(std::string_view name) const {
  const auto* const word = std::get_if<std::string>(find(name));
  if (word == nullptr) throw std::out_of_range("no text parameter '" + std::string(name) + "'");
  return *word;
}

std::string Parameters::text_or(std::string_view name, std::string_view fallback) const {
  const auto* const word = std::get_if<std::string>(find(name));
  return word == nullptr ? std::string(fallback) : *word;
}

Bytes reported_cache(const DeviceInfo& device) {
  const std::int64_t bytes = device.reported.integer_or("cache_bytes", 0);
  return {static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes))};
}

std::string_view model_name(std::string_view device, DeviceType type) {
  if (type != DeviceType::cpu || !(device.starts_with("cpu-") || device.starts_with("pthread-"))) {
    return device;
  }
  for (std::size_t at = 1; at < device.size(); ++at) {
    const bool begins_model = device[at - 1] == '-' && device[at] >= 'A' && device[at] <= 'Z';
    if (begins_model) return device.substr(at);
  }
  return device;
}

bool runs_at_full_clock(const DeviceInfo& device, double ticks_per_ns) {
  constexpr double nearly = 0.98;
  if (device.clock.rate != ClockRate::core_cycles) return false;
  const std::int64_t max_mhz = device.reported.integer_or("max_clock_mhz", 0);
  return max_mhz > 0 && 1e3 * ticks_per_ns >= nearly * static_cast<double>(max_mhz);
}

bool is_sane(double number) {
  const double magnitude = std::fabs(number);
  return magnitude == 0.0 || (magnitude >= min_magnitude && magnitude <= max_magnitude);
}

Better usual_direction(std::string_view unit) {
  if (unit == "seconds" || unit == "cycles") return Better::less;
  const bool is_rate = unit == "bytes_per_second" || unit == "bytes_per_cycle" ||
                       unit == "operations_per_second" || unit == "operations_per_cycle" ||
                       unit == "flops_per_second" || unit == "hertz";
  return is_rate ? Better::more : Better::unknown;
}

}  // namespace clprobe
