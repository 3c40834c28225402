// SPDX-License-Identifier: Apache-2.0
// Documents of version 1 said less: which parameters are facts, who raised a warning, and which
// change of a finding is better. What is not in them follows from what that version wrote.
#pragma once

#include "clprobe/run.hpp"

namespace clprobe {

void upgrade_version_1(Run& run);

}  // namespace clprobe
