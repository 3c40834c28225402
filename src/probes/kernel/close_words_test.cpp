// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/kernel.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace clprobe::kernel {
namespace {

std::string bytes_of(const std::vector<float>& words) {
  std::string bytes(words.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

bool are_close(const std::vector<float>& first, const std::vector<float>& second) {
  return are_close_floats(bytes_of(first), bytes_of(second));
}

bundle::Bundle bundle_of(const std::string& parameters, const std::vector<std::size_t>& objects) {
  bundle::Bundle made;
  made.launch.program.units = {{}};
  made.texts = {"kernel void k(" + parameters + ") { }"};
  made.launch.kernel = "k";
  made.launch.objects.resize(2);
  for (const std::size_t each : objects) {
    made.launch.arguments.push_back({.kind = bundle::ArgumentKind::buffer, .object = each});
  }
  return made;
}

}  // namespace

TEST_CASE("kernel: sums of floats may differ by a thousandth of their range, and no more") {
  CHECK(are_close({0, 1000, 500}, {0.9F, 999.1F, 500.5F}));
  CHECK_FALSE(are_close({0, 1000, 500}, {0, 1000, 501.1F}));
  // Two equal floats have a range that is not 0, because the range includes 0.
  CHECK(are_close({1000, 1000}, {1000.9F, 999.1F}));
  CHECK_FALSE(are_close({1000, 1000}, {1001.1F, 1000}));
  CHECK(are_close({-1000, 0}, {-999.1F, 0}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  CHECK(are_close({nan, infinite, 1}, {nan, infinite, 1}));
  CHECK_FALSE(are_close({nan, 1}, {1, 1}));
  CHECK_FALSE(are_close({1, 1}, {infinite, 1}));
  CHECK_FALSE(are_close({1}, {1, 1}));
  CHECK_FALSE(are_close_floats("abc", "abd"));
}

TEST_CASE("kernel: floats are the objects that all arguments say so of") {
  CHECK(objects_of("float", bundle_of("global float* a, global int* b", {0, 1})) ==
        std::vector{true, false});
  CHECK(objects_of("float", bundle_of("global const float4 * restrict a, global floats* b",
                                      {0, 1})) == std::vector{true, false});
  // A single object is the argument of two parameters, of which only the first is a pointer to
  // float.
  CHECK(objects_of("float", bundle_of("global float* a, global uint* b", {0, 0})) ==
        std::vector{false, false});
  CHECK(objects_of("float", bundle_of("global float* a", {0, 1})) == std::vector{true, false});
  bundle::Bundle other = bundle_of("global float* a", {0});
  other.launch.kernel = "another";
  CHECK(objects_of("float", other) == std::vector{false, false});
  CHECK(objects_of("double", bundle_of("global double* a, global float* b", {0, 1})) ==
        std::vector{true, false});
}

}  // namespace clprobe::kernel
