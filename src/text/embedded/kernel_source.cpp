// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "text/api/embedded.hpp"

namespace clprobe {

std::string kernel_source(std::string_view file, std::string_view preamble) {
  constexpr std::string_view before = "\n#include \"";
  std::string source(embedded_file("clock.clh"));
  source += preamble;
  std::string_view rest = embedded_file(file);
  for (std::size_t at = rest.find(before); at != std::string_view::npos; at = rest.find(before)) {
    source += rest.substr(0, at + 1);
    rest.remove_prefix(at + before.size());
    const std::size_t end = rest.find('"');
    source += embedded_file(rest.substr(0, end));
    // Keeps the line end, since the search for the next include directive begins there.
    rest.remove_prefix(rest.find('\n', end));
  }
  source += rest;
  return source;
}

}  // namespace clprobe
