# SPDX-License-Identifier: Apache-2.0
# Debian package made by CPack; tools/package calls it. tools/debian/arrange.cmake adapts the installed files
# to Debian's policy.
set(CLPROBE_MAINTAINER "The clprobe developers <developers@clprobe.invalid>"
    CACHE STRING "Who answers for the package, NAME <ADDRESS>: whoever distributes it")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME clprobe)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${CLPROBE_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/tools/debian/arrange.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Devices need a driver. Any will do; PoCL makes the CPU a device.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "clinfo")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "measure memory systems of GPUs and CPUs through OpenCL")
set(CPACK_PACKAGE_DESCRIPTION
    "clprobe measures how the memory system of any vendor's GPU or CPU behaves:
latency by working set, bandwidth by access pattern, bank conflicts, loads in
flight and stalls, each with its uncertainty. It infers levels, capacities and
limits, says how sure it is, and compares devices, drivers and runs.

A GPU needs its vendor's OpenCL driver; PoCL makes a device of the CPU.")

include(CPack)
