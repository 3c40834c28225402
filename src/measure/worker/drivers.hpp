// SPDX-License-Identifier: Apache-2.0
// Drivers that the OpenCL loader opens, and folders that limit the loader to some of these drivers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "system/api/files.hpp"

namespace clprobe {

/// A driver that the OpenCL loader finds.
struct Driver {
  std::string file{};     ///< ICD file that registers the driver; the library if there is none
  std::string library{};  ///< name of the library, as in the ICD file

  friend bool operator==(const Driver&, const Driver&) = default;
};

/// Values of the environment variables of OpenCL loaders. A variable that is not set is empty.
struct LoaderVariables {
  std::string icd_vendors{};    ///< OCL_ICD_VENDORS
  std::string vendor_path{};    ///< OPENCL_VENDOR_PATH
  std::string icd_filenames{};  ///< OCL_ICD_FILENAMES

  /// Returns the values in the environment of this process with `changes` applied.
  static LoaderVariables of_environment(
      const std::vector<std::pair<std::string, std::string>>& changes = {});
};

/// Returns the drivers that the loader opens; ICD files are sorted by name. ocl-icd reads
/// OCL_ICD_VENDORS (a folder, an ICD file or a library) and OPENCL_VENDOR_PATH. Khronos's reads
/// OCL_ICD_VENDORS (a folder) and OCL_ICD_FILENAMES (libraries separated by colons, in addition to
/// the folder). Sources: libOpenCL(7); loader/linux/icd_linux.c of KhronosGroup/OpenCL-ICD-Loader.
std::vector<Driver> registered_drivers(const LoaderVariables& variables);

/// Temporary folder with ICD files of some drivers. ocl-icd and Khronos's loader accept the folder
/// as OCL_ICD_VENDORS. The destructor removes the folder.
class DriverFolder {
 public:
  /// Writes the ICD files. Throws DeviceError or std::system_error if no temporary folder can be
  /// written.
  explicit DriverFolder(const std::vector<Driver>& drivers);

  /// Returns the path, which ends with '/', since some loaders append a file name without a
  /// separator.
  [[nodiscard]] std::string path() const { return folder_.path() + '/'; }

 private:
  system::TemporaryFolder folder_{};
};

}  // namespace clprobe
