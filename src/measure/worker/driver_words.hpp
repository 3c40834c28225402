// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/api/secrets.hpp"

namespace clprobe {

/// Cleans a driver's text for messages and published documents: one line of at most 1200 columns,
/// without invisible characters and without this user's folders and names.
std::string clean_driver_words(std::string_view words);

/// The folders and names of whoever runs this: home, caches, the current folder, user, host.
std::vector<Place> private_places();

}  // namespace clprobe
