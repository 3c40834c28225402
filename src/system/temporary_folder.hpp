// SPDX-License-Identifier: Apache-2.0
// A folder for the length of a run.
#pragma once

#include <string>

namespace clprobe::system {

/// A folder in TMPDIR or /tmp for its owner alone, removed with this object. The next run of the
/// same user removes the folder of a killed run.
class TemporaryFolder {
 public:
  /// Throws std::system_error.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_{};
  int lock_{-1};  ///< lock on a file in the folder; -1: none
};

}  // namespace clprobe::system
