// SPDX-License-Identifier: Apache-2.0
#include "measure/device/pocl_cache.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace clprobe {
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// Tries to write the size of one kernel. Returns the errno, or 0.
int try_to_write(const std::string& folder) {
  std::string name = folder + "/clprobe-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return errno;
  const std::string bytes(std::size_t{64} << 10U, '\0');
  const ssize_t written = write(file, bytes.data(), bytes.size());
  // A disk that is nearly full takes a part.
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
