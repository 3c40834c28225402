# SPDX-License-Identifier: Apache-2.0
# The program, its pages, and the man page and completions, which the program itself writes.
include(GNUInstallDirs)

set(generated ${CMAKE_BINARY_DIR}/generated)
add_custom_command(
  OUTPUT ${generated}/clprobe.1 ${generated}/clprobe.bash ${generated}/_clprobe
         ${generated}/clprobe.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
  COMMAND clprobe --generate man > ${generated}/clprobe.1
  COMMAND clprobe --generate bash > ${generated}/clprobe.bash
  COMMAND clprobe --generate zsh > ${generated}/_clprobe
  COMMAND clprobe --generate fish > ${generated}/clprobe.fish
  DEPENDS clprobe
  VERBATIM)
add_custom_target(clprobe_generated ALL DEPENDS ${generated}/clprobe.1)

install(TARGETS clprobe)
install(FILES ${generated}/clprobe.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${generated}/clprobe.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME clprobe)
install(FILES ${generated}/_clprobe DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${generated}/clprobe.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
file(GLOB pages CONFIGURE_DEPENDS docs/*.md)
install(FILES README.md CHANGELOG.md LICENSE ${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR})
