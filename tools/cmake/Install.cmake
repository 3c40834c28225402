# SPDX-License-Identifier: Apache-2.0
# Installs the program, its loader layer and pages, and the man page and completions that the program
# generates.
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

# Folders are writable for their owner only, even with umask 002.
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

install(TARGETS clprobe)
if(CLPROBE_PROFILE)
  # The program finds the layer relative to itself. A module in lib/ would make CPack call ldconfig at each
  # installation, although nothing links with it.
  install(TARGETS clprobe_loader_layer LIBRARY DESTINATION libexec/clprobe)
endif()
install(FILES ${generated}/clprobe.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${generated}/clprobe.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME clprobe)
install(FILES ${generated}/_clprobe DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${generated}/clprobe.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# Files to which the pages link, at equal relative paths in a checkout and in an installation.
install(FILES README.md CHANGELOG.md CITATION.cff LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(GLOB pages CONFIGURE_DEPENDS docs/*.md)
file(GLOB pictures CONFIGURE_DEPENDS docs/images/*.svg)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES docs/examples/describe.cpp docs/examples/describe.py docs/examples/read_runs.py
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs/examples)
install(FILES ${pictures} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs/images)
file(GLOB schemas CONFIGURE_DEPENDS tools/schema/*.json)
install(FILES tools/schema/README.md ${schemas} DESTINATION ${CMAKE_INSTALL_DOCDIR}/tools/schema)

include(Package)
