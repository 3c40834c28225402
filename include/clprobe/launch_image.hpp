// SPDX-License-Identifier: Apache-2.0
// Images and samplers that a kernel gets, as a bundle describes them. The numbers of formats are
// OpenCL's own, so that nobody needs a table to ask a driver for one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

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

/// What kernels may do with an image: some devices have a format for reading alone.
enum class Access { read_write, read_only, write_only };

struct Image {
  ImageKind kind{ImageKind::image_2d};
  ChannelOrder order{ChannelOrder::rgba};
  ChannelType type{ChannelType::float32};
  Access access{Access::read_write};
  Sizes pixels{};  ///< width, then height or layers, then depth or layers; 0 behind them
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

/// As in OpenCL's names, in small letters: "2d_array", "rgba", "unorm_int8", "clamp_to_edge".
std::string_view to_word(ImageKind kind);
std::string_view to_word(ChannelOrder order);
std::string_view to_word(ChannelType type);
std::string_view to_word(Access access);
std::string_view to_word(Addressing addressing);
std::string_view to_word(Filter filter);
std::optional<ImageKind> image_kind_from_word(std::string_view word);
std::optional<ChannelOrder> order_from_word(std::string_view word);
std::optional<ChannelType> channel_type_from_word(std::string_view word);
std::optional<Access> access_from_word(std::string_view word);
std::optional<Addressing> addressing_from_word(std::string_view word);
std::optional<Filter> filter_from_word(std::string_view word);

/// How many sizes an image of that kind has.
std::uint32_t dimensions_of(ImageKind kind);

/// Of a pixel, as OpenCL's table of formats says.
std::uint64_t pixel_bytes(const Image& image);

/// Sizes with 1 for those that the image has not: the region that is all of it.
Sizes region_of(const Image& image);

/// What its pixels take, row by row without anything between; nothing beyond the 1 TiB that an
/// object may have. No size may be 0.
std::optional<std::uint64_t> bytes_of_pixels(const Image& image);

/// What it takes of its buffer, from the first pixel to the last; nothing beyond 1 TiB.
std::optional<std::uint64_t> bytes_of_buffer(const Image& image);

}  // namespace clprobe::bundle
