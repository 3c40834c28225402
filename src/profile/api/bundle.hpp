// SPDX-License-Identifier: Apache-2.0
// Bundles: a launch of a user's kernel with everything that a replay needs. Enumerators of images
// and samplers have OpenCL's values, so drivers accept the values directly.
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

/// Kinds of images: CL_MEM_OBJECT_IMAGE2D to CL_MEM_OBJECT_IMAGE1D_BUFFER. A 1D buffer image always
/// uses the memory of a buffer; a 2D image may use the memory of a buffer.
enum class ImageKind : std::uint32_t {
  image_2d = 0x10f1,
  image_3d,
  image_2d_array,
  image_1d,
  image_1d_array,
  image_1d_buffer
};

/// Channel orders: CL_R to CL_ABGR, without orders that exist only for OpenGL.
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

/// Channel types: CL_SNORM_INT8 to CL_UNORM_INT_101010_2, without types that exist only for OpenGL.
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

/// Access of kernels to an image: CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY and CL_MEM_READ_ONLY. The
/// bundle records the access, because some devices support a format only for reading.
enum class Access : std::uint32_t { read_write = 1, write_only = 2, read_only = 4 };

struct Image {
  ImageKind kind{ImageKind::image_2d};
  ChannelOrder order{ChannelOrder::rgba};
  ChannelType type{ChannelType::float32};
  Access access{Access::read_write};
  Sizes pixels{};  ///< width, then height or layers, then depth or layers; unused dimensions are 0
  /// Distance between rows in bytes, for a 2D image in a buffer; otherwise 0.
  std::uint64_t row_bytes{0};

  friend bool operator==(const Image&, const Image&) = default;
};

/// Addressing modes of samplers: CL_ADDRESS_NONE to CL_ADDRESS_MIRRORED_REPEAT.
enum class Addressing : std::uint32_t {
  none = 0x1130,
  clamp_to_edge,
  clamp,
  repeat,
  mirrored_repeat
};

/// Filter modes of samplers: CL_FILTER_NEAREST and CL_FILTER_LINEAR.
enum class Filter : std::uint32_t { nearest = 0x1140, linear };

struct Sampler {
  bool is_normalized{false};  ///< true if coordinates are normalized (0 to 1)
  Addressing addressing{Addressing::none};
  Filter filter{Filter::nearest};

  friend bool operator==(const Sampler&, const Sampler&) = default;
};

/// Table of an enumeration. Each row has a value, its word, and its properties.
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
  std::uint64_t channel_bytes;    ///< bytes of a channel; 0 if all channels of a pixel are packed
  std::uint64_t pixel_bytes = 0;  ///< bytes of a pixel with packed channels
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

/// Returns OpenCL's name in lower case: "2d_array", "rgba", "unorm_int8", "clamp_to_edge". Empty if
/// `value` is not a value of the enumeration.
template <HasRows Enum>
std::string_view to_word(Enum value) {
  return word_in(rows_of<Enum>, value);
}

template <HasRows Enum>
std::optional<Enum> from_word(std::string_view word) {
  return value_in(rows_of<Enum>, word);
}

/// Returns the table's row for `value`, which must be in the table.
template <HasRows Enum>
const auto& row_of(Enum value) {
  return *std::find_if(rows_of<Enum>.begin(), rows_of<Enum>.end(),
                       [&](const auto& each) { return each.value == value; });
}

/// Returns the number of sizes that an image of kind `kind` has.
std::uint32_t dimensions_of(ImageKind kind);

/// Returns the size of a pixel in bytes, by OpenCL's table of image formats.
std::uint64_t pixel_bytes(const Image& image);

/// Returns the region of the whole image. Sizes that the image's kind does not have are 1.
Sizes region_of(const Image& image);

/// Returns the size of all pixels in bytes, without gaps between rows. Returns nothing above
/// `max_object_bytes` (1 TiB). No size of the image may be 0.
std::optional<std::uint64_t> bytes_of_pixels(const Image& image);

/// Returns the number of bytes of the buffer from the image's first pixel to its last; nothing
/// above `max_object_bytes` (1 TiB).
std::optional<std::uint64_t> bytes_of_buffer(const Image& image);

// The loader layer writes a bundle when it captures a launch. `clprobe profile` replays bundles,
// and launches that users describe. A bundle is a folder with launch.json and one file for each
// text and each captured object. Files of texts and objects are named by their hashes.

inline constexpr std::string_view schema_name = "clprobe-launch";
inline constexpr int schema_version = 1;
inline constexpr std::string_view launch_file = "launch.json";

// Limits of a bundle (inclusive). Writers respect the limits, and readers refuse larger bundles.
inline constexpr std::size_t max_json_bytes = std::size_t{4} << 20U;
inline constexpr std::size_t max_text_bytes = std::size_t{16} << 20U;
inline constexpr std::uint64_t max_object_bytes = std::uint64_t{1} << 40U;
/// Maximum size of all captured objects together.
inline constexpr std::uint64_t max_capture_bytes = std::uint64_t{2} << 30U;
inline constexpr std::size_t max_units = 64;
inline constexpr std::size_t max_objects = 256;
inline constexpr std::size_t max_arguments = 256;
inline constexpr std::size_t max_name_bytes = 1024;
inline constexpr std::size_t max_value_bytes = 4096;
inline constexpr std::size_t max_launches = 65'536;

/// Numbers of work-items of a launch. Sizes and offsets of unused dimensions are 0.
struct NdRange {
  std::uint32_t dimensions{1};
  Sizes offset{};
  Sizes global{};
  Sizes local{};  ///< group size; all 0 if the driver chooses the group size

  friend bool operator==(const NdRange&, const NdRange&) = default;
};

/// Form in which the application gave a unit to the driver.
enum class Form { text, spirv, binary };

struct FormRow {
  Form value;
  std::string_view word;
  std::string_view extension;  ///< of the unit's file in a bundle
};
template <>
inline constexpr auto rows_of<Form> =
    std::array{FormRow{Form::text, "opencl_c", ".cl"}, FormRow{Form::spirv, "spirv", ".spv"},
               FormRow{Form::binary, "binary", ".bin"}};

/// Text in OpenCL C, SPIR-V, or a binary, with the options of its build or compilation.
struct Unit {
  std::string sha256{};  ///< hash of the text; empty if the text comes from a separate file
  std::string options{};
  /// Headers that the text includes, by their index in the program.
  std::vector<includes::Include> includes{};
  Form form{Form::text};

  friend bool operator==(const Unit&, const Unit&) = default;
};

/// File that a unit or another header includes.
struct Header {
  std::string name{};  ///< file name without folders, used only in messages
  std::string sha256{};
  std::vector<includes::Include> includes{};

  friend bool operator==(const Header&, const Header&) = default;
};

/// Program of one or several units. A single unit is built. Several units are each compiled with
/// their own options and then linked.
struct Program {
  std::vector<Unit> units{};
  std::string link_options{};
  std::vector<Header> headers{};  ///< headers, shared by all units

  friend bool operator==(const Program&, const Program&) = default;
};

enum class Type { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };
enum class Fill { zero, iota, random, value };

struct TypeRow {
  Type value;
  std::string_view word;  ///< name of the type in OpenCL C: "uint"
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

/// Description of an object's contents, for objects without captured bytes.
struct Contents {
  Type type{Type::float32};
  std::uint64_t count{0};
  Fill fill{Fill::zero};
  double value{0.0};  ///< value of all elements, for Fill::value

  friend bool operator==(const Contents&, const Contents&) = default;
};

/// Buffer or image with its contents before the launch.
struct Object {
  std::string name{};
  std::uint64_t bytes{0};
  std::string sha256{};  ///< hash of the captured bytes; empty if `contents` describes the bytes
  /// Description of the bytes; nothing if the bytes were captured.
  std::optional<Contents> contents{};
  /// Layout of an image, whose pixels take `bytes` bytes; nothing for a buffer.
  std::optional<Image> image{};

  friend bool operator==(const Object&, const Object&) = default;
};

enum class ArgumentKind { buffer, local, value, null, image, sampler };

struct Argument {
  ArgumentKind kind{ArgumentKind::value};
  std::size_t object{0};         ///< index of the buffer or image in Launch::objects
  std::uint64_t origin{0};       ///< offset of a sub-buffer in the object, in bytes
  std::uint64_t bytes{0};        ///< size of a sub-buffer (0: the whole object), or of local memory
  std::string value{};           ///< bytes of an argument of kind `value`
  std::optional<Image> image{};  ///< layout of an image that is stored in the sub-buffer
  std::optional<Sampler> sampler{};  ///< sampler; nothing for arguments of other kinds

  friend bool operator==(const Argument&, const Argument&) = default;
};

/// Hash of the contents of an object after the launch.
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

/// Sums of a survey over all launches with the signature of the captured launch.
struct Surveyed {
  std::uint64_t launches{0};
  double share{0.0};    ///< share of the program's device time, 0 to 1
  double mean_ns{0.0};  ///< mean time of one launch

  friend bool operator==(const Surveyed&, const Surveyed&) = default;
};

struct Launch {
  std::string tool{};  ///< tool that captured the launch; empty if a user wrote launch.json
  std::vector<std::string> app{};  ///< command line; the layer records only the program's name
  std::optional<Device> device{};  ///< device on which the program ran the launch
  /// Number of the launch among those with its signature, from 1; 0: unknown.
  std::uint64_t ordinal{0};
  std::optional<Surveyed> survey{};
  Program program{};
  std::string kernel{};
  NdRange range{};
  std::vector<Argument> arguments{};
  std::vector<Object> objects{};
  /// Times (END - START of events) of the launch in the program.
  std::vector<std::uint64_t> app_event_ns{};
  std::vector<Epilogue> epilogue{};  ///< hashes after the launch; empty if unknown

  friend bool operator==(const Launch&, const Launch&) = default;
};

/// Returns the total size of the launch's objects in bytes.
std::uint64_t object_bytes(const Launch& launch);

/// Error for a source without a possible launch, or with unreadable files. The message is one line.
/// For errors in a launch.json, the message names the location in the document.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the text of launch.json: ASCII, with a newline at the end. Bytes that are not valid
/// UTF-8 become U+FFFD.
std::string to_json(const Launch& launch);

/// Returns the launch that a launch.json describes; the text comes from `to_json` or from a user
/// (docs/profile.md). Refuses unknown keys and impossible launches: arguments that name no object,
/// sizes of 0, more than 2^63 - 1 work-items. Throws FormatError.
Launch launch_from_json(std::string_view text);

/// Returns the SHA-256 (FIPS 180-4) of `bytes` as 64 hexadecimal digits.
std::string sha256_of(std::string_view bytes);

/// Returns the file name of a text in a bundle. `object_file`: the file name of an object.
std::string text_file(std::string_view sha256, Form form = Form::text);
std::string object_file(std::string_view sha256);

/// Returns the bytes of an object that a user describes. Throws std::bad_alloc.
std::string make_contents(const Contents& contents, std::uint64_t seed);

/// Launch with its texts. The contents of objects stay in files until `read_object` reads them.
struct Bundle {
  Launch launch{};
  std::vector<std::string> texts{};    ///< text of each unit, with its headers inserted
  std::vector<std::string> options{};  ///< options of each unit, without folders of headers
  bool has_other_text{false};          ///< true if the captured launch ran another text
  /// Missing headers, as written in the #include. In the text, an #error replaces each missing
  /// header. The #error has an effect only in branches that the compiler reads.
  std::vector<std::string> missing{};
  std::string folder{};              ///< folder with the files of the objects
  std::vector<std::string> files{};  ///< paths of launch.json, texts, headers and objects
  /// Id of 16 hexadecimal digits. Bundles with equal kernels, texts, sizes, arguments and objects
  /// have equal ids.
  std::string id{};

  friend bool operator==(const Bundle&, const Bundle&) = default;
};

/// Source of a bundle: either a bundle's folder, or a description of a launch together with a file
/// of the kernel's text. The description is written by a user, or captured with another text.
struct Source {
  std::string launch{};
  std::string kernel_file{};  ///< file of the kernel's text; empty if `launch` is a folder
  std::string headers{};      ///< folder with headers for the text; empty if there is none

  friend bool operator==(const Source&, const Source&) = default;
};

/// Returns the bundle of a source with its texts. launch.json and texts must be plain files, not
/// links. Texts must have the hashes, and objects the sizes, that launch.json gives; `read_object`
/// checks objects further. A text may include only the bundle's headers, and files below `headers`
/// or the folder of `kernel_file`. Throws FormatError.
Bundle read_source(const Source& source);

/// Returns a description of a launch of the text's first kernel, in the form of launch.json, for
/// users to edit. Throws FormatError if the text has no kernel.
std::string launch_template(std::string_view text);

/// Environment variable that passes the sources to the process that replays. `to_environment`
/// returns its value as JSON, and throws FormatError for a path that is not UTF-8.
inline constexpr std::string_view sources_variable = "CLPROBE_BUNDLES";
std::string to_environment(const std::vector<Source>& sources);
std::vector<Source> sources_of_environment();

/// Returns the bytes of an object before the launch. Throws FormatError if the object's file has
/// another size or hash than launch.json gives.
std::string read_object(const Bundle& bundle, const Object& object, std::uint64_t seed);

}  // namespace clprobe::bundle
