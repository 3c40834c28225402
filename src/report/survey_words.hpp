// SPDX-License-Identifier: Apache-2.0
// What the forms of a survey share.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/survey_report.hpp"

namespace clprobe::report {

/// "1024 x 64"; "various" where there are too many to tell apart.
std::string sizes_text(const survey::Signature& of, const survey::Sizes& sizes,
                       std::string_view unchosen);
/// Sixteen hexadecimal digits.
std::string program_text(const survey::Program& program);
/// "12.3 %" and "1.23 ms"; "-" where no launch was timed.
std::string share_text(const survey::Row& row, const survey::Sum& total);
std::string total_time(const survey::Sum& sum);
/// "0.21 s of device time in 1,000 launches of 2 kernels"
std::string survey_summary(const SurveyedApp& app);
/// "3 launches in queues without profiling": of launches in the rows, or of the rest.
std::vector<std::string> gap_texts(const survey::Survey& survey, bool of_launches);
/// The names that kernels of several programs have.
std::set<std::string> shared_names(const survey::Survey& survey);
/// What of the times is none of the driver's; empty where all are.
std::string estimated_text(const survey::Survey& survey);
/// Why the times are none; empty where they may be.
std::string doubt_text(const survey::Survey& survey);
/// What a kernel's name does not say: of which program it is, where its name is shared; what that
/// was made from, where not from a text; pointers of shared virtual memory.
std::string remark_of(const survey::Row& row, const std::set<std::string>& shared);
/// "ended with status 3", "was ended by signal 11 (Segmentation fault)"; empty after a success.
std::string end_text(const SurveyedApp& app);
std::vector<std::string> devices_of(const survey::Survey& survey);

}  // namespace clprobe::report
