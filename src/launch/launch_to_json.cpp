// SPDX-License-Identifier: Apache-2.0
// launch.json, written. In somebody else's process, too (the loader layer): the standard library
// alone.
#include <array>
#include <charconv>

#include "clprobe/launch.hpp"

namespace clprobe::bundle {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

/// The code point that begins here, and how many bytes it has; U+FFFD of one byte where none does.
std::pair<std::uint32_t, std::size_t> decode(std::string_view text) {
  constexpr std::pair<std::uint32_t, std::size_t> unknown{0xfffdU, 1};
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80U) return {first, 1};
  const std::size_t size = first >= 0xf0U ? 4 : first >= 0xe0U ? 3 : 2;
  if (first < 0xc2U || first > 0xf4U || text.size() < size) return unknown;
  std::uint32_t code = first & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80U) return unknown;
    code = code << 6U | (next & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80U, 0x800U, 0x10000U};
  const bool is_surrogate = code >= 0xd800U && code <= 0xdfffU;
  if (code < least.at(size) || code > 0x10ffffU || is_surrogate) return unknown;
  return {code, size};
}

void add_escaped(std::uint32_t unit, std::string& out) {
  out += "\\u";
  for (unsigned shift = 16; shift > 0; shift -= 4) out += digits[unit >> (shift - 4) & 0xfU];
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto [code, size] = decode(text);
    text.remove_prefix(size);
    if (code == '"' || code == '\\') {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code >= 0x20U && code < 0x7fU) {
      out += static_cast<char>(code);
    } else if (code < 0x10000U) {
      add_escaped(code, out);
    } else {
      add_escaped(0xd800U + ((code - 0x10000U) >> 10U), out);
      add_escaped(0xdc00U + ((code - 0x10000U) & 0x3ffU), out);
    }
  }
  return out + '"';
}

/// So that it reads back as the same number.
std::string decimal(double number) {
  std::array<char, 64> text{};
  char* const begin = text.data();
  return {begin, std::to_chars(begin, begin + text.size(), number).ptr};
}

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    text += digits[byte >> 4U];
    text += digits[byte & 0xfU];
  }
  return text;
}

/// The members of an object, on one line.
class Members {
 public:
  void add(std::string_view key, const std::string& json) {
    text_ += (text_.empty() ? "" : ", ") + quoted(key) + ": " + json;
  }
  void add_text(std::string_view key, std::string_view text) { add(key, quoted(text)); }
  void add_number(std::string_view key, std::uint64_t number) { add(key, std::to_string(number)); }
  [[nodiscard]] std::string object() const { return '{' + text_ + '}'; }

 private:
  std::string text_{};
};

/// Every element by `write`; a line each where `has_lines`.
template <typename Values, typename Write>
std::string array_of(const Values& values, bool has_lines, Write write) {
  std::string text = "[";
  bool is_first = true;
  for (const auto& each : values) {
    if (!is_first) text += has_lines ? "," : ", ";
    if (has_lines) text += "\n    ";
    text += write(each);
    is_first = false;
  }
  return text + (has_lines && !is_first ? "\n  ]" : "]");
}

std::string sizes_of(const Sizes& sizes, std::uint32_t dimensions) {
  const std::vector<std::uint64_t> used(sizes.begin(), sizes.begin() + dimensions);
  return array_of(used, false, [](std::uint64_t size) { return std::to_string(size); });
}

std::string write_includes(const std::vector<includes::Include>& list) {
  return array_of(list, false, [](const includes::Include& each) {
    Members members;
    members.add_text("written", each.written);
    members.add_number("header", each.header);
    return members.object();
  });
}

std::string write_unit(const Unit& unit) {
  Members members;
  if (!unit.sha256.empty()) members.add_text("sha256", unit.sha256);
  if (!unit.options.empty()) members.add_text("options", unit.options);
  if (!unit.includes.empty()) members.add("includes", write_includes(unit.includes));
  return members.object();
}

std::string write_header(const Header& header) {
  Members members;
  members.add_text("name", header.name);
  members.add_text("sha256", header.sha256);
  if (!header.includes.empty()) members.add("includes", write_includes(header.includes));
  return members.object();
}

std::string write_program(const Program& program) {
  Members members;
  members.add("units", array_of(program.units, false, write_unit));
  if (!program.link_options.empty()) members.add_text("link_options", program.link_options);
  if (!program.headers.empty()) {
    members.add("headers", array_of(program.headers, false, write_header));
  }
  return members.object();
}

std::string write_layout(const Image& image) {
  Members members;
  members.add_text("kind", to_word(image.kind));
  members.add_text("order", to_word(image.order));
  members.add_text("type", to_word(image.type));
  members.add_text("access", to_word(image.access));
  members.add("pixels", sizes_of(image.pixels, dimensions_of(image.kind)));
  if (image.row_bytes > 0) members.add_number("row_bytes", image.row_bytes);
  return members.object();
}

std::string write_sampler(const Sampler& sampler) {
  Members members;
  members.add("normalized", sampler.is_normalized ? "true" : "false");
  members.add_text("addressing", to_word(sampler.addressing));
  members.add_text("filter", to_word(sampler.filter));
  return members.object();
}

/// By which an argument or an epilogue names the object.
std::string_view key_of(const Object& object) { return object.image ? "image" : "buffer"; }

std::string write_object(const Object& object) {
  Members members;
  members.add_text(key_of(object), object.name);
  if (object.image) members.add("layout", write_layout(*object.image));
  if (!object.contents) {
    members.add_number("bytes", object.bytes);
    members.add_text("sha256", object.sha256);
    return members.object();
  }
  const Contents& contents = *object.contents;
  members.add_text("type", to_word(contents.type));
  members.add_number("count", contents.count);
  members.add_text("fill", to_word(contents.fill));
  if (contents.fill == Fill::value) members.add("value", decimal(contents.value));
  return members.object();
}

std::string write_argument(const Argument& argument, const Launch& launch) {
  Members members;
  switch (argument.kind) {
    case ArgumentKind::buffer:
      members.add_text("buffer", launch.objects.at(argument.object).name);
      if (argument.bytes == 0) break;
      members.add_number("origin", argument.origin);
      members.add_number("bytes", argument.bytes);
      break;
    case ArgumentKind::local:
      members.add_number("local_bytes", argument.bytes);
      break;
    case ArgumentKind::value:
      members.add_text("hex", hexadecimal(argument.value));
      break;
    case ArgumentKind::null:
      members.add("null", "true");
      break;
    case ArgumentKind::image:
      members.add_text("image", launch.objects.at(argument.object).name);
      if (!argument.image) break;
      members.add("layout", write_layout(*argument.image));
      members.add_number("origin", argument.origin);
      members.add_number("bytes", argument.bytes);
      break;
    case ArgumentKind::sampler:
      members.add("sampler", write_sampler(argument.sampler.value_or(Sampler{})));
      break;
  }
  return members.object();
}

std::string write_device(const Device& device) {
  Members members;
  members.add_text("name", device.name);
  members.add_text("vendor", device.vendor);
  members.add_text("driver", device.driver);
  return members.object();
}

std::string write_survey(const Surveyed& survey) {
  Members members;
  members.add_number("launches", survey.launches);
  members.add("share", decimal(survey.share));
  members.add("mean_ns", decimal(survey.mean_ns));
  return members.object();
}

/// The keys of the document, a line each.
std::string lines_of(const std::vector<std::pair<std::string_view, std::string>>& rows) {
  std::string text = "{";
  for (const auto& [key, json] : rows) {
    text += (text.size() == 1 ? "\n  " : ",\n  ") + quoted(key) + ": " + json;
  }
  return text + "\n}\n";
}

}  // namespace

std::string to_json(const Launch& launch) {
  std::vector<std::pair<std::string_view, std::string>> rows{
      {"schema", quoted(schema_name)}, {"schema_version", std::to_string(schema_version)}};
  if (!launch.tool.empty()) rows.emplace_back("tool", quoted(launch.tool));
  if (!launch.app.empty()) rows.emplace_back("app", array_of(launch.app, false, quoted));
  if (launch.device) rows.emplace_back("device", write_device(*launch.device));
  if (launch.ordinal > 0) rows.emplace_back("ordinal", std::to_string(launch.ordinal));
  if (launch.survey) rows.emplace_back("survey", write_survey(*launch.survey));
  rows.emplace_back("program", write_program(launch.program));
  rows.emplace_back("kernel", quoted(launch.kernel));
  const NdRange& range = launch.range;
  if (range.offset != Sizes{}) {
    rows.emplace_back("offset", sizes_of(range.offset, range.dimensions));
  }
  rows.emplace_back("global", sizes_of(range.global, range.dimensions));
  if (range.local != Sizes{}) rows.emplace_back("local", sizes_of(range.local, range.dimensions));
  rows.emplace_back("arguments", array_of(launch.arguments, true, [&](const Argument& each) {
                      return write_argument(each, launch);
                    }));
  rows.emplace_back("objects", array_of(launch.objects, true, write_object));
  if (!launch.app_event_ns.empty()) {
    rows.emplace_back("app_event_ns", array_of(launch.app_event_ns, false, [](std::uint64_t ns) {
                        return std::to_string(ns);
                      }));
  }
  if (!launch.epilogue.empty()) {
    rows.emplace_back("epilogue", array_of(launch.epilogue, true, [&](const Epilogue& each) {
                        Members members;
                        const Object& object = launch.objects.at(each.object);
                        members.add_text(key_of(object), object.name);
                        members.add_text("sha256", each.sha256);
                        return members.object();
                      }));
  }
  return lines_of(rows);
}

}  // namespace clprobe::bundle
