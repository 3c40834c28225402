// SPDX-License-Identifier: Apache-2.0
// How cl/latency.cl is built for a ring. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/latency/ring_shape.hpp"
#include "probes/latency/series.hpp"

namespace clprobe::latency {

std::string build_options(const SeriesSpec& series, const RingShape& shape);

/// Those of the kernels that fill the store, lay rings out and age them: they only know global
/// memory.
std::string layout_options(const RingShape& shape);

/// A table for a chase through program constants that every compiler should take.
inline constexpr std::string_view smallest_table = "constant uint table[4] = {0};";

/// The table of SPACE 2 as a program text. `key`: of the order of the nodes.
std::string table_text(const RingShape& shape, std::uint32_t key);

/// Every way to build the file for the default unrolling.
std::vector<KernelVariant> variants();

}  // namespace clprobe::latency
