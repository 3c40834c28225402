// SPDX-License-Identifier: Apache-2.0
// The options of a build, as far as headers are concerned.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clprobe::includes {

struct Options {
  std::vector<std::string> folders{};      ///< of -I, in their order
  std::vector<std::string> definitions{};  ///< of -D, as they stand behind #define
};

Options read_options(std::string_view options);

}  // namespace clprobe::includes
