// SPDX-License-Identifier: Apache-2.0
// SHA-256 of bytes that come in pieces.
#pragma once

#include <nettle/sha2.h>

#include <string>
#include <string_view>

namespace clprobe::bundle {

class Sha256 {
 public:
  Sha256() { sha256_init(&state_); }
  void add(std::string_view bytes);
  /// In hexadecimal digits. Nothing can be added behind it.
  std::string finish();

 private:
  sha256_ctx state_{};
};

}  // namespace clprobe::bundle
