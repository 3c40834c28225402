# SPDX-License-Identifier: Apache-2.0
# cmark::cmark, the library that reads CommonMark. Debian's own cmark-config.cmake fails where the
# program cmark, a package of its own, is not installed.
find_path(CMARK_INCLUDE_DIR cmark.h)
find_library(CMARK_LIBRARY cmark)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cmark REQUIRED_VARS CMARK_LIBRARY CMARK_INCLUDE_DIR)
if(Cmark_FOUND AND NOT TARGET cmark::cmark)
  add_library(cmark::cmark UNKNOWN IMPORTED)
  set_target_properties(cmark::cmark PROPERTIES IMPORTED_LOCATION ${CMARK_LIBRARY}
                                                INTERFACE_INCLUDE_DIRECTORIES ${CMARK_INCLUDE_DIR})
endif()
