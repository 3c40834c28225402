// SPDX-License-Identifier: Apache-2.0
// The names of a description: docs/describe.md lists them all, and they belong to findings.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "clprobe/registry.hpp"
#include "text/api/embedded.hpp"

namespace clprobe {
namespace {

TEST_CASE("docs/describe.md has a name for each described number") {
  const std::string_view page = embedded_file("describe.md");
  for (const Probe* const probe : all_probes()) {
    for (const DescribedNumber& each : probe->described) {
      CAPTURE(each.name);
      const std::string_view level = each.as == DescribedAs::of_level ? "LEVEL." : "";
      CHECK(page.find(fmt::format("`{}{}`", level, each.name)) != std::string_view::npos);
    }
  }
}

TEST_CASE("described numbers are findings that the probe declares") {
  for (const Probe* const probe : all_probes()) {
    for (const DescribedNumber& each : probe->described) {
      CAPTURE(each.name);
      CHECK(std::ranges::any_of(
          probe->findings, [&](const FindingSpec& spec) { return spec.name == each.finding; }));
    }
  }
}

}  // namespace
}  // namespace clprobe
