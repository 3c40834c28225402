// SPDX-License-Identifier: Apache-2.0
// A bundle's launch, as the prelude sees it. Pure.
#pragma once

#include "clprobe/device_info.hpp"
#include "clprobe/launch.hpp"
#include "clprobe/prelude.hpp"

namespace clprobe::kernel {

prelude::NdRange range_for_prelude(const bundle::NdRange& range);

/// What of the program's text, the launch and the device speaks against which factor.
prelude::Judgement judge_kernel(const bundle::Bundle& bundle, const DeviceInfo& device);

/// What can be left out of the build that all settings of the launch share.
prelude::Switches switches_of(const prelude::Judgement& judgement, const prelude::NdRange& range,
                              const DeviceInfo& device);

}  // namespace clprobe::kernel
