# SPDX-License-Identifier: Apache-2.0
# Script that writes OUTPUT, a C++ source with the text of each file of FILES (separated by ';', relative to
# ROOT unless absolute). It also contains the SHA-256 of each kernel with clock.clh and its headers, and the
# hash of each script and style for a Content-Security-Policy.

# base64(HEXADECIMAL RESULT): converts 64 hexadecimal digits. Each 3 digits give 2 letters, and the end is
# padded.
function(base64 hexadecimal result)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(letters "")
  foreach(at RANGE 0 63 3)
    string(SUBSTRING "${hexadecimal}00" ${at} 3 digits)
    math(EXPR high "(0x${digits} >> 6) & 63")
    math(EXPR low "0x${digits} & 63")
    foreach(number ${high} ${low})
      string(SUBSTRING "${alphabet}" ${number} 1 letter)
      string(APPEND letters "${letter}")
    endforeach()
  endforeach()
  string(SUBSTRING "${letters}" 0 43 letters)
  set(${result} "${letters}=" PARENT_SCOPE)
endfunction()

file(READ ${ROOT}/cl/clock.clh clock)
set(files "")
set(hashes "")
set(content_hashes "")
foreach(path IN LISTS FILES)
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY ${ROOT} OUTPUT_VARIABLE file)
  file(READ ${file} text)
  get_filename_component(name ${path} NAME)
  # Texts are split, since compilers may limit string literals to 64 KiB.
  string(APPEND files "    File{\"${name}\", \"\" ")
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND files "R\"~~~(${piece})~~~\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  string(APPEND files "},\n")
  if(name MATCHES "\\.cl$")
    set(before "${clock}")
    string(REGEX MATCHALL "#include \"[a-z_]+\\.clh\"" includes "${text}")
    foreach(include IN LISTS includes)
      string(REGEX REPLACE ".*\"(.*)\"" "\\1" header "${include}")
      file(READ ${ROOT}/cl/${header} header)
      string(APPEND before "${header}")
    endforeach()
    string(SHA256 hash "${before}${text}")
    string(APPEND hashes "    File{\"${name}\", \"${hash}\"},\n")
  endif()
  if(name MATCHES "\\.(js|css)$")
    string(SHA256 hash "${text}")
    base64(${hash} hash)
    string(APPEND content_hashes "    File{\"${name}\", \"sha256-${hash}\"},\n")
  endif()
endforeach()
file(
  WRITE ${OUTPUT}
  "// Made by tools/cmake/Embed.cmake.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include \"text/api/embedded.hpp\"

namespace clprobe {
namespace {

struct File {
  std::string_view name;
  std::string_view text;
};

// Not constexpr: clang counts every character and gives up after a million.
const std::array files{
${files}};

constexpr std::array hashes{
${hashes}};

constexpr std::array content_hashes{
${content_hashes}};

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
std::string_view content_hash(std::string_view name) { return text_of(content_hashes, name); }

bool has_embedded_file(std::string_view name) {
  return std::any_of(files.begin(), files.end(),
                     [&](const File& file) { return file.name == name; });
}

}  // namespace clprobe
")
