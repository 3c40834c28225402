// SPDX-License-Identifier: Apache-2.0
#include "profile/survey/recorder.hpp"

#include <doctest/doctest.h>

#include <array>

namespace clprobe::survey {
namespace {

/// Addresses to stand for objects of OpenCL.
constexpr std::array<char, 8> objects{};
Handle object(std::size_t number) { return &objects.at(number); }

constexpr Shape small{.dimensions = 1, .global = {64}};

}  // namespace

TEST_CASE("launches of one signature are one row, and a kernel made again is the same") {
  Recorder recorder;
  const std::uint32_t device = recorder.number_device("d");
  recorder.note_kernel(object(0), "k", {7, ProgramKind::source});
  const std::size_t row = recorder.count_launch(object(0), device, small);
  CHECK(recorder.count_launch(object(0), device, small) == row);
  recorder.add_time(row, {1, 5});
  // Released, and made anew at another address.
  recorder.note_kernel(object(1), "k", {7, ProgramKind::source});
  CHECK(recorder.count_launch(object(1), device, small) == row);
  const Survey survey = recorder.survey();
  REQUIRE(survey.rows.size() == 1);
  CHECK(survey.rows[0].sum ==
        Sum{.launches = 3, .timed = 1, .total_ns = 5, .min_ns = 5, .max_ns = 5});
  CHECK(survey.rows[0].signature == Signature{.kernel = "k",
                                              .program = {7, ProgramKind::source},
                                              .device = "d",
                                              .dimensions = 1,
                                              .global = {64}});
}

TEST_CASE("launches that are not timed on purpose take as long as others, but for the first") {
  Recorder recorder;
  const std::uint32_t device = recorder.number_device("d");
  recorder.note_kernel(object(0), "k", {});
  constexpr std::uint64_t enough = 3;
  const auto untimed = [&] { return recorder.count_untimed(object(0), device, small, enough); };
  CHECK(untimed() == Recorder::no_row);
  std::size_t row = Recorder::no_row;
  for (const std::uint64_t ns : {9000U, 10U, 14U}) {
    CHECK(untimed() == Recorder::no_row);
    row = recorder.count_launch(object(0), device, small);
    recorder.add_time(row, {recorder.launches_of(row), ns});
  }
  CHECK(untimed() == row);
  CHECK(untimed() == row);
  CHECK(untimed() == row);
  recorder.take_back(row);
  CHECK(recorder.count_untimed(object(1), device, small, 0) == Recorder::no_row);
  const Survey survey = recorder.survey();
  REQUIRE(survey.rows.size() == 1);
  const Sum& sum = survey.rows[0].sum;
  CHECK(sum == Sum{.launches = 5,
                   .timed = 3,
                   .total_ns = 9024 + 2 * 12,
                   .min_ns = 10,
                   .max_ns = 9000,
                   .estimated = 2});
  CHECK(survey.rows[0].typical == TimedLaunch{2, 10});
  CHECK(sum.mean_ns() == doctest::Approx(9048.0 / 5.0));
  // Of one time nobody knows whether it is usual.
  recorder.note_kernel(object(2), "l", {});
  const std::size_t other = recorder.count_launch(object(2), device, small);
  recorder.add_time(other, {1, 7});
  CHECK(recorder.count_untimed(object(2), device, small, 1) == other);
  CHECK(recorder.survey().rows[1].sum.estimated == 0);
  CHECK(recorder.survey().gaps == std::map<Gap, std::uint64_t>{{Gap::too_few_times, 1}});
}

TEST_CASE(
    "a launch like the last one is that of another kernel where the address is, or of other "
    "sizes") {
  Recorder recorder;
  const std::uint32_t device = recorder.number_device("d");
  const std::uint32_t other_device = recorder.number_device("e");
  recorder.note_kernel(object(0), "first", {});
  const Shape large{.dimensions = 1, .global = {1 << 20}, .local = {}};
  const std::size_t row = recorder.count_launch(object(0), device, small);
  const auto untimed = [&](std::uint32_t on, const Shape& shape) {
    return recorder.count_untimed(object(0), on, shape, 1);
  };
  CHECK(untimed(device, small) == row);
  CHECK(untimed(device, small) == row);
  CHECK(untimed(device, large) == Recorder::no_row);
  CHECK(untimed(other_device, small) == Recorder::no_row);
  CHECK(untimed(device, small) == row);
  SUBCASE("another kernel") {
    recorder.note_kernel(object(0), "second", {});
    CHECK(untimed(device, small) == Recorder::no_row);
  }
  SUBCASE("a copy of another kernel") {
    recorder.note_kernel(object(1), "second", {});
    CHECK(untimed(device, small) == row);
    recorder.note_clone(object(1), object(0));
    CHECK(untimed(device, small) == Recorder::no_row);
  }
  SUBCASE("a pointer to shared memory since then") {
    recorder.note_svm(object(0));
    CHECK(untimed(device, small) == Recorder::no_row);
  }
  CHECK(recorder.survey().rows[0].sum.launches >= 4);
}

TEST_CASE("an address that another kernel has now is that kernel") {
  Recorder recorder;
  recorder.note_kernel(object(0), "first", {});
  const std::uint32_t device = recorder.number_device("d");
  recorder.count_launch(object(0), device, small);
  recorder.note_kernel(object(0), "second", {});
  recorder.count_launch(object(0), device, small);
  const Survey survey = recorder.survey();
  REQUIRE(survey.rows.size() == 2);
  CHECK(survey.rows[1].signature.kernel == "second");
}

TEST_CASE("programs, devices and sizes tell launches apart") {
  Recorder recorder;
  const std::uint32_t first = recorder.number_device("d");
  const std::uint32_t second = recorder.number_device("e");
  CHECK(recorder.number_device("d") == first);
  recorder.note_kernel(object(0), "k", {1, ProgramKind::source});
  recorder.note_kernel(object(1), "k", {2, ProgramKind::source});
  recorder.count_launch(object(0), first, small);
  recorder.count_launch(object(1), first, small);
  recorder.count_launch(object(0), second, small);
  recorder.count_launch(object(0), first, {.dimensions = 1, .global = {65}});
  recorder.count_launch(object(0), first, {.dimensions = 1, .global = {64}, .local = {64}});
  recorder.count_launch(object(0), first, {.dimensions = 2, .global = {64}});
  CHECK(recorder.survey().rows.size() == 6);
}

TEST_CASE("a clone is the same kernel, with its own pointers") {
  Recorder recorder;
  const std::uint32_t device = recorder.number_device("d");
  recorder.note_kernel(object(0), "k", {});
  recorder.note_clone(object(0), object(1));
  recorder.note_svm(object(1));
  const std::size_t row = recorder.count_launch(object(0), device, small);
  CHECK(!recorder.survey().rows[row].uses_svm);
  CHECK(recorder.count_launch(object(1), device, small) == row);
  CHECK(recorder.survey().rows[row].uses_svm);
  // Of nobody's kernel there is no clone.
  recorder.note_clone(object(2), object(3));
  CHECK(!recorder.knows_kernel(object(3)));
}

TEST_CASE("too many sizes are put together, with all their launches and times") {
  Recorder recorder({.shapes = 3, .kernels = 10});
  const std::uint32_t device = recorder.number_device("d");
  recorder.note_kernel(object(0), "k", {});
  for (std::uint64_t size = 1; size <= 10; ++size) {
    const std::size_t row =
        recorder.count_launch(object(0), device, {.dimensions = 1, .global = {size}});
    recorder.add_time(row, {1, size});
  }
  const Survey survey = recorder.survey();
  REQUIRE(survey.rows.size() == 4);
  CHECK(survey.rows[3].signature.dimensions == 0);
  CHECK(survey.rows[3].sum.launches == 7);
  CHECK(survey.total().total_ns == 55);
}

TEST_CASE("too many kernels are counted, and no more") {
  Recorder recorder({.shapes = 10, .kernels = 1});
  const std::uint32_t device = recorder.number_device("d");
  recorder.note_kernel(object(0), "k", {});
  recorder.note_kernel(object(1), "l", {});
  CHECK(recorder.count_launch(object(0), device, small) == 0);
  CHECK(recorder.count_launch(object(1), device, small) == Recorder::no_row);
  CHECK(recorder.survey().gaps.at(Gap::unnamed) == 1);
}

TEST_CASE("long names are cut") {
  Recorder recorder({.name_bytes = 4});
  recorder.note_kernel(object(0), "abcdefg", {});
  recorder.count_launch(object(0), recorder.number_device("device"), small);
  CHECK(recorder.survey().rows[0].signature.kernel == "abcd");
  CHECK(recorder.survey().rows[0].signature.device == "devi");
}

TEST_CASE("hashes are those of FNV-1a, and go on where the last ended") {
  // From the authors' page: of "", "a" and "foobar".
  CHECK(hash_text("") == 0xcbf29ce484222325U);
  CHECK(hash_text("a") == 0xaf63dc4c8601ec8cU);
  CHECK(hash_text("foobar") == 0x85944171f73967e8U);
  CHECK(hash_text("bar", hash_text("foo")) == hash_text("foobar"));
}

}  // namespace clprobe::survey
