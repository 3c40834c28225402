// SPDX-License-Identifier: Apache-2.0
// The headers of programs in OpenCL C: finds the files that a text reaches with #include, and makes
// one text with all of them in it, which builds on any machine. Pure. The loader layer runs it in
// other people's processes, so it needs only the standard library.
//
// It evaluates no condition of #if, since only the driver's compiler knows its own definitions: it
// puts in the headers of all branches, and keeps the conditions.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::includes {

// Limits of a program.
inline constexpr std::size_t max_headers = 256;
inline constexpr std::size_t max_includes = 1024;  ///< in one text
inline constexpr std::size_t max_written_bytes = 1024;
inline constexpr std::size_t max_header_bytes = std::size_t{16} << 20U;  ///< all headers together
inline constexpr std::size_t max_whole_bytes = std::size_t{16} << 20U;
inline constexpr std::size_t max_depth = 200;  ///< nesting of headers, as in compilers

/// The operand of an #include, without comments (`"a.h"`, `<a.h>`, `NAME(a.h)`), and the place of
/// the header among the program's.
struct Include {
  std::string written{};
  std::size_t header{0};

  friend bool operator==(const Include&, const Include&) = default;
};

struct Header {
  std::string name{};  ///< file name without folders; only messages use it
  std::string text{};
  std::vector<Include> includes{};

  friend bool operator==(const Header&, const Header&) = default;
};

/// A text with the headers that it reaches.
struct Gathered {
  std::vector<Include> includes{};  ///< those in the text itself
  std::vector<Header> headers{};

  friend bool operator==(const Gathered&, const Gathered&) = default;
};

/// Access to the files among which headers are looked for.
struct Files {
  /// Returns a file's bytes; nothing if it cannot be read or has more than `max_bytes`.
  std::function<std::optional<std::string>(const std::string& path, std::size_t max_bytes)> read{};
  /// Start of relative paths, those of options included.
  std::string working_folder{};
  /// Folders in which a driver may put the text itself: headers in quotes are next to it.
  std::vector<std::string> text_folders{};
};

/// Finds the headers that the text, built with these options, reaches: in quotes next to the file
/// that includes them, then in the folders of -I in their order. Follows macros in an operand if
/// the text and the options define each of them in one way. Leaves out headers that are not found,
/// that differ between two of the text's folders, or that exceed the limits.
Gathered gather(std::string_view text, std::string_view options, const Files& files);

/// A program's text and headers as one text.
struct Whole {
  std::string text{};
  std::vector<std::string> missing{};  ///< operands without a header, each once; #error in the text
  std::string refusal{};  ///< why there is no text: "has more than 16 bytes"; else empty
};

/// Puts each header where it is included. A header with a guard or #pragma once is left out where
/// it has certainly been read before. Lines keep the numbers of their own files. A text without
/// #include is returned unchanged. The result includes no other file, on any driver. Refused if it
/// would exceed `max_whole_bytes`.
Whole whole_text(std::string_view text, std::string_view options, const Gathered& gathered);

/// Returns the options of a build without those that may name files or folders.
std::string without_folders(std::string_view options);

/// Returns a file's name as a bundle may have it: letters, digits, '.', '-' and '_', no folder.
std::string safe_name(std::string_view path);
bool is_safe_name(std::string_view name);

}  // namespace clprobe::includes
