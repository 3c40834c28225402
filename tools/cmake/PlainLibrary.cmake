# SPDX-License-Identifier: Apache-2.0
# Targets for libraries without a CMake package that works on every system. cmark's package fails if its
# program, a separate package on Debian, is not installed. Nettle and utf8proc 2.8 have none. pugixml's static
# library has other target names.

# find_plain_library(NAME HEADER LIBRARY): makes the target NAME::NAME from a library and the folder of a
# header.
function(find_plain_library name header library)
  find_path(${name}_INCLUDE_DIR ${header} REQUIRED)
  find_library(${name}_LIBRARY ${library} REQUIRED)
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
  add_library(${name}::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(
    ${name}::${name} PROPERTIES IMPORTED_LOCATION ${${name}_LIBRARY}
                                INTERFACE_INCLUDE_DIRECTORIES ${${name}_INCLUDE_DIR})
endfunction()
