// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clprobe/run.hpp"

namespace clprobe::commands {

/// Gives probes and series of an older document the names that they have now.
void adopt_former_names(Run& run);

/// The findings of a stored run by this version's analysis. What the plan knew without measuring
/// stays, and so does everything of probes that this version does not know.
void analyse_again(Run& run);

}  // namespace clprobe::commands
