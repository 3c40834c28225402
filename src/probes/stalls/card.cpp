// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/card.hpp"

#include <string>
#include <utility>

#include "probes/shared/stack_card.hpp"

namespace clprobe::stalls {

Card card(const ProbeResult& result) {
  Card card;
  if (std::string text = largest_causes(result); !text.empty()) {
    card.lines.push_back({"stalls", std::move(text)});
  } else if (!result.findings.empty()) {
    card.unseen.emplace_back("causes of stalls");
  }
  return card;
}

}  // namespace clprobe::stalls
