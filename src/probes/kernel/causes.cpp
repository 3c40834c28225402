// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/kernel_causes.hpp"
#include "clprobe/stacks.hpp"
#include "probes/kernel/gather.hpp"
#include "probes/kernel/shape.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::kernel {
namespace {

Finding share_of(std::string_view name, const std::string& series, double share,
                 const Interval& interval) {
  Finding finding =
      finding_of(name, series, "share", stack_view_shapley, share, interval.low, interval.high);
  finding.holds_scatter = true;
  return finding;
}

/// A cause by its name, whatever is known of it.
Finding finding_of_cause(const KernelCause& cause, const std::string& series) {
  const bool is_known = cause.state == CauseState::found || cause.state == CauseState::not_resolved;
  if (!is_known) {
    const std::string_view kind = cause.state == CauseState::refused ? "refused" : "not present";
    const std::string reason = cause.reason.empty() || cause.reason == kind
                                   ? std::string(kind)
                                   : fmt::format("{}: {}", kind, cause.reason);
    return without_value(cause.name, series, stack_view_shapley, reason, "share");
  }
  Finding finding = share_of(cause.name, series, cause.share, cause.share_interval);
  finding.reason = cause.reason;
  return finding;
}

/// The bar: its causes, what is left, and its time.
void add_stack(const KernelCauses& causes, const std::string& series, Findings& found) {
  const auto add = [&](std::string_view label, double share, const Interval& interval,
                       std::string reason) {
    Finding part = share_of(stack_part_name, series, share, interval);
    part.label = label;
    part.reason = std::move(reason);
    found.findings.push_back(std::move(part));
  };
  for (const KernelCause& each : causes.causes) {
    if (each.state == CauseState::found || each.state == CauseState::not_resolved) {
      add(each.gsi, each.share, each.share_interval, each.reason);
    }
  }
  const double whole = causes.total.ns;
  const Interval& left = causes.unattributed.interval;
  const Interval shares{left.low / whole, left.high / whole};
  // Causes that are not resolved may be less than nothing, and leave a little more than the whole.
  const bool is_whole = causes.unattributed_share > 1.0 && shares.low <= 1.0;
  add(stack_remainder, is_whole ? 1.0 : causes.unattributed_share, shares, {});
  Finding time = finding_of(stack_time_name, series, "seconds", stack_view_shapley,
                            whole / ns_per_second, causes.total.interval.low / ns_per_second,
                            causes.total.interval.high / ns_per_second);
  time.holds_scatter = true;
  found.findings.push_back(std::move(time));
}

void add_interactions(const KernelCauses& causes, const std::string& series, Findings& found) {
  for (const KernelInteraction& each : causes.interactions) {
    Finding both = share_of(stack_interaction_name, series, each.share, each.share_interval);
    both.method = "interaction cost";
    both.label = fmt::format("{} + {}", each.first, each.second);
    if (!each.is_resolved) both.reason = "not resolved: within two sigma of 0";
    found.findings.push_back(std::move(both));
  }
}

void add_spread(const WindowSpread& spread, const std::string& series, Findings& found) {
  Finding finding = finding_of("window_spread", series, "share", "working-set reduction",
                               spread.share, spread.share_interval.low, spread.share_interval.high);
  finding.label = fmt::format("of {} choices of groups", spread.windows);
  if (!spread.is_resolved) finding.reason = "not resolved: within two sigma of 0";
  found.findings.push_back(std::move(finding));
}

void add_near_waits(const NearWaits& waits, const std::string& series, Findings& found) {
  Finding finding = finding_of("near_waits", series, "share", "copies side by side", waits.share,
                               waits.share_interval.low, waits.share_interval.high);
  finding.holds_scatter = true;
  finding.reason = waits.reason;
  found.findings.push_back(std::move(finding));
}

void add_believed(const KernelCauses& causes, const std::string& series, Findings& found) {
  if (causes.folding) {
    const auto groups = static_cast<double>(causes.folding->fastest_groups);
    found.findings.push_back(
        finding_of("least_groups", series, {}, "working-set reduction", groups, groups, groups));
  }
  if (causes.window_spread) add_spread(*causes.window_spread, series, found);
  for (const KernelCause& each : causes.causes) {
    found.findings.push_back(finding_of_cause(each, series));
  }
  if (causes.near_waits) add_near_waits(*causes.near_waits, series, found);
  if (causes.total.ns > 0.0) add_stack(causes, series, found);
  add_interactions(causes, series, found);
}

/// Nothing but why.
KernelCauses doubted(std::string why) {
  KernelCauses causes{.doubt = std::move(why)};
  causes.advice = doubt_advice(causes.doubt);
  return causes;
}

}  // namespace

KernelCauses add_causes(const DeviceInfo& device, std::span<const Point> points,
                        const std::string& label, Findings& found) {
  const Gathered gathered = gather(device, points, label);
  // The curve is that of the series.
  const std::string series = label + std::string(folded_suffix);
  if (gathered.times.plain_ns.empty()) return {};
  if (gathered.times.identity_ns.empty()) {
    for (const KernelFactorState& each : gathered.times.factors) {
      if (each.factor != KernelFactor::memory || each.absence != FactorAbsence::refused) continue;
      found.findings.push_back(
          without_value("memory", label, stack_view_shapley, "refused: " + each.reason, "share"));
      return doubted(each.reason);
    }
    return {};
  }
  try {
    KernelCauses causes = find_kernel_causes(gathered.times, gathered.folding);
    if (gathered.bare_runs) add_chains(*gathered.bare_runs, causes);
    const Interval& interval = causes.instrument_interval;
    Finding ratio = finding_of("instrument_ratio", series, {}, "instrumentation without changes",
                               causes.instrument_ratio, interval.low, interval.high);
    if (causes.is_believed) {
      ratio.reason = instrument_reason(interval);
      found.findings.push_back(std::move(ratio));
      add_believed(causes, series, found);
      return causes;
    }
    found.findings.push_back(std::move(ratio));
    found.findings.push_back(without_value(stack_part_name, series, stack_view_shapley,
                                           "not reliable: " + causes.doubt, "share"));
    return causes;
  } catch (const AblationError& error) {
    found.findings.push_back(
        without_value(stack_part_name, series, stack_view_shapley, error.what(), "share"));
    return doubted(error.what());
  }
}

}  // namespace clprobe::kernel
