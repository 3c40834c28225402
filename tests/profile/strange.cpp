// SPDX-License-Identifier: Apache-2.0
// A loader layer below ours, for what drivers may do. CLPROBE_STRANGE says what:
//
//   refuse      no queue has profiling
//   backwards   every event ends before it starts
//   slow        the event clock reports a 42nd of the time; fast: three times the time
//   silent      events have no times
//   failed      every event says that its command failed
//   no-event    launches give no event, as if there were none
//   samples     every image has four samples a pixel; levels: three mip levels; pixels: 12 bytes
//   each unread      no image can be read or copied
//   queue       argument 3 of every kernel is a queue on the device
//
// Whatever it says, a texture of OpenGL is an image of 64 x 64 pixels, a pipe is a buffer, and text
// in an intermediate language is OpenCL C.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_layer.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

cl_icd_dispatch& below() {
  static cl_icd_dispatch table{};
  return table;
}

bool is(std::string_view word) {
  const char* const what = std::getenv("CLPROBE_STRANGE");
  return what != nullptr && word == what;
}

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                          cl_command_queue_properties properties, cl_int* result) {
  if (is("refuse") && (properties & CL_QUEUE_PROFILING_ENABLE) != 0) {
    if (result != nullptr) *result = CL_INVALID_QUEUE_PROPERTIES;
    return nullptr;
  }
  return below().clCreateCommandQueue(context, device, properties, result);
}

cl_command_queue CL_API_CALL create_with_list(cl_context context, cl_device_id device,
                                              const cl_queue_properties* list, cl_int* result) {
  for (const cl_queue_properties* each = list; each != nullptr && *each != 0; each += 2) {
    const bool is_profiling =
        each[0] == CL_QUEUE_PROPERTIES && (each[1] & CL_QUEUE_PROFILING_ENABLE) != 0;
    if (!is("refuse") || !is_profiling) continue;
    if (result != nullptr) *result = CL_INVALID_QUEUE_PROPERTIES;
    return nullptr;
  }
  return below().clCreateCommandQueueWithProperties(context, device, list, result);
}

cl_int CL_API_CALL get_time(cl_event event, cl_profiling_info name, std::size_t size, void* value,
                            std::size_t* needed) {
  if (is("silent")) return CL_PROFILING_INFO_NOT_AVAILABLE;
  const cl_int error = below().clGetEventProfilingInfo(event, name, size, value, needed);
  if (error == CL_SUCCESS && is("backwards") && value != nullptr) {
    const cl_ulong time = name == CL_PROFILING_COMMAND_END ? 1 : 2;
    std::memcpy(value, &time, sizeof(time));
  }
  const bool scales = is("slow") || is("fast");
  if (error == CL_SUCCESS && scales && value != nullptr) {
    cl_ulong time = 0;
    std::memcpy(&time, value, sizeof(time));
    time = is("slow") ? time / 42 : 3 * time;
    std::memcpy(value, &time, sizeof(time));
  }
  return error;
}

cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info name, std::size_t size, void* value,
                                  std::size_t* needed) {
  const cl_int error = below().clGetEventInfo(event, name, size, value, needed);
  if (error == CL_SUCCESS && is("failed") && name == CL_EVENT_COMMAND_EXECUTION_STATUS) {
    const cl_int status = CL_OUT_OF_RESOURCES;
    std::memcpy(value, &status, sizeof(status));
  }
  return error;
}

cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                           const std::size_t* offset, const std::size_t* global,
                           const std::size_t* local, cl_uint waits, const cl_event* awaited,
                           cl_event* event) {
  return below().clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits,
                                        awaited, is("no-event") ? nullptr : event);
}

cl_int CL_API_CALL get_image_info(cl_mem image, cl_image_info name, std::size_t size, void* value,
                                  std::size_t* needed) {
  const cl_int error = below().clGetImageInfo(image, name, size, value, needed);
  const auto answer = [&](auto other) {
    if (error == CL_SUCCESS && value != nullptr) std::memcpy(value, &other, sizeof other);
  };
  if (is("samples") && name == CL_IMAGE_NUM_SAMPLES) answer(cl_uint{4});
  if (is("levels") && name == CL_IMAGE_NUM_MIP_LEVELS) answer(cl_uint{3});
  if (is("pixels") && name == CL_IMAGE_ELEMENT_SIZE) answer(std::size_t{12});
  return error;
}

cl_int CL_API_CALL read_image(cl_command_queue queue, cl_mem image, cl_bool waits,
                              const std::size_t* origin, const std::size_t* region, std::size_t row,
                              std::size_t slice, void* to, cl_uint count, const cl_event* awaited,
                              cl_event* event) {
  // What the program itself reads is all of the image of 12 KiB behind its last launch.
  if (is("unread") && region[0] * region[1] * region[2] != std::size_t{32} * 24) {
    return CL_INVALID_OPERATION;
  }
  return below().clEnqueueReadImage(queue, image, waits, origin, region, row, slice, to, count,
                                    awaited, event);
}

cl_int CL_API_CALL copy_image(cl_command_queue queue, cl_mem from, cl_mem to,
                              const std::size_t* from_origin, const std::size_t* to_origin,
                              const std::size_t* region, cl_uint count, const cl_event* awaited,
                              cl_event* event) {
  if (is("unread")) return CL_IMAGE_FORMAT_NOT_SUPPORTED;
  return below().clEnqueueCopyImage(queue, from, to, from_origin, to_origin, region, count, awaited,
                                    event);
}

cl_mem CL_API_CALL create_from_texture(cl_context context, cl_mem_flags flags, cl_GLenum /*target*/,
                                       cl_GLint /*level*/, cl_GLuint /*texture*/, cl_int* result) {
  constexpr cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = 64;
  description.image_height = 64;
  return below().clCreateImage(context, flags, &format, &description, nullptr, result);
}

cl_int CL_API_CALL get_argument_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name,
                                     std::size_t size, void* value, std::size_t* needed) {
  constexpr std::string_view type{"queue_t"};
  if (!is("queue") || index != 3 || name != CL_KERNEL_ARG_TYPE_NAME) {
    return below().clGetKernelArgInfo(kernel, index, name, size, value, needed);
  }
  if (needed != nullptr) *needed = type.size() + 1;
  if (value == nullptr) return CL_SUCCESS;
  if (size < type.size() + 1) return CL_INVALID_VALUE;
  std::memcpy(value, type.data(), type.size() + 1);
  return CL_SUCCESS;
}

cl_mem CL_API_CALL create_pipe(cl_context context, cl_mem_flags flags, cl_uint packet,
                               cl_uint packets, const cl_pipe_properties* /*properties*/,
                               cl_int* result) {
  const std::size_t bytes = std::size_t{packet} * packets;
  return below().clCreateBuffer(context, flags, bytes, nullptr, result);
}

cl_program CL_API_CALL create_from_il(cl_context context, const void* text, std::size_t length,
                                      cl_int* result) {
  const char* const source = static_cast<const char*>(text);
  return below().clCreateProgramWithSource(
      context, 1,
      const_cast<const char**>(&source),  // NOLINT(cppcoreguidelines-pro-type-const-cast)
      &length, result);
}

}  // namespace

extern "C" {

// NOLINTNEXTLINE(readability-identifier-naming): OpenCL's, as the names of the parameters
__attribute__((visibility("default"))) cl_int CL_API_CALL
clGetLayerInfo(cl_layer_info param_name, std::size_t param_value_size, void* param_value,
               std::size_t* param_value_size_ret) {
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (param_name != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  if (param_value != nullptr && param_value_size >= sizeof(version)) {
    std::memcpy(param_value, &version, sizeof(version));
  }
  if (param_value_size_ret != nullptr) *param_value_size_ret = sizeof(version);
  return CL_SUCCESS;
}

// NOLINTNEXTLINE(readability-identifier-naming): OpenCL's
__attribute__((visibility("default"))) cl_int CL_API_CALL
clInitLayer(cl_uint num_entries, const cl_icd_dispatch* target_dispatch, cl_uint* num_entries_ret,
            const cl_icd_dispatch** layer_dispatch_ret) {
  static cl_icd_dispatch table{};
  below() = *target_dispatch;
  table.clCreateCommandQueue = create_queue;
  table.clCreateCommandQueueWithProperties = create_with_list;
  table.clGetEventProfilingInfo = get_time;
  table.clGetEventInfo = get_event_info;
  table.clEnqueueNDRangeKernel = enqueue;
  table.clGetImageInfo = get_image_info;
  table.clEnqueueReadImage = read_image;
  table.clEnqueueCopyImage = copy_image;
  table.clCreateFromGLTexture = create_from_texture;
  table.clGetKernelArgInfo = get_argument_info;
  table.clCreatePipe = create_pipe;
  table.clCreateProgramWithIL = create_from_il;
  *num_entries_ret = num_entries;
  *layer_dispatch_ret = &table;
  return CL_SUCCESS;
}

}  // extern "C"
