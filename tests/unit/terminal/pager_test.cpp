// SPDX-License-Identifier: Apache-2.0
#include "app/terminal/output.hpp"

#include <doctest/doctest.h>

namespace clprobe::terminal {

TEST_CASE("the pager is less unless PAGER says otherwise") {
  CHECK(pager_of(nullptr, "xterm") == "less");
  CHECK(pager_of("more -s", "xterm") == "more -s");
  CHECK(pager_of("", "xterm") == std::nullopt);
  CHECK(pager_of("cat", "xterm") == std::nullopt);
  CHECK(pager_of(nullptr, "dumb") == std::nullopt);
  CHECK(pager_of("more", "") == std::nullopt);
}

}  // namespace clprobe::terminal
