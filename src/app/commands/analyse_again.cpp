// SPDX-License-Identifier: Apache-2.0
#include "app/commands/analyse_again.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "clprobe/registry.hpp"
#include "compare/api/disturbance.hpp"

namespace clprobe::commands {
namespace {

bool is_array(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '[';
}

}  // namespace

void make_card(ProbeResult& result) {
  const Probe* const probe = find_probe(result.probe);
  if (probe == nullptr) return;
  if (probe->card != nullptr) result.card = probe->card(result);
  for (const Series& each : probe->series) {
    const std::string_view title = each.title.empty() ? each.summary : each.title;
    result.card.titles.emplace(each.name, title);
    const std::string prefix =
        std::string(each.name) + " ";  // a word size or a layout follows in the series name
    for (const Finding& of : result.findings) {
      if (!of.series.starts_with(prefix)) continue;
      result.card.titles.emplace(of.series,
                                 fmt::format("{}, {}", title, of.series.substr(prefix.size())));
    }
  }
}

void conclude(Run& run) {
  forget_disturbance(run);
  tell_disturbance(run);
  hold_disturbance(run);
  tell_agreement(all_probes(), run);
  for (ProbeResult& result : run.results) {
    const Probe* const probe = find_probe(result.probe);
    if (probe != nullptr && probe->combine != nullptr) probe->combine(result.findings);
    make_card(result);
  }
}

void analyse_again(Run& run) {
  for (std::size_t i = 0; i < run.results.size(); ++i) {
    ProbeResult& result = run.results[i];
    const Probe* const probe = find_probe(result.probe);
    if (probe == nullptr) continue;
    try {
      clprobe::analyse_again(*probe, run.device, result);
    } catch (const RunFormatError& error) {
      throw RunFormatError(fmt::format("results[{}].{}", i, error.what()));
    }
  }
  conclude(run);
}

std::vector<Run> analysed_runs_from_json(std::string_view text) {
  std::vector<Run> runs = runs_from_json(text);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    try {
      analyse_again(runs[i]);
    } catch (const RunFormatError& error) {
      throw RunFormatError(is_array(text) ? fmt::format("[{}].{}", i, error.what()) : error.what());
    }
  }
  return runs;
}

}  // namespace clprobe::commands
