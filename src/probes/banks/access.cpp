// SPDX-License-Identifier: Apache-2.0
// The series of `banks` and how each is built. Pure.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "probes/banks/access.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::banks {
namespace {

constexpr std::array kinds{
    AccessKind{"load-latency", false, true, false},
    AccessKind{"load-throughput", false, false, false},
    AccessKind{"store-throughput", true, false, false},
    AccessKind{"load-model", false, false, true},
    AccessKind{"store-model", true, false, true},
};

}  // namespace

std::span<const AccessKind> all_kinds() { return kinds; }

const AccessKind& kind_of(std::string_view series) {
  const auto* const found = std::find_if(
      kinds.begin(), kinds.end(), [&](const AccessKind& kind) { return kind.name == series; });
  if (found == kinds.end()) throw std::out_of_range("no series " + std::string(series));
  return *found;
}

std::string build_options(const AccessKind& kind, const Shape& shape) {
  return fmt::format("-DWORD={} -DSTORE={} -DCHAINS={} -DSTEPS={} -DLOCAL_BYTES={}{}",
                     shape.word_bytes, kind.is_store ? 1 : 0,
                     kind.is_chain ? 1 : shape.instructions, kind.is_chain ? chain_steps : 1,
                     shape.local_bytes, kind.is_single ? " -DONCE=1" : "");
}

Bytes memory_of(int lanes) {
  return {static_cast<std::uint64_t>(lanes) * max_instructions * sizeof(std::uint32_t) +
          2 * launches_of_model * sizeof(std::uint64_t)};
}

std::vector<KernelVariant> variants() {
  std::vector<KernelVariant> all;
  Shape shape;
  shape.local_bytes = 4 * std::uint64_t{pattern_block_bytes} + behind_footprint_bytes;
  for (const AccessKind& kind : all_kinds()) {
    for (const int word : {4, 8, 16}) {
      // 3 stands for any number that is no power of two.
      for (const int chains : {1, 3, 16, max_instructions}) {
        if (kind.is_single && chains == 16) continue;
        shape.word_bytes = word;
        shape.instructions = static_cast<std::uint32_t>(chains);
        const std::string options = build_options(kind, shape);
        const bool is_known = std::any_of(
            all.begin(), all.end(), [&](const auto& each) { return each.options == options; });
        if (!is_known) all.push_back({options, ""});
      }
    }
  }
  // Of these, each changes one line of any.
  all.push_back({all.front().options + large_group(1024), ""});
  all.push_back({all.front().options + std::string(clock_without_asm), ""});
  return all;
}

}  // namespace clprobe::banks
