// SPDX-License-Identifier: Apache-2.0
// Removes folders and names that identify a machine from messages that may be published.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace clprobe {

/// A folder ("/home/alice"), or a name of a person or a machine ("alice"), and its replacement.
struct Place {
  std::string path{};
  std::string shown{};
};

/// Returns `text` with every place replaced: a folder wherever its path occurs, a name wherever it
/// is a word of a path or of an address ("alice" in "/scratch/alice/x", but not in "alice is
/// here"). If one folder contains another, the inner one counts. Pure.
std::string hide_places(std::string_view text, std::span<const Place> places);

}  // namespace clprobe
