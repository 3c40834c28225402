// SPDX-License-Identifier: Apache-2.0
// Puts our functions into the table that the loader calls.
#pragma once

#include <cstddef>
#include <cstring>

#include "profile/layer/captures.hpp"
#include "profile/layer/opencl.hpp"
#include "profile/layer/state.hpp"

namespace clprobe::layer {

/// Counts and times launches, and captures the wanted ones.
void wrap_launches(cl_icd_dispatch& table);

/// Gives every queue profiling; the application sees its queues as it created them.
void wrap_queues(cl_icd_dispatch& table);

/// Notes programs with their texts and options, and kernels with their programs and arguments.
void wrap_programs(cl_icd_dispatch& table);

/// Notes buffers, images and samplers, which only a capture needs.
void wrap_objects(cl_icd_dispatch& table);

/// Answers a query as OpenCL does: with `bytes` from `from`, if `size` is enough for them.
inline cl_int answer(const void* from, std::size_t bytes, std::size_t size, void* value,
                     std::size_t* needed) {
  if (value != nullptr && size < bytes) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, from, bytes);
  if (needed != nullptr) *needed = bytes;
  return CL_SUCCESS;
}

/// Wraps one function. A function that is missing below stays null, which loaders skip.
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
