// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/places.hpp"

namespace clprobe {

/// What a driver says, fit for a message and a document that is published: one line, without
/// characters that are not seen, at most 1200 columns, and without this person's folders and names.
std::string clean_driver_words(std::string_view words);

/// The folders and names of whoever runs this: home, caches, the current folder, user, host.
std::vector<Place> private_places();

}  // namespace clprobe
