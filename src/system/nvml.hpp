// SPDX-License-Identifier: Apache-2.0
// NVML, NVIDIA's management library, opened at run time. The functions used have only plain and
// opaque types, so no vendor header is needed.
#pragma once

#include <dlfcn.h>

#include <memory>
#include <string>

#include "system/api/host.hpp"

namespace clprobe::system {

/// A device of NVML. The library stays open while a copy of this object exists.
struct Nvml {
  using Device = void*;

  std::shared_ptr<void> library{};
  Device device{nullptr};
  std::string reason{};  ///< why NVML cannot be used; empty on success

  /// Sets `function` to the library's function `name`. Returns false if the library lacks it.
  template <typename Function>
  bool take(const char* name, Function& function) const {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how dlsym gives functions
    function = library ? reinterpret_cast<Function>(dlsym(library.get(), name)) : nullptr;
    return function != nullptr;
  }
};

/// Opens the library `file` and finds the device by UUID or PCI address.
Nvml open_nvml(const DeviceTarget& target, const std::string& file);

}  // namespace clprobe::system
