// SPDX-License-Identifier: Apache-2.0
// What kernels get.
#include <cstdint>
#include <string>
#include <utility>

#include "layer/above.hpp"

namespace clprobe::layer {
namespace {

cl_mem noted_buffer(cl_mem memory, std::size_t bytes, cl_mem_flags flags) {
  if (memory == nullptr) return memory;
  note([&](Known& known) {
    KnownMemory what{.bytes = bytes};
    // Its pointers to elsewhere would mean nothing in another process.
    if ((flags & CL_MEM_USE_HOST_PTR) != 0) {
      cl_bool is_svm = CL_FALSE;
      State::below().clGetMemObjectInfo(memory, CL_MEM_USES_SVM_POINTER, sizeof is_svm, &is_svm,
                                        nullptr);
      if (is_svm == CL_TRUE) what.problem = "a buffer in shared virtual memory";
    }
    known.note_memory(memory, std::move(what));
  });
  return memory;
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, std::size_t bytes,
                                 void* host, cl_int* result) {
  return noted_buffer(next().clCreateBuffer(context, flags, bytes, host, result), bytes, flags);
}

cl_mem CL_API_CALL create_buffer_with(cl_context context, const cl_mem_properties* properties,
                                      cl_mem_flags flags, std::size_t bytes, void* host,
                                      cl_int* result) {
  return noted_buffer(
      next().clCreateBufferWithProperties(context, properties, flags, bytes, host, result), bytes,
      flags);
}

cl_mem CL_API_CALL create_part(cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type,
                               const void* info, cl_int* result) {
  cl_mem memory = next().clCreateSubBuffer(whole, flags, type, info, result);
  if (memory != nullptr && type == CL_BUFFER_CREATE_TYPE_REGION) {
    const auto& region = *static_cast<const cl_buffer_region*>(info);
    note([&](Known& known) { known.note_part(memory, whole, region.origin, region.size); });
  }
  return memory;
}

cl_mem noted_other(cl_mem memory, const char* what) {
  if (memory != nullptr) {
    note([&](Known& known) { known.note_memory(memory, {.problem = what}); });
  }
  return memory;
}

cl_mem noted_image(cl_mem memory, const cl_image_desc* description, const char* problem) {
  if (memory == nullptr) return memory;
  note([&](Known& known) {
    KnownMemory what{.is_image = true, .problem = problem};
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-union-access): OpenCL's
    if (description != nullptr) what.lies_in = description->mem_object;
    known.note_memory(memory, std::move(what));
  });
  return memory;
}

cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags,
                                const cl_image_format* format, const cl_image_desc* description,
                                void* host, cl_int* result) {
  return noted_image(next().clCreateImage(context, flags, format, description, host, result),
                     description, "");
}

cl_mem CL_API_CALL create_image_with(cl_context context, const cl_mem_properties* properties,
                                     cl_mem_flags flags, const cl_image_format* format,
                                     const cl_image_desc* description, void* host, cl_int* result) {
  // A handle of memory that somebody else has made, such as a dma-buf.
  const bool is_from_elsewhere = properties != nullptr && *properties != 0;
  return noted_image(next().clCreateImageWithProperties(context, properties, flags, format,
                                                        description, host, result),
                     description, is_from_elsewhere ? "an image with external memory" : "");
}

cl_mem CL_API_CALL create_image_2d(cl_context context, cl_mem_flags flags,
                                   const cl_image_format* format, std::size_t width,
                                   std::size_t height, std::size_t row, void* host,
                                   cl_int* result) {
  return noted_image(
      next().clCreateImage2D(context, flags, format, width, height, row, host, result), nullptr,
      "");
}

cl_mem CL_API_CALL create_image_3d(cl_context context, cl_mem_flags flags,
                                   const cl_image_format* format, std::size_t width,
                                   std::size_t height, std::size_t depth, std::size_t row,
                                   std::size_t slice, void* host, cl_int* result) {
  return noted_image(next().clCreateImage3D(context, flags, format, width, height, depth, row,
                                            slice, host, result),
                     nullptr, "");
}

constexpr const char* of_opengl = "an OpenGL object";

cl_mem CL_API_CALL create_from_gl_buffer(cl_context context, cl_mem_flags flags, cl_GLuint buffer,
                                         cl_int* result) {
  return noted_other(next().clCreateFromGLBuffer(context, flags, buffer, result), of_opengl);
}

cl_mem CL_API_CALL create_from_gl_texture(cl_context context, cl_mem_flags flags, cl_GLenum target,
                                          cl_GLint level, cl_GLuint texture, cl_int* result) {
  return noted_other(next().clCreateFromGLTexture(context, flags, target, level, texture, result),
                     of_opengl);
}

cl_mem CL_API_CALL create_from_gl_texture_2d(cl_context context, cl_mem_flags flags,
                                             cl_GLenum target, cl_GLint level, cl_GLuint texture,
                                             cl_int* result) {
  return noted_other(next().clCreateFromGLTexture2D(context, flags, target, level, texture, result),
                     of_opengl);
}

cl_mem CL_API_CALL create_from_gl_texture_3d(cl_context context, cl_mem_flags flags,
                                             cl_GLenum target, cl_GLint level, cl_GLuint texture,
                                             cl_int* result) {
  return noted_other(next().clCreateFromGLTexture3D(context, flags, target, level, texture, result),
                     of_opengl);
}

cl_mem CL_API_CALL create_from_gl_renderbuffer(cl_context context, cl_mem_flags flags,
                                               cl_GLuint renderbuffer, cl_int* result) {
  return noted_other(next().clCreateFromGLRenderbuffer(context, flags, renderbuffer, result),
                     of_opengl);
}

cl_mem CL_API_CALL create_pipe(cl_context context, cl_mem_flags flags, cl_uint packet,
                               cl_uint packets, const cl_pipe_properties* properties,
                               cl_int* result) {
  return noted_other(next().clCreatePipe(context, flags, packet, packets, properties, result),
                     "a pipe");
}

/// With its last reference the handle may become another object's.
cl_int CL_API_CALL release_memory(cl_mem memory) {
  cl_uint references = 0;
  State::below().clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof references, &references,
                                    nullptr);
  if (references == 1) note([&](Known& known) { known.forget_memory(memory); });
  return next().clReleaseMemObject(memory);
}

cl_sampler noted_sampler(cl_sampler sampler) {
  if (sampler != nullptr) note([&](Known& known) { known.note_sampler(sampler); });
  return sampler;
}

cl_sampler CL_API_CALL create_sampler(cl_context context, cl_bool is_normalized,
                                      cl_addressing_mode addressing, cl_filter_mode filter,
                                      cl_int* result) {
  return noted_sampler(next().clCreateSampler(context, is_normalized, addressing, filter, result));
}

cl_sampler CL_API_CALL create_sampler_with(cl_context context,
                                           const cl_sampler_properties* properties,
                                           cl_int* result) {
  return noted_sampler(next().clCreateSamplerWithProperties(context, properties, result));
}

/// With its last reference the handle may become a number of the application's.
cl_int CL_API_CALL release_sampler(cl_sampler sampler) {
  cl_uint references = 0;
  State::below().clGetSamplerInfo(sampler, CL_SAMPLER_REFERENCE_COUNT, sizeof references,
                                  &references, nullptr);
  if (references == 1) note([&](Known& known) { known.forget_sampler(sampler); });
  return next().clReleaseSampler(sampler);
}

}  // namespace

void wrap_captured_objects(cl_icd_dispatch& table) {
  wrap_above<&cl_icd_dispatch::clCreateBuffer>(table, create_buffer);
  wrap_above<&cl_icd_dispatch::clCreateBufferWithProperties>(table, create_buffer_with);
  wrap_above<&cl_icd_dispatch::clCreateSubBuffer>(table, create_part);
  wrap_above<&cl_icd_dispatch::clCreateImage>(table, create_image);
  wrap_above<&cl_icd_dispatch::clCreateImageWithProperties>(table, create_image_with);
  wrap_above<&cl_icd_dispatch::clCreateImage2D>(table, create_image_2d);
  wrap_above<&cl_icd_dispatch::clCreateImage3D>(table, create_image_3d);
  wrap_above<&cl_icd_dispatch::clCreatePipe>(table, create_pipe);
  wrap_above<&cl_icd_dispatch::clReleaseMemObject>(table, release_memory);
  wrap_above<&cl_icd_dispatch::clCreateSampler>(table, create_sampler);
  wrap_above<&cl_icd_dispatch::clCreateSamplerWithProperties>(table, create_sampler_with);
  wrap_above<&cl_icd_dispatch::clReleaseSampler>(table, release_sampler);
  wrap_above<&cl_icd_dispatch::clCreateFromGLBuffer>(table, create_from_gl_buffer);
  wrap_above<&cl_icd_dispatch::clCreateFromGLTexture>(table, create_from_gl_texture);
  wrap_above<&cl_icd_dispatch::clCreateFromGLTexture2D>(table, create_from_gl_texture_2d);
  wrap_above<&cl_icd_dispatch::clCreateFromGLTexture3D>(table, create_from_gl_texture_3d);
  wrap_above<&cl_icd_dispatch::clCreateFromGLRenderbuffer>(table, create_from_gl_renderbuffer);
}

}  // namespace clprobe::layer
