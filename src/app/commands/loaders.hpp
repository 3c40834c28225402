// SPDX-License-Identifier: Apache-2.0
// OpenCL loaders of profiled programs, and clprobe's layer in them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace clprobe::commands {

/// OpenCL loaders: `without` is the loader that programs start with, if it does not support layers;
/// `with` is an installed loader that does. Both are empty if the loader that programs start with
/// supports layers, or if no installed loader does.
struct OtherLoader {
  std::string without{};
  std::string with{};
};

OtherLoader loader_with_layers();

/// Names and values of environment variables.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// Returns the variables with which a program starts with clprobe's layer. Throws
/// std::runtime_error if the layer is missing, or if its path contains a colon.
Variables layer_variables(const OtherLoader& loader);

}  // namespace clprobe::commands
