// SPDX-License-Identifier: Apache-2.0
// One launch of somebody's kernel with all that it needs to be made again: what the loader layer
// captures in a program, a person describes by hand, and `clprobe profile` replays. On disk it is a
// bundle: a folder with launch.json, and a file for each text and each object, named by its hash.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/includes.hpp"
#include "clprobe/launch_image.hpp"

namespace clprobe::bundle {

inline constexpr std::string_view schema_name = "clprobe-launch";
inline constexpr int schema_version = 1;
inline constexpr std::string_view launch_file = "launch.json";

// What a bundle may have at most. Whoever writes one keeps to it, and a reader refuses more.
inline constexpr std::size_t max_json_bytes = std::size_t{4} << 20U;
inline constexpr std::size_t max_text_bytes = std::size_t{16} << 20U;
inline constexpr std::uint64_t max_object_bytes = std::uint64_t{1} << 40U;
inline constexpr std::uint64_t max_capture_bytes = std::uint64_t{2} << 30U;  ///< of all objects
inline constexpr std::size_t max_units = 64;
inline constexpr std::size_t max_objects = 256;
inline constexpr std::size_t max_arguments = 256;
inline constexpr std::size_t max_name_bytes = 1024;
inline constexpr std::size_t max_value_bytes = 4096;
inline constexpr std::size_t max_launches = 65'536;

/// What a launch is asked for: as many sizes as there are dimensions, 0 behind them.
struct NdRange {
  std::uint32_t dimensions{1};
  Sizes offset{};
  Sizes global{};
  Sizes local{};  ///< all 0: the driver chooses

  friend bool operator==(const NdRange&, const NdRange&) = default;
};

/// A text in OpenCL C, and the options that it is built or compiled with.
struct Unit {
  std::string sha256{};  ///< of the text; empty: the text is given beside the description
  std::string options{};
  std::vector<includes::Include> includes{};  ///< what of the program's headers it includes

  friend bool operator==(const Unit&, const Unit&) = default;
};

/// A file that a unit, or another header, includes.
struct Header {
  std::string name{};  ///< without folders; for messages alone
  std::string sha256{};
  std::vector<includes::Include> includes{};

  friend bool operator==(const Header&, const Header&) = default;
};

/// One unit is built; several are compiled, and linked with the options of their own.
struct Program {
  std::vector<Unit> units{};
  std::string link_options{};
  std::vector<Header> headers{};  ///< of all units

  friend bool operator==(const Program&, const Program&) = default;
};

enum class Type { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };
enum class Fill { zero, iota, random, value };

std::string_view to_word(Type type);  ///< as in OpenCL C: "uint"
std::string_view to_word(Fill fill);
std::optional<Type> type_from_word(std::string_view word);
std::optional<Fill> fill_from_word(std::string_view word);
std::uint64_t bytes_of(Type type);

/// An object that nobody captured: what it is filled with.
struct Contents {
  Type type{Type::float32};
  std::uint64_t count{0};
  Fill fill{Fill::zero};
  double value{0.0};  ///< of Fill::value

  friend bool operator==(const Contents&, const Contents&) = default;
};

/// A buffer or an image, before the launch.
struct Object {
  std::string name{};
  std::uint64_t bytes{0};
  std::string sha256{};                ///< of what was captured; empty: described by `contents`
  std::optional<Contents> contents{};  ///< of what was not
  std::optional<Image> image{};        ///< of an image: `bytes` are those of its pixels

  friend bool operator==(const Object&, const Object&) = default;
};

enum class ArgumentKind { buffer, local, value, null, image, sampler };

struct Argument {
  ArgumentKind kind{ArgumentKind::value};
  std::size_t object{0};             ///< of a buffer or an image: its place among the objects
  std::uint64_t origin{0};           ///< of a buffer that is a part of the object
  std::uint64_t bytes{0};            ///< of such a part (0: it is the object), and of local memory
  std::string value{};               ///< of a value: its bytes
  std::optional<Image> image{};      ///< of an image whose memory is that part of a buffer
  std::optional<Sampler> sampler{};  ///< of a sampler

  friend bool operator==(const Argument&, const Argument&) = default;
};

/// What an object held behind the launch.
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

/// What a survey of the program said of launches like this one.
struct Surveyed {
  std::uint64_t launches{0};
  double share{0.0};    ///< of the program's device time
  double mean_ns{0.0};  ///< of a launch

  friend bool operator==(const Surveyed&, const Surveyed&) = default;
};

struct Launch {
  std::string tool{};              ///< that captured it; empty: a person wrote it
  std::vector<std::string> app{};  ///< without folders
  std::optional<Device> device{};  ///< on which the program launched it
  std::uint64_t ordinal{0};        ///< which of the launches like it, from 1; 0: not known
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

/// Of all objects together.
std::uint64_t object_bytes(const Launch& launch);

/// Not a launch, or not one that can be: one line, with the place in the document.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// launch.json. In ASCII, with a newline at the end; bytes of names that are no UTF-8 become
/// U+FFFD.
std::string to_json(const Launch& launch);

/// Reads what `to_json` writes, and what a person writes (docs/profile.md). Strict: refuses what it
/// does not know, and what could not be launched: arguments without objects, sizes of 0, sums that
/// pass 64 bits. Throws FormatError.
Launch launch_from_json(std::string_view text);

/// The SHA-256 of some bytes, in 64 hexadecimal digits (FIPS 180-4).
std::string sha256_of(std::string_view bytes);

/// The names of a bundle's files: of a text of the program, and of an object's bytes.
std::string text_file(std::string_view sha256);
std::string object_file(std::string_view sha256);

/// The bytes that an object without a capture begins with. Throws std::bad_alloc.
std::string make_contents(const Contents& contents, std::uint64_t seed);

/// A launch with its texts; its objects stay where they are until they are asked for.
struct Bundle {
  Launch launch{};
  std::vector<std::string> texts{};    ///< of each unit, with its headers in it
  std::vector<std::string> options{};  ///< of each unit, without folders of headers
  /// What some unit includes that is not there, as it is written: an #error stands in its place,
  /// where it may be that nobody looks.
  std::vector<std::string> missing{};
  std::string folder{};              ///< of its objects
  std::vector<std::string> files{};  ///< all that it is read from, its objects among them
  std::string id{};                  ///< the hash of what the launch is made of, 16 digits

  friend bool operator==(const Bundle&, const Bundle&) = default;
};

/// Reads the folder's launch.json and texts. Only plain files that are what their names say: no
/// links, no other sizes, no other hashes. Headers that the bundle does not have are read below the
/// folder `headers` alone, if one is given. Throws FormatError.
Bundle read_bundle(const std::string& folder, const std::string& headers = {});

/// A kernel's text, and a launch of it that a person describes, or that was captured with another
/// text. Objects that were captured are sought beside the description; headers that are not in it,
/// beside the text and in the folders of the options, as far as these are below the text's folder
/// or `headers`. Throws FormatError.
Bundle read_described(const std::string& text_path, const std::string& launch_path,
                      const std::string& headers = {});

/// Where a bundle comes from: its folder, or a description and the file of the kernel's text.
struct Source {
  std::string launch{};
  std::string kernel_file{};  ///< empty: `launch` is a folder
  std::string headers{};      ///< a folder that the text may include files of; empty: none

  friend bool operator==(const Source&, const Source&) = default;
};

/// Throws FormatError.
Bundle read_source(const Source& source);

/// The variable that names the sources to the process that replays, as JSON. Throws FormatError for
/// a path that is not UTF-8.
inline constexpr std::string_view sources_variable = "CLPROBE_BUNDLES";
std::string to_environment(const std::vector<Source>& sources);
std::vector<Source> sources_of_environment();

/// What the object holds before the launch. Throws FormatError where the file is not what the
/// bundle says.
std::string read_object(const Bundle& bundle, const Object& object, std::uint64_t seed);

}  // namespace clprobe::bundle
