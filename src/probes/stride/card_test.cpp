// SPDX-License-Identifier: Apache-2.0
#include "probes/stride/stride.hpp"

#include <doctest/doctest.h>

#include "probes/shared/finding.hpp"

namespace clprobe::stride {
namespace {

void add(ProbeResult& result, const char* series, double rate, const char* kind) {
  result.findings.push_back(
      finding_of("bandwidth", series, "bytes_per_second", "", rate, rate, rate));
  Finding label = finding_of("class", series, "", "");
  label.label = kind;
  result.findings.push_back(label);
}

}  // namespace

TEST_CASE("the fastest series of each operation stand in one line, what they share once") {
  ProbeResult result;
  add(result, "read int", 1e12, "gpu-coalescing");
  add(result, "read int4", 2e12, "gpu-coalescing");
  add(result, "copy int4", 1.5e12, "gpu-coalescing");
  const Card same = probe.card(result);
  REQUIRE(same.lines.size() == 1);
  CHECK(same.lines[0].text == "read 2.00 TB/s, copy 1.50 TB/s (int4, coalesced)");
  CHECK(same.rows.size() == 3);
  add(result, "copy int", 3e12, "cpu-serial");
  CHECK(probe.card(result).lines[0].text ==
        "read 2.00 TB/s (int4, coalesced), copy 3.00 TB/s (int, small strides)");
}

}  // namespace clprobe::stride
