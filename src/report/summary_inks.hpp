// SPDX-License-Identifier: Apache-2.0
// The colours of a comparison's summary: each part by its verdict, so that one thing that is worse
// does not make ten look so that are better.
#pragma once

#include <string_view>
#include <vector>

#include "report/page.hpp"

namespace clprobe::report {

/// Takes the lines of a summary one after the other: "worse: a 2x slower; better: b 3x faster; 4
/// same", or with counts, "3 better, 1 worse: ...".
class SummaryInks {
 public:
  /// The line, in spans.
  std::vector<Span> spans_of(std::string_view line);

 private:
  Ink part_{Ink::plain};   ///< of the part that is going on
  bool is_number_{false};  ///< whether the word before was one: the next may be its verdict
};

}  // namespace clprobe::report
