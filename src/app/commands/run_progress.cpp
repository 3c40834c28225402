// SPDX-License-Identifier: Apache-2.0
#include "app/commands/run_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <variant>

#include "clprobe/units.hpp"

namespace clprobe::commands {

void RunProgress::begin_device(std::vector<double> probe_seconds, std::size_t devices_after) {
  left_ = std::move(probe_seconds);
  const double here = std::accumulate(left_.begin(), left_.end(), 0.0);
  later_devices_ = here * static_cast<double>(devices_after);
}

void RunProgress::set_left(std::size_t probe, double seconds) {
  if (probe < left_.size()) left_[probe] = std::max(0.0, seconds);
}

double RunProgress::seconds_left() const {
  return std::accumulate(left_.begin(), left_.end(), later_devices_);
}

double RunProgress::share(double spent_seconds) {
  constexpr double almost_all = 0.99;
  const double all = spent_seconds + seconds_left();
  if (all > 0.0) share_ = std::max(share_, std::min(almost_all, spent_seconds / all));
  return share_;
}

std::string_view activity_of(std::string_view question) {
  struct Shown {
    std::string_view question;
    std::string_view activity;
  };
  constexpr std::array shown{Shown{"open", "opening"},
                             Shown{"try-events", "testing event times"},
                             Shown{"try-clock", "testing the clock"},
                             Shown{"try-pointers", "testing pointers"},
                             Shown{"calibrate", "calibrating the clock"},
                             Shown{"prepare", "preparing"},
                             Shown{"sample", "measuring"}};
  const auto* const found = std::find_if(
      shown.begin(), shown.end(), [&](const Shown& each) { return each.question == question; });
  return found == shown.end() ? std::string_view() : found->activity;
}

std::string describe_point(const Probe& probe, const Point& point) {
  const Value* const x = point.parameters.find(probe.view.x);
  const auto* const bytes = x == nullptr ? nullptr : std::get_if<std::int64_t>(x);
  if (bytes == nullptr || *bytes < 0 || !probe.view.x.ends_with("_bytes")) return point.series;
  return fmt::format("{}, {}", point.series,
                     format_bytes(Bytes{static_cast<std::uint64_t>(*bytes)}));
}

}  // namespace clprobe::commands
