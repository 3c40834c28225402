// SPDX-License-Identifier: Apache-2.0
// A folder for the length of a run.
#pragma once

#include <string>

namespace clprobe::system {

/// Below TMPDIR, or /tmp; for its owner alone, and gone with this object.
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
  std::string path_;
};

}  // namespace clprobe::system
