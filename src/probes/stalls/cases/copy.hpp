// SPDX-License-Identifier: Apache-2.0
// Case `implicit`: a kernel works on an array, through local memory (filled by loads and stores, or
// by async_work_group_copy) or directly. Pure except `prepare`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/shared/fields.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls::copy {

/// Words of a chunk, which a group has in local memory at a time.
inline constexpr std::uint32_t chunk_words = 1024;

/// Name of the bar of each way to copy a chunk to local memory. The index is the kernel's WAY.
inline constexpr std::string_view all_ways[]{"implicit, local memory", "implicit, async copy",
                                             "implicit, direct"};
inline constexpr std::uint32_t way_async = 1;
inline constexpr std::uint32_t way_direct = 2;

/// Phases of a group between two clock reads, in the kernel's order: start of a copy to local
/// memory, wait for it, work, and copy back.
inline constexpr std::string_view all_phases[]{"start", "copy", "work", "copy back"};

/// Returns the index of a phase in all_phases; nothing for another word.
std::optional<std::size_t> index_of_phase(std::string_view phase);

struct Shape {
  std::string name{"implicit"};
  std::string timer{};
  Ablated ablated{};
  std::uint32_t way{0};
  std::uint32_t groups{1};
  std::uint32_t work_items{1};
  std::uint64_t far_bytes{0};  ///< size of the array, and of its copy
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

struct Arguments {
  Shape shape{};
  std::uint32_t from_mask{0};  ///< mask of the number of a source chunk
  std::uint32_t to_mask{0};
  bool is_chain{false};

  /// Throws std::out_of_range for a point without the parameters.
  static Arguments of(const Point& point);
};

/// Returns the points of all sets of causes of each bar and, with a clock, its phases.
std::vector<Point> points(const DeviceInfo& device, const Options& requested);
Memory memory_of(const Point& point);
/// Returns the words that a launch stores in chunk `number` of its target.
std::vector<std::uint32_t> copied_chunk(const Arguments& arguments, std::uint32_t number,
                                        std::uint32_t addend);
Work prepare(Shared& shared, const Point& point);
std::string options_of(const DeviceInfo& device, const Point& point);
/// Adds the savings of removed causes, and copies, work and tail by clocks. An asynchronous copy
/// that completes while it is started leaves nothing pending.
void analyse(std::string_view bar, const Points& points, const DeviceInfo& device,
             std::vector<Finding>& findings);

/// Finding whose label shows whether an engine performs asynchronous copies.
inline constexpr std::string_view engine_name = "copy_engine";

}  // namespace clprobe::stalls::copy
