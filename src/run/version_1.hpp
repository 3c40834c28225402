// SPDX-License-Identifier: Apache-2.0
// Documents of version 1 said less: which parameters are facts, who raised a warning, and which
// change of a finding is better. What is not in them follows from what that version wrote.
#pragma once

#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe {

/// What has keys of its own since version 2, from what version 1 had in its place.
void upgrade_version_1(Run& run);

/// Results had a quantity: "seconds_per_access" or "bytes_per_second".
Unit unit_of_quantity(std::string_view quantity);

/// For the first documents, which lack it: there, events had to be true for a clock to count.
void infer_launch_timer(DeviceInfo& device);

}  // namespace clprobe
