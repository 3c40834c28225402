// SPDX-License-Identifier: Apache-2.0
// What a warning means and what to do about it. A warning is a code with facts; this table is the
// only place with prose, so that a better sentence also improves old files.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "clprobe/report.hpp"
#include "report/findings.hpp"

namespace clprobe {
namespace {

/// `{fact}` is replaced by the fact, in its unit. A template of which a fact is missing is not
/// used.
struct Prose {
  std::string_view code;
  std::string_view seen;
  std::string_view advice;
};

constexpr std::array prose{
    Prose{"clock_refused", "the in-kernel clock {clock} was tried and not accepted: {reason}",
          "times come from whole launches; short latencies are less exact"},
    Prose{"clock_drift", "the device's speed changed by {drift_share} during the run",
          "close other programs, lock the clocks, or repeat with --thorough"},
    Prose{"clock_uncalibrated", "the device clock could not be compared with a timer: {reason}",
          "read the cycles, not the nanoseconds"},
    Prose{"event_times_false", "the driver's event times do not grow with the work: {reason}",
          "the host's clock is used instead; expect wider intervals"},
    Prose{"timer_too_coarse", "the timer counts in steps of {quantum_ns}",
          "repeat with --thorough, which makes each launch longer"},
    Prose{"wide_intervals",
          "{points} of {of_points} points did not settle; the widest interval is {widest_share}",
          "something else uses the device; close it, or repeat with --thorough"},
    Prose{"budget_used", "the time was used up before {points} of {of_points} points settled",
          "give more with --time-budget, or measure fewer --sizes"},
    Prose{"witness_wrong", "{points} points computed a wrong result, and are not used: {reason}",
          "the compiler or the device is at fault; try another driver version or --address index"},
    Prose{"device_lost", "the driver ended or hung at {point}: {reason}",
          "what was measured before is kept; leave this size out with --sizes"},
    Prose{"small_pages", "the system gave pages of {page_bytes}, not huge ones",
          "beyond the TLB's reach the times include page walks; see "
          "/sys/kernel/mm/transparent_hugepage"},
    Prose{"too_fast", "{series} at {working_set_bytes} is faster than the device can be: {reason}",
          "do not trust this point; please report it with the JSON file"},
    Prose{"two_modes", "{points} points have two typical times {apart_share} apart",
          "a shared or frequency-scaled device does this; repeat when it is idle"},
    Prose{"size_refused", "{series} was measured up to {working_set_bytes}: {reason}",
          "the driver keeps the rest of {limit_bytes} for itself"},
    Prose{"memory_limited", "working sets end at {working_set_bytes}: {reason}",
          "raise --max-memory to see further"},
    Prose{"address_form", "{asked} addresses do not work on this device; {used} are used",
          "latency includes the address computation of that form"},
};

std::string normalised(std::string_view code) {
  std::string text(code);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

// Nothing when a fact is missing.
std::optional<std::string> filled(std::string_view text, const Parameters& facts) {
  std::string result;
  while (true) {
    const std::size_t open = text.find('{');
    result += text.substr(0, open);
    if (open == std::string_view::npos) return result;
    const std::size_t close = text.find('}', open);
    const std::string_view name = text.substr(open + 1, close - open - 1);
    const Value* const value = facts.find(name);
    if (value == nullptr) return std::nullopt;
    result += report::parameter_text(name, *value);
    text.remove_prefix(close + 1);
  }
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

}  // namespace

std::string describe_warning(const Warning& warning) {
  const std::string code = normalised(warning.code);
  const auto* const known = std::find_if(prose.begin(), prose.end(),
                                         [&](const Prose& each) { return each.code == code; });
  if (known == prose.end()) return listed(warning.code, warning.facts);
  const std::string seen =
      filled(known->seen, warning.facts).value_or(listed(warning.code, warning.facts));
  const std::string advice = filled(known->advice, warning.facts).value_or("");
  return advice.empty() ? seen : fmt::format("{}; {}", seen, advice);
}

}  // namespace clprobe
