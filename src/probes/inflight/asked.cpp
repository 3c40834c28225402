// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/asked.hpp"

#include <algorithm>

#include "probes/shared/wanted_series.hpp"

namespace clprobe::inflight {
namespace {

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

Asked::Asked(const Request& request)
    : max_memory(request.max_memory),
      effort(request.effort),
      series(request.series),
      last_cache(request.known.last_cache),
      work_items(request.own.numbers("work-items")),
      loads(request.own.numbers("loads")),
      mergers(request.own.numbers("mergers")),
      targets(request.own.words("target")) {
  if (targets.empty()) targets = {"cache", "memory"};
}

bool Asked::wants(std::string_view name) const { return is_wanted(series, name); }

bool Asked::names(std::string_view name) const { return contains(series, name); }

bool Asked::has_target(std::string_view target) const { return contains(targets, target); }

bool Asked::is_narrowed() const {
  return !work_items.empty() || !loads.empty() || !mergers.empty();
}

}  // namespace clprobe::inflight
