// SPDX-License-Identifier: Apache-2.0
// Images and samplers of launch.json. Each throws RunFormatError.
#pragma once

#include "clprobe/launch_image.hpp"
#include "run/cursor.hpp"

namespace clprobe::bundle {

/// Of an image with memory of its own, whose pixels are no more than an object may have.
Image read_own_layout(const json::Cursor& layout);

/// Of one that lies in a buffer.
Image read_buffer_layout(const json::Cursor& layout);

Sampler read_sampler(const json::Cursor& sampler);

}  // namespace clprobe::bundle
