// SPDX-License-Identifier: Apache-2.0
// Replacements for functions that Debian 12 links to the versions of glibc 2.35 and 2.36. With
// these replacements, which the linker calls (tools/cmake/Static.cmake), the archive of
// tools/package runs with glibc 2.34.
#include <sys/random.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>

extern "C" {

double __wrap_hypot(double x, double y);
std::uint32_t __wrap_arc4random();

/// Returns hypot(x, y), computed by hypotl, whose version did not change in glibc 2.35.
double __wrap_hypot(double x, double y) {
  return static_cast<double>(std::hypot(static_cast<long double>(x), static_cast<long double>(y)));
}

/// Returns a random number for std::random_device. glibc has arc4random() only since version 2.36.
std::uint32_t __wrap_arc4random() {
  std::uint32_t value = 0;
  if (::getentropy(&value, sizeof value) != 0) std::abort();
  return value;
}

}  // extern "C"
