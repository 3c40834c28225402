// SPDX-License-Identifier: Apache-2.0
#include "system/api/host.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "system/nvml.hpp"

namespace clprobe::system {
namespace {

constexpr double micro = 1e-6;
constexpr double milli = 1e-3;

using Path = std::filesystem::path;

std::optional<double> number_in(const Path& file) {
  std::ifstream text(file);
  double number = 0.0;
  return text >> number ? std::optional(number) : std::nullopt;
}

/// Returns the subfolders whose names begin with `prefix`, sorted by name.
std::vector<Path> folders_in(const Path& parent, std::string_view prefix) {
  std::vector<Path> found;
  std::error_code failure;
  for (auto each = std::filesystem::directory_iterator(parent, failure);
       !failure && each != std::filesystem::directory_iterator(); each.increment(failure)) {
    if (each->path().filename().string().starts_with(prefix)) found.push_back(each->path());
  }
  std::ranges::sort(found);
  return found;
}

struct NvmlPower {
  Nvml nvml{};
  int (*energy)(Nvml::Device,
                unsigned long long* millijoules){nullptr};  // NOLINT(google-runtime-int)
  int (*power)(Nvml::Device, unsigned* milliwatts){nullptr};
};

std::optional<PowerReading> read_nvml(const NvmlPower& meter) {
  unsigned long long millijoules = 0;  // NOLINT(google-runtime-int): as NVML declares it
  unsigned milliwatts = 0;
  PowerReading reading;
  if (meter.energy != nullptr && meter.energy(meter.nvml.device, &millijoules) == 0) {
    reading.joules = static_cast<double>(millijoules) * milli;
  }
  if (meter.power != nullptr && meter.power(meter.nvml.device, &milliwatts) == 0) {
    reading.watts = milliwatts * milli;
  }
  if (!reading.joules && !reading.watts) return std::nullopt;
  return reading;
}

PowerMeter nvml_meter(const DeviceTarget& target, const DevicePlaces& places) {
  NvmlPower meter{.nvml = open_nvml(target, places.nvml)};
  if (!meter.nvml.reason.empty()) return {"", {}, meter.nvml.reason};
  meter.nvml.take("nvmlDeviceGetTotalEnergyConsumption", meter.energy);
  meter.nvml.take("nvmlDeviceGetPowerUsage", meter.power);
  if (!read_nvml(meter)) return {"", {}, "NVML reports no power for the device"};
  return {"NVML", [meter] { return read_nvml(meter); }, ""};
}

// hwmon and RAPL.

std::optional<PowerReading> read_hwmon(const Path& folder) {
  PowerReading reading;
  if (const auto energy = number_in(folder / "energy1_input")) reading.joules = *energy * micro;
  auto power = number_in(folder / "power1_average");
  if (!power) power = number_in(folder / "power1_input");
  if (power) reading.watts = *power * micro;
  if (!reading.joules && !reading.watts) return std::nullopt;
  return reading;
}

PowerMeter hwmon_meter(const DeviceTarget& target, const DevicePlaces& places) {
  if (target.pci.empty()) {
    return {"", {}, "the PCI address is unknown, so the device's hwmon folder cannot be found"};
  }
  const Path device = Path(places.sys) / "bus/pci/devices" / target.pci;
  for (const Path& folder : folders_in(device / "hwmon", "hwmon")) {
    if (read_hwmon(folder)) return {"hwmon", [folder] { return read_hwmon(folder); }, ""};
  }
  return {"", {}, "no hwmon folder reports power for " + target.pci};
}

/// Energy counter of a CPU package in microjoules, which wraps to 0 at the end of its range.
struct Package {
  Path file{};
  double range{0.0};
  double last{0.0};
  double before{0.0};  ///< sum of the ranges of all wraps so far
};

std::optional<PowerReading> read_packages(std::vector<Package>& packages) {
  double joules = 0.0;
  for (Package& each : packages) {
    const auto now = number_in(each.file);
    if (!now) return std::nullopt;
    if (*now < each.last) each.before += each.range;
    each.last = *now;
    joules += (each.before + *now) * micro;
  }
  return PowerReading{joules, {}};
}

PowerMeter rapl_meter(const DevicePlaces& places) {
  std::vector<Package> packages;
  bool is_there = false;
  for (const Path& zone : folders_in(Path(places.sys) / "class/powercap", "intel-rapl:")) {
    const std::string name = zone.filename().string();
    if (std::ranges::count(name, ':') != 1) continue;  // skips subzones of a package
    is_there = true;
    const auto energy = number_in(zone / "energy_uj");
    const auto range = number_in(zone / "max_energy_range_uj");
    if (energy) packages.push_back({zone / "energy_uj", range.value_or(0.0), *energy, 0.0});
  }
  if (packages.empty()) {
    return {"", {}, is_there ? "only root can read RAPL" : "the system has no RAPL"};
  }
  return {"RAPL", [packages]() mutable { return read_packages(packages); }, ""};
}

}  // namespace

PowerMeter find_power_meter(const DeviceTarget& target, const DevicePlaces& places) {
  if (target.is_cpu) return rapl_meter(places);
  PowerMeter meter = nvml_meter(target, places);
  if (!meter.name.empty()) return meter;
  PowerMeter other = hwmon_meter(target, places);
  if (other.name.empty()) other.reason = meter.reason + "; " + other.reason;
  return other;
}

std::optional<double> mean_watts(const PowerReading& before, const PowerReading& after,
                                 double seconds) {
  if (before.joules && after.joules && *after.joules >= *before.joules && seconds > 0.0) {
    return (*after.joules - *before.joules) / seconds;
  }
  return after.watts;
}

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
