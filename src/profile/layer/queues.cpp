// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "profile/layer/layer.hpp"

namespace clprobe::layer {
namespace {

constexpr cl_command_queue_properties profiling = CL_QUEUE_PROFILING_ENABLE;

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                          cl_command_queue_properties properties, cl_int* result) {
  const auto create = State::below().clCreateCommandQueue;
  Queue how{.requested_profiling = (properties & profiling) != 0,
            .has_profiling = true,
            .context = context,
            .references = 1};
  cl_int error = CL_SUCCESS;
  cl_command_queue queue = create(context, device, properties | profiling, &error);
  if (queue == nullptr && !how.requested_profiling) {
    how.has_profiling = false;
    queue = create(context, device, properties, &error);
  }
  if (result != nullptr) *result = error;
  if (queue != nullptr) State::get().note_queue(queue, device, std::move(how));
  return queue;
}

using Words = std::vector<cl_queue_properties>;

/// Returns a list of properties without the terminating 0; nothing if no 0 follows within 128
/// words.
std::optional<Words> read_list(const cl_queue_properties* list) {
  // Limit in words for a list without a terminating 0. OpenCL 3.0 has only two properties.
  constexpr std::size_t max_words = 128;
  Words words;
  for (; list != nullptr && *list != 0; list += 2) {
    if (words.size() >= max_words) return std::nullopt;
    words.push_back(list[0]);
    words.push_back(list[1]);
  }
  return words;
}

/// Returns the value of CL_QUEUE_PROPERTIES in the list; 0 if the list has none.
cl_queue_properties flags_in(const Words& words) {
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == CL_QUEUE_PROPERTIES) return words[i + 1];
  }
  return 0;
}

/// Returns the list with profiling enabled and with a terminating 0.
Words with_profiling(Words words) {
  bool is_there = false;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] != CL_QUEUE_PROPERTIES) continue;
    words[i + 1] |= profiling;
    is_there = true;
  }
  if (!is_there) words.insert(words.end(), {CL_QUEUE_PROPERTIES, profiling});
  words.push_back(0);
  return words;
}

/// Creates a queue with the application's properties, because the queue already has profiling or is
/// an on-device queue.
cl_command_queue create_unchanged(cl_context context, cl_device_id device,
                                  const cl_queue_properties* properties, cl_int* result,
                                  cl_queue_properties flags) {
  cl_command_queue queue =
      State::below().clCreateCommandQueueWithProperties(context, device, properties, result);
  if (queue == nullptr) return queue;
  const bool is_requested = (flags & profiling) != 0;
  const bool is_on_device = (flags & CL_QUEUE_ON_DEVICE) != 0;
  // An application may create a device's default on-device queue several times, but always gets the
  // same queue. The layer therefore does not count references to on-device queues.
  State::get().note_queue(queue, device,
                          {.requested_profiling = is_requested,
                           .has_profiling = is_requested,
                           .context = is_on_device ? nullptr : context,
                           .references = is_on_device ? 0U : 1U});
  if (is_on_device) note_gap(survey::Gap::device_queue);
  return queue;
}

cl_command_queue create_with_list(cl_context context, cl_device_id device,
                                  const cl_queue_properties* properties, cl_int* result) {
  const auto create = State::below().clCreateCommandQueueWithProperties;
  std::optional<Words> own = read_list(properties);
  if (!own) return create(context, device, properties, result);
  const cl_queue_properties flags = flags_in(*own);
  if ((flags & (profiling | CL_QUEUE_ON_DEVICE)) != 0) {
    return create_unchanged(context, device, properties, result, flags);
  }
  cl_int error = CL_SUCCESS;
  Queue how{.has_profiling = true, .context = context, .references = 1};
  cl_command_queue queue = create(context, device, with_profiling(*own).data(), &error);
  if (queue == nullptr) {
    how.has_profiling = false;
    queue = create(context, device, properties, &error);
  } else {
    if (properties != nullptr) own->push_back(0);
    how.list = std::move(own);
  }
  if (result != nullptr) *result = error;
  if (queue != nullptr) State::get().note_queue(queue, device, std::move(how));
  return queue;
}

cl_command_queue CL_API_CALL create_queue_with_properties(cl_context context, cl_device_id device,
                                                          const cl_queue_properties* properties,
                                                          cl_int* result) {
  try {
    return create_with_list(context, device, properties, result);
  } catch (const std::exception&) {  // not enough memory for a list
    return State::below().clCreateCommandQueueWithProperties(context, device, properties, result);
  }
}

cl_int CL_API_CALL release_queue(cl_command_queue queue) {
  // Events of finished launches are released first, because unreleased events would keep the
  // context alive.
  State::get().harvest(false);
  const bool is_last = State::get().release_queue(queue);
  const cl_int error = State::below().clReleaseCommandQueue(queue);
  if (is_last) State::below().clReleaseCommandQueue(queue);
  return error;
}

cl_int CL_API_CALL retain_queue(cl_command_queue queue) {
  const cl_int error = State::below().clRetainCommandQueue(queue);
  if (error == CL_SUCCESS) State::get().retain_queue(queue);
  return error;
}

cl_int CL_API_CALL release_context(cl_context context) {
  State::get().harvest(false);
  return State::below().clReleaseContext(context);
}

/// Answers the query CL_QUEUE_PROPERTIES_ARRAY with the application's list, if the driver supports
/// the query.
cl_int answer_list(cl_command_queue queue, const std::vector<cl_queue_properties>& list,
                   std::size_t size, void* value, std::size_t* needed) {
  const cl_int error =
      State::below().clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 0, nullptr, nullptr);
  if (error != CL_SUCCESS) return error;
  return answer(list.data(), list.size() * sizeof(cl_queue_properties), size, value, needed);
}

cl_int CL_API_CALL get_queue_info(cl_command_queue queue, cl_command_queue_info name,
                                  std::size_t size, void* value, std::size_t* needed) {
  const Queue how = State::get().find_queue(queue);
  if (name == CL_QUEUE_PROPERTIES_ARRAY && how.list) {
    return answer_list(queue, *how.list, size, value, needed);
  }
  const cl_int error = State::below().clGetCommandQueueInfo(queue, name, size, value, needed);
  if (error != CL_SUCCESS || value == nullptr) return error;
  const bool is_ours = how.is_known && how.has_profiling && !how.requested_profiling;
  if (name == CL_QUEUE_PROPERTIES && is_ours) {
    *static_cast<cl_command_queue_properties*>(value) &= ~profiling;
  }
  if (name == CL_QUEUE_REFERENCE_COUNT && how.references > 0) {
    *static_cast<cl_uint*>(value) = how.references;
  }
  return error;
}

/// Wrapper of clGetEventProfilingInfo that reports no times for a queue that the application
/// created without profiling.
cl_int CL_API_CALL get_event_times(cl_event event, cl_profiling_info name, std::size_t size,
                                   void* value, std::size_t* needed) {
  cl_command_queue queue = nullptr;
  const cl_int error =
      State::below().clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(void*), &queue, nullptr);
  if (error == CL_SUCCESS && queue != nullptr) {
    const Queue how = State::get().find_queue(queue);
    if (how.is_known && !how.requested_profiling) return CL_PROFILING_INFO_NOT_AVAILABLE;
  }
  return State::below().clGetEventProfilingInfo(event, name, size, value, needed);
}

}  // namespace

void wrap_queues(cl_icd_dispatch& table) {
  wrap<&cl_icd_dispatch::clCreateCommandQueue>(table, create_queue);
  wrap<&cl_icd_dispatch::clCreateCommandQueueWithProperties>(table, create_queue_with_properties);
  wrap<&cl_icd_dispatch::clRetainCommandQueue>(table, retain_queue);
  wrap<&cl_icd_dispatch::clReleaseCommandQueue>(table, release_queue);
  wrap<&cl_icd_dispatch::clReleaseContext>(table, release_context);
  wrap<&cl_icd_dispatch::clGetCommandQueueInfo>(table, get_queue_info);
  wrap<&cl_icd_dispatch::clGetEventProfilingInfo>(table, get_event_times);
}

}  // namespace clprobe::layer
