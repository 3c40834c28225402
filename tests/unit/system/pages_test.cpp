// SPDX-License-Identifier: Apache-2.0
#include "system/api/host.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

using clprobe::system::Pages;

namespace {

constexpr std::size_t unit = Pages::unit;

std::byte* take(Pages& pages, std::size_t bytes) {
  auto* const begin = static_cast<std::byte*>(pages.take(bytes));
  REQUIRE(begin != nullptr);
  return begin;
}

}  // namespace

TEST_CASE("pages are whole huge ones, and can be written to their end") {
  Pages pages;
  for (const std::size_t bytes : {std::size_t{1}, unit - 1, unit, unit + 1, 3 * unit}) {
    CAPTURE(bytes);
    std::byte* const begin = take(pages, bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(begin) % unit == 0);
    std::memset(begin, 0x5a, (bytes + unit - 1) / unit * unit);
    pages.give_back(begin, bytes);
  }
}

TEST_CASE("who takes pages finds those that were given back, with what is in them") {
  Pages pages;
  std::byte* const first = take(pages, 4 * unit);
  first[unit] = std::byte{7};
  pages.give_back(first, 4 * unit);
  CHECK(pages.free_bytes() == 4 * unit);
  std::byte* const again = take(pages, 3 * unit + 5);
  CHECK(again == first);
  CHECK(again[unit] == std::byte{7});
  CHECK(pages.free_bytes() == 0);
  pages.give_back(again, 3 * unit + 5);
}

TEST_CASE("a part of a free range leaves the rest, and all of it is one range again") {
  Pages pages;
  std::byte* const whole = take(pages, 6 * unit);
  pages.give_back(whole, 6 * unit);
  std::byte* const a = take(pages, unit);
  std::byte* const b = take(pages, 2 * unit);
  std::byte* const c = take(pages, unit);
  CHECK(b == a + unit);
  CHECK(c == b + 2 * unit);
  CHECK(pages.free_bytes() == 2 * unit);
  // The middle last, so that it has neighbours on both sides.
  a[0] = std::byte{1};
  c[0] = std::byte{2};
  pages.give_back(a, unit);
  pages.give_back(c, unit);
  pages.give_back(b, 2 * unit);
  std::byte* const again = take(pages, 6 * unit);
  CHECK(again == whole);
  // New pages at the same place would have zeros.
  CHECK(again[0] == std::byte{1});
  CHECK(again[3 * unit] == std::byte{2});
  pages.give_back(again, 6 * unit);
  std::byte* const most = take(pages, 5 * unit);
  CHECK(pages.free_bytes() == unit);
  pages.give_back(most, 5 * unit);
}

TEST_CASE("the smallest range that is large enough is taken") {
  Pages pages;
  std::byte* const whole = take(pages, 9 * unit);
  pages.give_back(whole, 9 * unit);
  std::byte* const large = take(pages, 4 * unit);
  std::byte* const wall = take(pages, unit);
  std::byte* const small = take(pages, 2 * unit);
  std::byte* const end = take(pages, 2 * unit);
  pages.give_back(large, 4 * unit);
  pages.give_back(small, 2 * unit);
  CHECK(take(pages, 2 * unit) == small);
  CHECK(take(pages, 2 * unit) == large);
  for (std::byte* const each : {small, large, end}) pages.give_back(each, 2 * unit);
  pages.give_back(wall, unit);
}

TEST_CASE("free pages go before new ones come, so that there are never more than were in use") {
  Pages pages;
  std::byte* const kept = take(pages, unit);
  std::byte* const first = take(pages, 2 * unit);
  pages.give_back(first, 2 * unit);
  CHECK(pages.free_bytes() == 2 * unit);
  std::byte* const larger = take(pages, 3 * unit);
  CHECK(pages.free_bytes() == 0);
  kept[0] = std::byte{1};
  larger[3 * unit - 1] = std::byte{1};
  pages.give_back(larger, 3 * unit);
  pages.give_back(kept, unit);
  CHECK(pages.free_bytes() == 4 * unit);
}

TEST_CASE("nothing stays where nothing may") {
  Pages pages;
  std::byte* const before = take(pages, unit);
  pages.give_back(before, unit);
  CHECK(pages.free_bytes() == unit);
  pages.keep(false);
  CHECK(pages.free_bytes() == 0);
  std::byte* const begin = take(pages, 2 * unit);
  begin[unit] = std::byte{3};
  pages.give_back(begin, 2 * unit);
  CHECK(pages.free_bytes() == 0);
}

TEST_CASE("where the system has not so much, there is nothing, and the reason") {
  Pages pages;
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4}) {
    CAPTURE(bytes);
    errno = 0;
    CHECK(pages.take(bytes) == nullptr);
    CHECK(errno == ENOMEM);
  }
}
