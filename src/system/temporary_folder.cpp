// SPDX-License-Identifier: Apache-2.0
#include "system/temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace clprobe::system {

TemporaryFolder::TemporaryFolder()
    : path_((std::filesystem::temp_directory_path() / "clprobe-XXXXXX").string()) {
  if (::mkdtemp(path_.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "cannot make a folder for the run");
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace clprobe::system
