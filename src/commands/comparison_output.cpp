// SPDX-License-Identifier: Apache-2.0
#include "commands/comparison_output.hpp"

#include <algorithm>

#include "clprobe/comparison_report.hpp"

namespace clprobe::commands {

void refuse_pages(const cli::Options& options) {
  const auto is_page = [](cli::Format format) {
    return format == cli::Format::html || format == cli::Format::svg;
  };
  const bool is_wanted =
      is_page(options.format) ||
      std::any_of(options.outputs.begin(), options.outputs.end(),
                  [&](const cli::Output& output) { return is_page(output.format); });
  if (!is_wanted) return;
  throw cli::UsageError(
      "compare writes table, json, csv and markdown: for a page or a picture of the same files use "
      "clprobe report");
}

int write_comparison(Results& results, const Comparison& comparison,
                     std::span<const RunDigest> runs) {
  return results.finish([&](cli::Format format, const TableStyle& style) {
    switch (format) {
      case cli::Format::json:
        return comparison_to_json(comparison, runs);
      case cli::Format::csv:
        return render_comparison_csv(comparison, runs);
      case cli::Format::markdown:
        return render_comparison_markdown(comparison, runs);
      case cli::Format::table:
      case cli::Format::html:  // refused before, as the next
      case cli::Format::svg:
        break;
    }
    return render_comparison_table(comparison, runs, style);
  });
}

}  // namespace clprobe::commands
