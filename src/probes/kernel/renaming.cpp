// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/renaming.hpp"

namespace clprobe::kernel {

prelude::NdRange range_for_prelude(const bundle::NdRange& range) {
  prelude::NdRange same{.dimensions = range.dimensions, .offset = range.offset};
  const bool has_local = range.local != bundle::Sizes{};
  for (std::size_t i = 0; i < same.global.size(); ++i) {
    const bool is_used = i < range.dimensions;
    same.global[i] = is_used ? range.global[i] : 1;
    if (has_local) same.local[i] = is_used ? range.local[i] : 1;
  }
  return same;
}

prelude::Judgement judge_kernel(const bundle::Bundle& bundle) {
  prelude::Program program{.sources = bundle.texts};
  for (const bundle::Unit& unit : bundle.launch.program.units) {
    program.options += (program.options.empty() ? "" : " ") + unit.options;
  }
  return prelude::judge(program, bundle.launch.kernel);
}

prelude::Switches switches_of(const prelude::Judgement& judgement) {
  return {.barriers = judgement.barriers.possibility == prelude::Possibility::usable,
          .atomics = judgement.atomics.possibility == prelude::Possibility::usable};
}

}  // namespace clprobe::kernel
