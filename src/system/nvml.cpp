// SPDX-License-Identifier: Apache-2.0
#include "system/nvml.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <string>

namespace clprobe::system {
namespace {

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

void close_nvml(void* opened) {
  if (opened == nullptr) return;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how dlsym gives functions
  auto* const end = reinterpret_cast<int (*)()>(dlsym(opened, "nvmlShutdown"));
  if (end != nullptr) end();
  dlclose(opened);
}

}  // namespace

Nvml open_nvml(const DeviceTarget& target, const std::string& file) {
  Nvml nvml;
  nvml.library = {dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL), close_nvml};
  int (*start)(){nullptr};
  int (*by_uuid)(const char*, Nvml::Device*){nullptr};
  int (*by_pci)(const char*, Nvml::Device*){nullptr};
  const bool is_whole = nvml.take("nvmlInit_v2", start) &&
                        nvml.take("nvmlDeviceGetHandleByUUID", by_uuid) &&
                        nvml.take("nvmlDeviceGetHandleByPciBusId_v2", by_pci);
  if (nvml.library == nullptr) {
    nvml.reason = "no NVML library";
  } else if (!is_whole || start() != 0) {
    nvml.reason = "NVML cannot be initialized";
  } else {
    const std::string name = nvml_name_of(target.uuid);
    const bool is_known = (!name.empty() && by_uuid(name.c_str(), &nvml.device) == 0) ||
                          (!target.pci.empty() && by_pci(target.pci.c_str(), &nvml.device) == 0);
    if (!is_known) nvml.reason = "NVML does not list the device";
  }
  return nvml;
}

}  // namespace clprobe::system
