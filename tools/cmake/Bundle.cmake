# SPDX-License-Identifier: Apache-2.0
# Run as a script: writes OUTPUT, one JavaScript module, from those of MODULES (paths, separated by
# ';'). They follow each other without their imports and the word `export`, so:
#   - a module stands behind those that it imports, which is checked here;
#   - no two have a name in common, of which a browser makes an error;
#   - an import is `import { name, ... } from "./module.js";`, and what is exported is declared so.
cmake_minimum_required(VERSION 3.25)
set(bundle "")
set(before "")
foreach(path IN LISTS MODULES)
  get_filename_component(name ${path} NAME)
  file(READ ${path} text)
  string(REGEX MATCHALL "\nimport [^;]*" imports "${text}")
  foreach(import IN LISTS imports)
    if(NOT import MATCHES "from \"\\./(.*)\"" OR NOT CMAKE_MATCH_1 IN_LIST before)
      message(FATAL_ERROR "${name}: not a module before it: ${import}")
    endif()
  endforeach()
  string(REGEX REPLACE "\nimport [^;]*;" "" text "${text}")
  string(REGEX REPLACE "\nexport " "\n" text "${text}")
  string(APPEND bundle "${text}")
  list(APPEND before ${name})
endforeach()
file(WRITE ${OUTPUT} "${bundle}")
