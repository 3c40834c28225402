// SPDX-License-Identifier: Apache-2.0
// The case `implicit`: an array worked on by way of local memory, by explicit copies or by
// async_work_group_copy, or where it is. Pure but for `prepare`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/shared/bounds.hpp"
#include "probes/stalls/case.hpp"
#include "probes/stalls/twin.hpp"

namespace clprobe::stalls::copy {

/// Words of local memory that a group works on at a time.
inline constexpr std::uint32_t chunk_words = 1024;

/// How a chunk comes to local memory, and the bar of each: its place here is the kernel's WAY.
inline constexpr std::string_view all_ways[]{"implicit, local memory", "implicit, async copy",
                                             "implicit, direct"};
inline constexpr std::uint32_t way_async = 1;
inline constexpr std::uint32_t way_direct = 2;

/// Between two clock reads of a group, in the kernel's order: a copy to local memory is started,
/// waited for, worked on, and brought back.
inline constexpr std::string_view all_phases[]{"start", "copy", "work", "copy back"};

/// The build option for a way.
std::string way_option(std::uint32_t way);

/// Its place among all_phases; nothing for another word.
std::optional<std::size_t> place_of_phase(std::string_view phase);

/// What a point says.
struct Shape {
  std::string name{"implicit"};
  std::string timer{};
  Ablated ablated{};
  std::uint32_t way{0};
  std::uint32_t groups{1};
  std::uint32_t work_items{1};
  std::uint64_t far_bytes{0};  ///< of the array, and of where it is brought back to
  std::uint64_t near_bytes{0};
  std::uint64_t first_bytes{0};

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("case", name);
    fields.text("timer", timer);
    ablated.visit(fields);
    fields.whole("way", way, {.max = std::size(all_ways) - 1});
    fields.whole("groups", groups, count_from_1);
    fields.whole("work_items", work_items, count_from_1);
    fields.whole("far_bytes", far_bytes);
    fields.whole("near_bytes", near_bytes);
    fields.whole("first_bytes", first_bytes);
  }
};

/// What the kernel is given.
struct Arguments {
  std::uint32_t way{0};
  std::uint32_t groups{1};
  std::uint32_t work_items{1};
  std::uint32_t from_mask{0};  ///< of a chunk's number
  std::uint32_t to_mask{0};
  std::uint32_t steps{0};
  bool is_chain{false};
  std::uint32_t noise_groups{0};  ///< that do nothing else, behind the others
  Noise noise{};

  /// Throws std::out_of_range for a point without the parameters.
  static Arguments of(const Point& point);
};

/// All sets of causes of each bar, noise and, by a clock, its phases.
std::vector<Point> points(const DeviceInfo& device, const Options& requested);
Memory memory_of(const Point& point);
/// The words that a launch leaves in chunk `number` of its target.
std::vector<std::uint32_t> copied_chunk(const Arguments& arguments, std::uint32_t number,
                                        std::uint32_t addend);
/// What work-item `item` of the `group`-th group that makes noise leaves behind.
std::uint32_t noise_result(const Arguments& arguments, std::uint32_t addend,
                           std::uint32_t iterations, std::uint32_t group, std::uint32_t item);
/// The most iterations of a launch.
std::uint64_t most_iterations(const DeviceInfo& device, const Point& point);
/// Sees OpenCL.
Work prepare(Shared& shared, const Point& point);
/// How the kernel is built.
std::string options_of(const DeviceInfo& device, const Point& point);
/// What is saved by taking causes away; copies, work and the tail by clocks. Where an asynchronous
/// copy is made while it is started, nothing is pending afterwards.
void analyse(std::string_view bar, const Points& points, const DeviceInfo& device,
             std::vector<Finding>& findings);

/// Whether asynchronous copies are made by an engine: its label.
inline constexpr std::string_view engine_name = "copy_engine";

}  // namespace clprobe::stalls::copy
