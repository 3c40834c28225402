// SPDX-License-Identifier: Apache-2.0
// Meters and limits, on made folders of the system and with a library that stands for NVML.
#include "system/api/host.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace clprobe::system {
namespace {

/// A folder in the place of /sys, which is gone with it. There is no NVML beside it.
class MadeSystem {
 public:
  MadeSystem() { std::filesystem::create_directories(folder_); }
  MadeSystem(const MadeSystem&) = delete;
  MadeSystem& operator=(const MadeSystem&) = delete;
  MadeSystem(MadeSystem&&) = delete;
  MadeSystem& operator=(MadeSystem&&) = delete;
  ~MadeSystem() { std::filesystem::remove_all(folder_); }

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  [[nodiscard]] DevicePlaces places() const { return {folder_.string(), "no-such-library.so"}; }

 private:
  std::filesystem::path folder_{std::filesystem::temp_directory_path() /
                                ("power-test-" + std::to_string(getpid()))};
};

constexpr const char* address = "0000:01:00.0";

/// What of the library is broken, while it is there.
class Broken {
 public:
  explicit Broken(const char* what) { setenv("FAKE_NVML", what, 1); }
  Broken(const Broken&) = delete;
  Broken& operator=(const Broken&) = delete;
  Broken(Broken&&) = delete;
  Broken& operator=(Broken&&) = delete;
  ~Broken() { unsetenv("FAKE_NVML"); }
};

DevicePlaces with_nvml(const MadeSystem& made) {
  DevicePlaces places = made.places();
  places.nvml = CLPROBE_FAKE_NVML;
  return places;
}

}  // namespace

TEST_CASE("power: of a CPU all packages together, through the end of their counters") {
  const MadeSystem made;
  made.write("class/powercap/intel-rapl:0/energy_uj", "4000000");
  made.write("class/powercap/intel-rapl:0/max_energy_range_uj", "10000000");
  made.write("class/powercap/intel-rapl:1/energy_uj", "1500000");
  made.write("class/powercap/intel-rapl:1/max_energy_range_uj", "10000000");
  // A part of a package, and another driver's view of it.
  made.write("class/powercap/intel-rapl:0:0/energy_uj", "999000000");
  made.write("class/powercap/intel-rapl-mmio:0/energy_uj", "999000000");
  const PowerMeter meter = find_power_meter({.is_cpu = true}, made.places());
  CHECK(meter.name == "RAPL");
  const auto before = meter.read();
  REQUIRE(before.has_value());
  CHECK(*before->joules == doctest::Approx(5.5));
  made.write("class/powercap/intel-rapl:0/energy_uj", "1000000");
  const auto after = meter.read();
  REQUIRE(after.has_value());
  CHECK(*after->joules == doctest::Approx(12.5));
  CHECK(*mean_watts(*before, *after, 0.1) == doctest::Approx(70.0));
}

TEST_CASE("power: of a CPU, why there is none") {
  const MadeSystem made;
  CHECK(find_power_meter({.is_cpu = true}, made.places()).reason == "the system has no RAPL");
  made.write("class/powercap/intel-rapl:0/name", "package-0");
  const PowerMeter meter = find_power_meter({.is_cpu = true}, made.places());
  CHECK(meter.reason == "only root can read RAPL");
  CHECK(meter.name.empty());
  CHECK_FALSE(meter.read);
}

TEST_CASE("power: a GPU's driver reports energy or power in its hwmon folder") {
  const MadeSystem made;
  const std::string folder = std::string("bus/pci/devices/") + address + "/hwmon/";
  const DeviceTarget target{.pci = address};
  CHECK(find_power_meter(target, made.places()).reason ==
        "no NVML library; no hwmon folder reports power for 0000:01:00.0");
  CHECK(find_power_meter({}, made.places()).reason ==
        "no NVML library; the PCI address is unknown, so the device's hwmon folder cannot be "
        "found");
  made.write(folder + "hwmon2/temp1_input", "50000");
  CHECK(find_power_meter(target, made.places()).name.empty());
  made.write(folder + "hwmon3/power1_average", "71500000");
  const PowerMeter amd = find_power_meter(target, made.places());
  CHECK(amd.name == "hwmon");
  CHECK(*amd.read()->watts == doctest::Approx(71.5));
  CHECK_FALSE(amd.read()->joules.has_value());
  CHECK(*mean_watts({}, *amd.read(), 1.0) == doctest::Approx(71.5));
  made.write(folder + "hwmon3/energy1_input", "2500000");
  CHECK(*amd.read()->joules == doctest::Approx(2.5));
}

TEST_CASE("power: newer drivers name what is drawn now") {
  const MadeSystem made;
  made.write(std::string("bus/pci/devices/") + address + "/hwmon/hwmon0/power1_input", "30000000");
  const PowerMeter meter = find_power_meter({.pci = address}, made.places());
  REQUIRE(meter.read);
  CHECK(*meter.read()->watts == doctest::Approx(30.0));
}

TEST_CASE("power: NVML knows a device by its UUID or by its PCI address") {
  const MadeSystem made;
  const DeviceTarget by_uuid{.uuid = "0123456789abcdef0123456789abcdef", .pci = "0000:ff:00.0"};
  const DeviceTarget by_pci{.uuid = "ffff", .pci = address};
  for (const DeviceTarget& target : {by_uuid, by_pci}) {
    const PowerMeter meter = find_power_meter(target, with_nvml(made));
    CHECK(meter.name == "NVML");
    CHECK(meter.reason.empty());
    const auto before = meter.read();
    const auto after = meter.read();
    REQUIRE(after.has_value());
    CHECK(*after->joules - *before->joules == doctest::Approx(1.0));
    CHECK(*after->watts == doctest::Approx(71.5));
    CHECK(*mean_watts(*before, *after, 0.02) == doctest::Approx(50.0));
  }
}

TEST_CASE("power: what NVML lacks is looked for elsewhere, or is the reason") {
  const MadeSystem made;
  const DeviceTarget target{.pci = address};
  const auto reason = [&] { return find_power_meter(target, with_nvml(made)).reason; };
  const std::string otherwise = "; no hwmon folder reports power for 0000:01:00.0";
  {
    const Broken broken("start");
    CHECK(reason() == "NVML cannot be initialized" + otherwise);
  }
  {
    const Broken broken("device");
    CHECK(reason() == "NVML does not list the device" + otherwise);
  }
  {
    const Broken broken("energy,power");
    CHECK(reason() == "NVML reports no power for the device" + otherwise);
  }
  {
    const Broken broken("energy");
    const PowerMeter meter = find_power_meter(target, with_nvml(made));
    REQUIRE(meter.read);
    CHECK_FALSE(meter.read()->joules.has_value());
    CHECK(*meter.read()->watts == doctest::Approx(71.5));
  }
  made.write(std::string("bus/pci/devices/") + address + "/hwmon/hwmon0/power1_input", "30000000");
  const Broken broken("device");
  CHECK(find_power_meter(target, with_nvml(made)).name == "hwmon");
}

TEST_CASE("power: a counter that stands still or goes back says what is drawn now, if anything") {
  CHECK_FALSE(mean_watts({}, {}, 1.0).has_value());
  CHECK(*mean_watts({.joules = 5.0}, {.joules = 4.0, .watts = 20.0}, 1.0) == 20.0);
  CHECK_FALSE(mean_watts({.joules = 5.0}, {.joules = 4.0}, 1.0).has_value());
  CHECK(*mean_watts({.joules = 5.0}, {.joules = 5.0, .watts = 20.0}, 1.0) == 0.0);
  CHECK(*mean_watts({.joules = 5.0}, {.joules = 9.0, .watts = 20.0}, 0.0) == 20.0);
}

TEST_CASE("limits: of the memory, as far as NVML reports them") {
  const MadeSystem made;
  const DeviceTarget target{.pci = address};
  DeviceLimits limits = read_device_limits(target, with_nvml(made));
  CHECK(limits.memory_bus_bits == 6144);
  CHECK(limits.memory_clock_mhz == 3201);
  for (const char* const what : {"start", "device", "width,clock"}) {
    CAPTURE(what);
    const Broken broken(what);
    limits = read_device_limits(target, with_nvml(made));
    CHECK(limits.memory_bus_bits == 0);
    CHECK(limits.memory_clock_mhz == 0);
  }
  CHECK(read_device_limits(target, made.places()).memory_bus_bits == 0);
}

TEST_CASE("limits: the link of NVML, or that of the PCI folder") {
  const MadeSystem made;
  const DeviceTarget target{.pci = address};
  DeviceLimits limits = read_device_limits(target, with_nvml(made));
  REQUIRE(limits.read_link);
  CHECK(link_text(*limits.max_link) == "PCIe 5.0 x16");
  CHECK(link_text(*limits.read_link()) == "PCIe 5.0 x16");
  {
    const Broken idle("idle");
    CHECK(link_text(*limits.read_link()) == "PCIe 1.0 x16");
  }
  const Broken broken("link");
  CHECK_FALSE(read_device_limits(target, with_nvml(made)).read_link);
  CHECK_FALSE(read_device_limits({}, made.places()).read_link);
  const std::string folder = std::string("bus/pci/devices/") + address + "/";
  made.write(folder + "max_link_speed", "16.0 GT/s PCIe");
  made.write(folder + "max_link_width", "16");
  made.write(folder + "current_link_speed", "2.5 GT/s PCIe");
  made.write(folder + "current_link_width", "8");
  limits = read_device_limits(target, with_nvml(made));
  REQUIRE(limits.read_link);
  CHECK(limits.memory_bus_bits == 6144);
  CHECK(link_text(*limits.max_link) == "PCIe 4.0 x16");
  CHECK(link_text(*limits.read_link()) == "PCIe 1.0 x8");
  made.write(folder + "max_link_speed", "Unknown");
  CHECK_FALSE(read_device_limits(target, made.places()).read_link);
  made.write(folder + "max_link_speed", "64.0 GT/s PCIe");
  CHECK(read_device_limits(target, made.places()).max_link->generation == 6);
  made.write(folder + "max_link_width", "255");
  CHECK_FALSE(read_device_limits(target, made.places()).read_link);
}

}  // namespace clprobe::system
