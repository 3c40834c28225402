// SPDX-License-Identifier: Apache-2.0
// Reader of launch.json, and the contents of buffers that users describe. The reader checks all
// values, because bundles may come from other people.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "profile/api/bundle.hpp"
#include "run/api/json.hpp"

namespace clprobe::bundle {

namespace {

static_assert(std::endian::native == std::endian::little,
              "bundles store numbers in the little-endian order of OpenCL devices");

template <typename Number>
std::string bytes_of_number(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

bool is_floating(Type type) { return type == Type::float32 || type == Type::float64; }

std::string integer_of(Type type, std::uint64_t bits) {
  return bytes_of_number(bits).substr(0, bytes_of(type));
}

std::string scalar_of(Type type, double number) {
  if (type == Type::float32) return bytes_of_number(static_cast<float>(number));
  if (type == Type::float64) return bytes_of_number(number);
  const bool is_negative = number < 0.0;
  const auto magnitude = static_cast<std::uint64_t>(is_negative ? -number : number);
  return integer_of(type, is_negative ? ~magnitude + 1 : magnitude);
}

using json::Cursor;

std::uint64_t number_up_to(const Cursor& cursor, std::uint64_t least, std::uint64_t most) {
  const std::uint64_t number = cursor.natural();
  if (number < least || number > most) {
    cursor.refuse(fmt::format("an integer from {} to {}", least, most));
  }
  return number;
}

constexpr std::size_t max_options_bytes = std::size_t{64} << 10U;
constexpr std::size_t sha256_digits = 64;

/// Returns a string of at most `max_bytes` bytes without null characters; refuses other values.
std::string text_of(const Cursor& cursor, std::size_t max_bytes = max_name_bytes) {
  std::string text = cursor.text();
  if (text.size() > max_bytes) cursor.refuse(fmt::format("at most {} bytes", max_bytes));
  if (text.find('\0') != std::string::npos) cursor.refuse("a string without null characters");
  return text;
}

bool are_hexadecimal(std::string_view digits) {
  return digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string hash_in(const Cursor& cursor) {
  std::string text = text_of(cursor);
  if (text.size() != sha256_digits || !are_hexadecimal(text)) {
    cursor.refuse("a SHA-256 in 64 lower-case hexadecimal digits");
  }
  return text;
}

/// Returns the members with the names `keys`. Members may be missing.
template <typename... Keys>
auto members(const Cursor& cursor, Keys... keys) {
  return cursor.members(std::array<std::string_view, sizeof...(Keys)>{keys...});
}

/// Refuses each member that is present. `why`: the reason why the member is not allowed.
void expect_none(std::initializer_list<const Cursor*> cursors, std::string_view why) {
  for (const Cursor* const each : cursors) {
    if (!each->is_missing()) each->refuse(fmt::format("nothing ({})", why));
  }
}

/// Returns the elements of an array, read by `read`. Refuses more than `max_count` elements.
template <typename Read>
auto read_each(const Cursor& cursor, std::size_t max_count, Read read) {
  std::vector<decltype(read(cursor))> values;
  cursor.for_each_element([&](const Cursor& each) {
    if (values.size() == max_count) {
      each.refuse("at most " + std::to_string(max_count) + " elements");
    }
    values.push_back(read(each));
  });
  return values;
}

/// Returns the value of the enumeration whose word the document has; refuses unknown words.
template <HasRows Enum>
Enum known_word(const Cursor& cursor) {
  if (const std::optional<Enum> known = from_word<Enum>(cursor.text())) return *known;
  std::string words;
  for (const auto& each : rows_of<Enum>) {
    words += fmt::format("{}{}", words.empty() ? "one of " : ", ", each.word);
  }
  cursor.refuse(words);
}

Sizes read_pixels(const Cursor& cursor, ImageKind kind) {
  // Maximum size of an image in pixels per dimension. No device supports such an image: a row of
  // 2^32 pixels of 16 bytes takes 64 GiB.
  constexpr std::uint64_t most = std::uint64_t{1} << 32U;
  const std::uint32_t dimensions = dimensions_of(kind);
  if (cursor.size_hint() != dimensions) {
    cursor.refuse(fmt::format("an array of {} sizes for {}", dimensions, to_word(kind)));
  }
  Sizes pixels{};
  std::size_t index = 0;
  cursor.for_each_element(
      [&](const Cursor& each) { pixels.at(index++) = number_up_to(each, 1, most); });
  return pixels;
}

Image read_layout(const Cursor& layout) {
  const auto [kind, order, type, access, pixels, row] =
      members(layout, "kind", "order", "type", "access", "pixels", "row_bytes");
  Image image;
  image.kind = known_word<ImageKind>(kind);
  image.order = known_word<ChannelOrder>(order);
  image.type = known_word<ChannelType>(type);
  image.access = known_word<Access>(access);
  image.pixels = read_pixels(pixels, image.kind);
  if (!row.is_missing()) image.row_bytes = number_up_to(row, 1, max_object_bytes);
  return image;
}

/// Returns the layout of an image with its own memory. Refuses an image larger than
/// `max_object_bytes`.
Image read_own_layout(const Cursor& layout) {
  const Image image = read_layout(layout);
  if (image.kind == ImageKind::image_1d_buffer) {
    layout.refuse("a kind other than 1d_buffer (the image is not in a buffer)");
  }
  if (image.row_bytes > 0) layout.refuse("no row_bytes (the image is not in a buffer)");
  if (!bytes_of_pixels(image)) layout.refuse(fmt::format("at most {} bytes", max_object_bytes));
  return image;
}

/// Returns the layout of an image in a buffer.
Image read_buffer_layout(const Cursor& layout) {
  const Image image = read_layout(layout);
  const bool is_flat = image.kind == ImageKind::image_2d;
  if (!is_flat && image.kind != ImageKind::image_1d_buffer) {
    layout.refuse("1d_buffer or 2d (the image is in a buffer)");
  }
  if (is_flat != (image.row_bytes > 0)) {
    layout.refuse("row_bytes for a 2d image, and no row_bytes for a 1d_buffer");
  }
  if (is_flat && image.row_bytes < pixel_bytes(image) * image.pixels[0]) {
    layout.refuse("rows that do not overlap");
  }
  return image;
}

Sampler read_sampler(const Cursor& sampler) {
  const auto [normalized, addressing, filter] =
      members(sampler, "normalized", "addressing", "filter");
  Sampler read;
  read.is_normalized = normalized.boolean();
  read.addressing = known_word<Addressing>(addressing);
  read.filter = known_word<Filter>(filter);
  return read;
}

std::string integer_in(const Cursor& cursor, Type type) {
  const auto bits = static_cast<unsigned>(8 * bytes_of(type));
  const bool is_signed =
      type == Type::int8 || type == Type::int16 || type == Type::int32 || type == Type::int64;
  if (!is_signed) {
    const std::uint64_t number = cursor.natural();
    if (bits < 64 && number >> bits != 0) cursor.refuse(fmt::format("a {}", to_word(type)));
    return integer_of(type, number);
  }
  const std::int64_t number = cursor.integer();
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
  if (number > most || number < -most - 1) cursor.refuse(fmt::format("a {}", to_word(type)));
  return integer_of(type, static_cast<std::uint64_t>(number));
}

std::string scalar_in(const Cursor& cursor, Type type) {
  if (!is_floating(type)) return integer_in(cursor, type);
  const double number = cursor.number();
  constexpr auto most = static_cast<double>(std::numeric_limits<float>::max());
  if (type == Type::float32 && (number > most || number < -most)) {
    cursor.refuse("a number that fits in a float");
  }
  return scalar_of(type, number);
}

std::string vector_in(const Cursor& value, const Cursor& type) {
  const Type element = known_word<Type>(type);
  if (value.is_number()) return scalar_in(value, element);
  constexpr std::size_t max_elements = 16;
  std::string bytes;
  value.for_each_element([&](const Cursor& each) {
    if (bytes.size() == max_elements * bytes_of(element)) each.refuse("at most 16 elements");
    bytes += scalar_in(each, element);
  });
  if (bytes.empty()) value.refuse("a number or an array of numbers");
  return bytes;
}

std::string bytes_in(const Cursor& hex) {
  const std::string digits = hex.text();
  if (digits.empty() || digits.size() % 2 != 0 || digits.size() > 2 * max_value_bytes) {
    hex.refuse(fmt::format("1 to {} bytes, two hexadecimal digits each", max_value_bytes));
  }
  if (!are_hexadecimal(digits)) hex.refuse("lower-case hexadecimal digits");
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

/// Indices of the objects, by the names of the objects.
using Indices = std::map<std::string, std::size_t, std::less<>>;

std::size_t index_in(const Cursor& name, const Indices& indices) {
  const auto found = indices.find(name.text());
  if (found == indices.end()) name.refuse("the name of one of the objects");
  return found->second;
}

void read_part(const Cursor& origin, const Cursor& bytes, std::uint64_t whole, Argument& argument) {
  argument.origin = number_up_to(origin, 0, whole - 1);
  argument.bytes = number_up_to(bytes, 1, whole - argument.origin);
}

Argument read_buffer(const Cursor& buffer, const Cursor& origin, const Cursor& bytes,
                     const Indices& indices, const std::vector<Object>& objects) {
  Argument argument{.kind = ArgumentKind::buffer, .object = index_in(buffer, indices)};
  if (objects[argument.object].image) buffer.refuse("a buffer (this object is an image)");
  if (origin.is_missing() && bytes.is_missing()) return argument;
  read_part(origin, bytes, objects[argument.object].bytes, argument);
  return argument;
}

/// Returns an image argument: an object that is an image, or an image in a sub-buffer.
Argument read_image(const Cursor& image, const Cursor& layout, const Cursor& origin,
                    const Cursor& bytes, const Indices& indices,
                    const std::vector<Object>& objects) {
  Argument argument{.kind = ArgumentKind::image, .object = index_in(image, indices)};
  const Object& object = objects[argument.object];
  if (object.image) {
    expect_none({&layout, &origin, &bytes}, "the object defines this value");
    return argument;
  }
  argument.image = read_buffer_layout(layout);
  read_part(origin, bytes, object.bytes, argument);
  const std::optional<std::uint64_t> needed = bytes_of_buffer(*argument.image);
  if (!needed || *needed > argument.bytes) {
    bytes.refuse("at least as many bytes as the pixels take");
  }
  return argument;
}

Argument read_argument(const Cursor& cursor, const Indices& indices,
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
    cursor.refuse("exactly one of buffer, image, sampler, local_bytes, value, hex and null");
  }
  if (buffer.is_missing() && image.is_missing()) {
    expect_none({&origin, &bytes}, "only buffers and images have this key");
  }
  if (image.is_missing()) expect_none({&layout}, "only images have this key");
  if (value.is_missing()) expect_none({&type}, "only values have this key");
  if (!buffer.is_missing()) return read_buffer(buffer, origin, bytes, indices, objects);
  if (!image.is_missing()) return read_image(image, layout, origin, bytes, indices, objects);
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

/// Returns the name of a kernel or an object; refuses texts that are not names.
std::string identifier_in(const Cursor& cursor) {
  std::string text = text_of(cursor);
  const bool is_name = !text.empty() && std::all_of(text.begin(), text.end(), [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
           (each >= '0' && each <= '9') || each == '_';
  });
  if (!is_name) cursor.refuse("a name of letters, digits and '_'");
  return text;
}

double sane_number(const Cursor& cursor, double most) {
  const double number = cursor.number();
  if (number < 0.0 || number > most) cursor.refuse(fmt::format("a number from 0 to {}", most));
  return number;
}

Contents read_contents(const Cursor& type, const Cursor& count, const Cursor& fill,
                       const Cursor& value) {
  Contents contents;
  contents.type = known_word<Type>(type);
  const std::uint64_t max_count = max_object_bytes / bytes_of(contents.type);
  contents.count = number_up_to(count, 1, max_count);
  contents.fill = known_word<Fill>(fill);
  if (contents.fill == Fill::value) {
    contents.value = value.number();
    static_cast<void>(scalar_in(value, contents.type));
  } else if (!value.is_missing()) {
    value.refuse("no value, because fill is not \"value\"");
  }
  return contents;
}

Object read_object_entry(const Cursor& cursor) {
  const auto [buffer, image, layout, bytes, hash, type, count, fill, value] = members(
      cursor, "buffer", "image", "layout", "bytes", "sha256", "type", "count", "fill", "value");
  Object object;
  if (buffer.is_missing() == image.is_missing()) cursor.refuse("either buffer or image");
  object.name = identifier_in(image.is_missing() ? buffer : image);
  if (image.is_missing()) expect_none({&layout}, "only images have this key");
  if (!image.is_missing()) {
    object.image = read_own_layout(layout);
    if (hash.is_missing()) cursor.refuse("the sha256 of the image's contents");
  }
  if (!hash.is_missing()) {
    expect_none({&type, &count, &fill, &value}, "sha256 identifies the contents");
    object.sha256 = hash_in(hash);
    object.bytes = number_up_to(bytes, 1, max_object_bytes);
    if (object.image && bytes_of_pixels(*object.image) != object.bytes) {
      bytes.refuse(fmt::format("{}, the size of the image's pixels in bytes",
                               *bytes_of_pixels(*object.image)));
    }
    return object;
  }
  if (!bytes.is_missing()) bytes.refuse("no bytes (type and count define them)");
  object.contents = read_contents(type, count, fill, value);
  object.bytes = object.contents->count * bytes_of(object.contents->type);
  return object;
}

Sizes read_sizes(const Cursor& cursor, std::uint32_t dimensions, std::uint64_t least) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40U;
  const auto found =
      read_each(cursor, 3, [&](const Cursor& each) { return number_up_to(each, least, most); });
  if (found.size() != dimensions) {
    cursor.refuse(fmt::format("as many sizes as in global: {}", dimensions));
  }
  Sizes sizes{};
  std::copy(found.begin(), found.end(), sizes.begin());
  return sizes;
}

NdRange read_range(const Cursor& offset, const Cursor& global, const Cursor& local) {
  NdRange range;
  const std::size_t count = global.size_hint();
  if (count < 1 || count > 3) global.refuse("an array of 1 to 3 sizes");
  range.dimensions = static_cast<std::uint32_t>(count);
  range.global = read_sizes(global, range.dimensions, 1);
  // The limit is for the product of all sizes: drivers count work-items in 64 bits, and some
  // drivers do not check for overflow.
  std::uint64_t left = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t i = 0; i < range.dimensions; ++i) left /= range.global[i];
  if (left == 0) global.refuse("at most 2^63 - 1 work-items");
  if (!offset.is_missing()) range.offset = read_sizes(offset, range.dimensions, 0);
  if (!local.is_missing()) range.local = read_sizes(local, range.dimensions, 1);
  return range;
}

Device read_device(const Cursor& cursor) {
  const auto [name, vendor, driver] = members(cursor, "name", "vendor", "driver");
  return {text_of(name), text_of(vendor), text_of(driver)};
}

Surveyed read_survey(const Cursor& cursor) {
  const auto [launches, share, mean] = members(cursor, "launches", "share", "mean_ns");
  constexpr double year_ns = 3.2e16;
  return {launches.natural(), sane_number(share, 1.0), sane_number(mean, year_ns)};
}

/// Returns the includes of a text. Refuses repeated operands and unknown headers.
std::vector<includes::Include> read_includes(const Cursor& cursor, std::size_t headers) {
  if (cursor.is_missing()) return {};
  std::set<std::string> seen;
  return read_each(cursor, includes::max_includes, [&](const Cursor& each) {
    const auto [written, header] = members(each, "written", "header");
    includes::Include include{.written = text_of(written, includes::max_written_bytes)};
    if (!seen.insert(include.written).second) written.refuse("each text only once");
    if (headers == 0) header.refuse("no header (the program has no headers)");
    include.header = number_up_to(header, 0, headers - 1);
    return include;
  });
}

Unit read_unit(const Cursor& cursor, std::size_t header_count) {
  const auto [hash, form, options, list] = members(cursor, "sha256", "form", "options", "includes");
  Unit unit;
  if (!hash.is_missing()) unit.sha256 = hash_in(hash);
  if (!form.is_missing()) unit.form = known_word<Form>(form);
  if (!options.is_missing()) unit.options = text_of(options, max_options_bytes);
  unit.includes = read_includes(list, header_count);
  return unit;
}

Header read_header(const Cursor& cursor, std::size_t header_count) {
  const auto [name, hash, list] = members(cursor, "name", "sha256", "includes");
  Header header{.name = text_of(name)};
  if (!includes::is_safe_name(header.name)) {
    name.refuse("a file name of letters, digits, '.', '-' and '_'");
  }
  header.sha256 = hash_in(hash);
  header.includes = read_includes(list, header_count);
  return header;
}

/// Returns the program of a description. If the description is missing, the program has one unit
/// without a hash.
Program read_program(const Cursor& cursor) {
  if (cursor.is_missing()) return {.units = {Unit{}}};
  const auto [units, link_options, headers] = members(cursor, "units", "link_options", "headers");
  Program program;
  std::size_t header_count = 0;
  if (!headers.is_missing()) {
    header_count = headers.size_hint();
    program.headers = read_each(headers, includes::max_headers, [&](const Cursor& each) {
      return read_header(each, header_count);
    });
  }
  program.units = read_each(units, max_units,
                            [&](const Cursor& each) { return read_unit(each, header_count); });
  if (program.units.empty()) units.refuse("at least one compilation unit");
  if (!link_options.is_missing()) program.link_options = text_of(link_options, max_options_bytes);
  return program;
}

std::vector<Object> read_objects(const Cursor& cursor, Indices& indices) {
  std::vector<Object> objects = read_each(cursor, max_objects, read_object_entry);
  std::size_t index = 0;
  cursor.for_each_element([&](const Cursor& each) {
    if (!indices.emplace(objects[index].name, index).second) each.refuse("each name only once");
    ++index;
  });
  return objects;
}

std::vector<Epilogue> read_epilogue(const Cursor& cursor, const Indices& indices,
                                    const std::vector<Object>& objects) {
  std::set<std::size_t> seen;
  return read_each(cursor, max_objects, [&](const Cursor& each) {
    const auto [buffer, image, hash] = members(each, "buffer", "image", "sha256");
    if (buffer.is_missing() == image.is_missing()) each.refuse("either buffer or image");
    const Cursor& name = image.is_missing() ? buffer : image;
    Epilogue epilogue{index_in(name, indices), hash_in(hash)};
    if (objects[epilogue.object].image.has_value() == image.is_missing()) {
      name.refuse("a buffer under the key buffer, or an image under the key image");
    }
    if (!seen.insert(epilogue.object).second) each.refuse("each object only once");
    return epilogue;
  });
}

void expect_schema(const Cursor& root) {
  root.expect_any_object();
  const Cursor name(root, "schema");
  if (name.text() != schema_name) name.refuse(fmt::format("\"{}\"", schema_name));
  const Cursor version(root, "schema_version");
  if (version.natural() != std::uint64_t{schema_version}) {
    version.refuse(fmt::format("{}", schema_version));
  }
}

constexpr std::array<std::string_view, 16> launch_keys{
    "schema",    "schema_version", "tool",         "app",     "device", "ordinal",
    "survey",    "program",        "kernel",       "offset",  "global", "local",
    "arguments", "objects",        "app_event_ns", "epilogue"};

Launch read_launch(const Cursor& root) {
  expect_schema(root);
  const auto found = root.members(launch_keys);
  const auto& [schema, version, tool, app, device, ordinal, survey, program, kernel, offset, global,
               local, arguments, objects, event_ns, epilogue] = found;
  Launch launch;
  if (!tool.is_missing()) launch.tool = text_of(tool);
  if (!app.is_missing()) {
    launch.app = read_each(app, max_arguments,
                           [](const Cursor& each) { return text_of(each, max_options_bytes); });
  }
  if (!device.is_missing()) launch.device = read_device(device);
  if (!ordinal.is_missing()) launch.ordinal = ordinal.natural();
  if (!survey.is_missing()) launch.survey = read_survey(survey);
  launch.program = read_program(program);
  launch.kernel = identifier_in(kernel);
  launch.range = read_range(offset, global, local);
  Indices indices;
  if (!objects.is_missing()) launch.objects = read_objects(objects, indices);
  launch.arguments = read_each(arguments, max_arguments, [&](const Cursor& each) {
    return read_argument(each, indices, launch.objects);
  });
  if (!event_ns.is_missing()) {
    launch.app_event_ns =
        read_each(event_ns, max_launches, [](const Cursor& each) { return each.natural(); });
  }
  if (!epilogue.is_missing()) launch.epilogue = read_epilogue(epilogue, indices, launch.objects);
  return launch;
}

/// Returns `bytes` bytes of repeated `pattern`. The text doubles at each step, so that a gigabyte
/// takes only a few copies.
std::string repeated(const std::string& pattern, std::uint64_t bytes) {
  std::string all = pattern;
  all.reserve(bytes);
  while (all.size() < bytes) all.append(all, 0, bytes - all.size());
  return all;
}

}  // namespace

Launch launch_from_json(std::string_view text) {
  if (text.size() > max_json_bytes) {
    throw FormatError(
        fmt::format("the text is larger than {} bytes, the maximum for a launch", max_json_bytes));
  }
  try {
    const json::Json document = json::parse(text);
    return read_launch(Cursor(document));
  } catch (const RunFormatError& error) {
    throw FormatError(error.what());
  }
}

std::uint64_t object_bytes(const Launch& launch) {
  return std::accumulate(launch.objects.begin(), launch.objects.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Object& each) { return sum + each.bytes; });
}

std::string make_contents(const Contents& contents, std::uint64_t seed) {
  const std::uint64_t bytes = contents.count * bytes_of(contents.type);
  if (contents.fill == Fill::zero) return std::string(bytes, '\0');
  if (contents.fill == Fill::value) {
    return repeated(scalar_of(contents.type, contents.value), bytes);
  }
  const bool is_random = contents.fill == Fill::random;
  // Number of equally spaced values below 1 that a float represents exactly.
  constexpr double steps = 1U << 24U;
  std::mt19937_64 random(seed);
  std::string all;
  all.reserve(bytes);
  for (std::uint64_t i = 0; i < contents.count; ++i) {
    const std::uint64_t bits = is_random ? random() : i;
    // Random floats are below 1, so that sums and products of a few numbers do not overflow.
    const double number =
        is_random ? static_cast<double>(bits >> 40U) / steps : static_cast<double>(i);
    all += is_floating(contents.type) ? scalar_of(contents.type, number)
                                      : integer_of(contents.type, bits);
  }
  return all;
}

}  // namespace clprobe::bundle
