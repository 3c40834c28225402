// SPDX-License-Identifier: Apache-2.0
// A library with NVML's functions: it knows one device, by UUID and by PCI address, which has used
// as many millijoules as it was asked, times 1000, and draws 71.5 W. What the environment variable
// FAKE_NVML names is as where a driver is broken or old: "start", "device", "energy", "power",
// "width", "clock", "link". The memory and the link are those of an H200. "idle" lowers the present
// link.
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool is_broken(const char* what) {
  const char* const broken = std::getenv("FAKE_NVML");
  return broken != nullptr && std::string(broken).find(what) != std::string::npos;
}

int known_device = 0;
constexpr int not_found = 6;
constexpr int not_supported = 3;

int handle(bool is_known, void** device) {
  if (!is_known || is_broken("device")) return not_found;
  *device = &known_device;
  return 0;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are NVML's
extern "C" {

int nvmlInit_v2() { return is_broken("start") ? not_supported : 0; }
int nvmlShutdown() { return 0; }

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  return handle(std::strcmp(uuid, "GPU-01234567-89ab-cdef-0123-456789abcdef") == 0, device);
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  return handle(std::strcmp(address, "0000:01:00.0") == 0, device);
}

int nvmlDeviceGetTotalEnergyConsumption(void* device,
                                        unsigned long long* millijoules) {  // NOLINT
  if (device != &known_device || is_broken("energy")) return not_supported;
  static unsigned asked = 0;
  *millijoules = 1000ULL * ++asked;
  return 0;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (device != &known_device || is_broken("power")) return not_supported;
  *milliwatts = 71500;
  return 0;
}

int nvmlDeviceGetMemoryBusWidth(void* device, unsigned* bits) {
  if (device != &known_device || is_broken("width")) return not_supported;
  *bits = 6144;
  return 0;
}

int nvmlDeviceGetMaxClockInfo(void* device, int domain, unsigned* mhz) {
  if (device != &known_device || is_broken("clock")) return not_supported;
  *mhz = domain == 2 ? 3201 : 1980;
  return 0;
}

int nvmlDeviceGetMaxPcieLinkGeneration(void* device, unsigned* generation) {
  if (device != &known_device || is_broken("link")) return not_supported;
  *generation = 5;
  return 0;
}

int nvmlDeviceGetMaxPcieLinkWidth(void* device, unsigned* lanes) {
  if (device != &known_device) return not_supported;
  *lanes = 16;
  return 0;
}

int nvmlDeviceGetCurrPcieLinkGeneration(void* device, unsigned* generation) {
  if (device != &known_device) return not_supported;
  *generation = is_broken("idle") ? 1 : 5;
  return 0;
}

int nvmlDeviceGetCurrPcieLinkWidth(void* device, unsigned* lanes) {
  if (device != &known_device) return not_supported;
  *lanes = 16;
  return 0;
}
}
// NOLINTEND(readability-identifier-naming)
