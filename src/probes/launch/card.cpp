// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/card.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "probes/launch/series.hpp"
#include "probes/shared/card_parts.hpp"

namespace clprobe::launch {
namespace {

/// The time behind or before some words; empty where it was not found.
std::string time_of(const ProbeResult& result, std::string_view name, std::string_view series,
                    std::string_view words) {
  const Finding* const found = find_value(result.findings, name, series);
  return found == nullptr ? std::string()
                          : fmt::format(fmt::runtime(words), format_seconds(*found->value));
}

/// "event +0.41 µs": of a cost that is surely above 0, or below.
std::string sure_cost(const Finding& cost) {
  if (cost.low.value_or(*cost.value) <= 0.0 && cost.high.value_or(*cost.value) >= 0.0) return {};
  return fmt::format("{} {}{}", cost.series, *cost.value > 0.0 ? "+" : "",
                     format_seconds(*cost.value));
}

/// A line, "alone 30.1 µs, in a queue 1.32 µs".
std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) append(text, ", ", part);
  return text;
}

void add_row(Card& card, std::string_view topic, std::string text) {
  if (!text.empty()) card.rows.push_back({std::string(topic), std::move(text)});
}

}  // namespace

Card card(const ProbeResult& result) {
  Card card;
  const std::string alone = time_of(result, "round_trip", queued_series, "{} alone");
  const std::string queued = time_of(result, "launch_time", queued_series, "{} in a queue");
  const std::string gap = time_of(result, "gap", gap_series, "gap of {} on the device");
  std::string line = joined({alone, queued, gap});
  if (!line.empty()) card.lines.push_back({"launch", std::move(line)});

  add_row(card, "alone",
          joined({time_of(result, "round_trip", queued_series, "{}"),
                  time_of(result, "slow_round_trip", queued_series, "one in 100 {}"),
                  time_of(result, "cold_round_trip", idle_series, "after idling {}")}));
  add_row(card, "queued",
          joined({time_of(result, "launch_time", queued_series, "{} a launch"),
                  time_of(result, "gap", gap_series, "gap of {} on the device")}));
  std::string extras;
  for (const Finding& each : result.findings) {
    if (each.name == "extra_cost" && each.value) append(extras, ", ", sure_cost(each));
    if (!each.value) card.unseen.push_back(fmt::format("launches {}", each.series));
  }
  add_row(card, "more", std::move(extras));
  add_row(card, "first",
          joined({time_of(result, "build_time", build_series, "build {}"),
                  time_of(result, "build_time", build_again_series, "again {}"),
                  time_of(result, "first_launch", local_size_series, "new group size {}")}));
  return card;
}

}  // namespace clprobe::launch
