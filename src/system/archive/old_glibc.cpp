// SPDX-License-Identifier: Apache-2.0
// Replacements that let the archive of tools/package run with glibc 2.34: Debian 12 links these
// functions as those of glibc 2.35 and 2.36. The linker calls the replacements
// (tools/cmake/Static.cmake).
#include <sys/random.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>

extern "C" {

double __wrap_hypot(double x, double y);
std::uint32_t __wrap_arc4random();

/// Calls hypotl, which glibc 2.35 did not change.
double __wrap_hypot(double x, double y) {
  return static_cast<double>(std::hypot(static_cast<long double>(x), static_cast<long double>(y)));
}

/// Serves std::random_device; glibc has it since 2.36.
std::uint32_t __wrap_arc4random() {
  std::uint32_t value = 0;
  if (::getentropy(&value, sizeof value) != 0) std::abort();
  return value;
}

}  // extern "C"
