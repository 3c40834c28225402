// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "profile/layer/layer.hpp"

namespace clprobe::layer {
namespace {

void note_memory(cl_mem memory, KnownMemory what) {
  what.root = memory;
  State::get().note([&](Known& known) { known.memories[memory] = std::move(what); });
}

void note_buffer(cl_mem memory, std::size_t bytes, cl_mem_flags flags) {
  KnownMemory what{.bytes = bytes};
  // Buffers in shared virtual memory are not captured, because pointers into that memory are
  // invalid in another process.
  if ((flags & CL_MEM_USE_HOST_PTR) != 0) {
    cl_bool is_svm = CL_FALSE;
    State::below().clGetMemObjectInfo(memory, CL_MEM_USES_SVM_POINTER, sizeof is_svm, &is_svm,
                                      nullptr);
    if (is_svm == CL_TRUE) what.problem = "a buffer in shared virtual memory";
  }
  note_memory(memory, std::move(what));
}

/// Records `memory` as a sub-buffer of `whole`. `whole` may itself be a recorded sub-buffer.
void note_part(cl_mem memory, cl_mem whole, const cl_buffer_region& region) {
  State::get().note([&](Known& known) {
    const auto found = known.memories.find(whole);
    if (found == known.memories.end()) return;
    KnownMemory part = found->second;
    part.origin += region.origin;
    part.bytes = region.size;
    known.memories[memory] = std::move(part);
  });
}

void note_image(cl_mem memory, const cl_image_desc& description, const char* problem) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-union-access): the type is OpenCL's
  note_memory(memory, {.is_image = true, .lies_in = description.mem_object, .problem = problem});
}

/// Removes the record of an object before the last reference is released, because another object
/// may then get the object's handle.
cl_int CL_API_CALL release_memory(cl_mem memory) {
  cl_uint references = 0;
  State::below().clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof references, &references,
                                    nullptr);
  if (references == 1) State::get().note([&](Known& known) { known.memories.erase(memory); });
  return State::below().clReleaseMemObject(memory);
}

/// Removes the record of a sampler before the last reference is released, because the value of
/// another argument may then equal the sampler's handle.
cl_int CL_API_CALL release_sampler(cl_sampler sampler) {
  cl_uint references = 0;
  State::below().clGetSamplerInfo(sampler, CL_SAMPLER_REFERENCE_COUNT, sizeof references,
                                  &references, nullptr);
  if (references == 1) State::get().note([&](Known& known) { known.samplers.erase(sampler); });
  return State::below().clReleaseSampler(sampler);
}

}  // namespace

void wrap_objects(cl_icd_dispatch& table) {
  using Table = cl_icd_dispatch;
  wrap_creation<&Table::clCreateBuffer>(
      table, [](cl_mem memory, cl_context, cl_mem_flags flags, std::size_t bytes, auto...) {
        note_buffer(memory, bytes, flags);
      });
  wrap_creation<&Table::clCreateBufferWithProperties>(
      table, [](cl_mem memory, cl_context, const cl_mem_properties*, cl_mem_flags flags,
                std::size_t bytes, auto...) { note_buffer(memory, bytes, flags); });
  wrap_creation<&Table::clCreateSubBuffer>(
      table, [](cl_mem memory, cl_mem whole, cl_mem_flags, cl_buffer_create_type type,
                const void* info, cl_int*) {
        if (type != CL_BUFFER_CREATE_TYPE_REGION) return;
        note_part(memory, whole, *static_cast<const cl_buffer_region*>(info));
      });
  wrap_creation<&Table::clCreateImage>(
      table,
      [](cl_mem memory, cl_context, cl_mem_flags, const cl_image_format*,
         const cl_image_desc* description, auto...) { note_image(memory, *description, ""); });
  wrap_creation<&Table::clCreateImageWithProperties>(
      table, [](cl_mem memory, cl_context, const cl_mem_properties* properties, cl_mem_flags,
                const cl_image_format*, const cl_image_desc* description, auto...) {
        // A list of properties describes memory from outside OpenCL, such as a dma-buf.
        const bool is_from_elsewhere = properties != nullptr && *properties != 0;
        note_image(memory, *description, is_from_elsewhere ? "an image with external memory" : "");
      });
  const auto note_plain_image = [](cl_mem memory, auto...) { note_image(memory, {}, ""); };
  wrap_creation<&Table::clCreateImage2D>(table, note_plain_image);
  wrap_creation<&Table::clCreateImage3D>(table, note_plain_image);
  wrap_creation<&Table::clCreatePipe>(
      table, [](cl_mem memory, auto...) { note_memory(memory, {.problem = "a pipe"}); });
  const auto note_opengl = [](cl_mem memory, auto...) {
    note_memory(memory, {.problem = "an OpenGL object"});
  };
  wrap_creation<&Table::clCreateFromGLBuffer>(table, note_opengl);
  wrap_creation<&Table::clCreateFromGLTexture>(table, note_opengl);
  wrap_creation<&Table::clCreateFromGLTexture2D>(table, note_opengl);
  wrap_creation<&Table::clCreateFromGLTexture3D>(table, note_opengl);
  wrap_creation<&Table::clCreateFromGLRenderbuffer>(table, note_opengl);
  const auto note_sampler = [](cl_sampler sampler, auto...) {
    State::get().note([&](Known& known) { known.samplers.insert(sampler); });
  };
  wrap_creation<&Table::clCreateSampler>(table, note_sampler);
  wrap_creation<&Table::clCreateSamplerWithProperties>(table, note_sampler);
  wrap<&Table::clReleaseMemObject>(table, release_memory);
  wrap<&Table::clReleaseSampler>(table, release_sampler);
}

}  // namespace clprobe::layer
