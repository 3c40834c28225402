// SPDX-License-Identifier: Apache-2.0
// What a device draws, as its driver or the system reports it. Never needed: where nothing can be
// read there is a reason.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace clprobe::system {

/// The device whose power is measured.
struct PowerTarget {
  bool is_cpu{false};
  std::string uuid{};  ///< hexadecimal digits, as OpenCL has it; may be empty
  std::string pci{};   ///< "0000:01:00.0"; may be empty
};

/// Places of meters; tests use their own.
struct PowerPlaces {
  std::string sys{"/sys"};
  std::string nvml{"libnvidia-ml.so.1"};
};

/// A reading of a meter: the energy since some earlier moment, or the present power.
struct PowerReading {
  std::optional<double> joules{};
  std::optional<double> watts{};
};

/// A meter that could be read once, and may fail later; else the reason why there is none.
struct PowerMeter {
  std::string name{};  ///< "NVML", "hwmon" or "RAPL"; empty if there is no meter
  std::function<std::optional<PowerReading>()> read{};
  std::string reason{};  ///< "no NVML library; no hwmon folder of 0000:01:00.0"
};

/// Finds a device's meter. On a CPU: RAPL's packages (Linux' powercap), which usually only root may
/// read. For another device: NVML by UUID or PCI address, or its driver's hwmon folder (AMD,
/// Intel).
PowerMeter find_power_meter(const PowerTarget& target, const PowerPlaces& places = {});

/// The mean power between two readings that are so far apart; nothing where they do not say it.
std::optional<double> mean_watts(const PowerReading& before, const PowerReading& after,
                                 double seconds);

/// Mean power of consecutive spans of time. Some drivers take longer to read a meter than a
/// measured moment lasts, so that at most a fifth of the time goes to readings, and a span lasts
/// until then. A span also lasts at least `min_span`: an H200's energy meter updates every 100 ms,
/// and spans of 50 ms alternated between no power and twice the power.
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
