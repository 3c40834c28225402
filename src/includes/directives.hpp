// SPDX-License-Identifier: Apache-2.0
// The preprocessor's lines of a text. Any bytes are taken.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::includes {

/// A line that begins with #, with the lines that continue it.
struct Directive {
  std::size_t begin{0};  ///< of the #, in bytes
  std::size_t end{0};    ///< of the line end behind it, or of the text
  std::size_t first_line{1};
  std::size_t last_line{1};
  std::string name{};        ///< "include"
  std::string rest{};        ///< behind the name, each comment a space, without spaces at its ends
  bool follows_code{false};  ///< whether anything but comments stands between it and the last one
};

struct Scanned {
  std::vector<Directive> directives{};
  bool ends_with_code{false};  ///< behind the last one
  /// Whether a comment is open at the end, or a line that goes on: what comes next would be in it.
  bool is_open{false};
};

/// Linear in the size of `text`.
Scanned scan(std::string_view text);

}  // namespace clprobe::includes
