// SPDX-License-Identifier: Apache-2.0
// Words, names and the hash of a bundle.
#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "clprobe/launch.hpp"
#include "clprobe/words.hpp"
#include "launch/scalar.hpp"

namespace clprobe::bundle {
namespace {

constexpr std::array type_words{Word{Type::int8, "char"},     Word{Type::uint8, "uchar"},
                                Word{Type::int16, "short"},   Word{Type::uint16, "ushort"},
                                Word{Type::int32, "int"},     Word{Type::uint32, "uint"},
                                Word{Type::int64, "long"},    Word{Type::uint64, "ulong"},
                                Word{Type::float32, "float"}, Word{Type::float64, "double"}};
constexpr std::array fill_words{Word{Fill::zero, "zero"}, Word{Fill::iota, "iota"},
                                Word{Fill::random, "random"}, Word{Fill::value, "value"}};
constexpr std::array kind_words{Word{ImageKind::image_1d, "1d"},
                                Word{ImageKind::image_1d_array, "1d_array"},
                                Word{ImageKind::image_1d_buffer, "1d_buffer"},
                                Word{ImageKind::image_2d, "2d"},
                                Word{ImageKind::image_2d_array, "2d_array"},
                                Word{ImageKind::image_3d, "3d"}};
constexpr std::array order_words{Word{ChannelOrder::r, "r"},
                                 Word{ChannelOrder::a, "a"},
                                 Word{ChannelOrder::rg, "rg"},
                                 Word{ChannelOrder::ra, "ra"},
                                 Word{ChannelOrder::rgb, "rgb"},
                                 Word{ChannelOrder::rgba, "rgba"},
                                 Word{ChannelOrder::bgra, "bgra"},
                                 Word{ChannelOrder::argb, "argb"},
                                 Word{ChannelOrder::intensity, "intensity"},
                                 Word{ChannelOrder::luminance, "luminance"},
                                 Word{ChannelOrder::rx, "rx"},
                                 Word{ChannelOrder::rgx, "rgx"},
                                 Word{ChannelOrder::rgbx, "rgbx"},
                                 Word{ChannelOrder::depth, "depth"},
                                 Word{ChannelOrder::srgb, "srgb"},
                                 Word{ChannelOrder::srgbx, "srgbx"},
                                 Word{ChannelOrder::srgba, "srgba"},
                                 Word{ChannelOrder::sbgra, "sbgra"},
                                 Word{ChannelOrder::abgr, "abgr"}};
constexpr std::array channel_words{Word{ChannelType::snorm_int8, "snorm_int8"},
                                   Word{ChannelType::snorm_int16, "snorm_int16"},
                                   Word{ChannelType::unorm_int8, "unorm_int8"},
                                   Word{ChannelType::unorm_int16, "unorm_int16"},
                                   Word{ChannelType::unorm_short_565, "unorm_short_565"},
                                   Word{ChannelType::unorm_short_555, "unorm_short_555"},
                                   Word{ChannelType::unorm_int_101010, "unorm_int_101010"},
                                   Word{ChannelType::signed_int8, "signed_int8"},
                                   Word{ChannelType::signed_int16, "signed_int16"},
                                   Word{ChannelType::signed_int32, "signed_int32"},
                                   Word{ChannelType::unsigned_int8, "unsigned_int8"},
                                   Word{ChannelType::unsigned_int16, "unsigned_int16"},
                                   Word{ChannelType::unsigned_int32, "unsigned_int32"},
                                   Word{ChannelType::half_float, "half_float"},
                                   Word{ChannelType::float32, "float"},
                                   Word{ChannelType::unorm_int_101010_2, "unorm_int_101010_2"}};
constexpr std::array access_words{Word{Access::read_write, "read_write"},
                                  Word{Access::read_only, "read_only"},
                                  Word{Access::write_only, "write_only"}};
constexpr std::array addressing_words{
    Word{Addressing::none, "none"}, Word{Addressing::clamp_to_edge, "clamp_to_edge"},
    Word{Addressing::clamp, "clamp"}, Word{Addressing::repeat, "repeat"},
    Word{Addressing::mirrored_repeat, "mirrored_repeat"}};
constexpr std::array filter_words{Word{Filter::nearest, "nearest"}, Word{Filter::linear, "linear"}};

std::uint64_t channels_in(ChannelOrder order) {
  switch (order) {
    case ChannelOrder::r:
    case ChannelOrder::a:
    case ChannelOrder::rx:
    case ChannelOrder::intensity:
    case ChannelOrder::luminance:
    case ChannelOrder::depth:
      return 1;
    case ChannelOrder::rg:
    case ChannelOrder::ra:
    case ChannelOrder::rgx:
      return 2;
    case ChannelOrder::rgb:
    case ChannelOrder::rgbx:
    case ChannelOrder::srgb:
      return 3;
    default:
      return 4;
  }
}

/// `one` times `other`, as far as that is no more than an object may have.
std::optional<std::uint64_t> product(std::uint64_t one, std::uint64_t other) {
  if (other != 0 && one > max_object_bytes / other) return std::nullopt;
  return one * other;
}

}  // namespace

std::string_view to_word(Type type) { return word_in(type_words, type); }
std::string_view to_word(Fill fill) { return word_in(fill_words, fill); }

std::optional<Type> type_from_word(std::string_view word) { return value_in(type_words, word); }
std::optional<Fill> fill_from_word(std::string_view word) { return value_in(fill_words, word); }

std::uint64_t bytes_of(Type type) {
  switch (type) {
    case Type::int8:
    case Type::uint8:
      return 1;
    case Type::int16:
    case Type::uint16:
      return 2;
    case Type::int32:
    case Type::uint32:
    case Type::float32:
      return 4;
    case Type::int64:
    case Type::uint64:
    case Type::float64:
      break;
  }
  return 8;
}

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

std::string_view to_word(ImageKind kind) { return word_in(kind_words, kind); }
std::string_view to_word(ChannelOrder order) { return word_in(order_words, order); }
std::string_view to_word(ChannelType type) { return word_in(channel_words, type); }
std::string_view to_word(Access access) { return word_in(access_words, access); }
std::string_view to_word(Addressing addressing) { return word_in(addressing_words, addressing); }
std::string_view to_word(Filter filter) { return word_in(filter_words, filter); }

std::optional<ImageKind> image_kind_from_word(std::string_view word) {
  return value_in(kind_words, word);
}
std::optional<ChannelOrder> order_from_word(std::string_view word) {
  return value_in(order_words, word);
}
std::optional<ChannelType> channel_type_from_word(std::string_view word) {
  return value_in(channel_words, word);
}
std::optional<Access> access_from_word(std::string_view word) {
  return value_in(access_words, word);
}
std::optional<Addressing> addressing_from_word(std::string_view word) {
  return value_in(addressing_words, word);
}
std::optional<Filter> filter_from_word(std::string_view word) {
  return value_in(filter_words, word);
}

std::uint32_t dimensions_of(ImageKind kind) {
  switch (kind) {
    case ImageKind::image_1d:
    case ImageKind::image_1d_buffer:
      return 1;
    case ImageKind::image_1d_array:
    case ImageKind::image_2d:
      return 2;
    case ImageKind::image_2d_array:
    case ImageKind::image_3d:
      break;
  }
  return 3;
}

std::uint64_t pixel_bytes(const Image& image) {
  switch (image.type) {
    case ChannelType::unorm_short_565:
    case ChannelType::unorm_short_555:
      return 2;
    case ChannelType::unorm_int_101010:
    case ChannelType::unorm_int_101010_2:
      return 4;
    case ChannelType::snorm_int8:
    case ChannelType::unorm_int8:
    case ChannelType::signed_int8:
    case ChannelType::unsigned_int8:
      return channels_in(image.order);
    case ChannelType::snorm_int16:
    case ChannelType::unorm_int16:
    case ChannelType::signed_int16:
    case ChannelType::unsigned_int16:
    case ChannelType::half_float:
      return 2 * channels_in(image.order);
    case ChannelType::signed_int32:
    case ChannelType::unsigned_int32:
    case ChannelType::float32:
      break;
  }
  return 4 * channels_in(image.order);
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
