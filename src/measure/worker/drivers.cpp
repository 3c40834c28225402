// SPDX-License-Identifier: Apache-2.0
#include "measure/worker/drivers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "measure/api/engine.hpp"

namespace clprobe {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view icd_ending = ".icd";
constexpr const char* default_folder = "/etc/OpenCL/vendors";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Returns the driver that an ICD file registers; nothing without one. The first line of the file
/// names the library.
std::optional<Driver> driver_of(const fs::path& file) {
  std::ifstream text(file);
  std::string library;
  if (!std::getline(text, library) || library.empty()) return std::nullopt;
  return Driver{file.string(), library};
}

std::vector<Driver> drivers_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (fs::directory_iterator each(folder, ignored), end; !ignored && each != end;
       each.increment(ignored)) {
    // Only regular files are read, since reading a pipe could block forever.
    std::error_code none;
    const std::string name = each->path().filename().string();
    if (name.ends_with(icd_ending) && each->is_regular_file(none)) files.push_back(each->path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Driver> drivers;
  for (const fs::path& file : files) {
    if (auto driver = driver_of(file)) drivers.push_back(std::move(*driver));
  }
  return drivers;
}

/// Returns the ICD file for a value `name` of OCL_ICD_VENDORS that ends with ".icd": the file in
/// `folder` if it exists, otherwise `name` as a path.
fs::path icd_file(const std::string& name, const fs::path& folder) {
  std::error_code none;
  const bool is_name = name.find('/') == std::string::npos;
  return is_name && fs::exists(folder / name, none) ? folder / name : fs::path(name);
}

std::vector<Driver> vendors(const LoaderVariables& variables) {
  const fs::path folder = variables.vendor_path.empty() ? default_folder : variables.vendor_path;
  const std::string& setting = variables.icd_vendors;
  std::error_code none;
  if (setting.empty()) return drivers_in(folder);
  if (fs::is_directory(setting, none)) return drivers_in(setting);
  if (!setting.ends_with(icd_ending)) return {{setting, setting}};
  const fs::path file = icd_file(setting, folder);
  std::vector<Driver> drivers;
  if (fs::is_regular_file(file, none)) {
    if (auto driver = driver_of(file)) drivers.push_back(std::move(*driver));
  }
  return drivers;
}

}  // namespace

LoaderVariables LoaderVariables::of_environment(
    const std::vector<std::pair<std::string, std::string>>& changes) {
  const auto value_of = [&](const char* name) {
    std::string value = variable(name);
    for (const auto& [changed, text] : changes) {
      if (changed == name) value = text;
    }
    return value;
  };
  return {value_of("OCL_ICD_VENDORS"), value_of("OPENCL_VENDOR_PATH"),
          value_of("OCL_ICD_FILENAMES")};
}

std::vector<Driver> registered_drivers(const LoaderVariables& variables) {
  std::vector<Driver> drivers;
  for (std::string_view rest = variables.icd_filenames; !rest.empty();) {
    const std::string library(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), library.size() + 1));
    if (!library.empty()) drivers.push_back({library, library});
  }
  const std::vector<Driver> others = vendors(variables);
  drivers.insert(drivers.end(), others.begin(), others.end());
  return drivers;
}

DriverFolder::DriverFolder(const std::vector<Driver>& drivers) {
  for (std::size_t i = 0; i < drivers.size(); ++i) {
    // Files are numbered, so that different folders of the same drivers list the devices in the
    // same order.
    std::ofstream file(path() + fmt::format("{:03}{}", i, icd_ending));
    file << drivers[i].library << '\n';
    if (!file.flush()) throw DeviceError(fmt::format("cannot write to {}", path()));
  }
}

}  // namespace clprobe
