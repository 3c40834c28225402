// SPDX-License-Identifier: Apache-2.0
// One function of the capture in front of the survey's.
#pragma once

#include "layer/captures.hpp"
#include "layer/opencl.hpp"
#include "layer/state.hpp"
#include "layer/wrap.hpp"

namespace clprobe::layer {

/// The survey's functions, and those below where it has none.
inline cl_icd_dispatch& next() {
  static cl_icd_dispatch table{};
  return table;
}

template <auto member, typename Function>
void wrap_above(cl_icd_dispatch& table, Function function) {
  const auto former = table.*member != nullptr ? table.*member : State::below().*member;
  next().*member = former;
  if (former != nullptr) table.*member = function;
}

/// What is not known for want of memory is not captured.
template <typename Change>
void note(const Change& change) noexcept {
  try {
    change(Captures::get().known());
  } catch (...) {
    note_gap(survey::Gap::lost);
  }
}

/// Memory objects and samplers.
void wrap_captured_objects(cl_icd_dispatch& table);

}  // namespace clprobe::layer
