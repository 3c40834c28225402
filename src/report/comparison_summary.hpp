// SPDX-License-Identifier: Apache-2.0
// What a comparison comes to: who is better at what, and what changed, the largest first.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/compare.hpp"
#include "report/page.hpp"

namespace clprobe::report {

/// A finding of a run that is better, worse or different.
struct Change {
  const ComparedRow* row{nullptr};
  std::size_t run{0};
};

/// Those that are worse first, then the largest: ratios by how far they are from 1, shares by their
/// difference; words last. Without the cycles of a time that changed.
std::vector<Change> changes_of(const Comparison& comparison);

/// "1.51x faster", "4.2 % slower", "1.3x larger", "+12.3 points"; the verdict where there is
/// neither a ratio nor a difference.
std::string change_words(const Change& change);

/// What of a run has one verdict: each finding that is worse with both values, of the others the
/// largest of a kind, "stride read int4 bandwidth 1.51x faster (and 2 more)".
struct SummaryPart {
  Verdict verdict{Verdict::same};
  std::vector<std::string> texts{};
};

/// The verdicts that are changes and were given, worse first.
std::vector<SummaryPart> summary_parts(const Comparison& comparison, std::size_t run);
/// "303 same, 4 unclear"; empty where nothing is.
std::string settled_text(const VerdictCounts& counts);

/// Of a run, by verdict and finding: "better: stride read int4 bandwidth 1.51x faster; 303 same".
std::string summary_of(const Comparison& comparison, std::size_t run);
/// The same where it fits; else how many are better and worse, and as many findings as fit, the
/// worse first: "5 worse, 11 better: global 2 latency 7.3 % slower (261 ns to 280 ns), ...".
std::string brief_summary_of(const Comparison& comparison, std::size_t run,
                             const std::function<bool(const std::string&)>& fits);

/// The colours of a summary: each part by its verdict, so that one thing that is worse does not
/// make ten look so that are better. Takes the lines of a summary one after the other: "worse: a 2x
/// slower; better: b 3x faster; 4 same", or with counts, "3 better, 1 worse: ...".
class SummaryInks {
 public:
  /// The line, in spans.
  std::vector<Span> spans_of(std::string_view line);

 private:
  Ink part_{Ink::plain};   ///< of the part that is going on
  bool is_number_{false};  ///< whether the word before was one: the next may be its verdict
};

}  // namespace clprobe::report
