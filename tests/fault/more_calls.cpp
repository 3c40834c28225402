// SPDX-License-Identifier: Apache-2.0
// The same for the functions that have no faults but those of all.
#include <cstring>
#include <utility>

#include "fault.hpp"
#include "stretch.hpp"

using clprobe::fault::fault_of;
using clprobe::fault::Interposer;

// The signatures are OpenCL's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t size, void* value,
                         size_t* needed) {
  static Interposer interposer("clGetPlatformInfo");
  const cl_int error = interposer.on_call(CL_OUT_OF_HOST_MEMORY);
  return error != CL_SUCCESS
             ? error
             : interposer.next<decltype(&clGetPlatformInfo)>()(platform, name, size, value, needed);
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int* error) {
  static Interposer interposer("clCreateCommandQueue");
  return interposer.make<decltype(&clCreateCommandQueue)>(CL_OUT_OF_RESOURCES, error, context,
                                                          device, properties);
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties* properties,
                                                    cl_int* error) {
  static Interposer interposer("clCreateCommandQueueWithProperties");
  return interposer.make<decltype(&clCreateCommandQueueWithProperties)>(
      CL_OUT_OF_RESOURCES, error, context, device, properties);
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** texts,
                                     const size_t* lengths, cl_int* error) {
  static Interposer interposer("clCreateProgramWithSource");
  const bool is_stretched = clprobe::fault::is_meant(count, texts, lengths);
  auto source = clprobe::fault::stretched_source(count, texts, lengths);
  if (!source) source = clprobe::fault::shortened_source(count, texts, lengths);
  const char* text = source ? source->c_str() : nullptr;
  const cl_program program = interposer.make<decltype(&clCreateProgramWithSource)>(
      CL_OUT_OF_RESOURCES, error, context, source ? 1 : count, source ? &text : texts,
      source ? nullptr : lengths);
  clprobe::fault::note_program(program, is_stretched);
  return program;
}

cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* error) {
  static Interposer interposer("clCreateKernel");
  return interposer.make<decltype(&clCreateKernel)>(CL_OUT_OF_RESOURCES, error, program, name);
}

cl_mem clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
                         const void* info, cl_int* error) {
  static Interposer interposer("clCreateSubBuffer");
  return interposer.make<decltype(&clCreateSubBuffer)>(CL_MEM_OBJECT_ALLOCATION_FAILURE, error,
                                                       buffer, flags, type, info);
}

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                     const cl_image_desc* description, void* host, cl_int* error) {
  static Interposer interposer("clCreateImage");
  return interposer.make<decltype(&clCreateImage)>(CL_MEM_OBJECT_ALLOCATION_FAILURE, error, context,
                                                   flags, format, description, host);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                           size_t pattern_size, size_t offset, size_t size, cl_uint events,
                           const cl_event* waited, cl_event* event) {
  static Interposer interposer("clEnqueueFillBuffer");
  return interposer.call<decltype(&clEnqueueFillBuffer)>(CL_OUT_OF_RESOURCES, queue, buffer,
                                                         pattern, pattern_size, offset, size,
                                                         events, waited, event);
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  static Interposer interposer("clSetKernelArg");
  return interposer.call<decltype(&clSetKernelArg)>(CL_OUT_OF_RESOURCES, kernel, index, size,
                                                    value);
}

cl_int clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void* value) {
  static Interposer interposer("clSetKernelArgSVMPointer");
  return interposer.call<decltype(&clSetKernelArgSVMPointer)>(CL_OUT_OF_RESOURCES, kernel, index,
                                                              value);
}

cl_int clGetContextInfo(cl_context object, cl_context_info name, size_t size, void* value,
                        size_t* needed) {
  static Interposer interposer("clGetContextInfo");
  return interposer.call<decltype(&clGetContextInfo)>(CL_OUT_OF_HOST_MEMORY, object, name, size,
                                                      value, needed);
}

cl_int clGetEventInfo(cl_event object, cl_event_info name, size_t size, void* value,
                      size_t* needed) {
  static Interposer interposer("clGetEventInfo");
  return interposer.call<decltype(&clGetEventInfo)>(CL_OUT_OF_HOST_MEMORY, object, name, size,
                                                    value, needed);
}

cl_int clGetMemObjectInfo(cl_mem object, cl_mem_info name, size_t size, void* value,
                          size_t* needed) {
  static Interposer interposer("clGetMemObjectInfo");
  return interposer.call<decltype(&clGetMemObjectInfo)>(CL_OUT_OF_HOST_MEMORY, object, name, size,
                                                        value, needed);
}

cl_int clGetProgramInfo(cl_program object, cl_program_info name, size_t size, void* value,
                        size_t* needed) {
  static Interposer interposer("clGetProgramInfo");
  return interposer.call<decltype(&clGetProgramInfo)>(CL_OUT_OF_HOST_MEMORY, object, name, size,
                                                      value, needed);
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info name,
                             size_t size, void* value, size_t* needed) {
  static Interposer interposer("clGetProgramBuildInfo");
  return interposer.call<decltype(&clGetProgramBuildInfo)>(CL_OUT_OF_HOST_MEMORY, program, device,
                                                           name, size, value, needed);
}

cl_int clRetainContext(cl_context object) {
  static Interposer interposer("clRetainContext");
  return interposer.call<decltype(&clRetainContext)>(CL_OUT_OF_RESOURCES, object);
}

cl_int clRetainDevice(cl_device_id object) {
  static Interposer interposer("clRetainDevice");
  return interposer.call<decltype(&clRetainDevice)>(CL_OUT_OF_RESOURCES, object);
}

cl_int clRetainKernel(cl_kernel object) {
  static Interposer interposer("clRetainKernel");
  return interposer.call<decltype(&clRetainKernel)>(CL_OUT_OF_RESOURCES, object);
}

cl_int clRetainMemObject(cl_mem object) {
  static Interposer interposer("clRetainMemObject");
  return interposer.call<decltype(&clRetainMemObject)>(CL_OUT_OF_RESOURCES, object);
}

cl_int clReleaseCommandQueue(cl_command_queue object) {
  static Interposer interposer("clReleaseCommandQueue");
  return interposer.call<decltype(&clReleaseCommandQueue)>(CL_OUT_OF_RESOURCES, object);
}

cl_int clReleaseContext(cl_context object) {
  static Interposer interposer("clReleaseContext");
  return interposer.call<decltype(&clReleaseContext)>(CL_OUT_OF_RESOURCES, object);
}

cl_int clReleaseDevice(cl_device_id object) {
  static Interposer interposer("clReleaseDevice");
  return interposer.call<decltype(&clReleaseDevice)>(CL_OUT_OF_RESOURCES, object);
}

cl_int clReleaseEvent(cl_event object) {
  static Interposer interposer("clReleaseEvent");
  return interposer.call<decltype(&clReleaseEvent)>(CL_OUT_OF_RESOURCES, object);
}

cl_int clReleaseKernel(cl_kernel object) {
  static Interposer interposer("clReleaseKernel");
  return interposer.call<decltype(&clReleaseKernel)>(CL_OUT_OF_RESOURCES, object);
}

cl_int clReleaseMemObject(cl_mem object) {
  static Interposer interposer("clReleaseMemObject");
  return interposer.call<decltype(&clReleaseMemObject)>(CL_OUT_OF_RESOURCES, object);
}

cl_int clReleaseProgram(cl_program object) {
  static Interposer interposer("clReleaseProgram");
  return interposer.call<decltype(&clReleaseProgram)>(CL_OUT_OF_RESOURCES, object);
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                cl_kernel_work_group_info name, size_t size, void* value,
                                size_t* needed) {
  static Interposer interposer("clGetKernelWorkGroupInfo");
  cl_int error = interposer.on_device_call(CL_OUT_OF_HOST_MEMORY);
  if (error != CL_SUCCESS) return error;
  const bool is_garbage = interposer.is_garbage();
  error = interposer.next<decltype(&clGetKernelWorkGroupInfo)>()(kernel, device, name, size, value,
                                                                 needed);
  if (is_garbage && value != nullptr) std::memset(value, 0xff, size);
  const bool is_largest_group = name == CL_KERNEL_WORK_GROUP_SIZE && size >= sizeof(size_t);
  if (interposer.is("fits") && is_largest_group && value != nullptr) {
    const auto largest = static_cast<size_t>(fault_of("clGetKernelWorkGroupInfo").code);
    std::memcpy(value, &largest, sizeof(largest));
  }
  return error;
}

void* clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  static Interposer interposer("clSVMAlloc");
  if (interposer.on_device_call(CL_OUT_OF_RESOURCES) != CL_SUCCESS) return nullptr;
  return interposer.next<decltype(&clSVMAlloc)>()(context, flags, size, alignment);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
