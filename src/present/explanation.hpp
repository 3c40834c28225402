// SPDX-License-Identifier: Apache-2.0
// Pages of `clprobe explain`, which are CommonMark, as parts of an HTML page.
#pragma once

#include <string>
#include <string_view>

namespace clprobe::report {

/// A page of `clprobe explain` as HTML. Its first heading is left out, since the page around it has
/// one, and the others are two steps lower. HTML in it is shown as text, and a link leads to no
/// script.
std::string html_of_explanation(std::string_view page);

/// The section of a page with this heading, up to the next one of its rank; empty where the page
/// has none.
std::string_view section_of(std::string_view page, std::string_view heading);

/// The text of the first paragraph of such a page: the question.
std::string question_of(std::string_view page);

}  // namespace clprobe::report
