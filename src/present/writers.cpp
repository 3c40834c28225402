// SPDX-License-Identifier: Apache-2.0
#include "present/api/report.hpp"

#include <algorithm>
#include <array>

namespace clprobe {
namespace {

using Runs = std::span<const Run>;
using Digests = std::span<const RunDigest>;
using Style = TableStyle;

/// A function of results that have no style, as a writer's.
template <auto render>
std::string of_runs(Runs runs, const Style& /*style*/) {
  return render(runs);
}
template <auto render>
std::string of_comparison(const Comparison& comparison, Digests runs, const Style& /*style*/) {
  return render(comparison, runs);
}
template <auto render>
std::string of_survey(const SurveyedApp& app, const Style& /*style*/) {
  return render(app);
}

/// Readers of stdout do not know how many devices there were: they always get a list.
std::string json_of_runs(Runs runs, const Style& style) {
  return style.is_stream ? to_json_array(runs) : to_json(runs);
}

std::string svg_of_runs(Runs runs, const Style& style) { return render_svg(runs, style.probe); }

constexpr std::array table{
    Writer{"table", ".txt", render_table, render_comparison_table, render_survey_table},
    Writer{"json", ".json", json_of_runs, of_comparison<comparison_to_json>,
           of_survey<render_survey_json>},
    Writer{"csv", ".csv", of_runs<render_csv>, of_comparison<render_comparison_csv>,
           of_survey<render_survey_csv>},
    Writer{"findings", "findings.csv", of_runs<render_findings_csv>,
           of_comparison<render_comparison_csv>},
    Writer{"curves", "curves.csv", of_runs<render_curves_csv>},
    Writer{"markdown", ".md", of_runs<render_markdown>, of_comparison<render_comparison_markdown>,
           of_survey<render_survey_markdown>},
    Writer{"html", ".html", of_runs<render_html>, of_comparison<render_comparison_html>},
    Writer{.name = "svg", .ending = ".svg", .runs = svg_of_runs, .is_of_one_probe = true},
};

}  // namespace

std::span<const Writer> writers() { return table; }

const Writer* find_writer(std::string_view name) {
  const auto* const found = std::find_if(table.begin(), table.end(),
                                         [&](const Writer& each) { return each.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace clprobe
