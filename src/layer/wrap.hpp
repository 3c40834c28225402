// SPDX-License-Identifier: Apache-2.0
// One function of OpenCL in front of the one below it.
#pragma once

#include "layer/opencl.hpp"
#include "layer/state.hpp"

namespace clprobe::layer {

/// What a loader older than a function does not offer stays as it is: null, which loaders pass by.
template <auto member, typename Function>
void wrap(cl_icd_dispatch& table, Function function) {
  if (State::below().*member != nullptr) table.*member = function;
}

inline void note_gap(survey::Gap gap) {
  State::get().record([gap](survey::Recorder& recorder) { recorder.add_gap(gap); });
}

}  // namespace clprobe::layer
