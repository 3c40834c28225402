// SPDX-License-Identifier: Apache-2.0
// The hash and the file names of a bundle, and sizes of images.
#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "profile/api/bundle.hpp"
#include "profile/bundle/scalar.hpp"

namespace clprobe::bundle {
namespace {

/// `one` times `other`, as far as that is no more than an object may have.
std::optional<std::uint64_t> product(std::uint64_t one, std::uint64_t other) {
  if (other != 0 && one > max_object_bytes / other) return std::nullopt;
  return one * other;
}

}  // namespace

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    text += digits[byte >> 4U];
    text += digits[byte & 0xfU];
  }
  return text;
}

std::string sha256_of(std::string_view bytes) {
  sha256_ctx state{};
  sha256_init(&state);
  sha256_update(&state, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_digest(&state, digest.size(), digest.data());
  return hexadecimal({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string text_file(std::string_view sha256) { return std::string(sha256) + ".cl"; }
std::string object_file(std::string_view sha256) { return std::string(sha256) + ".bin"; }

std::uint32_t dimensions_of(ImageKind kind) { return row_of(kind).dimensions; }

std::uint64_t pixel_bytes(const Image& image) {
  const ChannelTypeRow& type = row_of(image.type);
  return type.pixel_bytes > 0 ? type.pixel_bytes
                              : type.channel_bytes * row_of(image.order).channels;
}

Sizes region_of(const Image& image) {
  Sizes region{1, 1, 1};
  const std::uint32_t dimensions = dimensions_of(image.kind);
  std::copy_n(image.pixels.begin(), dimensions, region.begin());
  return region;
}

std::optional<std::uint64_t> bytes_of_pixels(const Image& image) {
  std::optional<std::uint64_t> bytes = pixel_bytes(image);
  for (const std::uint64_t each : region_of(image)) {
    if (bytes) bytes = product(*bytes, each);
  }
  return bytes;
}

std::optional<std::uint64_t> bytes_of_buffer(const Image& image) {
  const Sizes region = region_of(image);
  const auto row = product(pixel_bytes(image), region[0]);
  const auto before = product(image.row_bytes, region[1] - 1);
  if (!row || !before || *row > max_object_bytes - *before) return std::nullopt;
  return *before + *row;
}

}  // namespace clprobe::bundle
