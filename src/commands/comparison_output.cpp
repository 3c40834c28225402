// SPDX-License-Identifier: Apache-2.0
#include "commands/comparison_output.hpp"

#include <algorithm>

#include "clprobe/comparison_report.hpp"

namespace clprobe::commands {

void refuse_pictures(const cli::Options& options) {
  const auto is_of_run = [](cli::Format format) {
    return format == cli::Format::svg || format == cli::Format::curves;
  };
  const bool is_wanted =
      is_of_run(options.format) ||
      std::any_of(options.outputs.begin(), options.outputs.end(),
                  [&](const cli::Output& output) { return is_of_run(output.format); });
  if (!is_wanted) return;
  throw cli::UsageError(
      "compare writes table, json, csv, markdown or html: for a chart or the curves of the same "
      "files, use clprobe report, or the buttons of the HTML page");
}

int write_comparison(Results& results, const Comparison& comparison,
                     std::span<const RunDigest> runs) {
  return results.finish([&](cli::Format format, const TableStyle& style) {
    switch (format) {
      case cli::Format::json:
        return comparison_to_json(comparison, runs);
      case cli::Format::csv:
      case cli::Format::findings:
        return render_comparison_csv(comparison, runs);
      case cli::Format::markdown:
        return render_comparison_markdown(comparison, runs);
      case cli::Format::html:
        return render_comparison_html(comparison, runs);
      case cli::Format::table:
      case cli::Format::curves:
      case cli::Format::svg:  // refused before
        break;
    }
    return render_comparison_table(comparison, runs, style);
  });
}

}  // namespace clprobe::commands
