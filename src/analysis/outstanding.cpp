// SPDX-License-Identifier: Apache-2.0
// From the spikes of all curves to what limits the loads outstanding.
#include "clprobe/outstanding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/hypothesis.hpp"
#include "clprobe/units.hpp"

namespace clprobe {
namespace {

std::string words(const CountRange& range) {
  return range.low == range.high ? fmt::format("{}", range.low)
                                 : fmt::format("{} to {}", range.low, range.high);
}

std::string words(const LoadPattern& pattern) {
  std::string text = format_count(static_cast<std::size_t>(pattern.loads), "load");
  if (pattern.merger > 1) {
    text += fmt::format(", {} {} per line", pattern.merger,
                        pattern.mode == MergerMode::within ? "work-items" : "sub-groups");
  }
  return text + (pattern.target.empty() ? "" : ", " + pattern.target);
}

std::string of_curves(std::size_t count, std::size_t all) {
  return fmt::format("{} of {}", count, format_count(all, "jump"));
}

std::string describe_exception(const CurveFinding& other) {
  return fmt::format("; it does not explain the jump of {} after {} work-items",
                     words(other.pattern), other.spike->gap.before);
}

std::string describe_pool(std::span<const CurveFinding> curves, const Hypothesis& pool,
                          std::size_t spikes) {
  if (!pool.range) {
    return "A pool of requests explains no jump: no jump occurs where additional lines are "
           "requested";
  }
  std::string text = fmt::format("A pool of {} requests explains {}", words(*pool.range),
                                 of_curves(pool.supporters.size(), spikes));
  if (!pool.merge_limited.empty()) {
    text += fmt::format(", full merge lists explain {} more", pool.merge_limited.size());
  }
  if (!pool.is_possible()) text += ", but more requests were in flight";
  if (!pool.against.empty()) text += describe_exception(curves[pool.against.front()]);
  return text;
}

std::string describe_table(std::span<const CurveFinding> curves, int sub_group,
                           const Hypothesis& table, std::size_t spikes) {
  std::string text = "A table of load instructions explains no jump";
  if (table.range) {
    text = fmt::format("A table of {} load instructions explains {}", words(*table.range),
                       of_curves(table.supporters.size(), spikes));
  }
  if (table.range && !table.is_possible()) text += ", but more instructions were in flight";
  if (table.against.empty()) return text;
  const CurveFinding& other = curves[table.against.front()];
  text += describe_exception(other);
  if (!instruction_range(other, sub_group)) text += ", in the middle of a sub-group";
  return text;
}

std::string describe_silence(const Hypothesis& hypothesis, std::string_view what) {
  const std::size_t curves = hypothesis.silent.size();
  return fmt::format("{} should show such a {} but {} no jump", format_count(curves, "more curve"),
                     what, curves == 1 ? "has" : "have");
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
  return fmt::format("the {} of {} {} no common limit", spikes == 1 ? "jump" : "jumps",
                     fmt::join(others, ", "), spikes == 1 ? "fits" : "fit");
}

std::string describe_bound(std::int64_t requests, std::int64_t instructions) {
  if (requests == 0) return "no lower bound: no curve was measured";
  return fmt::format(
      "by Little's law, at least {} requests and {} load instructions are outstanding at once",
      requests, instructions);
}

std::string describe_step(const GroupStep& step, std::size_t spikes) {
  return fmt::format(
      "{} follow {} work-items, whatever these load: the work-group itself causes them",
      of_curves(step.spikes, spikes), words(step.work_items));
}

std::string first_reason(const OutstandingLimit& limit, std::span<const CurveFinding> curves,
                         const WeighedLimits& judgement) {
  const std::size_t spikes = judgement.spikes;
  switch (limit.kind) {
    case OutstandingKind::ambiguous:
      return spikes == 1 ? "One jump cannot distinguish a pool from a table"
                         : "A pool and a table explain the jumps equally well: measure other "
                           "numbers of loads or mergers";
    case OutstandingKind::neither:
      return "The jumps agree on neither a number of requests nor a number of load instructions";
    case OutstandingKind::unobservable:
      break;
    case OutstandingKind::request_pool:
    case OutstandingKind::request_table:
      return {};
  }
  if (curves.empty()) return "No curve was measured";
  if (spikes == 1) return "The only jump is missing in other curves that should show it";
  if (spikes > 1) {
    return "No two jumps agree on a possible number of requests or load instructions: they are "
           "scatter";
  }
  const bool is_anywhere_visible = std::ranges::any_of(curves, [](const CurveFinding& curve) {
    return curve.visible_requests.low <= curve.visible_requests.high;
  });
  if (!is_anywhere_visible) {
    return "Requests issue so slowly that the first data arrive before any limit is reached";
  }
  return std::string(judgement.steps.empty() ? "No curve jumps" : "No jump indicates a limit") +
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
    Published{{{{1, 128}, {2, 64}}},
              "Lashgar et al. 2015 (Tesla M2070, jumps at the same numbers of work-items)",
              OutstandingKind::request_pool,
              128},
    Published{{{{2, 680}, {3, 454}}},
              "Lashgar et al. 2015 (Tesla K20, jumps at the same numbers of work-items)",
              OutstandingKind::request_table,
              45}};

/// Whether a jump may be just behind so many work-items.
bool has_spike(std::span<const CurveFinding> curves, const PublishedSpike& published) {
  return std::ranges::any_of(curves, [&](const CurveFinding& curve) {
    if (!curve.spike || curve.pattern.loads != published.loads || curve.pattern.merger != 1) {
      return false;
    }
    const std::vector<Gap>& possible = curve.spike->possible;
    return std::ranges::any_of(possible, [&](const Gap& gap) {
      return gap.before <= published.work_items && published.work_items < gap.after;
    });
  });
}

/// All of them, the deciding ones first; `all` are the curves before any was chosen or judged.
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

/// Different patterns whose spikes agree on a limit that is possible.
std::size_t count_agreeing(const Hypothesis& hypothesis) {
  return hypothesis.is_possible() ? hypothesis.patterns : 0;
}

/// When both hold, the one without exceptions, or with clearly fewer.
OutstandingKind decide(const Hypothesis& pool, const Hypothesis& table, std::size_t spikes) {
  if (spikes == 0) return OutstandingKind::unobservable;
  if (pool.holds() && table.holds()) {
    const bool pool_fits = pool.against.empty();
    const bool table_fits = table.against.empty();
    if (pool_fits != table_fits) {
      return pool_fits ? OutstandingKind::request_pool : OutstandingKind::request_table;
    }
    if (pool.against.size() + 2 <= table.against.size()) return OutstandingKind::request_pool;
    if (table.against.size() + 2 <= pool.against.size()) return OutstandingKind::request_table;
    return OutstandingKind::ambiguous;
  }
  if (pool.holds()) return OutstandingKind::request_pool;
  if (table.holds()) return OutstandingKind::request_table;
  const auto is_denied = [](const Hypothesis& hypothesis) {
    return !hypothesis.is_possible() || !hypothesis.has_plain ||
           hypothesis.silent.size() > hypothesis.supporters.size();
  };
  if (is_denied(pool) && is_denied(table)) {
    return spikes <= 2 ? OutstandingKind::unobservable : OutstandingKind::neither;
  }
  // One pattern alone cannot tell them apart.
  if (std::max(pool.patterns, table.patterns) < 2 && spikes == 1) return OutstandingKind::ambiguous;
  // A limit shows in every curve that reaches it: spikes of which no two agree are scatter.
  if (std::max(count_agreeing(pool), count_agreeing(table)) < 2) {
    return OutstandingKind::unobservable;
  }
  return OutstandingKind::neither;
}

std::size_t count_spikes(std::span<const CurveFinding> curves) {
  return static_cast<std::size_t>(std::ranges::count_if(
      curves, [](const CurveFinding& curve) { return curve.spike.has_value(); }));
}

WeighedLimits weigh_both(std::vector<CurveFinding> curves, int sub_group) {
  WeighedLimits judgement;
  judgement.spikes = count_spikes(curves);
  judgement.pool = weigh_pool(curves, sub_group);
  judgement.table = weigh_table(curves, sub_group);
  judgement.kind = decide(judgement.pool, judgement.table, judgement.spikes);
  judgement.curves = std::move(curves);
  return judgement;
}

/// The group's own step is no spike, and behind it no jump was looked for.
void set_aside(CurveFinding& curve, int sub_group) {
  const int last = curve.spike->gap.before;
  const auto end = [&](CountRange& visible, std::int64_t count) {
    visible.high = std::min(visible.high, count);
  };
  end(curve.visible_requests, unique_requests(last, curve.pattern, sub_group));
  end(curve.visible_instructions, load_instructions(last, curve.pattern, sub_group));
  curve.spike.reset();
}

/// Both limits; and while neither explains the spikes, what is left of them without those that are
/// the work-group's own, of which there may be some with steps at different places.
WeighedLimits judge(std::span<const CurveFinding> curves, int sub_group) {
  WeighedLimits judgement = weigh_both({curves.begin(), curves.end()}, sub_group);
  while (!judgement.pool.holds() && !judgement.table.holds()) {
    const std::optional<Hypothesis> group = weigh_group(judgement.curves, sub_group);
    if (!group) break;
    for (const std::size_t i : group->supporters) set_aside(judgement.curves[i], sub_group);
    std::vector<GroupStep> steps = std::move(judgement.steps);
    steps.push_back({*group->range, group->supporters.size()});
    judgement = weigh_both(std::move(judgement.curves), sub_group);
    judgement.steps = std::move(steps);
  }
  return judgement;
}

bool is_decided(OutstandingKind kind) {
  return kind == OutstandingKind::request_pool || kind == OutstandingKind::request_table;
}

/// The curves of the one target that decides, where the others' spikes agree on nothing: where
/// answers come soon, and some later than others, curves rise as by a small jump here and there.
std::optional<std::vector<CurveFinding>> find_deciding_target(std::span<const CurveFinding> curves,
                                                              int sub_group) {
  std::map<std::string, std::vector<CurveFinding>> by_target;
  for (const CurveFinding& curve : curves) by_target[curve.pattern.target].push_back(curve);
  std::optional<std::vector<CurveFinding>> deciding;
  for (const auto& [target, of_target] : by_target) {
    if (!is_decided(judge(of_target, sub_group).kind)) continue;
    if (deciding) return std::nullopt;
    deciding = of_target;
  }
  return deciding;
}

/// Curves without merge lists come first: lists that are full have spikes of their own. Only where
/// those leave it open are the others asked, and only spikes that agree are believed then.
WeighedLimits judge_witnesses(std::span<const CurveFinding> curves, int sub_group) {
  std::vector<CurveFinding> plain;
  std::ranges::copy_if(curves, std::back_inserter(plain),
                       [](const CurveFinding& curve) { return !is_across(curve.pattern); });
  if (plain.empty()) return judge(curves, sub_group);
  WeighedLimits by_plain = judge(plain, sub_group);
  if (is_decided(by_plain.kind)) return by_plain;
  if (auto deciding = find_deciding_target(plain, sub_group)) return judge(*deciding, sub_group);
  WeighedLimits by_all = judge(curves, sub_group);
  return is_decided(by_all.kind) ? by_all : by_plain;
}

void keep_ranges(const Hypothesis& pool, const Hypothesis& table, OutstandingLimit& limit) {
  const bool is_open = limit.kind == OutstandingKind::ambiguous;
  const bool is_pool = is_open || limit.kind == OutstandingKind::request_pool;
  const bool is_table = is_open || limit.kind == OutstandingKind::request_table;
  if (is_pool && pool.is_possible()) limit.requests = pool.range;
  if (is_table && table.is_possible()) limit.instructions = table.range;
}

}  // namespace

OutstandingLimit infer_limit(std::span<const CurveFinding> curves, int sub_group) {
  if (sub_group < 1) throw std::invalid_argument("a sub-group has at least one work-item");
  OutstandingLimit limit;
  for (const CurveFinding& curve : curves) {
    limit.min_requests = std::max(limit.min_requests, curve.min_requests);
    limit.min_instructions = std::max(limit.min_instructions, curve.min_instructions);
    limit.fastest_requests = std::max(limit.fastest_requests, curve.fastest_requests);
  }
  const WeighedLimits judgement = judge_witnesses(curves, sub_group);
  limit.kind = judgement.kind;
  keep_ranges(judgement.pool, judgement.table, limit);
  if (limit.kind == OutstandingKind::request_pool) {
    limit.mergers = find_mergers(curves, sub_group, judgement.pool);
  }
  limit.reasons = reasons_of(limit, curves, judgement, sub_group);
  return limit;
}

std::optional<OutstandingClaim> claim_of_paper(std::span<const CurveFinding> curves) {
  for (const Published& each : all_published) {
    const bool is_like = std::ranges::all_of(
        each.spikes, [&](const auto& spike) { return has_spike(curves, spike); });
    if (is_like) return OutstandingClaim{std::string(each.source), each.kind, each.at_least};
  }
  return std::nullopt;
}

std::string_view to_word(OutstandingKind kind) {
  constexpr std::array<std::string_view, 5> kind_words{"MSHR", "PRT", "ambiguous", "neither",
                                                       "unobservable"};
  return kind_words.at(static_cast<std::size_t>(kind));
}

std::string set_beside(const OutstandingLimit& limit, const OutstandingClaim& claim) {
  const bool is_pool = claim.kind == OutstandingKind::request_pool;
  const auto limit_text = [](bool is_of_pool, std::string_view count) {
    return fmt::format("a {} of {} {}", is_of_pool ? "pool" : "table", count,
                       is_of_pool ? "requests" : "load instructions");
  };
  const std::string claimed =
      fmt::format("{} infer {}. ", claim.source,
                  limit_text(is_pool, fmt::format("at least {}", claim.at_least)));
  const auto& own = is_pool ? limit.requests : limit.instructions;
  const auto& other = is_pool ? limit.instructions : limit.requests;
  if (limit.kind == OutstandingKind::unobservable) {
    return claimed + "This run shows no such limit.";
  }
  if (own && !other) {
    return fmt::format("{}The jumps {}: {}.", claimed,
                       own->high >= claim.at_least ? "agree" : "indicate less", words(*own));
  }
  if (own) {
    return fmt::format("{}The jumps allow it ({}), but also {}.", claimed, words(*own),
                       limit_text(!is_pool, words(*other)));
  }
  return fmt::format("{}The jumps exclude it{}.", claimed,
                     other ? ": they fit " + limit_text(!is_pool, words(*other)) : "");
}

}  // namespace clprobe
