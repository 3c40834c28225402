// SPDX-License-Identifier: Apache-2.0
// How long the chain is that tries events and clocks.
#include "device/chain_length.hpp"

#include <doctest/doctest.h>

namespace clprobe {
namespace {

TEST_CASE("a chain is made as long as wanted once a launch is long enough to tell") {
  CHECK_FALSE(length_taking(5e6, 256, 0.6249e6).has_value());
  CHECK(length_taking(5e6, 256, 0.625e6) == 2048);
  CHECK(length_taking(5e6, 1000, 3e6) == 1667);
  CHECK(length_taking(5e6, 1000, 5e6) == 1000);
  CHECK(length_taking(5e6, 1000, 9e6) == 1000);  // none is cut
  CHECK_FALSE(length_taking(5e6, 256, 0.0).has_value());
}

}  // namespace
}  // namespace clprobe
