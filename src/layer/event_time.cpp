// SPDX-License-Identifier: Apache-2.0
#include "layer/event_time.hpp"

#include "layer/state.hpp"

namespace clprobe::layer {

EventTime time_of(cl_event event) {
  const auto ask = State::below().clGetEventProfilingInfo;
  cl_ulong start = 0;
  cl_ulong end = 0;
  cl_int error = ask(event, CL_PROFILING_COMMAND_START, sizeof(start), &start, nullptr);
  if (error == CL_SUCCESS) {
    error = ask(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, nullptr);
  }
  if (error != CL_SUCCESS) return {.gap = survey::Gap::no_profiling};
  // A kernel of a year is a driver that has not written one of the two.
  constexpr cl_ulong year_ns = 31'536'000'000'000'000;
  if (end < start || end - start > year_ns) return {.gap = survey::Gap::bad_times};
  return {.ns = end - start};
}

std::uint64_t enqueued_at(cl_event event) {
  cl_ulong queued = 0;
  const cl_int error = State::below().clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED,
                                                              sizeof(queued), &queued, nullptr);
  return error == CL_SUCCESS ? queued : 0;
}

}  // namespace clprobe::layer
