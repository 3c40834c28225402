# SPDX-License-Identifier: Apache-2.0
# Whether a layer's sources are compiled together, a few at a time, or with a precompiled header. They
# share the parsing of their headers, which halves the time of a whole build, and makes one after a
# small change longer and a missing #include unseen: for CI, where clang-tidy sees each source alone.
option(CLPROBE_UNITY "Compile the sources of each layer together" OFF)

# clprobe_layer(NAME SOURCES file... [APART file...] [PRECOMPILE header...] LINKS target... [BUSY]): the
# static library clprobe_NAME. It sees the public headers and src/, and only the third-party headers
# of what it links. APART: sources that have a name of an anonymous namespace in common with another
# one. PRECOMPILE: all of them have; what most of them include is parsed once. BUSY: tests spend
# most of their time in it, so that it is optimised in debug builds, too, which takes twice as long
# to compile.
function(clprobe_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "BUSY" "" "SOURCES;APART;PRECOMPILE;LINKS")
  add_library(clprobe_${name} STATIC ${layer_SOURCES})
  target_include_directories(clprobe_${name} PUBLIC ${CMAKE_SOURCE_DIR}/include
                                                    ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(clprobe_${name} PUBLIC ${layer_LINKS} PRIVATE clprobe_warnings)
  target_compile_features(clprobe_${name} PUBLIC cxx_std_20)
  if(layer_BUSY)
    target_compile_options(clprobe_${name} PRIVATE $<$<CONFIG:Debug>:-O1>)
  endif()
  if(NOT CLPROBE_UNITY)
    return()
  endif()
  if(layer_PRECOMPILE)
    target_precompile_headers(clprobe_${name} PRIVATE ${layer_PRECOMPILE})
  else()
    clprobe_compile_together(${name} ${layer_SOURCES})
    set_source_files_properties(${layer_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# A folder's sources are compiled with each other and with no other folder's: each has a namespace
# of its own. A layer without folders is cut into equal parts.
function(clprobe_compile_together name)
  set_target_properties(clprobe_${name} PROPERTIES UNITY_BUILD ON)
  foreach(source IN LISTS ARGN)
    if(NOT IS_ABSOLUTE ${source})
      cmake_path(GET source PARENT_PATH folder)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${name}_${folder}")
      if(folder)
        set_target_properties(clprobe_${name} PROPERTIES UNITY_BUILD_MODE GROUP)
      endif()
    endif()
  endforeach()
endfunction()

# clprobe_layer_tests(NAME [GLOB pattern...] [PRECOMPILE header...] LINKS target... [OWN_MAIN]): one
# program, NAME_test, of tests/unit/NAME/*_test.cpp and of what the patterns find. Each file is one CTest test: unit/STEM,
# and unit/FOLDER/STEM of a file that is elsewhere, so that a probe's tests begin with its id.
function(clprobe_layer_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 tests "OWN_MAIN" "" "GLOB;PRECOMPILE;LINKS")
  set(here ${CMAKE_SOURCE_DIR}/tests/unit/${name})
  file(GLOB files CONFIGURE_DEPENDS ${here}/*_test.cpp ${tests_GLOB})
  add_executable(${name}_test ${files})
  target_link_libraries(${name}_test PRIVATE clprobe_doctest ${tests_LINKS} clprobe_warnings)
  if(CLPROBE_UNITY)
    target_precompile_headers(${name}_test PRIVATE ${tests_PRECOMPILE} <doctest/doctest.h> <algorithm> <filesystem>
                              <functional> <map> <string> <vector>)
  endif()
  if(NOT tests_OWN_MAIN)
    target_link_libraries(${name}_test PRIVATE clprobe_doctest_main)
  endif()
  foreach(file IN LISTS files)
    cmake_path(GET file STEM stem)
    cmake_path(GET file PARENT_PATH path)
    cmake_path(GET path FILENAME folder)
    string(REGEX REPLACE "_test$" "" test ${stem})
    if(NOT path STREQUAL here)
      string(PREPEND test ${folder}/)
    endif()
    add_test(NAME unit/${test} COMMAND ${name}_test "--source-file=*/${folder}/${stem}.cpp")
    # A file in which nothing is found to run has not passed.
    set_tests_properties(
      unit/${test} PROPERTIES LABELS unit TIMEOUT 600 REQUIRED_FILES $<TARGET_FILE:${name}_test>
                              FAIL_REGULAR_EXPRESSION "test cases: +0 ")
  endforeach()
endfunction()
