// SPDX-License-Identifier: Apache-2.0
// The files of a bundle that is being made, in a folder that nobody else writes to.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "clprobe/launch.hpp"

namespace clprobe::layer {

/// Why a launch is not captured; what a person reads behind "is not captured: ".
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class BundleFiles {
 public:
  explicit BundleFiles(std::string folder) : folder_(std::move(folder)) {}

  /// Each returns the SHA-256. Throw Refusal where the file cannot be written, or all would become
  /// too large.
  std::string add_text(std::string_view text);
  std::string add_object(std::string_view bytes);
  /// Last: a folder without it is no bundle.
  void finish(const bundle::Launch& launch);
  void refuse(std::string_view reason) noexcept;

 private:
  void write(const std::string& name, std::string_view bytes) const;

  std::string folder_;
  std::uint64_t bytes_{0};
};

}  // namespace clprobe::layer
