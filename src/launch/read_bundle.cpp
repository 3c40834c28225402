// SPDX-License-Identifier: Apache-2.0
// The files of a bundle.
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "clprobe/launch.hpp"
#include "system/read_file.hpp"
#include "text/text.hpp"

namespace clprobe::bundle {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t id_digits = 16;

/// The bytes of a file that is no link, pipe or device. Names what could not be read.
std::string read_plain(const std::string& path, std::size_t max_bytes) {
  try {
    return system::read_plain_file(path, max_bytes);
  } catch (const std::system_error& error) {
    throw FormatError(fmt::format("cannot read {}: {}", quote(path), error.code().message()));
  }
}

std::string read_hashed(const std::string& path, const std::string& sha256, std::size_t max_bytes) {
  std::string bytes = read_plain(path, max_bytes);
  if (sha256_of(bytes) == sha256) return bytes;
  throw FormatError(
      fmt::format("{} is not what its name says: its SHA-256 is another", quote(path)));
}

Launch read_launch_file(const std::string& path) {
  const std::string text = read_plain(path, max_json_bytes);
  try {
    return launch_from_json(text);
  } catch (const FormatError& error) {
    throw FormatError(fmt::format("{}: {}", quote(path), error.what()));
  }
}

std::string path_in(const std::string& folder, const std::string& file) {
  return (fs::path(folder) / file).string();
}

/// The same kernel, text, sizes, arguments and objects have the same one, wherever they were
/// captured.
std::string id_of(Launch launch, const std::vector<std::string>& texts) {
  launch.tool.clear();
  launch.app.clear();
  launch.device.reset();
  launch.ordinal = 0;
  launch.survey.reset();
  launch.app_event_ns.clear();
  launch.epilogue.clear();
  std::string all = to_json(launch);
  for (const std::string& text : texts) all += sha256_of(text);
  return sha256_of(all).substr(0, id_digits);
}

}  // namespace

Bundle read_bundle(const std::string& folder) {
  Bundle bundle{.folder = folder};
  const std::string path = path_in(folder, std::string(launch_file));
  bundle.launch = read_launch_file(path);
  for (const Unit& unit : bundle.launch.program.units) {
    if (unit.sha256.empty()) {
      throw FormatError(
          fmt::format("{} names no text: give the kernel's with --kernel-file FILE.cl --launch {}",
                      quote(path), quote(path)));
    }
    bundle.texts.push_back(
        read_hashed(path_in(folder, text_file(unit.sha256)), unit.sha256, max_text_bytes));
  }
  bundle.id = id_of(bundle.launch, bundle.texts);
  return bundle;
}

Bundle read_described(const std::string& text_path, const std::string& launch_path) {
  const std::string folder = fs::path(launch_path).parent_path().string();
  Bundle bundle{.launch = read_launch_file(launch_path), .folder = folder};
  std::vector<Unit>& units = bundle.launch.program.units;
  if (units.size() != 1) {
    throw FormatError(
        fmt::format("{} has several texts: leave --kernel-file out", quote(launch_path)));
  }
  bundle.texts.push_back(read_plain(text_path, max_text_bytes));
  units.front().sha256 = sha256_of(bundle.texts.front());
  bundle.id = id_of(bundle.launch, bundle.texts);
  return bundle;
}

std::string read_object(const Bundle& bundle, const Object& object, std::uint64_t seed) {
  if (object.contents) return make_contents(*object.contents, seed);
  const std::string path = path_in(bundle.folder, object_file(object.sha256));
  std::string bytes = read_hashed(path, object.sha256, object.bytes);
  if (bytes.size() == object.bytes) return bytes;
  throw FormatError(
      fmt::format("{} has {} bytes and not {}", quote(path), bytes.size(), object.bytes));
}

}  // namespace clprobe::bundle
