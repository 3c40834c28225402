// SPDX-License-Identifier: Apache-2.0
#include "simulator/ahead.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace clprobe {
namespace {

TEST_CASE("what was begun is waited for, what was not is done by who asks, and each once") {
  std::atomic<int> made{0};
  Ahead<int> ahead(2);
  for (int i = 0; i < 40; ++i) {
    ahead.add(std::to_string(i), [i, &made] {
      ++made;
      return i * i;
    });
  }
  // From the end, so that both happen.
  for (int i = 40; i-- > 0;) {
    REQUIRE(ahead.has(std::to_string(i)));
    CHECK(ahead.take(std::to_string(i)) == i * i);
    CHECK_FALSE(ahead.has(std::to_string(i)));
  }
  CHECK(made == 40);
}

TEST_CASE("what fails says so to who asks, and what nobody asked for is dropped") {
  std::atomic<int> made{0};
  {
    Ahead<int> ahead(1);
    ahead.add("a", []() -> int { throw std::runtime_error("no"); });
    CHECK_THROWS_WITH(ahead.take("a"), "no");
    for (int i = 0; i < 1000; ++i) {
      ahead.add(std::to_string(i), [&made] {
        ++made;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return 0;
      });
    }
  }
  CHECK(made < 1000);
}

TEST_CASE("without threads nothing is added") {
  Ahead<int> ahead(0);
  ahead.add("a", [] { return 1; });
  CHECK_FALSE(ahead.has("a"));
}

}  // namespace
}  // namespace clprobe
