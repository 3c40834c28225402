// SPDX-License-Identifier: Apache-2.0
// Case `implicit`: a kernel works on an array in one of three ways: through local memory by loads
// and stores, through local memory by async_work_group_copy, or directly. Pure except `prepare`.
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

/// Number of words in a chunk, the part of the array that a group has in local memory at a time.
inline constexpr std::uint32_t chunk_words = 1024;

/// Names of the bars, one for each way to work on a chunk. The index is the kernel's WAY.
inline constexpr std::string_view all_ways[]{"implicit, local memory", "implicit, async copy",
                                             "implicit, direct"};
inline constexpr std::uint32_t way_async = 1;
inline constexpr std::uint32_t way_direct = 2;

/// Phases of a group, each between two clock reads, in the kernel's order: start of the copy to
/// local memory, wait for the end of this copy, work, and copy back.
inline constexpr std::string_view all_phases[]{"start", "copy", "work", "copy back"};

/// Returns the index of a phase in `all_phases`; nothing for an unknown phase.
std::optional<std::size_t> index_of_phase(std::string_view phase);

struct Shape {
  std::string name{"implicit"};
  std::string timer{};
  Ablated ablated{};
  std::uint32_t way{0};
  std::uint32_t groups{1};
  std::uint32_t work_items{1};
  std::uint64_t far_bytes{0};  ///< size of the array, and of the array that it is copied to
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
  std::uint32_t from_mask{0};  ///< bits of the number of a source chunk
  std::uint32_t to_mask{0};
  bool is_chain{false};

  /// Throws std::out_of_range for a point without the parameters.
  static Arguments of(const Point& point);
};

/// Returns the points of each bar: all sets of causes and, on devices with a clock, the phases.
std::vector<Point> points(const DeviceInfo& device, const Options& requested);
Memory memory_of(const Point& point);
/// Returns the words that a launch stores in chunk `number` of the target array.
std::vector<std::uint32_t> copied_chunk(const Arguments& arguments, std::uint32_t number,
                                        std::uint32_t addend);
Work prepare(Shared& shared, const Point& point);
std::string options_of(const DeviceInfo& device, const Point& point);
/// Adds findings of a bar: savings of removed causes, and the times of copies, work and tail by
/// clocks. If an asynchronous copy completes while it is started, no wait remains to be measured.
void analyse(std::string_view bar, const Points& points, const DeviceInfo& device,
             std::vector<Finding>& findings);

/// Name of the finding whose label shows whether a hardware engine performs asynchronous copies.
inline constexpr std::string_view engine_name = "copy_engine";

}  // namespace clprobe::stalls::copy
