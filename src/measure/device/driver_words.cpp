// SPDX-License-Identifier: Apache-2.0
#include "measure/device/driver_words.hpp"

#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "text/api/text.hpp"

namespace clprobe {
namespace {

/// Environment variables whose folders may appear in texts of drivers and compilers.
constexpr std::array folder_variables{
    "POCL_CACHE_DIR",  "CUDA_CACHE_PATH", "MESA_SHADER_CACHE_DIR", "AMD_COMGR_CACHE_DIR",
    "NEO_CACHE_DIR",   "XDG_CACHE_HOME",  "XDG_CONFIG_HOME",       "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR", "TMPDIR"};

/// Returns the path without slashes at its end. HOME may be "/home/alice/", but messages contain
/// "/home/alice".
std::string without_last_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

void add_folder(std::vector<Place>& places, const char* path, std::string shown) {
  if (path == nullptr || *path != '/') return;
  places.push_back({without_last_slash(path), std::move(shown)});
}

/// Adds a user or host name to redact. Short or common names are not redacted, since they are parts
/// of other words.
void add_name(std::vector<Place>& places, std::string_view name, std::string shown) {
  constexpr std::size_t min_bytes = 3;
  if (name.size() < min_bytes || name == "root" || name == "localhost") return;
  places.push_back({std::string(name), std::move(shown)});
}

}  // namespace

std::vector<Place> private_places() {
  std::vector<Place> places;
  for (const char* const name : folder_variables) {
    add_folder(places, std::getenv(name), std::string("$") + name);
  }
  add_folder(places, std::getenv("HOME"), "~");
  if (const passwd* const person = getpwuid(getuid()); person != nullptr) {
    add_folder(places, person->pw_dir, "~");
    add_name(places, person->pw_name, "USER");
  }
  for (const char* const name : {"USER", "LOGNAME"}) {
    if (const char* const value = std::getenv(name); value != nullptr) {
      add_name(places, value, "USER");
    }
  }
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (!error && here != here.root_path()) add_folder(places, here.c_str(), ".");
  utsname system{};
  if (uname(&system) == 0) add_name(places, static_cast<const char*>(system.nodename), "HOST");
  return places;
}

std::string clean_driver_words(std::string_view words) {
  constexpr int max_columns = 1200;  // enough for build options, one line of the log, and advice
  return cut_to_width(printable(hide_places(words, private_places())), max_columns, "...");
}

namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// Tries to write a file of 64 KiB, the size of a kernel. Returns the errno, or 0 on success.
int try_to_write(const std::string& folder) {
  std::string name = folder + "/clprobe-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return errno;
  const std::string bytes(std::size_t{64} << 10U, '\0');
  const ssize_t written = write(file, bytes.data(), bytes.size());
  // If the disk is nearly full, only a part of the bytes may be written.
  const bool is_whole = written == static_cast<ssize_t>(bytes.size());
  const int error = written < 0 ? errno : ENOSPC;
  close(file);
  unlink(name.c_str());
  return is_whole ? 0 : error;
}

}  // namespace

std::string pocl_cache_folder() {
  if (std::string folder = environment("POCL_CACHE_DIR"); !folder.empty()) return folder;
  if (const std::string caches = environment("XDG_CACHE_HOME"); !caches.empty()) {
    return caches + "/pocl";
  }
  const std::string home = environment("HOME");
  return home.empty() ? "/tmp/pocl" : home + "/.cache/pocl";
}

std::string cache_problem(const std::string& folder) {
  std::filesystem::path there = folder;
  std::error_code error;
  while (!std::filesystem::exists(there, error) && there.has_relative_path()) {
    there = there.parent_path();
  }
  if (there.empty()) there = ".";
  if (!std::filesystem::is_directory(there, error)) return std::strerror(ENOTDIR);
  if (const int code = try_to_write(there.string()); code != 0) return std::strerror(code);
  struct statvfs disk {};
  const bool is_known = statvfs(there.c_str(), &disk) == 0;
  return is_known && (disk.f_flag & ST_NOEXEC) != 0 ? "mounted noexec" : "";
}

std::string advise_about_pocl_cache() {
  const std::string folder = pocl_cache_folder();
  const std::string problem = cache_problem(folder);
  if (problem.empty()) return "";
  return fmt::format(
      "; PoCL cannot use its kernel cache {} ({}): set POCL_CACHE_DIR to another folder", folder,
      problem);
}

}  // namespace clprobe
