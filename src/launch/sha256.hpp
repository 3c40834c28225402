// SPDX-License-Identifier: Apache-2.0
// SHA-256 of bytes that come in pieces. Source: NIST, FIPS 180-4, Secure Hash Standard, 2015.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace clprobe::bundle {

class Sha256 {
 public:
  void add(std::string_view bytes);
  /// In hexadecimal digits. Nothing can be added behind it.
  std::string finish();

 private:
  static constexpr std::size_t block_bytes = 64;

  void take_block(const char* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U, 0xa54ff53aU,
                                      0x510e527fU, 0x9b05688cU, 0x1f83d9abU, 0x5be0cd19U};
  std::string pending_{};  // less than a block
  std::uint64_t bytes_{0};
};

}  // namespace clprobe::bundle
