// SPDX-License-Identifier: Apache-2.0
// What `report` and `compare` make of runs, all of it: for the fuzzers, and for the test that walks
// through the numbers of documents.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "present/api/report.hpp"

namespace clprobe::hostile {

/// A text that a user would see.
struct Shown {
  std::string as{};  ///< "html", "comparison csv", ...
  std::string text{};
};

/// The runs in every format, narrow and wide. A page takes longer than all others together, and has
/// the same numbers.
std::vector<Shown> show_reports(std::span<const Run> runs, bool with_page = true);

/// The runs compared with `baseline`, which comes first, in every format.
std::vector<Shown> show_comparisons(const Run& baseline, std::span<const Run> runs,
                                    bool with_page = true);

/// A piece of the text around a number that is none ("inf", "nan"), or a time or rate below 0;
/// empty where there is no such. Looks into no script of a page.
std::string find_nonsense(std::string_view text);

}  // namespace clprobe::hostile
