// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/api/secrets.hpp"

namespace clprobe {

/// Returns a driver's text in a form for messages and published documents. The result is one line
/// of at most 1200 columns, without invisible characters. Placeholders replace folders and names of
/// this user.
std::string clean_driver_words(std::string_view words);

/// Returns the folders and names to redact: the home, cache, configuration, temporary and current
/// folders, and the names of user and host.
std::vector<Place> private_places();

inline constexpr std::string_view pocl_platform = "Portable Computing Language";

/// Returns PoCL's cache folder: $POCL_CACHE_DIR if set, otherwise "pocl" in the user's cache
/// folder.
std::string pocl_cache_folder();

/// Returns the reason why kernels in `folder` cannot be written or loaded ("Read-only file
/// system"); empty if they can. The test writes a small file and removes it. If `folder` does not
/// exist, the test uses its nearest existing parent.
std::string cache_problem(const std::string& folder);

/// Returns advice to append to an error of PoCL; empty if PoCL's cache folder works.
std::string advise_about_pocl_cache();

}  // namespace clprobe
