# SPDX-License-Identifier: Apache-2.0
# Script that CPack runs to adapt the installed files to Debian's policy and to zsh's folder for package
# completions.
set(share ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
set(doc ${share}/doc/clprobe)

# compress(FILE RESULT): compresses without name and time, so that equal texts give equal files.
function(compress file result)
  execute_process(COMMAND gzip -9 --no-name --stdout ${file} OUTPUT_FILE ${result}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${file})
  file(CHMOD ${result} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()

compress(${share}/man/man1/clprobe.1 ${share}/man/man1/clprobe.1.gz)
file(MAKE_DIRECTORY ${share}/zsh/vendor-completions)
file(RENAME ${share}/zsh/site-functions/_clprobe ${share}/zsh/vendor-completions/_clprobe)
file(REMOVE_RECURSE ${share}/zsh/site-functions)

# The licence is removed, since Debian systems have its text and `copyright` names the path.
file(REMOVE ${doc}/LICENSE)
file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/copyright ${doc}/copyright)
file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
compress(${doc}/changelog ${doc}/changelog.gz)
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(maintainer ${CPACK_PACKAGE_CONTACT})
# The date follows SOURCE_DATE_EPOCH if that is set.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${doc}/changelog.Debian @ONLY)
compress(${doc}/changelog.Debian ${doc}/changelog.Debian.gz)
file(MAKE_DIRECTORY ${share}/lintian/overrides)
file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/lintian-overrides ${share}/lintian/overrides/clprobe)

file(GLOB_RECURSE texts ${doc}/* ${share}/lintian/*)
file(CHMOD ${texts} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
