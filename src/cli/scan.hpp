// SPDX-License-Identifier: Apache-2.0
// argv cut into segments at the probes' words: options follow their probe. What the options say is
// read later, segment by segment.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.hpp"
#include "cli/options.hpp"

namespace clprobe::cli {

/// The options that stand between one probe's word and the next, with their values. The first
/// segment has no probe, unless one alone is named: then its options may stand anywhere.
struct Segment {
  const ProbeFlags* probe{nullptr};
  std::vector<std::string> options{};
};

struct Scan {
  std::vector<std::string> words{};  ///< all that are no options and no values, in their order
  std::vector<Segment> segments{};
  std::size_t first_side{0};  ///< words before the `--` of `compare FILE... -- FILE...`; 0: none
  std::vector<std::string> app{};  ///< what follows the `--` of `profile -- PROGRAM...`
};

/// Every option is one that is known somewhere; whether it belongs where it stands is checked.
/// Throws UsageError that names the option's owner, or the nearest option.
Scan scan(const std::vector<std::string>& arguments, std::span<const ProbeFlags> probes);

}  // namespace clprobe::cli
