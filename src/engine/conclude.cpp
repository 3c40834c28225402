// SPDX-License-Identifier: Apache-2.0
#include "engine/conclude.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "clprobe/scatter.hpp"
#include "engine/sampler.hpp"

namespace clprobe {
namespace {

/// A point without a sample and without a failure says nothing: the run ended before it.
void drop_unvisited(const Ending& ended, ProbeResult& result) {
  const auto planned = static_cast<std::int64_t>(result.points.size() - ended.refusals.size());
  std::erase_if(result.points,
                [](const Point& point) { return point.samples.empty() && point.failure.empty(); });
  const auto measured = static_cast<std::int64_t>(result.points.size());
  if (measured < planned && ended.is_done) {
    result.warnings.push_back(
        {"time_budget_short", {{"measured", measured}, {"planned", planned}}});
  }
}

/// Points of a series that are refused for the same reason share a warning.
void warn_of(const Refusal& refusal, ProbeResult& result) {
  for (Warning& warning : result.warnings) {
    const bool is_same = warning.code == "point_refused" &&
                         warning.facts.text_or("series", "") == refusal.series &&
                         warning.facts.text_or("reason", "") == refusal.reason;
    if (!is_same) continue;
    warning.facts.set("points", warning.facts.integer_or("points", 1) + 1);
    return;
  }
  result.warnings.push_back(
      {"point_refused",
       {{"series", refusal.series}, {"reason", refusal.reason}, {"points", std::int64_t{1}}}});
}

/// A series of which all points were refused is a finding, one of which some were a warning.
void report_refusals(const Probe& probe, const Ending& ended, ProbeResult& result) {
  for (const Refusal& refusal : ended.refusals) {
    const auto is_same = [&](const auto& each) { return each.series == refusal.series; };
    if (std::any_of(result.points.begin(), result.points.end(), is_same)) {
      warn_of(refusal, result);
    } else if (std::none_of(result.findings.begin(), result.findings.end(), is_same)) {
      Finding finding;
      finding.name = probe.id;
      finding.series = refusal.series;
      finding.source = Source::reported;
      finding.method = "plan";
      finding.reason = refusal.reason;
      result.findings.push_back(std::move(finding));
    }
  }
}

/// Why nothing was measured: what most series say, since one may lack something of its own.
std::string usual_reason(std::span<const Finding> findings) {
  const Finding* usual = nullptr;
  std::ptrdiff_t most = 0;
  for (const Finding& each : findings) {
    if (each.reason.empty()) continue;
    const auto same = std::count_if(findings.begin(), findings.end(), [&](const Finding& other) {
      return other.reason == each.reason;
    });
    if (same <= most) continue;
    most = same;
    usual = &each;
  }
  return usual == nullptr ? "nothing to measure" : usual->reason;
}

/// How it ended, and why not well.
void report_status(const Ending& ended, ProbeResult& result) {
  const auto has_failed = [](const Point& point) { return !point.failure.empty(); };
  const auto failed = std::count_if(result.points.begin(), result.points.end(), has_failed);
  const auto is_lost_again = [](const Point& point) {
    return point.facts.find(later_failure) != nullptr;
  };
  const auto lost_again = std::count_if(result.points.begin(), result.points.end(), is_lost_again);
  if (!ended.is_done) {
    result.status = Status::interrupted;
    result.reason = "results measured until then are kept";
  } else if (failed > 0) {
    const auto first = std::find_if(result.points.begin(), result.points.end(), has_failed);
    result.status = Status::failed;
    result.reason = fmt::format("{} of {} failed; first failure: {}", failed,
                                format_count(result.points.size(), "point"), first->failure);
  } else if (lost_again > 0) {
    const auto first = std::find_if(result.points.begin(), result.points.end(), is_lost_again);
    result.status = Status::failed;
    result.reason = fmt::format("{} failed when measured again; first failure: {}",
                                format_count(static_cast<std::uint64_t>(lost_again), "point"),
                                first->facts.text_or(later_failure, ""));
  } else if (result.points.empty()) {
    result.status = Status::unsupported;
    result.reason = usual_reason(result.findings);
  }
}

}  // namespace

/// Both parts are counted in steps of their own, so that their difference may be below 0.
double others_share(const CoreUse& use) {
  const double all_s = use.busy_s + use.idle_s;
  return all_s > 0.0 ? std::clamp((use.busy_s - use.own_s) / all_s, 0.0, 1.0) : 0.0;
}

void conclude(const Probe& probe, const DeviceInfo& device, const Ending& ended,
              ProbeResult& result) {
  drop_unvisited(ended, result);
  result.method = probe.method;
  if (probe.derive != nullptr) probe.derive(result.points);
  Findings found = probe.analyse(device, result.points);
  result.findings = std::move(found.findings);
  result.findings.insert(result.findings.end(), ended.known.begin(), ended.known.end());
  result.warnings.insert(result.warnings.end(), found.warnings.begin(), found.warnings.end());
  report_refusals(probe, ended, result);
  declare(probe, result);
  if (auto scatter = find_scatter(result.points, device)) {
    result.warnings.push_back(std::move(*scatter));
  }
  if (const auto drift = drift_of(ended.speeds_ns)) {
    result.warnings.push_back({"clock_drift", {{"drift_share", *drift}}});
  }
  report_status(ended, result);
}

}  // namespace clprobe
