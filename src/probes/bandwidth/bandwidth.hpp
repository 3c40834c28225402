// SPDX-License-Identifier: Apache-2.0
// The probe `bandwidth`: its series, the walks of a point over memory, and their expected sums.
// Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::bandwidth {

enum class Operation { read, write, copy, update, local, image };
inline constexpr Word<Operation> operation_words[]{
    {Operation::read, "read"},     {Operation::write, "write"}, {Operation::copy, "copy"},
    {Operation::update, "update"}, {Operation::local, "local"}, {Operation::image, "image"}};

bool writes(Operation operation);

/// Returns the number of vectors of a block that one work-item moves, as in cl/bandwidth.cl.
constexpr std::uint64_t unroll_of(std::uint64_t vector_words) { return vector_words == 16 ? 8 : 4; }
/// Number of words in a texel. A texel is a vector of four words.
inline constexpr std::uint64_t texel_words = 4;
inline constexpr std::uint64_t texel_bytes = texel_words * sizeof(std::uint32_t);

/// Shape of a point: walks over regions of blocks. The regions lie one after another, from the
/// beginning of the buffer.
struct Shape {
  std::uint64_t working_set_bytes{
      0};  ///< size for all units, or size per unit if each unit has its own working set
  Operation operation{Operation::read};
  std::uint64_t lanes{1};   ///< work-items per walk
  std::uint64_t vector{4};  ///< words per vector
  std::uint64_t group{1};   ///< work-items per work-group
  std::uint64_t walks{1};
  std::uint64_t regions{1};
  std::uint64_t blocks{1};  ///< blocks per region
  Timer timer{Timer::host};
  /// Size of the buffer that all points of the plan share. Stored as a fact.
  std::uint64_t buffer_bytes{0};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.whole("working_set_bytes", working_set_bytes, from_1);
    f.word("operation", operation, operation_words);
    f.whole("lanes", lanes, {.min = 1, .max = 1024});
    f.whole("vector", vector, {.min = 4, .max = 16});
    f.whole("work_group", group, count_from_1);
    f.whole("walks", walks, {.min = 1, .max = 1 << 24});
    f.whole("regions", regions, {.min = 1, .max = 1 << 24});
    f.whole("blocks", blocks, {.min = 1, .max = std::int64_t{1} << 32});
    f.word("timer", timer);
    f.fact("buffer_bytes", buffer_bytes);
  }

  [[nodiscard]] std::uint64_t unroll() const { return unroll_of(vector); }
  [[nodiscard]] std::uint64_t block_bytes() const { return lanes * unroll() * vector * 4; }
  [[nodiscard]] std::uint64_t items() const { return walks * lanes; }
  /// Returns the number of walks per region, at least 1.
  [[nodiscard]] std::uint64_t sharers() const {
    return std::max<std::uint64_t>(1, walks / regions);
  }
  [[nodiscard]] std::uint64_t region_bytes() const { return blocks * block_bytes(); }
  /// Returns the number of bytes that the walks visit in the buffer. A copy visits as many bytes
  /// in each of two buffers.
  [[nodiscard]] std::uint64_t touched_bytes() const { return regions * region_bytes(); }
  /// Returns the number of blocks that a walk visits in one iteration. Together, the walks of a
  /// region visit each block at least once.
  [[nodiscard]] std::uint64_t step() const { return (blocks + sharers() - 1) / sharers(); }
  /// Returns the number of bytes that all walks move in one iteration, read and written.
  [[nodiscard]] std::uint64_t bytes_per_iteration() const;
};

/// Start of a walk.
struct Place {
  std::uint32_t region{0};  ///< first block of the region
  std::uint32_t start{0};   ///< first visited block, relative to the region

  friend bool operator==(const Place&, const Place&) = default;
};

/// Returns the starts of all walks. The walks of a region start at equal distances. Consecutive
/// walks start far from each other, so that walks of one compute unit do not share data in its
/// caches.
std::vector<Place> places_of(const Shape& shape);

/// Returns the sum of the first `words` words of the filled buffer, modulo 2^32. `words` is at
/// most 2^32.
std::uint32_t sum_before(std::uint64_t words);

/// Returns the sum that all walks compute over `count` blocks each, modulo 2^32.
std::uint32_t expected_sum(const Shape& shape, std::span<const Place> places, std::uint64_t count);

/// Number of regions of the buffer that walks visit.
enum class Sharing {
  all,   ///< one region for all walks
  unit,  ///< one region per compute unit
  walk,  ///< one region per walk
};

struct SeriesSpec {
  std::string_view name{};
  std::string_view summary{};
  std::string_view title{};
  Operation operation{Operation::read};
  Sharing sharing{Sharing::all};
  bool is_one_unit{false};   ///< only one work-group runs
  std::string_view alone{};  ///< name of the series that runs the same operation on one compute
                             ///< unit
};

inline constexpr std::string_view read_series = "read";
inline constexpr std::string_view one_unit_series = "read-one-unit";
inline constexpr std::string_view local_series = "local";
inline constexpr std::string_view image_series = "image";

inline constexpr std::array all_series{
    SeriesSpec{read_series, "all compute units read one working set",
               "{} read by all compute units", Operation::read, Sharing::all, false,
               one_unit_series},
    SeriesSpec{"read-own", "each compute unit reads its own working set",
               "{} read by each compute unit separately", Operation::read, Sharing::unit},
    SeriesSpec{one_unit_series, "only one compute unit reads", "{} read by one compute unit",
               Operation::read, Sharing::all, true},
    SeriesSpec{"write", "each compute unit writes its own part of one working set",
               "{} written by all compute units", Operation::write, Sharing::walk, false,
               "write-one-unit"},
    SeriesSpec{"write-one-unit", "only one compute unit writes", "{} written by one compute unit",
               Operation::write, Sharing::walk, true},
    SeriesSpec{"copy", "all compute units copy one half of a working set to the other",
               "{} copied by all compute units", Operation::copy, Sharing::walk, false,
               "copy-one-unit"},
    SeriesSpec{"copy-one-unit", "only one compute unit copies", "{} copied by one compute unit",
               Operation::copy, Sharing::walk, true},
    SeriesSpec{"update", "each compute unit updates its own part of one working set",
               "{} updated by all compute units", Operation::update, Sharing::walk, false,
               "update-one-unit"},
    SeriesSpec{"update-one-unit", "only one compute unit updates", "{} updated by one compute unit",
               Operation::update, Sharing::walk, true},
    SeriesSpec{local_series, "all compute units read local memory",
               "local memory read by all compute units", Operation::local, Sharing::all},
    SeriesSpec{image_series, "all compute units read one working set through an image",
               "{} read through an image", Operation::image, Sharing::all},
};

const SeriesSpec* series_named(std::string_view name);

/// Returns the reason why the device cannot measure the series. If the device can, returns an
/// empty string.
std::string missing_in(const SeriesSpec& series, const DeviceInfo& device);

/// Returns the shape of a point with the largest working set, up to `wanted`, that its walks can
/// divide. Returns nothing if a region has no block, or if the driver would end long loops.
std::optional<Shape> shape_for(const SeriesSpec& series, const DeviceInfo& device, Bytes wanted);

/// Returns the size of the smallest working set in which every compute unit has work.
Bytes smallest_set(const SeriesSpec& series, const DeviceInfo& device);

// Labels of the finding `limit`: the compute units, or the shared resources of a level.
inline constexpr std::string_view limited_by_units = "units";
inline constexpr std::string_view limited_by_level = "level";

/// Title of the chart of the roofline, and topic of its line on the card.
inline constexpr std::string_view roofline_title = "roofline";

extern const Probe probe;

/// Returns the findings of the probe: each level's bandwidth, bandwidth of one compute unit, and
/// capacity (except in local memory). If one compute unit also ran alone, each level has the
/// scaling to all units, and what limits the bandwidth. Method: docs/bandwidth.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

/// Makes a column with the bandwidth at each level of global memory, and rows with the levels of
/// each series. A card without levels of global memory shows the column's text as a line. A run
/// with ridge points gets the line and the chart of the roofline.
Card card(const ProbeResult& result);

/// Returns the bandwidth of `read` at the slow end of the curve: of the last level, which has no
/// end, or of the largest working set. Returns null if a cache may end the curve, or without a
/// value.
const Finding* bandwidth_of_memory(std::span<const Finding> findings);

/// Decides the limit of each level again, by the final interval of its scaling, and sets the
/// interval of the share of the reported peak to that of the bandwidth.
void combine(std::vector<Finding>& findings);

/// Returns the maximum number of iterations of a launch. The kernel's counter and the driver limit
/// this number.
std::uint64_t max_iterations_of(const DeviceInfo& device, const Shape& shape);

std::string build_options(const Shape& shape);

// Functions that `Probe` points to. Only launch.cpp, which defines `open`, uses OpenCL.
Preparer open(Session& session);
SimulatedWork trace(const simulator::Machine& machine, const Point& point);
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

}  // namespace clprobe::bandwidth
