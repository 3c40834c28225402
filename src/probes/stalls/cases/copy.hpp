// SPDX-License-Identifier: Apache-2.0
// The case `implicit`: work on an array through local memory, which work-items or
// async_work_group_copy fill, or in place. Pure but for `prepare`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/shared/bounds.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls::copy {

/// Words of local memory that a group works on at a time.
inline constexpr std::uint32_t chunk_words = 1024;

/// The bar of each way to bring a chunk to local memory; the index is the kernel's WAY.
inline constexpr std::string_view all_ways[]{"implicit, local memory", "implicit, async copy",
                                             "implicit, direct"};
inline constexpr std::uint32_t way_async = 1;
inline constexpr std::uint32_t way_direct = 2;

/// The phases of a group between two clock reads, in the kernel's order: starting a copy to local
/// memory, waiting for it, working, and copying back.
inline constexpr std::string_view all_phases[]{"start", "copy", "work", "copy back"};

/// The index of a phase in all_phases; nothing for another word.
std::optional<std::size_t> place_of_phase(std::string_view phase);

/// The parameters of a point.
struct Shape {
  std::string name{"implicit"};
  std::string timer{};
  Ablated ablated{};
  std::uint32_t way{0};
  std::uint32_t groups{1};
  std::uint32_t work_items{1};
  std::uint64_t far_bytes{0};  ///< of the array, and of the copy of it
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

/// The arguments of the kernel.
struct Arguments {
  Shape shape{};
  std::uint32_t from_mask{0};  ///< of a chunk's number
  std::uint32_t to_mask{0};
  bool is_chain{false};

  /// Throws std::out_of_range for a point without the parameters.
  static Arguments of(const Point& point);
};

/// All sets of causes of each bar and, with a clock, its phases.
std::vector<Point> points(const DeviceInfo& device, const Options& requested);
Memory memory_of(const Point& point);
/// The words that a launch leaves in chunk `number` of its target.
std::vector<std::uint32_t> copied_chunk(const Arguments& arguments, std::uint32_t number,
                                        std::uint32_t addend);
/// Uses OpenCL.
Work prepare(Shared& shared, const Point& point);
/// The build options of a point's kernel.
std::string options_of(const DeviceInfo& device, const Point& point);
/// Adds what removing causes saves, and copies, work and tail by clocks. An asynchronous copy that
/// is made while it is started leaves nothing pending.
void analyse(std::string_view bar, const Points& points, const DeviceInfo& device,
             std::vector<Finding>& findings);

/// The finding whose label says whether an engine makes asynchronous copies.
inline constexpr std::string_view engine_name = "copy_engine";

}  // namespace clprobe::stalls::copy
