// SPDX-License-Identifier: Apache-2.0
// What a launch took, by its event.
#pragma once

#include <cstdint>
#include <optional>

#include "clprobe/survey.hpp"
#include "layer/opencl.hpp"

namespace clprobe::layer {

/// END - START, or why it is not known.
struct EventTime {
  std::optional<std::uint64_t> ns{};
  std::optional<survey::Gap> gap{};
};

/// Of a launch that has ended.
EventTime time_of(cl_event event);

/// When the command was enqueued by the driver's event clock; 0: unknown.
std::uint64_t enqueued_at(cl_event event);

}  // namespace clprobe::layer
