// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe::commands {

/// Gives probes and series of an older document the names that they have now.
void adopt_former_names(Run& run);

/// Makes the card of a result from its findings, whose intervals it shows as they are now.
void make_card(ProbeResult& result);

/// Finds what disturbed a run and whether its probes agree, then makes their cards.
void conclude(Run& run);

/// The findings of a stored run by this version's analysis, under the names that probes and series
/// have now. What the plan knew without measuring stays, and so does everything of probes that this
/// version does not know. Throws RunFormatError with the path within the run where a point is not
/// what its probe reads.
void analyse_again(Run& run);

/// The runs of a document, analysed again: what `report` and `compare` show, whoever wrote it.
/// Throws RunFormatError with the path within the document.
std::vector<Run> analysed_runs_from_json(std::string_view text);

}  // namespace clprobe::commands
