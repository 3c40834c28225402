// SPDX-License-Identifier: Apache-2.0
// Drivers that the OpenCL loader opens, and folders that restrict the loader to some of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "system/api/files.hpp"

namespace clprobe {

/// Driver that the loader finds.
struct Driver {
  std::string file{};     ///< ICD file that registers the driver, or the library
  std::string library{};  ///< name of the library in the ICD file

  friend bool operator==(const Driver&, const Driver&) = default;
};

/// Values of the loaders' environment variables; empty if not set.
struct LoaderVariables {
  std::string icd_vendors{};    ///< OCL_ICD_VENDORS
  std::string vendor_path{};    ///< OPENCL_VENDOR_PATH
  std::string icd_filenames{};  ///< OCL_ICD_FILENAMES

  /// Reads this process's environment with `changes` applied.
  static LoaderVariables of_environment(
      const std::vector<std::pair<std::string, std::string>>& changes = {});
};

/// Returns the drivers that the loader opens, sorted by file name. ocl-icd reads OCL_ICD_VENDORS (a
/// folder, an ICD file or a library) and OPENCL_VENDOR_PATH (a folder). Khronos's loader reads
/// OCL_ICD_VENDORS (a folder) and OCL_ICD_FILENAMES (libraries separated by colons, in addition to
/// the folder). Sources: libOpenCL(7); loader/linux/icd_linux.c of KhronosGroup/OpenCL-ICD-Loader.
std::vector<Driver> registered_drivers(const LoaderVariables& variables);

/// Folder of ICD files for some drivers, which both loaders accept as OCL_ICD_VENDORS. The
/// destructor removes it.
class DriverFolder {
 public:
  /// Throws DeviceError or std::system_error if no temporary folder can be written.
  explicit DriverFolder(const std::vector<Driver>& drivers);

  /// Path that ends with '/', since some loaders append a file name without a separator.
  [[nodiscard]] std::string path() const { return folder_.path() + '/'; }

 private:
  system::TemporaryFolder folder_{};
};

}  // namespace clprobe
