// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "clprobe/run.hpp"

namespace clprobe::report {

/// One row a finding, with its interval and how it was found; quoted and made safe as in
/// `render_csv`.
std::string findings_csv(std::span<const Run> runs);

}  // namespace clprobe::report
