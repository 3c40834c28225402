// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clprobe/run.hpp"

namespace clprobe::commands {

/// Gives results that an older version stored under another probe's id to the probe of today.
void adopt_former_ids(Run& run);

/// The findings of a stored run by this version's analysis. What the plan knew without measuring
/// stays, and so does everything of probes that this version does not know.
void analyse_again(Run& run);

}  // namespace clprobe::commands
