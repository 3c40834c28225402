// SPDX-License-Identifier: Apache-2.0
#include "report/deflated.hpp"

#include <zlib.h>

#include <cstdint>
#include <new>
#include <vector>

namespace clprobe::report {
namespace {

std::string base64(const std::vector<Bytef>& bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](std::size_t i) -> std::uint32_t { return i < bytes.size() ? bytes[i] : 0; };
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t three = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    for (const std::uint32_t shift : {18U, 12U, 6U, 0U}) text += letters[three >> shift & 63U];
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  return text.replace(text.size() - padding, padding, padding, '=');
}

}  // namespace

std::string deflated(std::string_view text) {
  // Views of chars are what zlib calls bytes.
  const auto* const bytes = reinterpret_cast<const Bytef*>(text.data());
  const auto size = static_cast<uLong>(text.size());
  uLongf used = compressBound(size);
  std::vector<Bytef> stream(used);
  // It fails for lack of memory alone: the room is enough, and the level is one of zlib's.
  if (compress2(stream.data(), &used, bytes, size, Z_BEST_COMPRESSION) != Z_OK) {
    throw std::bad_alloc();
  }
  stream.resize(used);
  return base64(stream);
}

}  // namespace clprobe::report
