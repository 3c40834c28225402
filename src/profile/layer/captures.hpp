// SPDX-License-Identifier: Apache-2.0
// Which launches are captured.
#pragma once

#include <functional>
#include <vector>

#include "profile/api/bundle.hpp"
#include "profile/api/survey.hpp"
#include "profile/layer/opencl.hpp"

namespace clprobe::layer {

/// True where CLPROBE_CAPTURE named a folder when the layer was loaded.
bool is_capturing();

/// The launches that the folder's list names; none where it is no list.
std::vector<survey::Wanted> read_wanted() noexcept;

using Enqueue = std::function<cl_int(cl_event* event)>;
/// Makes the launch by `enqueue`, and a bundle of it where it is one that is wanted. A launch that
/// cannot be captured is made as it is.
cl_int capture_launch(cl_command_queue queue, cl_kernel kernel, const bundle::NdRange& range,
                      cl_event* event, const Enqueue& enqueue) noexcept;

}  // namespace clprobe::layer
