// SPDX-License-Identifier: Apache-2.0
#include "system/readable.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace clprobe::system {
namespace {

TEST_CASE("a pipe becomes readable by what is written, or by its end, and not by itself") {
  using namespace std::chrono_literals;
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  CHECK_FALSE(becomes_readable(ends[0], 0us));
  CHECK_FALSE(becomes_readable(ends[0], 100us));
  REQUIRE(write(ends[1], "x", 1) == 1);
  CHECK(becomes_readable(ends[0], 0us));
  char byte = 0;
  REQUIRE(read(ends[0], &byte, 1) == 1);
  CHECK_FALSE(becomes_readable(ends[0], 0us));
  close(ends[1]);
  CHECK(becomes_readable(ends[0], 0us));
  close(ends[0]);
}

}  // namespace
}  // namespace clprobe::system
