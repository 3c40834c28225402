# SPDX-License-Identifier: Apache-2.0
# Links all libraries statically into the program and its layer, except the OpenCL loader and the C compiler's
# libraries, for the archive of tools/package. Included after find_package(OpenCL), which needs the shared
# library.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(ZLIB_USE_STATIC_LIBS ON)

# RPATH is skipped, since the program must not contain the path of the build folder.
set(CMAKE_SKIP_RPATH ON)

# No symbol of a static library is exported, since OpenCL drivers may load other versions of the C++ library,
# and neither may call the other's functions. libgcc stays shared: a static libgcc needs glibc 2.35.
add_link_options(-static-libstdc++ LINKER:--exclude-libs,ALL)

# clprobe_support_old_glibc(TARGET...): makes the targets run with glibc 2.34, too.
function(clprobe_support_old_glibc)
  foreach(target IN LISTS ARGN)
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src/system/archive/old_glibc.cpp)
    target_link_options(${target} PRIVATE LINKER:--wrap=hypot,--wrap=arc4random)
  endforeach()
endfunction()

# clprobe_make_static(TARGET URL SHA256 SOURCE): builds a static library from SOURCE, a file in the tar
# archive at URL, and links it instead of the shared library of TARGET. Headers and compiler options of TARGET
# stay.
function(clprobe_make_static target url sha256 source)
  string(REGEX REPLACE ".*::" "static_" name ${target})
  set(folder ${CMAKE_BINARY_DIR}/${name})
  file(DOWNLOAD ${url} ${folder}.tar.gz EXPECTED_HASH SHA256=${sha256})
  file(ARCHIVE_EXTRACT INPUT ${folder}.tar.gz DESTINATION ${folder} PATTERNS "*/${source}")
  file(GLOB source ${folder}/*/${source})
  add_library(${name} STATIC ${source})
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(${name} PRIVATE $<TARGET_PROPERTY:${target},INTERFACE_COMPILE_DEFINITIONS>)
  get_target_property(configuration ${target} IMPORTED_CONFIGURATIONS)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration}
                                             ${CMAKE_BINARY_DIR}/lib${name}.a)
  add_dependencies(${target} ${name})
endfunction()

# fmt is built, since Debian 12 has no static library of it. Its version must equal that of the headers.
set(pool http://deb.debian.org/debian/pool/main)
find_package(fmt 9.1.0 EXACT REQUIRED)
clprobe_make_static(fmt::fmt ${pool}/f/fmtlib/fmtlib_9.1.0+ds1.orig.tar.gz
                    84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583 src/format.cc)
