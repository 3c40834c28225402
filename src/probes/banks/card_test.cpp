// SPDX-License-Identifier: Apache-2.0
#include "probes/banks/findings.hpp"

#include <doctest/doctest.h>

#include "probes/shared/finding.hpp"

namespace clprobe::banks {

TEST_CASE("banks and the cost of a conflict stand on the card, a row per kind of access below") {
  ProbeResult result;
  const auto add = [&](std::string_view name, std::string_view series, double value,
                       std::string_view unit) {
    result.findings.push_back(finding_of(name, series, unit, "", value, value, value));
  };
  add("conflict_free", "load-latency 4 B", 23.3, "cycles");
  add("cost_per_way", "load-latency 4 B", 2.0, "cycles");
  add("conflict_free", "load-latency 8 B", 31.5, "cycles");
  add("conflict_free", "store-throughput 4 B", 5e-9, "seconds");
  Card found = card(result);
  CHECK(found.notes.empty());
  CHECK(found.unseen == std::vector<std::string>{"banks of local memory"});
  REQUIRE(found.rows.size() == 2);
  CHECK(found.rows[0].text == "23.3, 31.5 cycles at 4, 8 B; 2.00 more per way");
  CHECK(found.rows[1].text == "5.00 ns at 4 B");
  add("banks", "local memory", 32.0, "count");
  add("bank_width", "local memory", 4.0, "bytes");
  found = card(result);
  CHECK(found.lines.empty());
  REQUIRE(found.notes.size() == 1);
  CHECK(found.notes[0].memory == CardMemory::local);
  CHECK(found.notes[0].text == "32 banks of 4 B, conflict 2.00 cycles");
  CHECK(found.notes[0].alone.topic == "local memory");
  CHECK(found.notes[0].alone.text ==
        "32 banks of 4 B; each additional conflict way adds 2.00 cycles to the latency");
}

}  // namespace clprobe::banks
