// SPDX-License-Identifier: Apache-2.0
#include "launch/argument_from_json.hpp"

#include <optional>

#include "launch/image_from_json.hpp"
#include "launch/scalar.hpp"

namespace clprobe::bundle {

namespace {

using json::Cursor;

void read_part(const Cursor& origin, const Cursor& bytes, std::uint64_t whole, Argument& argument) {
  argument.origin = number_up_to(origin, 0, whole - 1);
  argument.bytes = number_up_to(bytes, 1, whole - argument.origin);
}

Argument read_buffer(const Cursor& buffer, const Cursor& origin, const Cursor& bytes,
                     const Places& places, const std::vector<Object>& objects) {
  Argument argument{.kind = ArgumentKind::buffer, .object = place_in(buffer, places)};
  if (objects[argument.object].image) buffer.refuse("a buffer, and it is an image");
  if (origin.is_missing() && bytes.is_missing()) return argument;
  read_part(origin, bytes, objects[argument.object].bytes, argument);
  return argument;
}

/// An image that is an object, or one whose memory is a part of a buffer.
Argument read_image(const Cursor& image, const Cursor& layout, const Cursor& origin,
                    const Cursor& bytes, const Places& places, const std::vector<Object>& objects) {
  Argument argument{.kind = ArgumentKind::image, .object = place_in(image, places)};
  const Object& object = objects[argument.object];
  if (object.image) {
    for (const Cursor* const each : {&layout, &origin, &bytes}) {
      if (!each->is_missing()) each->refuse("nothing, since the object has it");
    }
    return argument;
  }
  argument.image = read_buffer_layout(layout);
  read_part(origin, bytes, object.bytes, argument);
  const std::optional<std::uint64_t> needed = bytes_of_buffer(*argument.image);
  if (!needed || *needed > argument.bytes) bytes.refuse("as many as its pixels take");
  return argument;
}

}  // namespace

std::size_t place_in(const Cursor& name, const Places& places) {
  const auto found = places.find(name.text());
  if (found == places.end()) name.refuse("the name of one of the objects");
  return found->second;
}

Argument read_argument(const Cursor& cursor, const Places& places,
                       const std::vector<Object>& objects) {
  constexpr std::array<std::string_view, 11> keys{"buffer",      "image",   "layout", "origin",
                                                  "bytes",       "sampler", "hex",    "type",
                                                  "local_bytes", "value",   "null"};
  const auto found = cursor.members(keys);
  const auto& [buffer, image, layout, origin, bytes, sampler, hex, type, local, value, null] =
      found;
  int kinds = 0;
  for (const Cursor* const each : {&buffer, &image, &sampler, &local, &hex, &value, &null}) {
    kinds += each->is_missing() ? 0 : 1;
  }
  if (kinds != 1) {
    cursor.refuse("one of buffer, image, sampler, local_bytes, value, hex and null");
  }
  if (buffer.is_missing() && image.is_missing()) {
    for (const Cursor* const each : {&origin, &bytes}) {
      if (!each->is_missing()) each->refuse("nothing, since it is of buffers");
    }
  }
  if (image.is_missing() && !layout.is_missing()) layout.refuse("nothing, since it is of images");
  if (value.is_missing() && !type.is_missing()) type.refuse("nothing, since it is of values");
  if (!buffer.is_missing()) return read_buffer(buffer, origin, bytes, places, objects);
  if (!image.is_missing()) return read_image(image, layout, origin, bytes, places, objects);
  if (!sampler.is_missing()) {
    return {.kind = ArgumentKind::sampler, .sampler = read_sampler(sampler)};
  }
  if (!local.is_missing()) {
    constexpr std::uint64_t max_local = std::uint64_t{1} << 30U;
    return {.kind = ArgumentKind::local, .bytes = number_up_to(local, 1, max_local)};
  }
  if (!hex.is_missing()) return {.kind = ArgumentKind::value, .value = bytes_in(hex)};
  if (!value.is_missing()) return {.kind = ArgumentKind::value, .value = vector_in(value, type)};
  if (!null.boolean()) null.refuse("true");
  return {.kind = ArgumentKind::null};
}

}  // namespace clprobe::bundle
