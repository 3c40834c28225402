// SPDX-License-Identifier: Apache-2.0
// What a device draws, as its driver or the system reports it. Never needed: where nothing can be
// read there is a reason.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace clprobe::system {

/// Whose power is wanted.
struct PowerTarget {
  bool is_cpu{false};
  std::string uuid{};  ///< hexadecimal digits, as OpenCL has it; may be empty
  std::string pci{};   ///< "0000:01:00.0"; may be empty
};

/// Where it is looked for; tests have places of their own.
struct PowerPlaces {
  std::string sys{"/sys"};
  std::string nvml{"libnvidia-ml.so.1"};
};

/// What a meter says at a moment: what was used since some moment before, else what is drawn now.
struct PowerReading {
  std::optional<double> joules{};
  std::optional<double> watts{};
};

/// A meter that could be read once, and may fail later; else the reason why there is none.
struct PowerMeter {
  std::string name{};  ///< "NVML", "hwmon", "RAPL"; empty: there is none
  std::function<std::optional<PowerReading>()> read{};
  std::string reason{};  ///< "no NVML library; no hwmon folder of 0000:01:00.0"
};

/// Of a CPU RAPL's packages (Linux' powercap), which usually only root may read. Of another device
/// what NVML says of that UUID or PCI address, or its driver's hwmon folder (AMD, Intel).
PowerMeter find_power_meter(const PowerTarget& target, const PowerPlaces& places = {});

/// The mean power between two readings that are so far apart; nothing where they do not say it.
std::optional<double> mean_watts(const PowerReading& before, const PowerReading& after,
                                 double seconds);

}  // namespace clprobe::system
