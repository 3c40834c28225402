# SPDX-License-Identifier: Apache-2.0
# The warnings that all of our own code is compiled with.
add_library(clprobe_warnings INTERFACE)
target_compile_features(clprobe_warnings INTERFACE cxx_std_20)
target_compile_options(
  clprobe_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wconversion
            -Wsign-conversion
            # Of sources that are compiled together one may have a local variable that is named as
            # another's global. clang-tidy looks at each alone, and has this warning, too.
            $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
            -Wold-style-cast
            -Wnon-virtual-dtor
            -Wnull-dereference
            -Wdouble-promotion
            -Wundef
            -Wimplicit-fallthrough
            -Wcast-align
            # GCC 12 warns of overlaps inside std::string that cannot be (its bug 105651).
            $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
            $<$<BOOL:${CLPROBE_WERROR}>:-Werror>)
