// SPDX-License-Identifier: Apache-2.0
// Writer of launch.json, hashes and file names of a bundle, and sizes of images. The loader layer
// also contains this code.
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

#include "profile/api/bundle.hpp"

namespace clprobe::bundle {
namespace {

/// Returns two lower-case hexadecimal digits for each byte.
std::string hexadecimal(std::string_view bytes) {
  std::string text(BASE16_ENCODE_LENGTH(bytes.size()), '\0');
  base16_encode_update(text.data(), bytes.size(),
                       reinterpret_cast<const std::uint8_t*>(bytes.data()));
  return text;
}

/// Returns the product of `one` and `other`; nothing if the product exceeds `max_object_bytes`.
std::optional<std::uint64_t> product(std::uint64_t one, std::uint64_t other) {
  if (other != 0 && one > max_object_bytes / other) return std::nullopt;
  return one * other;
}

using Json = nlohmann::ordered_json;

/// Returns the value on one line, with a space after each comma and colon. nlohmann writes either a
/// line without spaces, or a separate line for each number.
std::string line_of(const Json& value) {
  if (!value.is_structured()) return value.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string text;
  for (const auto& [key, each] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += Json(key).dump() + ": ";
    text += line_of(each);
  }
  return value.is_object() ? '{' + text + '}' : '[' + text + ']';
}

/// Returns the text of an array with one line for each element.
std::string lines_of(const Json& values) {
  std::string text;
  for (const Json& each : values) text += (text.empty() ? "\n    " : ",\n    ") + line_of(each);
  return text.empty() ? "[]" : '[' + text + "\n  ]";
}

template <typename Values, typename Write>
Json array_of(const Values& values, Write write) {
  Json list = Json::array();
  for (const auto& each : values) list.push_back(write(each));
  return list;
}

Json sizes_of(const Sizes& sizes, std::uint32_t dimensions) {
  return std::vector<std::uint64_t>(sizes.begin(), sizes.begin() + dimensions);
}

Json write_includes(const std::vector<includes::Include>& list) {
  return array_of(list, [](const includes::Include& each) {
    return Json{{"written", each.written}, {"header", each.header}};
  });
}

Json write_unit(const Unit& unit) {
  Json members = Json::object();
  if (!unit.sha256.empty()) members["sha256"] = unit.sha256;
  if (unit.form != Form::text) members["form"] = to_word(unit.form);
  if (!unit.options.empty()) members["options"] = unit.options;
  if (!unit.includes.empty()) members["includes"] = write_includes(unit.includes);
  return members;
}

Json write_header(const Header& header) {
  Json members{{"name", header.name}, {"sha256", header.sha256}};
  if (!header.includes.empty()) members["includes"] = write_includes(header.includes);
  return members;
}

Json write_program(const Program& program) {
  Json members{{"units", array_of(program.units, write_unit)}};
  if (!program.link_options.empty()) members["link_options"] = program.link_options;
  if (!program.headers.empty()) members["headers"] = array_of(program.headers, write_header);
  return members;
}

Json write_layout(const Image& image) {
  Json members{{"kind", to_word(image.kind)},
               {"order", to_word(image.order)},
               {"type", to_word(image.type)},
               {"access", to_word(image.access)},
               {"pixels", sizes_of(image.pixels, dimensions_of(image.kind))}};
  if (image.row_bytes > 0) members["row_bytes"] = image.row_bytes;
  return members;
}

/// Returns the key for the object's name in the list of objects and the epilogue.
std::string key_of(const Object& object) { return object.image ? "image" : "buffer"; }

Json write_object(const Object& object) {
  Json members{{key_of(object), object.name}};
  if (object.image) members["layout"] = write_layout(*object.image);
  if (!object.contents) {
    members["bytes"] = object.bytes;
    members["sha256"] = object.sha256;
    return members;
  }
  members["type"] = to_word(object.contents->type);
  members["count"] = object.contents->count;
  members["fill"] = to_word(object.contents->fill);
  if (object.contents->fill == Fill::value) members["value"] = object.contents->value;
  return members;
}

Json write_argument(const Argument& argument, const Launch& launch) {
  Json members;
  switch (argument.kind) {
    case ArgumentKind::local:
      return {{"local_bytes", argument.bytes}};
    case ArgumentKind::value:
      return {{"hex", hexadecimal(argument.value)}};
    case ArgumentKind::null:
      return {{"null", true}};
    case ArgumentKind::sampler: {
      const Sampler sampler = argument.sampler.value_or(Sampler{});
      return {{"sampler",
               {{"normalized", sampler.is_normalized},
                {"addressing", to_word(sampler.addressing)},
                {"filter", to_word(sampler.filter)}}}};
    }
    case ArgumentKind::buffer:
      members["buffer"] = launch.objects.at(argument.object).name;
      break;
    case ArgumentKind::image:
      members["image"] = launch.objects.at(argument.object).name;
      if (argument.image) members["layout"] = write_layout(*argument.image);
      break;
  }
  if (argument.image || (argument.kind == ArgumentKind::buffer && argument.bytes > 0)) {
    members["origin"] = argument.origin;
    members["bytes"] = argument.bytes;
  }
  return members;
}

}  // namespace

std::string sha256_of(std::string_view bytes) {
  sha256_ctx state{};
  sha256_init(&state);
  sha256_update(&state, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_digest(&state, digest.size(), digest.data());
  return hexadecimal({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string text_file(std::string_view sha256, Form form) {
  return std::string(sha256) + std::string(row_of(form).extension);
}
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

std::string to_json(const Launch& launch) {
  std::string text = "{\n  \"schema\": " + line_of(schema_name);
  const auto add = [&](std::string_view key, const std::string& value) {
    text += ",\n  " + line_of(key) + ": " + value;
  };
  add("schema_version", line_of(schema_version));
  if (!launch.tool.empty()) add("tool", line_of(launch.tool));
  if (!launch.app.empty()) add("app", line_of(launch.app));
  if (const std::optional<Device>& device = launch.device) {
    add("device",
        line_of({{"name", device->name}, {"vendor", device->vendor}, {"driver", device->driver}}));
  }
  if (launch.ordinal > 0) add("ordinal", line_of(launch.ordinal));
  if (const std::optional<Surveyed>& survey = launch.survey) {
    add("survey", line_of({{"launches", survey->launches},
                           {"share", survey->share},
                           {"mean_ns", survey->mean_ns}}));
  }
  add("program", line_of(write_program(launch.program)));
  add("kernel", line_of(launch.kernel));
  const NdRange& range = launch.range;
  if (range.offset != Sizes{}) add("offset", line_of(sizes_of(range.offset, range.dimensions)));
  add("global", line_of(sizes_of(range.global, range.dimensions)));
  if (range.local != Sizes{}) add("local", line_of(sizes_of(range.local, range.dimensions)));
  add("arguments", lines_of(array_of(launch.arguments, [&](const Argument& each) {
        return write_argument(each, launch);
      })));
  add("objects", lines_of(array_of(launch.objects, write_object)));
  if (!launch.app_event_ns.empty()) add("app_event_ns", line_of(launch.app_event_ns));
  if (!launch.epilogue.empty()) {
    add("epilogue", lines_of(array_of(launch.epilogue, [&](const Epilogue& each) {
          const Object& object = launch.objects.at(each.object);
          return Json{{key_of(object), object.name}, {"sha256", each.sha256}};
        })));
  }
  return text + "\n}\n";
}

}  // namespace clprobe::bundle
