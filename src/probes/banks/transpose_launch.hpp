// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "clprobe/probe.hpp"
#include "probes/banks/buffers.hpp"
#include "probes/banks/transpose.hpp"

namespace clprobe::banks {

/// Throws DeviceError, cl::Error, and Unsupported where the driver runs too few work-items.
Work prepare_transposition(const std::shared_ptr<Buffers>& buffers, const Point& point);

/// How it builds the kernel.
std::string transpose_options_for(const DeviceInfo& device, const Tile& tile);

}  // namespace clprobe::banks
