// SPDX-License-Identifier: Apache-2.0
// Reader of a bundle's files.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "profile/api/bundle.hpp"
#include "system/api/files.hpp"
#include "text/api/text.hpp"

namespace clprobe::bundle {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Source, launch, kernel_file, headers)

namespace {

namespace fs = std::filesystem;

constexpr std::size_t id_digits = 16;

/// Returns the contents of a plain file; refuses links, pipes and devices. Messages of errors name
/// the file.
std::string read_plain(const std::string& path, std::size_t max_bytes) {
  try {
    return system::read_plain_file(path, max_bytes);
  } catch (const std::system_error& error) {
    throw FormatError(fmt::format("cannot read {}: {}", quote(path), error.code().message()));
  }
}

constexpr const char* wrong_size =
    "{} has {} bytes instead of {}: restore the file, or capture the launch again";

std::string read_hashed(const std::string& path, const std::string& sha256, std::size_t max_bytes) {
  std::string bytes = read_plain(path, max_bytes);
  if (sha256_of(bytes) == sha256) return bytes;
  throw FormatError(fmt::format(
      "{} does not match the SHA-256 in its name: restore the file, or capture the launch again",
      quote(path)));
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

/// Returns the path of launch.json, followed by the paths of the files that launch.json names by
/// hash.
std::vector<std::string> files_of(const Launch& launch, const std::string& path,
                                  const std::string& folder) {
  std::vector<std::string> files{path};
  const auto add = [&](const std::string& sha256, const std::string& name) {
    if (!sha256.empty()) files.push_back(path_in(folder, name));
  };
  for (const Unit& each : launch.program.units) add(each.sha256, text_file(each.sha256, each.form));
  for (const Header& each : launch.program.headers) add(each.sha256, text_file(each.sha256));
  for (const Object& each : launch.objects) add(each.sha256, object_file(each.sha256));
  return files;
}

/// Throws FormatError if an object's file is missing or has another size, before the measurement
/// begins.
void check_objects(const Launch& launch, const std::string& folder) {
  for (const Object& each : launch.objects) {
    if (each.contents) continue;
    const std::string path = path_in(folder, object_file(each.sha256));
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(path, error);
    if (error) throw FormatError(fmt::format("cannot read {}: {}", quote(path), error.message()));
    if (bytes == each.bytes) continue;
    throw FormatError(fmt::format(wrong_size, quote(path), bytes, each.bytes));
  }
}

/// Returns an id that is equal for launches with equal kernels, texts, sizes, arguments and
/// objects.
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

/// Returns the texts of the headers. Refuses headers that are together larger than
/// `max_header_bytes`.
std::vector<std::string> read_headers(const Program& program, const std::string& folder) {
  std::vector<std::string> texts;
  std::size_t left = includes::max_header_bytes;
  for (const Header& each : program.headers) {
    texts.push_back(read_hashed(path_in(folder, text_file(each.sha256)), each.sha256, left));
    left -= texts.back().size();
  }
  return texts;
}

/// Returns the includes of a unit together with the headers of the whole program.
includes::Gathered gathered_of(const Program& program, const Unit& unit,
                               const std::vector<std::string>& header_texts) {
  includes::Gathered gathered{.includes = unit.includes};
  for (std::size_t i = 0; i < program.headers.size(); ++i) {
    const Header& header = program.headers[i];
    gathered.headers.push_back({header.name, header_texts[i], header.includes});
  }
  return gathered;
}

std::string read_text(const Unit& unit, const std::string& folder, const std::string& path) {
  if (unit.sha256.empty()) {
    throw FormatError(fmt::format(
        "{} names no kernel text: supply the text with --kernel-file FILE.cl --launch {}",
        quote(path), quote(path)));
  }
  return read_hashed(path_in(folder, text_file(unit.sha256, unit.form)), unit.sha256,
                     max_text_bytes);
}

void add_unit(const std::string& text, const std::string& options,
              const includes::Gathered& gathered, Bundle& bundle) {
  includes::Whole whole = includes::whole_text(text, options, gathered);
  if (!whole.refusal.empty()) {
    throw FormatError(fmt::format("a text of the program {}", whole.refusal));
  }
  bundle.texts.push_back(std::move(whole.text));
  bundle.options.push_back(includes::without_folders(options));
  for (std::string& each : whole.missing) bundle.missing.push_back(std::move(each));
}

/// True if the file is below one of the folders, after links are resolved.
bool is_below(const std::string& path, const std::vector<std::string>& folders) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  return !error && std::any_of(folders.begin(), folders.end(), [&](const std::string& each) {
    const fs::path folder = fs::canonical(each.empty() ? "." : each, error);
    const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    return !error && end == folder.end();
  });
}

/// Returns the text of a header below one of the folders; nothing for other files. Messages and
/// documents quote headers, so a text from another person must not include other files of the user.
std::optional<std::string> read_header_file(const std::string& path, std::size_t max_bytes,
                                            const std::vector<std::string>& folders) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || !is_below(path, folders)) return std::nullopt;
  try {
    return system::read_file(path, max_bytes);
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

/// Adds headers from the folders `folders`, and from folders of -I that are below `folders`, and
/// appends the paths of the headers to `read`. Headers of the bundle take precedence.
includes::Gathered with_files(const std::vector<std::string>& folders, const std::string& text,
                              const std::string& options, includes::Gathered gathered,
                              std::vector<std::string>& read) {
  if (folders.empty()) return gathered;
  std::error_code error;
  const includes::Files files{.read =
                                  [&](const std::string& path, std::size_t max_bytes) {
                                    std::optional<std::string> header =
                                        read_header_file(path, max_bytes, folders);
                                    if (header) read.push_back(path);
                                    return header;
                                  },
                              .working_folder = fs::current_path(error).string(),
                              .text_folders = folders};
  includes::Gathered found = includes::gather(text, options, files);
  const std::size_t before = gathered.headers.size();
  const auto is_known = [&](const includes::Include& include) {
    return std::any_of(
        gathered.includes.begin(), gathered.includes.end(),
        [&](const includes::Include& each) { return each.written == include.written; });
  };
  for (includes::Header& each : found.headers) {
    for (includes::Include& include : each.includes) include.header += before;
    gathered.headers.push_back(std::move(each));
  }
  for (const includes::Include& each : found.includes) {
    if (!is_known(each)) gathered.includes.push_back({each.written, each.header + before});
  }
  return gathered;
}

}  // namespace

Bundle read_source(const Source& source) {
  const bool is_described = !source.kernel_file.empty();
  const std::string path =
      is_described ? source.launch : path_in(source.launch, std::string(launch_file));
  const std::string folder = is_described ? fs::path(path).parent_path().string() : source.launch;
  Bundle bundle{.launch = read_launch_file(path), .folder = folder};
  bundle.files = files_of(bundle.launch, path, folder);
  check_objects(bundle.launch, folder);
  std::vector<std::string> folders;
  Program& program = bundle.launch.program;
  if (is_described) {
    bundle.files.push_back(source.kernel_file);
    folders.push_back(fs::path(source.kernel_file).parent_path().string());
    if (program.units.size() != 1) {
      throw FormatError(
          fmt::format("{} has several kernel texts: leave out --kernel-file", quote(path)));
    }
  }
  if (!source.headers.empty()) folders.push_back(source.headers);
  const std::vector<std::string> headers = read_headers(program, folder);
  for (Unit& unit : program.units) {
    if (is_described) unit.form = Form::text;
    const std::string text = is_described ? read_plain(source.kernel_file, max_text_bytes)
                                          : read_text(unit, folder, path);
    if (unit.form != Form::text) {
      bundle.texts.push_back(text);
      bundle.options.push_back(unit.options);
      continue;
    }
    add_unit(
        text, unit.options,
        with_files(folders, text, unit.options, gathered_of(program, unit, headers), bundle.files),
        bundle);
    if (!is_described) continue;
    const std::string own = std::exchange(unit.sha256, sha256_of(text));
    bundle.has_other_text = !own.empty() && own != unit.sha256;
  }
  bundle.id = id_of(bundle.launch, bundle.texts);
  return bundle;
}

std::string read_object(const Bundle& bundle, const Object& object, std::uint64_t seed) {
  if (object.contents) return make_contents(*object.contents, seed);
  const std::string path = path_in(bundle.folder, object_file(object.sha256));
  std::string bytes = read_hashed(path, object.sha256, object.bytes);
  if (bytes.size() == object.bytes) return bytes;
  throw FormatError(fmt::format(wrong_size, quote(path), bytes.size(), object.bytes));
}

std::string to_environment(const std::vector<Source>& sources) {
  try {
    return nlohmann::json(sources).dump();
  } catch (const nlohmann::json::type_error&) {
    throw FormatError("a path is not valid UTF-8: rename the folder");
  }
}

std::vector<Source> sources_of_environment() {
  const char* const value = std::getenv(sources_variable.data());
  if (value == nullptr) return {};
  return nlohmann::json::parse(value).get<std::vector<Source>>();
}

}  // namespace clprobe::bundle
