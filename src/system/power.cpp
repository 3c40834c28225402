// SPDX-License-Identifier: Apache-2.0
#include "system/api/host.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

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

// NVML. The functions used here have only plain and opaque types, so no vendor header is needed.

struct Nvml {
  using Device = void*;
  std::shared_ptr<void> library{};
  int (*energy)(Device, unsigned long long* millijoules){nullptr};  // NOLINT(google-runtime-int)
  int (*power)(Device, unsigned* milliwatts){nullptr};
  Device device{nullptr};
};

template <typename Function>
bool take(void* library, const char* name, Function& function) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how dlsym gives functions
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Returns NVML's form of a UUID of 32 digits: "GPU-01234567-89ab-cdef-0123-456789abcdef".
std::string nvml_name_of(const std::string& uuid) {
  constexpr std::size_t digits = 32;
  if (uuid.size() != digits) return {};
  std::string name = "GPU-";
  for (std::size_t i = 0; i < digits; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) name += '-';
    name += uuid[i];
  }
  return name;
}

std::optional<PowerReading> read_nvml(const Nvml& nvml) {
  unsigned long long millijoules = 0;  // NOLINT(google-runtime-int): as NVML declares it
  unsigned milliwatts = 0;
  PowerReading reading;
  if (nvml.energy != nullptr && nvml.energy(nvml.device, &millijoules) == 0) {
    reading.joules = static_cast<double>(millijoules) * milli;
  }
  if (nvml.power != nullptr && nvml.power(nvml.device, &milliwatts) == 0) {
    reading.watts = milliwatts * milli;
  }
  if (!reading.joules && !reading.watts) return std::nullopt;
  return reading;
}

/// Opens NVML for the device. Returns the reason for a failure, or an empty text on success.
std::string open_nvml(const PowerTarget& target, const std::string& file, Nvml& nvml) {
  nvml.library = {dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL), [](void* opened) {
                    int (*end)(){nullptr};
                    if (opened == nullptr) return;
                    if (take(opened, "nvmlShutdown", end)) end();
                    dlclose(opened);
                  }};
  void* const library = nvml.library.get();
  if (library == nullptr) return "no NVML library";
  int (*start)(){nullptr};
  int (*by_uuid)(const char*, Nvml::Device*){nullptr};
  int (*by_pci)(const char*, Nvml::Device*){nullptr};
  const bool is_whole = take(library, "nvmlInit_v2", start) &&
                        take(library, "nvmlDeviceGetHandleByUUID", by_uuid) &&
                        take(library, "nvmlDeviceGetHandleByPciBusId_v2", by_pci);
  take(library, "nvmlDeviceGetTotalEnergyConsumption", nvml.energy);
  take(library, "nvmlDeviceGetPowerUsage", nvml.power);
  if (!is_whole || start() != 0) return "NVML cannot be initialized";
  const std::string name = nvml_name_of(target.uuid);
  const bool is_known = (!name.empty() && by_uuid(name.c_str(), &nvml.device) == 0) ||
                        (!target.pci.empty() && by_pci(target.pci.c_str(), &nvml.device) == 0);
  if (!is_known) return "NVML does not know the device";
  return read_nvml(nvml) ? std::string() : "NVML reports no power for the device";
}

PowerMeter nvml_meter(const PowerTarget& target, const PowerPlaces& places) {
  Nvml nvml;
  std::string reason = open_nvml(target, places.nvml, nvml);
  if (!reason.empty()) return {"", {}, std::move(reason)};
  return {"NVML", [nvml] { return read_nvml(nvml); }, ""};
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

PowerMeter hwmon_meter(const PowerTarget& target, const PowerPlaces& places) {
  if (target.pci.empty()) {
    return {"", {}, "the PCI address is missing, so the device's hwmon folder is unknown"};
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

PowerMeter rapl_meter(const PowerPlaces& places) {
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

PowerMeter find_power_meter(const PowerTarget& target, const PowerPlaces& places) {
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
