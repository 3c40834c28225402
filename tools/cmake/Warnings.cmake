# SPDX-License-Identifier: Apache-2.0
# Warnings for all code of the project.
add_library(clprobe_warnings INTERFACE)
target_compile_features(clprobe_warnings INTERFACE cxx_std_20)
target_compile_options(
  clprobe_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wconversion
            -Wsign-conversion
            # -Wshadow is off in unity builds, where a local variable may have the name of another source's
            # global. clang-tidy checks each source for it.
            $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
            -Wold-style-cast
            -Wnon-virtual-dtor
            -Wnull-dereference
            -Wdouble-promotion
            -Wundef
            -Wimplicit-fallthrough
            -Wcast-align
            # GCC 12 reports impossible overlaps inside std::string (its bug 105651).
            $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
            $<$<BOOL:${CLPROBE_WERROR}>:-Werror>)
