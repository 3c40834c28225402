// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "clprobe/registry.hpp"
#include "commands/pages.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

/// "arguments" and "arguments-" are not "arguments-4", but what is before its number is.
bool is_of_numbered(std::string_view word, std::string_view series) {
  const std::size_t dash = series.rfind('-');
  if (dash == std::string_view::npos || series.substr(0, dash) != word) return false;
  const std::string_view number = series.substr(dash + 1);
  return !number.empty() && std::all_of(number.begin(), number.end(),
                                        [](char each) { return each >= '0' && each <= '9'; });
}

}  // namespace

std::string series_text(std::string_view word, int width) {
  std::string text;
  for (const Probe* const probe : all_probes()) {
    std::string of_probe;
    for (const Series& series : probe->series) {
      if (series.name != word && !is_of_numbered(word, series.name)) continue;
      const std::string line =
          fmt::format("{}, a series of {}: {}", series.name, probe->id, series.summary);
      of_probe += fmt::format("{}\n", fmt::join(wrap(line, width), "\n"));
    }
    if (of_probe.empty()) continue;
    text += fmt::format("{}`clprobe explain {} --full` says how it is measured.\n", of_probe,
                        probe->id);
  }
  return text;
}

}  // namespace clprobe::commands
