// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "system/power.hpp"

namespace clprobe::system {

/// The mean power of spans of time, one after the other. Some drivers take longer to read a meter
/// than a moment that is measured lasts: no more than a fifth of the time goes to that, and a span
/// that would end too early goes on. So does one that is short: an H200's meter of energy moves
/// every 100 ms, and spans of 50 had no power and twice the power by turns.
class PowerSpans {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds usual_span{300};

  /// `read`: of a meter. `min_span`: how long a span is. `now`: tests have clocks of their own.
  explicit PowerSpans(std::function<std::optional<PowerReading>()> read,
                      Clock::duration min_span = usual_span,
                      std::function<Clock::time_point()> now = Clock::now);

  /// A span begins; what was before is none of it.
  void begin();
  /// Ends a span, and begins the next. Its power in watts; nothing where it goes on or a reading
  /// failed.
  std::optional<double> end();

 private:
  struct Taken {
    PowerReading reading;
    Clock::time_point at;
  };
  std::optional<Taken> take();

  std::function<std::optional<PowerReading>()> read_;
  Clock::duration min_span_;
  std::function<Clock::time_point()> now_;
  Clock::time_point began_;
  Clock::duration reading_{};  // what that took until now
  std::optional<Taken> last_{};
};

}  // namespace clprobe::system
