// SPDX-License-Identifier: Apache-2.0
#include "probes/latency/asked.hpp"

#include <algorithm>

#include "probes/shared/wanted_series.hpp"

namespace clprobe::latency {

Asked::Asked(const Request& request)
    : max_memory(request.max_memory),
      effort(request.effort),
      series(request.series),
      sizes(request.own.sizes("sizes")),
      step(request.own.size("step")),
      unroll(request.own.number("unroll").value_or(RingShape{}.unroll)),
      is_in_order(request.own.word("order") == fixed_order),
      address(
          value_in(address_table, request.own.word("address")).value_or(AddressForm::automatic)) {}

bool Asked::wants(std::string_view name) const { return is_wanted(series, name); }

bool Asked::names(std::string_view name) const {
  return std::find(series.begin(), series.end(), name) != series.end();
}

}  // namespace clprobe::latency
