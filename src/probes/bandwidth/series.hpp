// SPDX-License-Identifier: Apache-2.0
// The series of the probe `bandwidth`: what moves, and how a working set becomes walks. Pure.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/bandwidth/shape.hpp"

namespace clprobe::bandwidth {

/// Whose the regions are.
enum class Sharing {
  all,   ///< one region for all walks
  unit,  ///< one for each compute unit
  walk,  ///< one for each walk
};

struct SeriesSpec {
  std::string_view name{};
  std::string_view summary{};
  std::string_view title{};
  Operation operation{Operation::read};
  Sharing sharing{Sharing::all};
  bool is_one_unit{false};   ///< one work-group alone
  std::string_view alone{};  ///< the series in which one unit does the same
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
    SeriesSpec{"write", "all compute units write parts of one working set",
               "{} write by all compute units", Operation::write, Sharing::walk, false,
               "write-one-unit"},
    SeriesSpec{"write-one-unit", "only one compute unit writes", "{} write by one compute unit",
               Operation::write, Sharing::walk, true},
    SeriesSpec{"copy", "all compute units copy one half of a working set to the other",
               "{} copy by all compute units", Operation::copy, Sharing::walk, false,
               "copy-one-unit"},
    SeriesSpec{"copy-one-unit", "only one compute unit copies", "{} copy by one compute unit",
               Operation::copy, Sharing::walk, true},
    SeriesSpec{"update", "all compute units update parts of one working set",
               "{} update by all compute units", Operation::update, Sharing::walk, false,
               "update-one-unit"},
    SeriesSpec{"update-one-unit", "only one compute unit updates", "{} update by one compute unit",
               Operation::update, Sharing::walk, true},
    SeriesSpec{local_series, "all compute units read local memory",
               "local memory read by all compute units", Operation::local, Sharing::all},
    SeriesSpec{image_series, "all compute units read one working set as an image",
               "{} read as an image", Operation::image, Sharing::all},
};

/// The spec of a series; null where there is none of that name.
const SeriesSpec* series_named(std::string_view name);

/// Why the device cannot have such a series; empty when it can.
std::string missing_in(const SeriesSpec& series, const DeviceInfo& device);

/// The shape of a point of the series, with the working set nearest below the wanted one that its
/// walks can share out; nothing where that is no block.
std::optional<Shape> shape_for(const SeriesSpec& series, const DeviceInfo& device, Bytes wanted);

/// The smallest working set that makes all units work.
Bytes smallest_set(const SeriesSpec& series, const DeviceInfo& device);

}  // namespace clprobe::bandwidth
