// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/resolve.hpp"
#include "clprobe/embedded.hpp"
#include "clprobe/explain.hpp"
#include "clprobe/registry.hpp"
#include "commands/commands.hpp"
#include "commands/pages.hpp"
#include "terminal/pager.hpp"
#include "terminal/terminal.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

std::string_view glossary() { return embedded_file("glossary.md"); }

/// "  a, b, c", broken between terms: "cache or far" is found by looking for it.
std::string list_terms(int width) {
  std::string text;
  std::string line;
  for (const std::vector<std::string>& names : terms_in(glossary())) {
    const std::string& term = names.front();
    if (!line.empty() && display_width(line) + display_width(term) + 3 > width) {
      text += line + ",\n";
      line.clear();
    }
    line += (line.empty() ? "  " : ", ") + term;
  }
  return text + line + "\n";
}

/// "  word      What it answers", wrapped.
std::string list_row(std::string_view word, std::string_view question, int width) {
  constexpr int word_columns = 10;
  std::string text;
  std::string before = fmt::format("  {:<{}}", word, word_columns);
  for (const std::string& line : wrap(question, width - word_columns - 2)) {
    text += fmt::format("{}{}\n", before, line);
    before = fmt::format("{:{}}", "", word_columns + 2);
  }
  return text;
}

std::string list_explained(int width) {
  std::string text = "Probes (`clprobe explain PROBE`, with --full the whole page):\n";
  for (const Probe* const probe : all_probes()) text += list_row(probe->id, probe->question, width);
  text += "\nPages (`clprobe explain PAGE`):\n";
  for (const OtherPage& page : other_pages) text += list_row(page.word, page.what, width);
  return text + "\nTerms (`clprobe explain TERM`):\n" + list_terms(width);
}

std::string probe_page(const Probe& probe, bool is_whole, const PageStyle& style) {
  const std::string_view page = embedded_file(std::string(probe.id) + ".md");
  if (is_whole) return page_text(page, style);
  const std::string more = fmt::format(
      "`clprobe explain {} --full` has the method and the rest, and `clprobe explain TERM` what a "
      "word of the reports means.",
      probe.id);
  return short_page_text(page, style) +
         fmt::format("\n{}\n", fmt::join(wrap(more, style.width), "\n"));
}

cli::UsageError unknown(const std::string& word) {
  std::vector<std::string_view> candidates;
  for (const Probe* const probe : all_probes()) {
    candidates.push_back(probe->id);
    for (const Series& series : probe->series) candidates.push_back(series.name);
  }
  for (const OtherPage& page : other_pages) candidates.push_back(page.word);
  const std::vector<std::vector<std::string>> terms = terms_in(glossary());
  for (const std::vector<std::string>& names : terms) {
    candidates.insert(candidates.end(), names.begin(), names.end());
  }
  return cli::unknown_word("probe, page or term", word, candidates,
                           "`clprobe explain` lists them all");
}

}  // namespace

int explain(const cli::Options& options) {
  const int columns = terminal::width_columns(STDOUT_FILENO);
  const PageStyle style{
      .width = columns,
      .has_colour = terminal::use_colour(terminal::ColourMode::automatic, STDOUT_FILENO)};
  if (options.words.empty()) {
    terminal::show_page(list_explained(std::clamp(columns, 40, 100)));
    return exit_ok;
  }
  const std::string& word = options.words.front();
  if (const Probe* const probe = find_probe(word)) {
    terminal::show_page(probe_page(*probe, options.full, style));
    return exit_ok;
  }
  const OtherPage* const page = find_page(word);
  std::optional<std::string> text = page != nullptr ? page_text(embedded_file(word + ".md"), style)
                                                    : term_text(glossary(), word, style);
  if (!text) text = series_text(word, style.width);
  if (text->empty()) throw unknown(word);
  if (options.full) {
    throw cli::UsageError(
        fmt::format("--full: {} is a {}: leave it out", quote(word),
                    page != nullptr ? "page, and printed as a whole" : "term and has no page"));
  }
  terminal::show_page(*text);
  return exit_ok;
}

}  // namespace clprobe::commands
