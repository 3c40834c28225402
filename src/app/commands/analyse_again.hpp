// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe::commands {

/// Builds the card of a result from its findings and their intervals.
void make_card(ProbeResult& result);

/// Computes the disturbances of a run and the agreement of its probes, then builds the cards.
void conclude(Run& run);

/// Replaces the findings of a stored run by those of this version's analysis. Findings of the plan
/// and results of unknown probes stay. Throws RunFormatError with the path within the run if a
/// probe cannot read a point.
void analyse_again(Run& run);

/// Returns the runs of a document, analysed again, for `report` and `compare`. Throws
/// RunFormatError with the path within the document.
std::vector<Run> analysed_runs_from_json(std::string_view text);

}  // namespace clprobe::commands
