# SPDX-License-Identifier: Apache-2.0
# clprobe_layer(NAME SOURCES file... LINKS target...): the static library clprobe_NAME. It sees the
# public headers and src/, and only the third-party headers of what it links.
function(clprobe_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "SOURCES;LINKS")
  add_library(clprobe_${name} STATIC ${layer_SOURCES})
  target_include_directories(clprobe_${name} PUBLIC ${CMAKE_SOURCE_DIR}/include
                                                    ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(clprobe_${name} PUBLIC ${layer_LINKS} PRIVATE clprobe_warnings)
  target_compile_features(clprobe_${name} PUBLIC cxx_std_20)
endfunction()
