# SPDX-License-Identifier: Apache-2.0
# Libraries that bring no CMake package which works everywhere: cmark's fails where its program, a
# package of its own on Debian, is not installed; Nettle and utf8proc 2.8 have none; pugixml's has other
# targets for the static library.

# Makes the target NAME::NAME of the library and the folder of the header.
function(find_plain_library name header library)
  find_path(${name}_INCLUDE_DIR ${header} REQUIRED)
  find_library(${name}_LIBRARY ${library} REQUIRED)
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
  add_library(${name}::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(
    ${name}::${name} PROPERTIES IMPORTED_LOCATION ${${name}_LIBRARY}
                                INTERFACE_INCLUDE_DIRECTORIES ${${name}_INCLUDE_DIR})
endfunction()
