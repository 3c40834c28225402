// SPDX-License-Identifier: Apache-2.0
#include "system/power_spans.hpp"

#include <utility>

namespace clprobe::system {

PowerSpans::PowerSpans(std::function<std::optional<PowerReading>()> read, Clock::duration min_span,
                       std::function<Clock::time_point()> now)
    : read_(std::move(read)), min_span_(min_span), now_(std::move(now)), began_(now_()) {}

void PowerSpans::begin() { last_ = take(); }

std::optional<double> PowerSpans::end() {
  constexpr int parts = 5;
  if (reading_ * parts > now_() - began_) return std::nullopt;
  if (last_ && now_() - last_->at < min_span_) return std::nullopt;
  const std::optional<Taken> before = std::exchange(last_, take());
  if (!before || !last_) return std::nullopt;
  const std::chrono::duration<double> passed = last_->at - before->at;
  return mean_watts(before->reading, last_->reading, passed.count());
}

std::optional<PowerSpans::Taken> PowerSpans::take() {
  const Clock::time_point before = now_();
  const std::optional<PowerReading> reading = read_();
  const Clock::time_point after = now_();
  reading_ += after - before;
  if (!reading) return std::nullopt;
  return Taken{*reading, after};
}

}  // namespace clprobe::system
