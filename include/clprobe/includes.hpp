// SPDX-License-Identifier: Apache-2.0
// The headers of programs in OpenCL C: which files a text reaches with #include, and one text with
// all of them in it, which builds on any machine and which a reader sees whole. Pure; in other
// people's processes as well (the loader layer), so that the standard library is all it needs.
//
// No condition of #if is decided, since nobody but the driver's compiler knows what it defines:
// headers in all branches are found and put in, and the conditions stay where they are.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::includes {

// What a program may have at most.
inline constexpr std::size_t max_headers = 256;
inline constexpr std::size_t max_includes = 1024;  ///< in one text
inline constexpr std::size_t max_written_bytes = 1024;
inline constexpr std::size_t max_header_bytes = std::size_t{16} << 20U;  ///< of all together
inline constexpr std::size_t max_whole_bytes = std::size_t{16} << 20U;
inline constexpr std::size_t max_depth = 200;  ///< of headers in headers, as compilers have it

/// What stands behind an #include in a text, without comments: `"a.h"`, `<a.h>`, `NAME(a.h)`; and
/// the header that it is, as a place among the program's.
struct Include {
  std::string written{};
  std::size_t header{0};

  friend bool operator==(const Include&, const Include&) = default;
};

struct Header {
  std::string name{};  ///< of the file, without folders; for messages alone
  std::string text{};
  std::vector<Include> includes{};

  friend bool operator==(const Header&, const Header&) = default;
};

/// A text with the headers that it reaches.
struct Gathered {
  std::vector<Include> includes{};  ///< of the text itself
  std::vector<Header> headers{};

  friend bool operator==(const Gathered&, const Gathered&) = default;
};

/// Where headers may be.
struct Files {
  /// A file's bytes; nothing where it is none that can be read, or has more than so many.
  std::function<std::optional<std::string>(const std::string& path, std::size_t max_bytes)> read{};
  /// Where relative paths begin, those of options among them.
  std::string working_folder{};
  /// Where a driver may take the text itself to be: what it includes in quotes is beside it.
  std::vector<std::string> text_folders{};
};

/// What the text, built with these options, reaches: in quotes beside the file that includes it,
/// then in the folders of -I in their order. Names out of macros are taken where the text and the
/// options define each of these macros in one way. Left out is what is not found, what is found in
/// two of the text's folders with two contents, and what passes the limits.
Gathered gather(std::string_view text, std::string_view options, const Files& files);

/// One text in place of a program's text and headers.
struct Whole {
  std::string text{};
  std::vector<std::string> missing{};  ///< as written, each once; an #error stands in their place
  std::string refusal{};  ///< why there is none: "has more than 16 bytes"; empty: there is one
};

/// Puts each header where it is included; of one with a guard or #pragma once what is certain to be
/// left out is left out. Lines have the numbers of their own files. A text without #include is
/// itself. No other file is included by it, on no driver. Refused where it would pass
/// `max_whole_bytes`.
Whole whole_text(std::string_view text, std::string_view options, const Gathered& gathered);

/// The options of a build without those that may name files or folders.
std::string without_folders(std::string_view options);

/// A file's name as a bundle may have it: letters, digits, '.', '-' and '_', and no folder.
std::string safe_name(std::string_view path);
bool is_safe_name(std::string_view name);

}  // namespace clprobe::includes
