// SPDX-License-Identifier: Apache-2.0
// What launch.json says that a kernel gets. Each throws RunFormatError.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "clprobe/launch.hpp"
#include "run/cursor.hpp"

namespace clprobe::bundle {

/// The places of the objects by their names.
using Places = std::map<std::string, std::size_t, std::less<>>;

std::size_t place_in(const json::Cursor& name, const Places& places);

Argument read_argument(const json::Cursor& cursor, const Places& places,
                       const std::vector<Object>& objects);

}  // namespace clprobe::bundle
