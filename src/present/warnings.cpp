// SPDX-License-Identifier: Apache-2.0
// Texts of warnings. A run file stores a warning as a code with facts, so a later version of
// clprobe shows its own text for warnings in old files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "present/api/explain.hpp"
#include "present/api/report.hpp"
#include "present/device_text.hpp"
#include "present/findings.hpp"

namespace clprobe {
namespace {

/// Text of a warning. `{fact}` stands for the value of that fact in its unit. `{fact noun}` stands
/// for a number and the noun, which is in the plural unless the number is 1. If the warning lacks a
/// fact that a template names, the template is not used.
struct WarningText {
  std::string_view code;
  std::string_view brief;  // kind on a card; empty: the code's words
  std::string_view seen;
  std::string_view advice;
};

constexpr std::string_view end_advice =
    "possible causes: merged requests, or parts of a cache that only some compute units reach; "
    "see `clprobe explain {probe}`";

constexpr std::array warning_texts{
    WarningText{"clock_refused", "no in-kernel clock",
                "the in-kernel clock {clock} failed its test: {reason}",
                "clprobe times whole launches instead, so short latencies are less precise"},
    WarningText{"event_times_false", "false event times",
                "the driver's event times are wrong: {reason}",
                "clprobe uses the host's clock instead; expect wider intervals"},
    WarningText{"pointers_refused", "no pointers in memory",
                "pointers stored in memory failed their test: {reason}",
                "pointer chases use an index instead, and computing the index adds to the latency"},
    WarningText{"calibration_failed", "uncalibrated ticks",
                "the device's clock could not be calibrated: {reason}",
                "use the values in cycles, not those in nanoseconds"},
    WarningText{"calibration_poor", "poor calibration",
                "the clock rate is uncertain by {width_share}",
                "this error affects all values in nanoseconds, but none in cycles; rerun on an "
                "idle machine"},
    WarningText{"clock_drift",
                {},
                "the device's speed changed by {drift_share} during the run",
                "close other programs, lock the clocks, or repeat with --thorough"},
    WarningText{"drift_not_followed", "drift not tracked",
                "the reference point that detects speed changes failed: {reason}",
                "clprobe would not notice a change of speed; repeat the run"},
    WarningText{"wide_intervals", "scattering samples",
                "the samples of {points} of {of_points point} scatter by up to {widest_share}",
                "--thorough takes more samples per point"},
    WarningText{"reference_changed", "a changing speed",
                "the time of the reference point ({kind}: {series} of {probe}) changed by up to "
                "{changed_share}",
                "perhaps another program uses the device; the intervals allow for changes by a "
                "factor of {allowed_factor}"},
    WarningText{
        "cores_shared", "shared cores",
        "other processes used {others_share} of the CPU while {probe} measured",
        "close other programs; intervals allow only for the changes that reference points showed"},
    WarningText{
        "end_not_shared", "levels that disagree",
        "{probe} sees a level end at {ends_at_bytes} ({series}); {other_probe} sees none nearby "
        "({other_series}, nearest: {nearest_bytes})",
        end_advice},
    WarningText{"end_of_one_level", "levels that disagree",
                "{probe} sees a level end at {ends_at_bytes} ({series}); {other_probe} sees none "
                "({other_series})",
                end_advice},
    WarningText{"replay_unlike_app", "a replay unlike the program",
                "a replay of {series} takes {replay_ratio} times as long as the program's launch",
                "caches, clocks or concurrent work differed in the program; the shares describe "
                "the replay only"},
    WarningText{
        "launch_unlike_mean", "a launch unlike the others",
        "the captured launch of {series} took {app_ns}, but the program's launches of this "
        "kernel take {mean_ns} on average",
        "the causes can differ in other launches; capture another launch with --kernel NAME:N"},
    WarningText{
        "replay_not_deterministic", "non-deterministic results",
        "two replays of {series} differ in {differing_share} of the bytes that the kernel writes",
        "the kernel's order of work varies, so its results cannot be compared with the program's"},
    WarningText{
        "other_version_differs", "different results",
        "this version of {series} writes floats to {buffers} that differ from the program's",
        "sums in another order round differently; check the results yourself"},
    WarningText{"time_budget_short", "a short time budget",
                "the time budget was reached after {measured} of {planned point}",
                "raise --time-budget"},
    WarningText{"point_refused", "refused points", "{series}: {reason}",
                "the other points were measured"},
    WarningText{"device_failed",
                {},
                "the device could not be opened: {reason}",
                "`clprobe list` shows the devices"},
    WarningText{"small_pages",
                {},
                "the system provided pages of {page_bytes}, not huge pages",
                "beyond the TLB's reach, the times include page walks; see "
                "/sys/kernel/mm/transparent_hugepage"},
    WarningText{"columns_ignored", "ignored columns",
                "the columns '{size}' and '{latency}' were read; ignored: {ignored}",
                "to read other columns, name them in a header such as 'Size (KiB),Latency (ns)'"},
    WarningText{"too_fast", "impossible times",
                "{series} takes {latency_ns} per access: no memory is that fast",
                "do not trust this series; please report it with the JSON file"},
    WarningText{"rate_too_high", "impossible rates",
                "{series} moves {rate_bytes_per_second}, but the device's compute units can move "
                "at most {max_bytes_per_second} at their clock rate",
                "do not trust this series; please report it with the JSON file"},
    WarningText{"above_reported_peak", "more than the reported peak",
                "memory was read at {peak_share} of the reported peak of {peak_bytes_per_second} "
                "({bus_bits bit} at {clock_mhz} MHz)",
                "the reported memory clock or bus width is wrong, or a cache served part of the "
                "accesses: repeat with larger --sizes"},
    WarningText{"narrow_link", "a slow link to the host",
                "during transfers the link was {link}, but its maximum is {max_link}",
                "reseat the card; check the slot, its riser and the BIOS settings"},
};

std::string normalised(std::string_view code) {
  std::string text(code);
  std::ranges::replace(text, '-', '_');
  return text;
}

/// Returns a template with the values of the facts; nothing if a fact is missing. If `facts` is
/// empty, each value is "...".
std::optional<std::string> filled(std::string_view text, const Parameters& facts) {
  static const Value left_out{std::string("...")};
  std::string result;
  while (true) {
    const std::size_t open = text.find('{');
    result += text.substr(0, open);
    if (open == std::string_view::npos) return result;
    const std::size_t close = text.find('}', open);
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    const std::string_view name = inside.substr(0, inside.find(' '));
    const Value* const value = facts.empty() ? &left_out : facts.find(name);
    if (value == nullptr) return std::nullopt;
    const std::string_view noun = inside.substr(std::min(inside.size(), name.size() + 1));
    const auto* const count = std::get_if<std::int64_t>(value);
    if (!noun.empty() && count != nullptr && *count >= 0) {
      result += format_count(static_cast<std::uint64_t>(*count), noun);
    } else {
      result += report::parameter_text(name, *value);
      if (!noun.empty()) result += fmt::format(" {}s", noun);
    }
    text.remove_prefix(close + 1);
  }
}

const WarningText* find_text(std::string_view code) {
  const auto* const known = std::ranges::find(warning_texts, normalised(code), &WarningText::code);
  return known == warning_texts.end() ? nullptr : &*known;
}

std::string listed(std::string_view code, const Parameters& facts) {
  std::string text = report::words(code);
  std::string_view separator = ": ";
  for (const auto& [name, value] : facts) {
    text += fmt::format("{}{} {}", separator, report::parameter_title(name),
                        report::parameter_text(name, value));
    separator = ", ";
  }
  return text;
}

/// Returns a sentence with "#" in place of each number, so that sentences that differ only in
/// numbers are equal.
std::string without_numbers(std::string_view sentence) {
  std::string text;
  for (const char c : sentence) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) text += c;
    if (is_digit && !text.ends_with('#')) text += '#';
  }
  return text;
}

}  // namespace

namespace report {

std::vector<std::string> warning_sentences(std::span<const Warning> warnings) {
  constexpr std::size_t max_alike = 3;
  std::vector<std::string> all;
  std::map<std::string, std::vector<std::size_t>> alike;
  for (const Warning& warning : warnings) {
    all.push_back(describe_warning(warning));
    alike[without_numbers(all.back())].push_back(all.size() - 1);
  }
  std::vector<bool> is_left_out(all.size(), false);
  for (const auto& [sentence, places] : alike) {
    if (places.size() <= max_alike) continue;
    for (const std::size_t place : places) is_left_out[place] = place != places.front();
    all[places.front()] += fmt::format(" (and {} similar warnings)", places.size() - 1);
  }
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_left_out[i]) sentences.push_back(std::move(all[i]));
  }
  return sentences;
}

std::string brief_warning(std::string_view code) {
  const WarningText* const known = find_text(code);
  return known == nullptr || known->brief.empty() ? words(code) : std::string(known->brief);
}

}  // namespace report

std::string warning_text(std::string_view title) {
  for (const WarningText& each : warning_texts) {
    const std::string own = report::brief_warning(each.code);
    if (!is_same_word(own, title) && !is_same_word(each.code, title)) continue;
    return fmt::format("{}, a warning: {}; {}", own, filled(each.seen, {}).value(),
                       filled(each.advice, {}).value());
  }
  return "";
}

std::string describe_warning(const Warning& warning) {
  const WarningText* const known = find_text(warning.code);
  if (known == nullptr) return listed(warning.code, warning.facts);
  const std::string seen =
      filled(known->seen, warning.facts).value_or(listed(warning.code, warning.facts));
  const std::string advice = filled(known->advice, warning.facts).value_or("");
  return advice.empty() ? seen : fmt::format("{}; {}", seen, advice);
}

}  // namespace clprobe
