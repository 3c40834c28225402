// SPDX-License-Identifier: Apache-2.0
// The drivers that the OpenCL loader opens, and how it is told to open only some of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "system/api/files.hpp"

namespace clprobe {

/// A driver as the loader finds it.
struct Driver {
  std::string file{};     ///< ICD file that registers the driver, or the library itself
  std::string library{};  ///< name of the library as in the ICD file

  friend bool operator==(const Driver&, const Driver&) = default;
};

/// Values of the loaders' environment variables; empty: not set.
struct LoaderVariables {
  std::string icd_vendors{};    ///< OCL_ICD_VENDORS
  std::string vendor_path{};    ///< OPENCL_VENDOR_PATH
  std::string icd_filenames{};  ///< OCL_ICD_FILENAMES

  /// Reads this process's environment, with `changes`.
  static LoaderVariables of_environment(
      const std::vector<std::pair<std::string, std::string>>& changes = {});
};

/// The drivers that the loader opens, in the order of their names. Of the loaders, ocl-icd reads
/// OCL_ICD_VENDORS (a folder, an ICD file, or a library) and OPENCL_VENDOR_PATH (a folder), and
/// Khronos's OCL_ICD_VENDORS (a folder) and OCL_ICD_FILENAMES (libraries between colons, beside
/// those of the folder): libOpenCL(7); loader/linux/icd_linux.c of KhronosGroup/OpenCL-ICD-Loader.
std::vector<Driver> registered_drivers(const LoaderVariables& variables);

/// A folder of ICD files for some drivers, which both loaders accept as OCL_ICD_VENDORS; removed
/// with this object.
class DriverFolder {
 public:
  /// Throws DeviceError and std::system_error if no temporary folder can be written.
  explicit DriverFolder(const std::vector<Driver>& drivers);

  /// Ends with '/': some loaders append the name of a file without one.
  [[nodiscard]] std::string path() const { return folder_.path() + '/'; }

 private:
  system::TemporaryFolder folder_{};
};

}  // namespace clprobe
