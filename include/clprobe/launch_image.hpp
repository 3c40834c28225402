// SPDX-License-Identifier: Apache-2.0
// Images and samplers that a kernel gets, as a bundle describes them. Enumerators have OpenCL's
// numbers, which drivers take as they are.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "clprobe/words.hpp"

namespace clprobe::bundle {

using Sizes = std::array<std::uint64_t, 3>;

/// A 1D image of a buffer has no memory of its own; a 2D image may have the buffer's as well.
enum class ImageKind {
  image_1d,
  image_1d_array,
  image_1d_buffer,
  image_2d,
  image_2d_array,
  image_3d
};

/// CL_R to CL_ABGR, without what OpenGL alone has.
enum class ChannelOrder : std::uint32_t {
  r = 0x10b0,
  a,
  rg,
  ra,
  rgb,
  rgba,
  bgra,
  argb,
  intensity,
  luminance,
  rx,
  rgx,
  rgbx,
  depth,
  srgb = 0x10bf,
  srgbx,
  srgba,
  sbgra,
  abgr
};

/// CL_SNORM_INT8 to CL_UNORM_INT_101010_2, without what OpenGL alone has.
enum class ChannelType : std::uint32_t {
  snorm_int8 = 0x10d0,
  snorm_int16,
  unorm_int8,
  unorm_int16,
  unorm_short_565,
  unorm_short_555,
  unorm_int_101010,
  signed_int8,
  signed_int16,
  signed_int32,
  unsigned_int8,
  unsigned_int16,
  unsigned_int32,
  half_float,
  float32,
  unorm_int_101010_2 = 0x10e0
};

/// Access of kernels to an image: some devices offer a format for reading only.
enum class Access { read_write, read_only, write_only };

struct Image {
  ImageKind kind{ImageKind::image_2d};
  ChannelOrder order{ChannelOrder::rgba};
  ChannelType type{ChannelType::float32};
  Access access{Access::read_write};
  Sizes pixels{};  ///< width, then height or layers, then depth or layers; unused ones are 0
  std::uint64_t row_bytes{0};  ///< from row to row, of a 2D image of a buffer; else 0

  friend bool operator==(const Image&, const Image&) = default;
};

/// CL_ADDRESS_NONE to CL_ADDRESS_MIRRORED_REPEAT.
enum class Addressing : std::uint32_t {
  none = 0x1130,
  clamp_to_edge,
  clamp,
  repeat,
  mirrored_repeat
};

/// CL_FILTER_NEAREST and CL_FILTER_LINEAR.
enum class Filter : std::uint32_t { nearest = 0x1140, linear };

struct Sampler {
  bool is_normalized{false};  ///< coordinates from 0 to 1
  Addressing addressing{Addressing::none};
  Filter filter{Filter::nearest};

  friend bool operator==(const Sampler&, const Sampler&) = default;
};

/// The words of an enumeration: a row for each value, with what else is known of it.
template <typename Enum>
inline constexpr auto rows_of = nullptr;

struct ImageKindRow {
  ImageKind value;
  std::string_view word;
  std::uint32_t dimensions;
};
template <>
inline constexpr auto rows_of<ImageKind> =
    std::array{ImageKindRow{ImageKind::image_1d, "1d", 1},
               ImageKindRow{ImageKind::image_1d_array, "1d_array", 2},
               ImageKindRow{ImageKind::image_1d_buffer, "1d_buffer", 1},
               ImageKindRow{ImageKind::image_2d, "2d", 2},
               ImageKindRow{ImageKind::image_2d_array, "2d_array", 3},
               ImageKindRow{ImageKind::image_3d, "3d", 3}};

struct ChannelOrderRow {
  ChannelOrder value;
  std::string_view word;
  std::uint64_t channels;
};
template <>
inline constexpr auto rows_of<ChannelOrder> =
    std::array{ChannelOrderRow{ChannelOrder::r, "r", 1},
               ChannelOrderRow{ChannelOrder::a, "a", 1},
               ChannelOrderRow{ChannelOrder::rg, "rg", 2},
               ChannelOrderRow{ChannelOrder::ra, "ra", 2},
               ChannelOrderRow{ChannelOrder::rgb, "rgb", 3},
               ChannelOrderRow{ChannelOrder::rgba, "rgba", 4},
               ChannelOrderRow{ChannelOrder::bgra, "bgra", 4},
               ChannelOrderRow{ChannelOrder::argb, "argb", 4},
               ChannelOrderRow{ChannelOrder::intensity, "intensity", 1},
               ChannelOrderRow{ChannelOrder::luminance, "luminance", 1},
               ChannelOrderRow{ChannelOrder::rx, "rx", 1},
               ChannelOrderRow{ChannelOrder::rgx, "rgx", 2},
               ChannelOrderRow{ChannelOrder::rgbx, "rgbx", 3},
               ChannelOrderRow{ChannelOrder::depth, "depth", 1},
               ChannelOrderRow{ChannelOrder::srgb, "srgb", 3},
               ChannelOrderRow{ChannelOrder::srgbx, "srgbx", 4},
               ChannelOrderRow{ChannelOrder::srgba, "srgba", 4},
               ChannelOrderRow{ChannelOrder::sbgra, "sbgra", 4},
               ChannelOrderRow{ChannelOrder::abgr, "abgr", 4}};

struct ChannelTypeRow {
  ChannelType value;
  std::string_view word;
  std::uint64_t channel_bytes;    ///< 0 where channels share bytes
  std::uint64_t pixel_bytes = 0;  ///< where they do
};
template <>
inline constexpr auto rows_of<ChannelType> =
    std::array{ChannelTypeRow{ChannelType::snorm_int8, "snorm_int8", 1},
               ChannelTypeRow{ChannelType::snorm_int16, "snorm_int16", 2},
               ChannelTypeRow{ChannelType::unorm_int8, "unorm_int8", 1},
               ChannelTypeRow{ChannelType::unorm_int16, "unorm_int16", 2},
               ChannelTypeRow{ChannelType::unorm_short_565, "unorm_short_565", 0, 2},
               ChannelTypeRow{ChannelType::unorm_short_555, "unorm_short_555", 0, 2},
               ChannelTypeRow{ChannelType::unorm_int_101010, "unorm_int_101010", 0, 4},
               ChannelTypeRow{ChannelType::signed_int8, "signed_int8", 1},
               ChannelTypeRow{ChannelType::signed_int16, "signed_int16", 2},
               ChannelTypeRow{ChannelType::signed_int32, "signed_int32", 4},
               ChannelTypeRow{ChannelType::unsigned_int8, "unsigned_int8", 1},
               ChannelTypeRow{ChannelType::unsigned_int16, "unsigned_int16", 2},
               ChannelTypeRow{ChannelType::unsigned_int32, "unsigned_int32", 4},
               ChannelTypeRow{ChannelType::half_float, "half_float", 2},
               ChannelTypeRow{ChannelType::float32, "float", 4},
               ChannelTypeRow{ChannelType::unorm_int_101010_2, "unorm_int_101010_2", 0, 4}};

template <>
inline constexpr auto rows_of<Access> =
    std::array{Word{Access::read_write, "read_write"}, Word{Access::read_only, "read_only"},
               Word{Access::write_only, "write_only"}};
template <>
inline constexpr auto rows_of<Addressing> =
    std::array{Word{Addressing::none, "none"}, Word{Addressing::clamp_to_edge, "clamp_to_edge"},
               Word{Addressing::clamp, "clamp"}, Word{Addressing::repeat, "repeat"},
               Word{Addressing::mirrored_repeat, "mirrored_repeat"}};
template <>
inline constexpr auto rows_of<Filter> =
    std::array{Word{Filter::nearest, "nearest"}, Word{Filter::linear, "linear"}};

template <typename Enum>
concept HasRows = requires {
  rows_of<Enum>.size();
};

/// OpenCL's name in small letters: "2d_array", "rgba", "unorm_int8", "clamp_to_edge". Empty for a
/// number that is no value of the enumeration.
template <HasRows Enum>
std::string_view to_word(Enum value) {
  return word_in(rows_of<Enum>, value);
}

template <HasRows Enum>
std::optional<Enum> from_word(std::string_view word) {
  return value_in(rows_of<Enum>, word);
}

/// The row of a value that is one of the enumeration.
template <HasRows Enum>
const auto& row_of(Enum value) {
  return *std::find_if(rows_of<Enum>.begin(), rows_of<Enum>.end(),
                       [&](const auto& each) { return each.value == value; });
}

/// Number of sizes of an image of that kind.
std::uint32_t dimensions_of(ImageKind kind);

/// Bytes of a pixel, by OpenCL's table of formats.
std::uint64_t pixel_bytes(const Image& image);

/// The region of the whole image: sizes that its kind lacks are 1.
Sizes region_of(const Image& image);

/// Bytes of the pixels without gaps between rows; nothing beyond 1 TiB, the limit of an object. No
/// size may be 0.
std::optional<std::uint64_t> bytes_of_pixels(const Image& image);

/// Bytes of the buffer from the first pixel to the last; nothing beyond 1 TiB.
std::optional<std::uint64_t> bytes_of_buffer(const Image& image);

}  // namespace clprobe::bundle
