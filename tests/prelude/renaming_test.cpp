// SPDX-License-Identifier: Apache-2.0
// What each work-item of a launch hears when it asks who it is.
#include <doctest/doctest.h>

#include <algorithm>

#include "device.hpp"

namespace clprobe::prelude {
namespace {

constexpr std::size_t record_words = 20;
using Record = std::array<std::uint32_t, record_words>;

// Work-items write in the order in which they come; the host sorts.
const std::string recorder = R"(
  uint group_asked_in_a_function(uint d) { return get_group_id(d); }
  kernel void note(global const uint* in, global uint* out, uint n) {
    global uint* r = out + 1 + 20 * (atomic_inc(out) - 0xc0ffeeu);
    for (uint d = 0; d < 3; ++d) {
      r[d] = group_asked_in_a_function(d);
      r[3 + d] = get_global_id(d);
      r[6 + d] = get_local_id(d);
      r[9 + d] = get_global_offset(d);
      r[12 + d] = get_num_groups(d);
      r[15 + d] = get_global_size(d);
    }
    r[18] = get_work_dim();
#ifdef LINEAR
    r[19] = get_global_linear_id();
#else
    r[19] = 0;
#endif
  }
)";

std::vector<Record> records_in(const Words& out) {
  const std::size_t count = out.at(0) - 0xc0ffee;
  REQUIRE(out.size() == 1 + count * record_words);
  std::vector<Record> records(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(out.begin() + static_cast<std::ptrdiff_t>(1 + i * record_words), record_words,
                records[i].begin());
  }
  std::sort(records.begin(), records.end());
  return records;
}

std::size_t count_items(const NdRange& launch) {
  return launch.global[0] * launch.global[1] * launch.global[2];
}

/// What the work-item with these ids hears, `id` counting from 0 in each dimension.
Record expected_record(const NdRange& launch, const Setting& setting,
                       const std::array<std::uint64_t, 3>& id, bool has_linear_ids) {
  Record record{};
  std::array<std::uint64_t, 3> renamed{};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::uint64_t group = id.at(d) / launch.local.at(d);
    const std::uint64_t mask = (std::uint64_t{1} << setting.exponents.at(d)) - 1;
    const std::uint64_t done = group & mask;
    renamed.at(d) = done * launch.local.at(d) + id.at(d) % launch.local.at(d);
    record.at(d) = static_cast<std::uint32_t>(done);
    record.at(3 + d) = static_cast<std::uint32_t>(renamed.at(d) + launch.offset.at(d));
    record.at(6 + d) = static_cast<std::uint32_t>(id.at(d) % launch.local.at(d));
    record.at(9 + d) = static_cast<std::uint32_t>(launch.offset.at(d));
    record.at(12 + d) = static_cast<std::uint32_t>(count_groups(launch).at(d));
    record.at(15 + d) = static_cast<std::uint32_t>(launch.global.at(d));
  }
  record[18] = launch.dimensions;
  if (has_linear_ids) {
    record[19] = static_cast<std::uint32_t>(
        (renamed[2] * launch.global[1] + renamed[1]) * launch.global[0] + renamed[0]);
  }
  return record;
}

std::vector<Record> expected_records(const NdRange& launch, const Setting& setting,
                                     bool has_linear_ids) {
  std::vector<Record> records;
  for (std::uint64_t z = 0; z < launch.global[2]; ++z) {
    for (std::uint64_t y = 0; y < launch.global[1]; ++y) {
      for (std::uint64_t x = 0; x < launch.global[0]; ++x) {
        records.push_back(expected_record(launch, setting, {x, y, z}, has_linear_ids));
      }
    }
  }
  std::sort(records.begin(), records.end());
  return records;
}

void check_records(const std::vector<Record>& found, const std::vector<Record>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t word = 0; word < record_words; ++word) {
      CAPTURE(i);
      CAPTURE(word);
      REQUIRE(found[i].at(word) == expected[i].at(word));
    }
  }
}

/// The ids that the first lane of each work-item's sub-group has.
std::vector<Record> expected_without_lanes(const NdRange& launch, const LaneMasks& masks) {
  std::vector<Record> records = expected_records(launch, {}, false);
  for (Record& record : records) {
    for (std::size_t d = 0; d < 3; ++d) {
      const std::uint32_t own = record.at(6 + d);
      const std::uint32_t first = own & masks.at(d);
      record.at(6 + d) = first;
      record.at(3 + d) -= own - first;
    }
  }
  std::sort(records.begin(), records.end());
  return records;
}

void check_all_settings(const Device& device, const NdRange& launch, const std::string& options) {
  cl::Kernel kernel = device.build(prelude_text() + recorder, "note", options);
  const bool has_linear_ids = options != "";
  const std::size_t words = 1 + count_items(launch) * record_words;
  const std::vector<Setting> sweep = fold_sweep(launch);
  REQUIRE(sweep.size() > 1);
  CHECK(count_distinct_groups(launch, sweep.back()) == 1);
  for (const Setting& setting : sweep) {
    const NdRange launched = encode(launch, setting);
    CAPTURE(launched.offset[2]);
    CAPTURE(launch.global[0]);
    const Words out = device.run(kernel, launched, {0}, words);
    check_records(records_in(out), expected_records(launch, setting, has_linear_ids));
  }
}

}  // namespace

TEST_CASE("a work-item hears what it would in the group that its own stands for") {
  const Device device;
  const std::string options = device.compiles("-cl-std=CL2.0") ? "-cl-std=CL2.0 -DLINEAR" : "";
  check_all_settings(device, {.dimensions = 1, .global = {96, 1, 1}, .local = {4, 1, 1}}, "");
  check_all_settings(
      device, {.dimensions = 1, .offset = {7}, .global = {64, 1, 1}, .local = {2, 1, 1}}, options);
  check_all_settings(device,
                     {.dimensions = 2, .offset = {1, 2}, .global = {12, 20, 1}, .local = {2, 4, 1}},
                     options);
  check_all_settings(device,
                     {.dimensions = 3, .offset = {3, 5}, .global = {6, 4, 10}, .local = {3, 1, 2}},
                     options);
}

TEST_CASE("without lanes a work-item hears what the first one of its sub-group would") {
  const Device device;
  const std::array launches{
      NdRange{.dimensions = 1, .offset = {7}, .global = {64, 1, 1}, .local = {16, 1, 1}},
      NdRange{.dimensions = 2, .offset = {1, 2}, .global = {12, 24, 1}, .local = {4, 6, 1}},
      NdRange{.dimensions = 3, .global = {4, 4, 8}, .local = {2, 2, 4}}};
  for (const NdRange& launch : launches) {
    const std::optional<LaneMasks> masks = lane_masks(launch, 8);
    REQUIRE(masks);
    cl::Kernel kernel = device.build(prelude_text({.lanes = masks}) + recorder, "note", "");
    const std::size_t words = 1 + count_items(launch) * record_words;
    // With the switch, and as it is without.
    const Words out = device.run(kernel, encode(launch, {.without_lanes = true}), {0}, words);
    check_records(records_in(out), expected_without_lanes(launch, *masks));
    const Words same = device.run(kernel, encode(launch, {}), {0}, words);
    check_records(records_in(same), expected_records(launch, {}, false));
  }
}

TEST_CASE("a smaller last group does what a whole one does, as far as it has work-items") {
  const Device device;
  if (!device.takes_non_uniform() || !device.compiles("-cl-std=CL2.0")) return;
  check_all_settings(device, {.dimensions = 1, .global = {43, 1, 1}, .local = {4, 1, 1}},
                     "-cl-std=CL2.0 -DLINEAR");
  check_all_settings(device, {.dimensions = 2, .global = {13, 9, 1}, .local = {4, 2, 1}},
                     "-cl-std=CL2.0 -DLINEAR");
}

TEST_CASE("a launch that nobody has encoded is as it was") {
  const Device device;
  cl::Kernel kernel = device.build(prelude_text() + recorder, "note", "");
  const NdRange launch{.dimensions = 2, .offset = {1, 2}, .global = {8, 6, 1}, .local = {2, 3, 1}};
  const Words out = device.run(kernel, launch, {0}, 1 + 48 * record_words);
  check_records(records_in(out), expected_records(launch, {}, false));
}

TEST_CASE("a driver may choose the size of a group as long as no group is renamed") {
  const Device device;
  cl::Kernel kernel = device.build(prelude_text() + recorder, "note", "");
  const NdRange launch{.dimensions = 1, .global = {64, 1, 1}};
  const Words out = device.run(kernel, encode(launch, {}), {0}, 1 + 64 * record_words);
  std::vector<std::uint32_t> ids;
  for (const Record& record : records_in(out)) ids.push_back(record[3]);
  std::sort(ids.begin(), ids.end());
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(ids.at(i) == i);
}

}  // namespace clprobe::prelude
