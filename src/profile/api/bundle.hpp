// SPDX-License-Identifier: Apache-2.0
// Images and samplers that a kernel gets, as a bundle describes them. Enumerators have OpenCL's
// numbers, which drivers take as they are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/words.hpp"
#include "profile/api/prelude.hpp"

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

// One launch of a user's kernel with everything that a replay needs. The loader layer captures it
// in a program, or a person describes it by hand; `clprobe profile` replays it. On disk it is a
// bundle: a folder with launch.json, and a file for each text and each object, named by its hash.

inline constexpr std::string_view schema_name = "clprobe-launch";
inline constexpr int schema_version = 1;
inline constexpr std::string_view launch_file = "launch.json";

// Limits of a bundle: writers keep to them, and readers refuse more.
inline constexpr std::size_t max_json_bytes = std::size_t{4} << 20U;
inline constexpr std::size_t max_text_bytes = std::size_t{16} << 20U;
inline constexpr std::uint64_t max_object_bytes = std::uint64_t{1} << 40U;
inline constexpr std::uint64_t max_capture_bytes = std::uint64_t{2}
                                                   << 30U;  ///< all objects together
inline constexpr std::size_t max_units = 64;
inline constexpr std::size_t max_objects = 256;
inline constexpr std::size_t max_arguments = 256;
inline constexpr std::size_t max_name_bytes = 1024;
inline constexpr std::size_t max_value_bytes = 4096;
inline constexpr std::size_t max_launches = 65'536;

/// Sizes of a launch; those after the last dimension are 0.
struct NdRange {
  std::uint32_t dimensions{1};
  Sizes offset{};
  Sizes global{};
  Sizes local{};  ///< all 0: the driver chooses

  friend bool operator==(const NdRange&, const NdRange&) = default;
};

/// A text in OpenCL C, and the options that it is built or compiled with.
struct Unit {
  std::string sha256{};  ///< of the text; empty: the text comes from a file of its own
  std::string options{};
  std::vector<includes::Include> includes{};  ///< of the program's headers, by their places

  friend bool operator==(const Unit&, const Unit&) = default;
};

/// A file that a unit, or another header, includes.
struct Header {
  std::string name{};  ///< without folders; only messages use it
  std::string sha256{};
  std::vector<includes::Include> includes{};

  friend bool operator==(const Header&, const Header&) = default;
};

/// A program of one unit is built; several units are compiled with their own options, and linked.
struct Program {
  std::vector<Unit> units{};
  std::string link_options{};
  std::vector<Header> headers{};  ///< all units share them

  friend bool operator==(const Program&, const Program&) = default;
};

enum class Type { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };
enum class Fill { zero, iota, random, value };

struct TypeRow {
  Type value;
  std::string_view word;  ///< OpenCL C's: "uint"
  std::uint64_t bytes;
};
template <>
inline constexpr auto rows_of<Type> =
    std::array{TypeRow{Type::int8, "char", 1},     TypeRow{Type::uint8, "uchar", 1},
               TypeRow{Type::int16, "short", 2},   TypeRow{Type::uint16, "ushort", 2},
               TypeRow{Type::int32, "int", 4},     TypeRow{Type::uint32, "uint", 4},
               TypeRow{Type::int64, "long", 8},    TypeRow{Type::uint64, "ulong", 8},
               TypeRow{Type::float32, "float", 4}, TypeRow{Type::float64, "double", 8}};
template <>
inline constexpr auto rows_of<Fill> =
    std::array{Word{Fill::zero, "zero"}, Word{Fill::iota, "iota"}, Word{Fill::random, "random"},
               Word{Fill::value, "value"}};

inline std::uint64_t bytes_of(Type type) { return row_of(type).bytes; }

/// The bytes of an object that a person describes.
struct Contents {
  Type type{Type::float32};
  std::uint64_t count{0};
  Fill fill{Fill::zero};
  double value{0.0};  ///< each element, for Fill::value

  friend bool operator==(const Contents&, const Contents&) = default;
};

/// A buffer or an image, before the launch.
struct Object {
  std::string name{};
  std::uint64_t bytes{0};
  std::string sha256{};                ///< of captured bytes; empty: `contents` describes the bytes
  std::optional<Contents> contents{};  ///< nothing if the bytes were captured
  std::optional<Image> image{};        ///< only for an image, whose pixels have `bytes`

  friend bool operator==(const Object&, const Object&) = default;
};

enum class ArgumentKind { buffer, local, value, null, image, sampler };

struct Argument {
  ArgumentKind kind{ArgumentKind::value};
  std::size_t object{0};         ///< place of a buffer or an image among the objects
  std::uint64_t origin{0};       ///< where a part of a buffer begins in the object
  std::uint64_t bytes{0};        ///< size of such a part (0: all of the object), or of local memory
  std::string value{};           ///< bytes of a value
  std::optional<Image> image{};  ///< layout of an image whose memory is that part of a buffer
  std::optional<Sampler> sampler{};  ///< only for a sampler

  friend bool operator==(const Argument&, const Argument&) = default;
};

/// Contents of an object after the launch.
struct Epilogue {
  std::size_t object{0};
  std::string sha256{};

  friend bool operator==(const Epilogue&, const Epilogue&) = default;
};

struct Device {
  std::string name{};
  std::string vendor{};
  std::string driver{};

  friend bool operator==(const Device&, const Device&) = default;
};

/// A survey's sums for the launches that are like this one.
struct Surveyed {
  std::uint64_t launches{0};
  double share{0.0};    ///< part of the program's device time, 0 to 1
  double mean_ns{0.0};  ///< mean time of a launch

  friend bool operator==(const Surveyed&, const Surveyed&) = default;
};

struct Launch {
  std::string tool{};              ///< tool that captured it; empty: a person wrote it
  std::vector<std::string> app{};  ///< command line of the program, without folders
  std::optional<Device> device{};  ///< on which the program launched it
  std::uint64_t ordinal{0};        ///< number among the launches like it, from 1; 0: unknown
  std::optional<Surveyed> survey{};
  Program program{};
  std::string kernel{};
  NdRange range{};
  std::vector<Argument> arguments{};
  std::vector<Object> objects{};
  std::vector<std::uint64_t> app_event_ns{};  ///< END - START in the program
  std::vector<Epilogue> epilogue{};           ///< empty: not known

  friend bool operator==(const Launch&, const Launch&) = default;
};

/// Bytes of all objects together.
std::uint64_t object_bytes(const Launch& launch);

/// The text is no launch, or one that cannot be made. One line, with the place in the document.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the text of launch.json: ASCII, with a newline at the end. Bytes of names that are not
/// UTF-8 become U+FFFD.
std::string to_json(const Launch& launch);

/// Reads launch.json as `to_json` or a person (docs/profile.md) writes it. Refuses unknown keys,
/// and launches that cannot be made: arguments without objects, sizes of 0, sums beyond 64 bits.
/// Throws FormatError.
Launch launch_from_json(std::string_view text);

/// The SHA-256 of some bytes, in 64 hexadecimal digits (FIPS 180-4).
std::string sha256_of(std::string_view bytes);

/// The names of a bundle's files: of a text of the program, and of an object's bytes.
std::string text_file(std::string_view sha256);
std::string object_file(std::string_view sha256);

/// Returns the bytes of a described object. Throws std::bad_alloc.
std::string make_contents(const Contents& contents, std::uint64_t seed);

/// A launch with its texts. The objects stay in their files until `read_object` reads them.
struct Bundle {
  Launch launch{};
  std::vector<std::string> texts{};    ///< one for each unit, with its headers in it
  std::vector<std::string> options{};  ///< one for each unit, without folders of headers
  /// Missing headers, as the #include names them. An #error replaces each, which matters only in a
  /// branch that the compiler takes.
  std::vector<std::string> missing{};
  std::string folder{};              ///< where the objects' files are
  std::vector<std::string> files{};  ///< all files that it is read from, with its objects
  std::string id{};  ///< 16 digits; equal for equal kernels, texts, sizes, arguments and objects

  friend bool operator==(const Bundle&, const Bundle&) = default;
};

/// The source of a bundle: its folder, or a description (by a person, or captured with another
/// text) and the file of the kernel's text.
struct Source {
  std::string launch{};
  std::string kernel_file{};  ///< empty: `launch` is a folder
  std::string headers{};      ///< a folder that the text may include files of; empty: none

  friend bool operator==(const Source&, const Source&) = default;
};

/// Reads launch.json and the texts; objects must lie next to launch.json. Accepts only plain files
/// with the sizes and hashes that launch.json gives, and no links. A text may include the bundle's
/// headers and files below `headers` and below the folder of `kernel_file`, and nothing else.
/// Throws FormatError.
Bundle read_source(const Source& source);

/// The variable that names the sources to the process that replays, as JSON. Throws FormatError for
/// a path that is not UTF-8.
inline constexpr std::string_view sources_variable = "CLPROBE_BUNDLES";
std::string to_environment(const std::vector<Source>& sources);
std::vector<Source> sources_of_environment();

/// Returns the bytes of an object before the launch. Throws FormatError if the file has another
/// size or hash.
std::string read_object(const Bundle& bundle, const Object& object, std::uint64_t seed);

}  // namespace clprobe::bundle
