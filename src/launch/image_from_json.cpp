// SPDX-License-Identifier: Apache-2.0
#include "launch/image_from_json.hpp"

#include <fmt/format.h>

#include "clprobe/launch.hpp"
#include "launch/scalar.hpp"

namespace clprobe::bundle {
namespace {

using json::Cursor;

/// What the word stands for; `from_word` knows all words of one kind.
template <typename FromWord>
auto known_word(const Cursor& cursor, FromWord from_word, std::string_view what) {
  const auto known = from_word(cursor.text());
  if (!known) cursor.refuse(fmt::format("{} of OpenCL in lower case", what));
  return *known;
}

Sizes read_pixels(const Cursor& cursor, ImageKind kind) {
  // No device makes an image of so many in one direction; a row of them in 16 bytes each is 64 GiB.
  constexpr std::uint64_t most = std::uint64_t{1} << 32U;
  const std::uint32_t dimensions = dimensions_of(kind);
  if (cursor.size_hint() != dimensions) {
    cursor.refuse(fmt::format("an array of {} sizes for {}", dimensions, to_word(kind)));
  }
  Sizes pixels{};
  std::size_t place = 0;
  cursor.for_each_element(
      [&](const Cursor& each) { pixels.at(place++) = number_up_to(each, 1, most); });
  return pixels;
}

Image read_layout(const Cursor& layout) {
  constexpr std::array<std::string_view, 6> keys{"kind",   "order",  "type",
                                                 "access", "pixels", "row_bytes"};
  const auto [kind, order, type, access, pixels, row] = layout.members(keys);
  Image image;
  image.kind = known_word(kind, image_kind_from_word, "an image kind");
  image.order = known_word(order, order_from_word, "a channel order");
  image.type = known_word(type, channel_type_from_word, "a channel type");
  image.access = known_word(access, access_from_word, "an access");
  image.pixels = read_pixels(pixels, image.kind);
  if (!row.is_missing()) image.row_bytes = number_up_to(row, 1, max_object_bytes);
  return image;
}

}  // namespace

Image read_own_layout(const Cursor& layout) {
  const Image image = read_layout(layout);
  if (image.kind == ImageKind::image_1d_buffer) layout.refuse("an image kind with its own memory");
  if (image.row_bytes > 0) layout.refuse("no row_bytes (the image is not in a buffer)");
  if (!bytes_of_pixels(image)) layout.refuse(fmt::format("at most {} bytes", max_object_bytes));
  return image;
}

Image read_buffer_layout(const Cursor& layout) {
  const Image image = read_layout(layout);
  const bool is_flat = image.kind == ImageKind::image_2d;
  if (!is_flat && image.kind != ImageKind::image_1d_buffer) {
    layout.refuse("1d_buffer or 2d (the image is in a buffer)");
  }
  if (is_flat != (image.row_bytes > 0)) {
    layout.refuse("row_bytes for 2d images, and only for these");
  }
  if (is_flat && image.row_bytes < pixel_bytes(image) * image.pixels[0]) {
    layout.refuse("rows that do not overlap");
  }
  return image;
}

Sampler read_sampler(const Cursor& sampler) {
  constexpr std::array<std::string_view, 3> keys{"normalized", "addressing", "filter"};
  const auto [normalized, addressing, filter] = sampler.members(keys);
  Sampler read;
  read.is_normalized = normalized.boolean();
  read.addressing = known_word(addressing, addressing_from_word, "an addressing mode");
  read.filter = known_word(filter, filter_from_word, "a filter mode");
  return read;
}

}  // namespace clprobe::bundle
