// SPDX-License-Identifier: Apache-2.0
// Any bytes as a program in OpenCL C: kernels lie within the text, and each gets a verdict with a
// reason of one plain line.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "profile/api/prelude.hpp"

namespace {

[[noreturn]] void fail(std::string_view what) {
  std::cerr << "FINDING: " << what << '\n';
  std::abort();
}

void check(const clprobe::prelude::Verdict& verdict) {
  const bool is_usable = verdict.possibility == clprobe::prelude::Possibility::usable;
  if (is_usable != verdict.reason.empty()) fail("a verdict without its reason");
  if (verdict.reason.find('\n') != std::string::npos) fail("a reason of two lines");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer asks for it
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(bytes, bytes + size);
  for (const auto& kernel : clprobe::prelude::find_kernels(text)) {
    const bool is_within = kernel.parameters_begin <= kernel.parameters_end &&
                           kernel.parameters_end < kernel.body_begin &&
                           kernel.body_begin <= kernel.body_end && kernel.body_end < text.size();
    if (!is_within) fail("a kernel out of its text");
    const auto judgement =
        clprobe::prelude::judge({.sources = {text}, .options = text}, kernel.name);
    check(judgement.renaming);
    check(judgement.folding);
    check(judgement.barriers);
    check(judgement.atomics);
    check(judgement.entry);
    const std::string entered = clprobe::prelude::with_entry(text, kernel.name);
    if (entered.size() <= text.size()) fail("a kernel without its entry");
  }
  return 0;
}
