// SPDX-License-Identifier: Apache-2.0
// Folders and names that say whose machine this is, taken out of messages that may be published.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace clprobe {

/// A folder ("/home/alice"), or a name of a person or a machine ("alice"), and what stands for it.
struct Place {
  std::string path{};
  std::string shown{};
};

/// `text` with every place replaced: a folder wherever its path stands, a name wherever it is a
/// word of a path or of an address ("alice" in "/scratch/alice/x", but not in "alice is here"). Of
/// two folders of which one holds the other, the inner one counts. Pure.
std::string hide_places(std::string_view text, std::span<const Place> places);

}  // namespace clprobe
