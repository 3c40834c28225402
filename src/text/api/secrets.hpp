// SPDX-License-Identifier: Apache-2.0
// Redaction of command lines and messages that may be published: passwords, tokens, keys, and
// folders and names that identify a machine. All functions are pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe {

/// Returns the words with "***" in place of possible secrets: values of names such as --password,
/// -p, API_KEY= and "Authorization:", users in URLs, and common forms of keys. A word that only
/// resembles a secret is also hidden.
std::vector<std::string> without_secrets(const std::vector<std::string>& words);

/// Returns build options with "***" in place of possible secrets in words with "=", such as
/// "-DAPI_KEY=...". Values that are numbers or types of OpenCL C are kept.
std::string options_without_secrets(std::string_view options);

/// A folder ("/home/alice"), or a name of a person or a machine ("alice"), and its replacement.
struct Place {
  std::string path{};
  std::string shown{};
};

/// Returns `text` with all `places` replaced. A folder is replaced where its path ends a component;
/// "/root" must also begin the path. A name is replaced where it is a word of a path or an address
/// ("alice" in "/scratch/alice/x", not in "alice is here"). The longest matching place counts.
std::string hide_places(std::string_view text, std::span<const Place> places);

}  // namespace clprobe
