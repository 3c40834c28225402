// SPDX-License-Identifier: Apache-2.0
// How many banks, and what a conflict costs: beside the level of local memory where the card has
// one.
#include "probes/banks/card.hpp"
#include "probes/banks/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "probes/banks/congestion_findings.hpp"
#include "probes/shared/card_parts.hpp"

namespace clprobe::banks {
namespace {

std::string amount(const Finding& finding) {
  return finding.unit == "seconds" ? format_seconds(*finding.value)
                                   : format_number(*finding.value) + " cycles";
}

/// "load-latency" and "4 B" of "load-latency 4 B".
struct Access {
  std::string kind{};
  std::string word{};
};

Access access_of(const std::string& series) {
  const std::size_t space = series.find(' ');
  if (space == std::string::npos) return {series, {}};
  return {series.substr(0, space), series.substr(space + 1)};
}

/// "4 B, 8 B" with the unit once: "4, 8 B".
std::string without_repeats(std::string text, std::string_view unit) {
  const std::string between = std::string(unit) + ",";
  for (std::size_t at = text.find(between); at != std::string::npos; at = text.find(between, at)) {
    text.erase(at, unit.size());
  }
  return text;
}

/// "2.00" of "2.00 cycles", which stand before it.
std::string without_unit(const std::string& cost) {
  const std::size_t at = cost.find(" cycles");
  return cost.substr(0, at);
}

/// "23.3, 31.5, 41.4 cycles at 4, 8, 16 B; 2.00 more per way": a row per kind of access.
struct Kind {
  std::string name{};
  std::string times{};
  std::string words{};
  std::string cost{};
};

std::vector<CardLine> rows_of(const ProbeResult& result) {
  std::vector<Kind> kinds;
  for (const std::string& series : series_in(result.findings)) {
    const Finding* const alone = find_value(result.findings, "conflict_free", series);
    if (alone == nullptr) continue;
    const Access access = access_of(series);
    if (kinds.empty() || kinds.back().name != access.kind) {
      const Finding* const cost = find_value(result.findings, "cost_per_way", series);
      kinds.push_back({.name = access.kind});
      if (cost != nullptr) kinds.back().cost = amount(*cost);
    }
    append(kinds.back().times, ", ", amount(*alone));
    append(kinds.back().words, ", ", access.word);
  }
  std::vector<CardLine> rows;
  for (const Kind& each : kinds) {
    std::string text = fmt::format("{} at {}", without_repeats(each.times, " cycles"),
                                   without_repeats(each.words, " B"));
    if (!each.cost.empty()) {
      text += fmt::format("; {} more per way", without_unit(each.cost));
    }
    rows.push_back({each.name, std::move(text)});
  }
  return rows;
}

}  // namespace

Card card(const ProbeResult& result) {
  Card card{.rows = rows_of(result), .plots = model_plots(result)};
  card.titles.emplace(of_memory, of_memory);
  const Finding* const banks = find_value(result.findings, "banks");
  if (banks == nullptr) {
    // Nobody has looked for them where only tiles were transposed.
    const bool is_asked = std::any_of(
        result.findings.begin(), result.findings.end(),
        [](const Finding& each) { return each.name == "banks" || each.name == "conflict_free"; });
    const Finding* const why = find_finding(result.findings, "banks");
    std::string reason =
        why == nullptr ? "" : why->reason.substr(0, why->reason.find_first_of(":;"));
    if (!reason.empty()) reason = fmt::format(" ({})", reason);
    if (is_asked) card.unseen.push_back("banks of local memory" + reason);
    return card;
  }
  std::string text = fmt::format("{:.0f} banks", *banks->value);
  if (const Finding* const width = find_value(result.findings, "bank_width")) {
    text += fmt::format(" of {}", size_text(*width->value));
  }
  std::string alone = text;
  if (const Finding* const cost = find_value(result.findings, "cost_per_way")) {
    text += fmt::format(", conflict {}", amount(*cost));
    alone += fmt::format("; each additional conflict way costs {}", amount(*cost));
  }
  card.notes.push_back({CardMemory::local, std::move(text), {"local memory", std::move(alone)}});
  return card;
}

}  // namespace clprobe::banks
