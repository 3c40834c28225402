// SPDX-License-Identifier: Apache-2.0
// How long a live comparison takes turns.
#include "commands/live_turns.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>

namespace clprobe::commands {
namespace {

TEST_CASE("a live comparison ends within a minute, of which 20 s are turns, unless more is asked") {
  using Seconds = std::chrono::duration<double>;
  CHECK(time_for_turns(std::nullopt, Seconds(6.0)) == Seconds(50.0));
  CHECK(time_for_turns(std::nullopt, Seconds(36.0)) == Seconds(20.0));
  CHECK(time_for_turns(std::nullopt, Seconds(300.0)) == Seconds(20.0));
  CHECK(time_for_turns(Seconds(90.0), Seconds(6.0)) == Seconds(90.0));
  CHECK(time_for_turns(Seconds(5.0), Seconds(300.0)) == Seconds(5.0));
}

}  // namespace
}  // namespace clprobe::commands
