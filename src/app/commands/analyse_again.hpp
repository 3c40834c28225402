// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe::commands {

/// Builds the card of a result from the result's findings.
void make_card(ProbeResult& result);

/// Widens the findings' intervals by the run's disturbances, updates findings that combine others,
/// sets the warnings about disturbances and disagreeing probes, and builds the results' cards.
void conclude(Run& run);

/// Replaces the findings of a stored run by the findings that this version of clprobe derives from
/// the samples, and calls conclude(). Keeps findings of the plan, and results without points or of
/// unknown probes. Throws RunFormatError with the path of a point that its probe cannot read.
void analyse_again(Run& run);

/// Returns the runs of a document, analysed again by analyse_again(). Throws RunFormatError with
/// the path of the error within the document.
std::vector<Run> analysed_runs_from_json(std::string_view text);

}  // namespace clprobe::commands
