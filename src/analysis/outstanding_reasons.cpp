// SPDX-License-Identifier: Apache-2.0
#include "analysis/outstanding_reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "clprobe/units.hpp"

namespace clprobe {
namespace {

std::string words(const CountRange& range) {
  if (range.low == range.high) return std::to_string(range.low);
  return std::to_string(range.low) + " to " + std::to_string(range.high);
}

std::string words(const LoadPattern& pattern) {
  std::string text = std::to_string(pattern.loads) + (pattern.loads == 1 ? " load" : " loads");
  if (pattern.merger > 1) {
    text += ", " + std::to_string(pattern.merger) +
            (pattern.mode == MergerMode::within ? " work-items" : " sub-groups") + " a line";
  }
  return text + (pattern.target.empty() ? "" : ", " + pattern.target);
}

std::string of_curves(std::size_t count, std::size_t all) {
  return std::to_string(count) + " of " + std::to_string(all) + (all == 1 ? " spike" : " spikes");
}

std::string describe_pool(std::span<const CurveFinding> curves, const Hypothesis& pool,
                          std::size_t spikes) {
  if (!pool.range) return "No spike is where further lines are asked for, as a pool would have it";
  std::string text = "A pool of " + words(*pool.range) + " requests explains " +
                     of_curves(pool.supporters.size(), spikes);
  if (!pool.merge_limited.empty()) {
    text += ", full merge lists " + std::to_string(pool.merge_limited.size()) + " more";
  }
  if (!pool.is_possible()) text += ", but more were in flight";
  if (!pool.against.empty()) {
    const CurveFinding& other = curves[pool.against.front()];
    text += "; not that of " + words(other.pattern) + " behind " +
            std::to_string(other.spike->gap.before) + " work-items";
  }
  return text;
}

std::string describe_table(std::span<const CurveFinding> curves, int sub_group,
                           const Hypothesis& table, std::size_t spikes) {
  std::string text = table.range
                         ? "A table of " + words(*table.range) + " load instructions explains " +
                               of_curves(table.supporters.size(), spikes)
                         : std::string("A table of load instructions explains no spike");
  if (table.range && !table.is_possible()) text += ", but more were in flight";
  if (table.against.empty()) return text;
  const CurveFinding& other = curves[table.against.front()];
  text += "; not that of " + words(other.pattern) + " behind " +
          std::to_string(other.spike->gap.before) + " work-items";
  if (!instruction_range(other, sub_group)) text += ", which is in the middle of a sub-group";
  return text;
}

std::string describe_silence(const Hypothesis& hypothesis, std::string_view what) {
  const std::size_t curves = hypothesis.silent.size();
  return format_count(curves, "more curve") + " would show such a " + std::string(what) +
         (curves == 1 ? " and has no spike" : " and have no spike");
}

/// Spikes of targets that were not asked, since they agree on nothing.
std::string describe_others(std::span<const CurveFinding> all,
                            std::span<const CurveFinding> curves) {
  std::set<std::string> asked;
  for (const CurveFinding& curve : curves) asked.insert(curve.pattern.target);
  std::set<std::string> others;
  std::size_t spikes = 0;
  for (const CurveFinding& curve : all) {
    if (!curve.spike || asked.contains(curve.pattern.target)) continue;
    others.insert(curve.pattern.target);
    ++spikes;
  }
  if (spikes == 0) return {};
  return fmt::format("the {} of {} agree on nothing", spikes == 1 ? "spike" : "spikes",
                     fmt::join(others, ", "));
}

std::string describe_bound(std::int64_t requests, std::int64_t instructions) {
  if (requests == 0) return "no lower bound: no curve was measured";
  return "by Little's law at least " + std::to_string(requests) + " requests and " +
         std::to_string(instructions) + " load instructions are outstanding at once";
}

std::string describe_step(const GroupStep& step, std::size_t spikes) {
  return of_curves(step.spikes, spikes) + " are behind " + words(step.work_items) +
         " work-items whatever these load: what the work-group itself costs there";
}

std::string first_reason(const OutstandingLimit& limit, std::span<const CurveFinding> curves,
                         const WeighedLimits& judgement) {
  const std::size_t spikes = judgement.spikes;
  switch (limit.kind) {
    case OutstandingKind::ambiguous:
      return spikes == 1 ? "One spike alone does not tell a pool from a table"
                         : "Every spike is where a pool and a table would both have it: other "
                           "numbers of loads or mergers are needed";
    case OutstandingKind::neither:
      return "The spikes agree neither on a number of requests nor on one of load instructions";
    case OutstandingKind::unobservable:
      break;
    case OutstandingKind::request_pool:
    case OutstandingKind::request_table:
      return {};
  }
  if (curves.empty()) return "No curve was measured";
  if (spikes == 1) return "A lone spike is missing in the curves that would show it as well";
  if (spikes > 1) {
    return "No two spikes agree on a number of requests or of load instructions that is possible: "
           "they are scatter";
  }
  const bool is_anywhere_visible =
      std::any_of(curves.begin(), curves.end(), [](const CurveFinding& curve) {
        return curve.visible_requests.low <= curve.visible_requests.high;
      });
  if (!is_anywhere_visible) {
    return "Requests issue so slowly that the first answers come before any limit is reached";
  }
  return std::string(judgement.steps.empty() ? "No curve jumps" : "No jump is that of a limit") +
         ": the limit was not reached, or requests issue too slowly to reach it within one latency";
}

/// A spike of a published curve without mergers.
struct PublishedSpike {
  int loads;
  int work_items;
};

struct Published {
  std::array<PublishedSpike, 2> spikes;
  std::string_view source;
  OutstandingKind kind;
  std::int64_t at_least;
};

constexpr std::array all_published{
    Published{
        {{{1, 128}, {2, 64}}},
        "Lashgar et al. 2015, of a Tesla M2070 with spikes at the same numbers of work-items,",
        OutstandingKind::request_pool,
        128},
    Published{{{{2, 680}, {3, 454}}},
              "Lashgar et al. 2015, of a Tesla K20 with spikes at the same numbers of work-items,",
              OutstandingKind::request_table,
              45}};

/// Whether a jump may be just behind so many work-items.
bool has_spike(std::span<const CurveFinding> curves, const PublishedSpike& published) {
  return std::any_of(curves.begin(), curves.end(), [&](const CurveFinding& curve) {
    if (!curve.spike || curve.pattern.loads != published.loads || curve.pattern.merger != 1) {
      return false;
    }
    const std::vector<Gap>& possible = curve.spike->possible;
    return std::any_of(possible.begin(), possible.end(), [&](const Gap& gap) {
      return gap.before <= published.work_items && published.work_items < gap.after;
    });
  });
}

}  // namespace

std::optional<OutstandingClaim> claim_of_paper(std::span<const CurveFinding> curves) {
  for (const Published& each : all_published) {
    const bool is_like = std::all_of(each.spikes.begin(), each.spikes.end(),
                                     [&](const auto& spike) { return has_spike(curves, spike); });
    if (is_like) return OutstandingClaim{std::string(each.source), each.kind, each.at_least};
  }
  return std::nullopt;
}

std::vector<std::string> reasons_of(const OutstandingLimit& limit,
                                    std::span<const CurveFinding> all,
                                    const WeighedLimits& judgement, int sub_group) {
  const auto& [curves, pool, table, spikes, steps, kind] = judgement;
  std::vector<std::string> reasons;
  if (std::string reason = first_reason(limit, all, judgement); !reason.empty()) {
    reasons.push_back(std::move(reason));
  }
  std::size_t all_spikes = spikes;
  for (const GroupStep& step : steps) all_spikes += step.spikes;
  for (const GroupStep& step : steps) reasons.push_back(describe_step(step, all_spikes));
  if (spikes > 0) {
    reasons.push_back(describe_pool(curves, pool, spikes));
    reasons.push_back(describe_table(curves, sub_group, table, spikes));
    if (!pool.silent.empty()) reasons.push_back(describe_silence(pool, "pool"));
    if (!table.silent.empty()) reasons.push_back(describe_silence(table, "table"));
    if (std::string other = describe_others(all, curves); !other.empty()) reasons.push_back(other);
  }
  reasons.push_back(describe_bound(limit.min_requests, limit.min_instructions));
  return reasons;
}

std::string_view to_word(OutstandingKind kind) {
  switch (kind) {
    case OutstandingKind::request_pool:
      return "MSHR";
    case OutstandingKind::request_table:
      return "PRT";
    case OutstandingKind::ambiguous:
      return "ambiguous";
    case OutstandingKind::neither:
      return "neither";
    case OutstandingKind::unobservable:
      return "unobservable";
  }
  return "unobservable";
}

std::string set_beside(const OutstandingLimit& limit, const OutstandingClaim& claim) {
  const bool is_pool = claim.kind == OutstandingKind::request_pool;
  std::string text =
      claim.source + " concludes " +
      (is_pool ? "a pool of at least " + std::to_string(claim.at_least) + " requests"
               : "a table of at least " + std::to_string(claim.at_least) + " load instructions") +
      ". ";
  const auto& own = is_pool ? limit.requests : limit.instructions;
  const auto& other = is_pool ? limit.instructions : limit.requests;
  if (limit.kind == OutstandingKind::unobservable) {
    return text + "Here nothing is seen of it.";
  }
  if (own && !other) {
    return text + (own->high >= claim.at_least ? "The spikes agree: " : "The spikes say less: ") +
           words(*own) + ".";
  }
  if (own) {
    return text + "The spikes allow it (" + words(*own) + "), and as well a " +
           (is_pool ? "table of " + words(*other) + " load instructions."
                    : "pool of " + words(*other) + " requests.");
  }
  text += "The spikes exclude it";
  if (!other) return text + ".";
  return text + ": they fit " +
         (is_pool ? "a table of " + words(*other) + " load instructions."
                  : "a pool of " + words(*other) + " requests.");
}

}  // namespace clprobe
