# SPDX-License-Identifier: Apache-2.0
# Run as a script: writes OUTPUT, a C++ source with the text of each file of FILES (names relative
# to ROOT, separated by ';') and the SHA-256 of each kernel together with clock.clh.
file(READ ${ROOT}/cl/clock.clh clock)
set(files "")
set(hashes "")
foreach(path IN LISTS FILES)
  file(READ ${ROOT}/${path} text)
  get_filename_component(name ${path} NAME)
  # In pieces: a compiler need not take string literals of more than 64 KiB.
  string(APPEND files "    File{\"${name}\", ")
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND files "R\"~~~(${piece})~~~\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  string(APPEND files "},\n")
  if(name MATCHES "\\.cl$")
    string(SHA256 hash "${clock}${text}")
    string(APPEND hashes "    File{\"${name}\", \"${hash}\"},\n")
  endif()
endforeach()
file(
  WRITE ${OUTPUT}
  "// Made by tools/cmake/Embed.cmake.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include \"clprobe/embedded.hpp\"

namespace clprobe {
namespace {

struct File {
  std::string_view name;
  std::string_view text;
};

constexpr std::array files{
${files}};

constexpr std::array hashes{
${hashes}};

template <typename Table>
std::string_view text_of(const Table& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const File& file) { return file.name == name; });
  if (found == table.end()) throw std::out_of_range(\"no embedded file \" + std::string(name));
  return found->text;
}

}  // namespace

std::string_view embedded_file(std::string_view name) { return text_of(files, name); }
std::string_view kernel_sha256(std::string_view name) { return text_of(hashes, name); }

}  // namespace clprobe
")
