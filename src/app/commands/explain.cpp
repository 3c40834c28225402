// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/flags.hpp"
#include "app/commands/commands.hpp"
#include "app/terminal/output.hpp"
#include "app/terminal/terminal.hpp"
#include "clprobe/registry.hpp"
#include "present/api/explain.hpp"
#include "present/api/report.hpp"
#include "text/api/embedded.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

/// Returns a row of the list: a word, and its question wrapped to `width`.
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
  std::string text = "Probes (`clprobe explain PROBE`; --full shows the whole page):\n";
  for (const Probe* const probe : all_probes()) text += list_row(probe->id, probe->question, width);
  text += "\nPages (`clprobe explain PAGE`):\n";
  for (const OtherPage& page : other_pages) text += list_row(page.word, page.what, width);
  std::vector<std::string> terms;
  for (const auto& names : terms_in(embedded_file("glossary.md"))) terms.push_back(names.front());
  text += "\nTerms (`clprobe explain TERM`):\n";
  for (const std::string& line : wrap(fmt::format("{}", fmt::join(terms, ", ")), width - 2)) {
    text += "  " + line + "\n";
  }
  return text;
}

std::string probe_page(const Probe& probe, bool is_whole, const PageStyle& style) {
  const std::string_view page = embedded_file(std::string(probe.id) + ".md");
  if (is_whole) return page_text(page, style);
  return short_page_text(page, style) +
         fmt::format("\nThe whole page: `clprobe explain {} --full`\n", probe.id);
}

std::string paragraph(const std::string& text, int width) {
  return fmt::format("{}\n", fmt::join(wrap(text, width), "\n"));
}

/// Returns the word without a number at its end: "arguments" for "arguments-4", "global" for
/// "global 1", "cache" for "cache-x8".
std::string_view without_number(std::string_view word) {
  const std::size_t end = word.find_last_not_of("x0123456789");
  const bool has_number = end != std::string_view::npos && (word[end] == '-' || word[end] == ' ');
  return has_number ? word.substr(0, end) : word;
}

/// Returns the definition of a parameter in an option's details: "of the tree, 1 to 9" from
/// "`nodes` (of the tree, 1 to 9)". Empty if the details do not define the parameter.
std::string_view parameter_text(std::string_view details, std::string_view parameter) {
  const std::string opening = fmt::format("`{}` (", parameter);
  const std::size_t begin = details.find(opening);
  if (begin == std::string_view::npos) return {};
  details.remove_prefix(begin + opening.size());
  return details.substr(0, details.find(')'));
}

/// Returns lines about the options that have `word` as their name, as a value, or as a parameter.
std::string lines_of(const std::vector<cli::Flag>& flags, std::string_view of,
                     std::string_view word, int width) {
  std::string text;
  const auto is_it = [word](std::string_view each) { return is_same_word(each, word); };
  for (const cli::Flag& flag : flags) {
    if (is_it(flag.name) || std::ranges::any_of(flag.choices, is_it)) {
      text += paragraph(fmt::format("--{}, an option{}: {}", flag.name, of, flag.summary), width);
    } else if (const auto parameter = parameter_text(flag.details, word); !parameter.empty()) {
      text += paragraph(
          fmt::format("{}, set by --{}, an option{}: {}", word, flag.name, of, parameter), width);
    }
  }
  return text;
}

/// Returns lines about the findings, series and options of a probe that have the name `word`. If no
/// finding or series has it, the lines include the texts of the page's method that define it.
std::string lines_of(const Probe& probe, std::string_view word, int width) {
  std::string text;
  const std::string_view page = embedded_file(fmt::format("{}.md", probe.id));
  for (const std::string& each : finding_texts(page, word)) {
    text += paragraph(fmt::format("{} reports the finding {}", probe.id, each), width);
  }
  for (const Series& each : probe.series) {
    if (!is_same_word(without_number(each.name), without_number(word))) continue;
    text +=
        paragraph(fmt::format("{}, a series of {}: {}", each.name, probe.id, each.summary), width);
  }
  const bool has_meaning = !text.empty();
  text += lines_of(cli::ProbeFlags(probe).flags, fmt::format(" of {}", probe.id),
                   without_number(word), width);
  if (!has_meaning) {
    for (const std::string& each : method_texts(page, word)) {
      text += paragraph(fmt::format("{}: {}", probe.id, each), width);
    }
  }
  if (text.empty()) return text;
  return text + fmt::format("`clprobe explain {} --full` describes the method.\n", probe.id);
}

cli::UsageError unknown(std::string_view word) {
  std::vector<std::string_view> words;
  std::ranges::transform(other_pages, std::back_inserter(words),
                         [](const OtherPage& page) { return page.word; });
  for (const Probe* const probe : all_probes()) {
    words.push_back(probe->id);
    for (const Series& each : probe->series) words.push_back(each.name);
    for (const FindingSpec& each : probe->findings) words.push_back(each.name);
  }
  const auto terms = terms_in(embedded_file("glossary.md"));
  for (const auto& names : terms) {
    words.insert(words.end(), names.begin(), names.end());
  }
  return cli::unknown_word("probe, page or term", word, words,
                           "`clprobe explain` lists all probes, pages and terms");
}

}  // namespace

std::string word_text(std::string_view word, const PageStyle& style) {
  // Only the text after a colon is explained: "L2" of "memory data: L2".
  const std::size_t colon = word.find(": ");
  if (colon != std::string_view::npos) word.remove_prefix(colon + 2);
  const std::string text = term_text(embedded_file("glossary.md"), word, style).value_or("");
  std::string more;
  for (const Probe* const probe : all_probes()) more += lines_of(*probe, word, style.width);
  if (replay_probe() != nullptr) more += lines_of(*replay_probe(), word, style.width);
  more += lines_of(cli::visible_flags(), "", word, style.width);
  const std::string warning = warning_text(word);
  if (!warning.empty()) more += paragraph(warning, style.width);
  return text + (text.empty() || more.empty() ? "" : "\n") + more;
}

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
  const std::string text =
      page != nullptr ? page_text(embedded_file(word + ".md"), style) : word_text(word, style);
  if (text.empty()) throw unknown(word);
  if (options.full) {
    throw cli::UsageError(
        "--full applies only to probes, since other pages have no short form: leave out --full");
  }
  terminal::show_page(text);
  return exit_ok;
}

}  // namespace clprobe::commands
