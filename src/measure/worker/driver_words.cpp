// SPDX-License-Identifier: Apache-2.0
#include "measure/worker/driver_words.hpp"

#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "text/api/text.hpp"

namespace clprobe {
namespace {

/// Variables for folders of drivers and compilers.
constexpr std::array folder_variables{
    "POCL_CACHE_DIR",  "CUDA_CACHE_PATH", "MESA_SHADER_CACHE_DIR", "AMD_COMGR_CACHE_DIR",
    "NEO_CACHE_DIR",   "XDG_CACHE_HOME",  "XDG_CONFIG_HOME",       "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR", "TMPDIR"};

/// "/home/alice/" is how some write it; messages of drivers have no such end.
std::string without_last_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

void add_folder(std::vector<Place>& places, const char* path, std::string shown) {
  if (path == nullptr || *path != '/') return;
  places.push_back({without_last_slash(path), std::move(shown)});
}

/// A name that a person or a machine has for itself. Short ones, and the name of every machine's
/// first user, are parts of other words.
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
  constexpr int max_columns = 1200;  // options of a build, a line of its log, and advice
  return cut_to_width(printable(hide_places(words, private_places())), max_columns, "...");
}

}  // namespace clprobe
