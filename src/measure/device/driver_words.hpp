// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/api/secrets.hpp"

namespace clprobe {

/// Cleans a driver's text for messages and published documents. Returns one line of at most 1200
/// columns without invisible characters and without this user's folders and names.
std::string clean_driver_words(std::string_view words);

/// Returns the folders and names to redact: home, caches, the current folder, user, host.
std::vector<Place> private_places();

inline constexpr std::string_view pocl_platform = "Portable Computing Language";

/// Returns PoCL's cache folder: POCL_CACHE_DIR, or "pocl" in the user's cache folder.
std::string pocl_cache_folder();

/// Returns why kernels in `folder` cannot be written or loaded ("Read-only file system"); empty if
/// they can. Writes a small file there and removes it. If the folder does not exist, its nearest
/// existing parent is tested.
std::string cache_problem(const std::string& folder);

/// Returns advice to append to an error of PoCL; empty if its cache folder works.
std::string advise_about_pocl_cache();

}  // namespace clprobe
