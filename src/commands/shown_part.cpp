// SPDX-License-Identifier: Apache-2.0
#include "commands/shown_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/options.hpp"
#include "commands/analyse_again.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t comma = std::min(list.find(','), list.size());
    words.emplace_back(list.substr(0, comma));
    if (comma == list.size()) return words;
    list.remove_prefix(comma + 1);
  }
}

void add(std::vector<std::string>& words, const std::string& word) {
  if (!word.empty() && !has(words, word)) words.push_back(word);
}

std::vector<std::string> probes_in(const std::vector<Run>& runs) {
  std::vector<std::string> there;
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) add(there, result.probe);
  }
  return there;
}

std::vector<std::string> series_in(const std::vector<Run>& runs) {
  std::vector<std::string> there;
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) {
      for (const Finding& finding : result.findings) add(there, finding.series);
      for (const Point& point : result.points) add(there, point.series);
    }
  }
  return there;
}

/// Without points and findings of other series.
void keep_series(ProbeResult& result, const std::vector<std::string>& series) {
  std::erase_if(result.points, [&](const Point& each) { return !has(series, each.series); });
  std::erase_if(result.findings, [&](const Finding& each) { return !has(series, each.series); });
  std::erase_if(result.warnings, [&](const Warning& each) {
    const std::string about = each.facts.text_or("series", "");
    return !about.empty() && !has(series, about);
  });
  make_card(result);
}

/// Whether it says how two probes disagree of which neither is shown.
bool is_between_others(const Warning& warning, const std::vector<std::string>& probes) {
  const std::string other = warning.facts.text_or("other_probe", "");
  return !other.empty() && !has(probes, other) && !has(probes, warning.facts.text_or("probe", ""));
}

bool is_empty(const ProbeResult& result) {
  return result.points.empty() && result.findings.empty();
}

}  // namespace

void refuse_part(std::string_view kind, const std::string& word,
                 const std::vector<std::string>& there) {
  throw cli::UsageError(fmt::format("no run contains the {} {}: choose from {}", kind, quote(word),
                                    quote(fmt::format("{}", fmt::join(there, ", ")))));
}

void keep_shown_part(std::vector<Run>& runs, const std::vector<std::string>& probes,
                     const std::string& series) {
  if (!probes.empty()) {
    const std::vector<std::string> there = probes_in(runs);
    for (const std::string& probe : probes) {
      if (!has(there, probe)) refuse_part("probe", probe, there);
    }
    for (Run& run : runs) {
      std::erase_if(run.results, [&](const ProbeResult& each) { return !has(probes, each.probe); });
      std::erase_if(run.warnings,
                    [&](const Warning& each) { return is_between_others(each, probes); });
    }
    std::erase_if(runs, [](const Run& run) { return run.results.empty(); });
  }
  if (series.empty()) return;
  const std::vector<std::string> wanted = split(series);
  const std::vector<std::string> there = series_in(runs);
  for (const std::string& each : wanted) {
    if (!has(there, each)) refuse_part("series", each, there);
  }
  for (Run& run : runs) {
    for (ProbeResult& result : run.results) keep_series(result, wanted);
    std::erase_if(run.results, is_empty);
  }
  std::erase_if(runs, [](const Run& run) { return run.results.empty(); });
}

}  // namespace clprobe::commands
