// SPDX-License-Identifier: Apache-2.0
// CUDA's toolkit brings an OpenCL loader of its own, which takes no layers and is often found
// first.
#pragma once

#include <string>

namespace clprobe::commands {

/// The loader that programs start with, and an installed one that takes layers. Both are empty
/// where the first one takes layers, or no other does.
struct OtherLoader {
  std::string without{};
  std::string with{};
};

OtherLoader loader_with_layers();

}  // namespace clprobe::commands
