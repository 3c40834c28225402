# SPDX-License-Identifier: Apache-2.0
# Functions that derive a probe's files from its line in probes.def. ROOT is a checkout, or a folder with the
# files that differ from this checkout: probes.def and the folder, kernel and page of a new probe.

# clprobe_probe_ids(ROOT OUT): returns the ids in ROOT's probes.def in order. Ids between `#if OPTION` and
# `#endif` are included only if the option is on, as in the compiler.
function(clprobe_probe_ids root out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${root}/src/probes/probes.def)
  file(STRINGS ${root}/src/probes/probes.def lines REGEX "^(PROBE\\(|#if |#endif)")
  set(ids "")
  set(is_built ON)
  foreach(line IN LISTS lines)
    if(line MATCHES "^#if (.+)$")
      set(is_built ${${CMAKE_MATCH_1}})
    elseif(line STREQUAL "#endif")
      set(is_built ON)
    elseif(is_built AND line MATCHES "^PROBE\\(([a-z0-9_]+)\\)")
      list(APPEND ids ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${out} ${ids} PARENT_SCOPE)
endfunction()

# clprobe_probe_sources(ROOT ID SOURCES TESTS): returns a probe's sources (trace.cpp if simulated) and tests.
function(clprobe_probe_sources root id sources tests)
  set(folder ${root}/src/probes/${id})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${folder}/*.cpp)
  set(own_tests ${all})
  list(FILTER own_tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER all EXCLUDE REGEX "_test\\.cpp$")
  if(NOT CLPROBE_SIMULATION)
    list(FILTER all EXCLUDE REGEX "/trace\\.cpp$")
  endif()
  set(${sources} ${all} PARENT_SCOPE)
  set(${tests} ${own_tests} PARENT_SCOPE)
endfunction()

# clprobe_embed(OUTPUT ROOT): makes OUTPUT, a source with kernels, pages and parts of the HTML page as text,
# so that the program needs no other files.
function(clprobe_embed output root)
  clprobe_probe_ids(${root} ids)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cl/*.clh)
  foreach(path cl/ticks.cl cl/facts.cl docs/glossary.md docs/method.md docs/compare.md docs/formats.md
               docs/describe.md docs/fleet.md docs/profile.md docs/seeds.md docs/trace.md src/present/html/page.html
               src/present/html/report.css src/present/html/report.js
               tools/schema/clprobe-device-1.schema.json tools/schema/clprobe-run-2.schema.json)
    list(APPEND files ${CMAKE_SOURCE_DIR}/${path})
  endforeach()
  foreach(id IN LISTS ids)
    set(from ${CMAKE_SOURCE_DIR})
    if(EXISTS ${root}/src/probes/${id})
      set(from ${root})
    endif()
    foreach(path docs/${id}.md src/probes/${id}/${id}.cpp)
      if(NOT EXISTS ${from}/${path})
        message(FATAL_ERROR "PROBE(${id}) in src/probes/probes.def has no ${path}")
      endif()
    endforeach()
    # Probes without a kernel only run on simulated machines.
    if(EXISTS ${from}/cl/${id}.cl)
      list(APPEND files ${from}/cl/${id}.cl)
    endif()
    list(APPEND files ${from}/docs/${id}.md)
  endforeach()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DOUTPUT=${output} "-DFILES=${files}"
            -P ${CMAKE_SOURCE_DIR}/tools/cmake/Embed.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/tools/cmake/Embed.cmake
    VERBATIM)
  # Literals above 64 KiB exceed the standard's minimum; g++ and clang accept them.
  set_source_files_properties(
    ${output} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
