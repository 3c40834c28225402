# SPDX-License-Identifier: Apache-2.0
# Unity builds compile a layer's sources, and its tests, in groups. A group parses headers and instantiates
# templates once, so that a full build is several times as fast. Rebuilds after small changes take longer, and
# missing includes go unnoticed. Unity builds suit CI, where clang-tidy checks each source separately, and
# single builds.
option(CLPROBE_UNITY "Compile the sources of each layer together" OFF)

# clprobe_layer(NAME SOURCES file... [APART file...] LINKS target... [BUSY]): makes the static library
# clprobe_NAME. Its sources see the public headers, src/, and the third-party headers of linked targets only.
# APART sources share a name in an anonymous namespace with another source, or must be separate objects. BUSY
# layers dominate test times and are optimised in debug builds, too, which doubles compilation time.
function(clprobe_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "BUSY" "" "SOURCES;APART;LINKS")
  add_library(clprobe_${name} STATIC ${layer_SOURCES})
  target_include_directories(clprobe_${name} PUBLIC ${CMAKE_SOURCE_DIR}/include
                                                    ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(clprobe_${name} PUBLIC ${layer_LINKS} PRIVATE clprobe_warnings)
  target_compile_features(clprobe_${name} PUBLIC cxx_std_20)
  if(layer_BUSY)
    target_compile_options(clprobe_${name} PRIVATE $<$<CONFIG:Debug>:-O1>)
  endif()
  if(CLPROBE_UNITY)
    clprobe_compile_together(clprobe_${name} SOURCES ${layer_SOURCES} APART ${layer_APART})
  endif()
endfunction()

# clprobe_compile_together(TARGET SOURCES file... [APART file...]): compiles TARGET's sources in groups of
# up to eight. Sources of different folders are not grouped, since each folder has its own namespace.
function(clprobe_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 together "" "" "SOURCES;APART")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source IN LISTS together_SOURCES)
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(GET source PARENT_PATH path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER ${path} folder)
    list(LENGTH ${folder} before)
    math(EXPR part "${before} / 8")
    list(APPEND ${folder} ${source})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${part})
  endforeach()
  set_source_files_properties(${together_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# clprobe_layer_tests(NAME [GLOB pattern...] [APART test...] LINKS target... [OWN_MAIN]): makes the program
# NAME_test from tests/unit/NAME/*_test.cpp and the files that match the patterns. Each file is one CTest
# test: unit/STEM, or unit/FOLDER/STEM for other folders, so that a probe's tests begin with its id. APART
# tests are compiled separately.
function(clprobe_layer_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 tests "OWN_MAIN" "" "GLOB;APART;LINKS")
  set(here ${CMAKE_SOURCE_DIR}/tests/unit/${name})
  file(GLOB files CONFIGURE_DEPENDS ${here}/*_test.cpp ${tests_GLOB})
  add_executable(${name}_test ${files})
  target_link_libraries(${name}_test PRIVATE clprobe_doctest ${tests_LINKS} clprobe_warnings)
  if(NOT tests_OWN_MAIN)
    target_link_libraries(${name}_test PRIVATE clprobe_doctest_main)
  endif()
  set(apart "")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM stem)
    cmake_path(GET file PARENT_PATH path)
    cmake_path(GET path FILENAME folder)
    string(REGEX REPLACE "_test$" "" test ${stem})
    if(NOT path STREQUAL here)
      string(PREPEND test ${folder}/)
    endif()
    if(test IN_LIST tests_APART)
      list(APPEND apart ${file})
    endif()
    add_test(NAME unit/${test} COMMAND ${name}_test "--source-file=*/${folder}/${stem}.cpp")
    # A test file without test cases counts as failed.
    set_tests_properties(
      unit/${test} PROPERTIES LABELS unit TIMEOUT 600 REQUIRED_FILES $<TARGET_FILE:${name}_test>
                              FAIL_REGULAR_EXPRESSION "test cases: +0 ")
  endforeach()
  if(CLPROBE_UNITY)
    clprobe_compile_together(${name}_test SOURCES ${files} APART ${apart})
  endif()
endfunction()
