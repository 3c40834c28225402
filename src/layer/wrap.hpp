// SPDX-License-Identifier: Apache-2.0
// What puts our functions into the table that the loader calls.
#pragma once

#include "layer/captures.hpp"
#include "layer/opencl.hpp"
#include "layer/state.hpp"

namespace clprobe::layer {

/// An event for every launch, and bundles of those that are to be captured.
void wrap_launches(cl_icd_dispatch& table);

/// Queues with profiling, whatever the application asked for; to it they seem as it made them.
void wrap_queues(cl_icd_dispatch& table);

/// Which program a kernel is of, and what that was made from.
void wrap_programs(cl_icd_dispatch& table);

/// Buffers, images and samplers, which only a capture has to know.
void wrap_objects(cl_icd_dispatch& table);

/// A function that the loader or the layer below lacks stays null, which loaders pass by.
template <auto member, typename Function>
void wrap(cl_icd_dispatch& table, Function function) {
  if (State::below().*member != nullptr) table.*member = function;
}

template <auto member, typename Note, typename Made, typename... Arguments>
void wrap_creation_of(cl_icd_dispatch& table, Made (*below)(Arguments...)) {
  if (below == nullptr) return;
  table.*member = [](Arguments... arguments) -> Made {
    Made made = (State::below().*member)(arguments...);
    try {
      if (made != nullptr) Note{}(made, arguments...);
    } catch (...) {
      note_gap(survey::Gap::lost);
    }
    return made;
  };
}

/// Wraps a function that creates an object. `note` gets the object, if there is one, and the
/// arguments of the call. It may throw: what it noted until then stays.
template <auto member, typename Note>
void wrap_creation(cl_icd_dispatch& table, Note /*note*/) {
  wrap_creation_of<member, Note>(table, State::below().*member);
}

}  // namespace clprobe::layer
