// SPDX-License-Identifier: Apache-2.0
#include "layer/programs.hpp"

#include <array>
#include <cstdint>
#include <string_view>

#include "layer/state.hpp"
#include "layer/wrap.hpp"

namespace clprobe::layer {
namespace {

using survey::hash_text;
using survey::Program;
using survey::ProgramKind;
using survey::Recorder;

void note_program(cl_program program, Program what) {
  State::get().record([&](Recorder& recorder) { recorder.note_program(program, what); });
}

Program program_of(cl_program program) {
  Program found;
  State::get().record([&](const Recorder& recorder) { found = recorder.program_of(program); });
  return found;
}

std::string_view bytes_of(const void* begin, std::size_t count) {
  return begin == nullptr ? std::string_view()
                          : std::string_view(static_cast<const char*>(begin), count);
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t other) {
  return hash_text(bytes_of(&other, sizeof(other)), hash);
}

cl_program CL_API_CALL create_from_source(cl_context context, cl_uint count, const char** strings,
                                          const std::size_t* lengths, cl_int* result) {
  cl_program program =
      State::below().clCreateProgramWithSource(context, count, strings, lengths, result);
  if (program == nullptr) return program;
  std::uint64_t hash = hash_text("");
  for (cl_uint i = 0; i < count; ++i) hash = hash_text(source_at(strings, lengths, i), hash);
  note_program(program, {hash, ProgramKind::source});
  return program;
}

cl_program CL_API_CALL create_from_binary(cl_context context, cl_uint count,
                                          const cl_device_id* devices, const std::size_t* lengths,
                                          const unsigned char** binaries, cl_int* status,
                                          cl_int* result) {
  cl_program program = State::below().clCreateProgramWithBinary(context, count, devices, lengths,
                                                                binaries, status, result);
  if (program == nullptr) return program;
  std::uint64_t hash = hash_text("");
  for (cl_uint i = 0; i < count; ++i) hash = hash_text(bytes_of(binaries[i], lengths[i]), hash);
  note_program(program, {hash, ProgramKind::binary});
  return program;
}

cl_program CL_API_CALL create_from_il(cl_context context, const void* text, std::size_t length,
                                      cl_int* result) {
  cl_program program = State::below().clCreateProgramWithIL(context, text, length, result);
  if (program != nullptr) {
    note_program(program, {hash_text(bytes_of(text, length)), ProgramKind::intermediate});
  }
  return program;
}

cl_program CL_API_CALL create_from_built_in(cl_context context, cl_uint count,
                                            const cl_device_id* devices, const char* names,
                                            cl_int* result) {
  cl_program program =
      State::below().clCreateProgramWithBuiltInKernels(context, count, devices, names, result);
  if (program != nullptr) note_program(program, {hash_text(names), ProgramKind::built_in});
  return program;
}

/// The same text with other options makes other kernels.
void note_options(cl_program program, const char* options) {
  Program what = program_of(program);
  if (options != nullptr) what.hash = hash_text(options, what.hash);
  note_program(program, what);
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id* devices,
                         const char* options, void(CL_CALLBACK* done)(cl_program, void*),
                         void* user) {
  note_options(program, options);
  return State::below().clBuildProgram(program, count, devices, options, done, user);
}

cl_int CL_API_CALL compile(cl_program program, cl_uint count, const cl_device_id* devices,
                           const char* options, cl_uint headers, const cl_program* header_programs,
                           const char** header_names, void(CL_CALLBACK* done)(cl_program, void*),
                           void* user) {
  note_options(program, options);
  Program what = program_of(program);
  for (cl_uint i = 0; header_programs != nullptr && i < headers; ++i) {
    what.hash = mix(what.hash, program_of(header_programs[i]).hash);
  }
  note_program(program, what);
  return State::below().clCompileProgram(program, count, devices, options, headers, header_programs,
                                         header_names, done, user);
}

cl_program CL_API_CALL link(cl_context context, cl_uint count, const cl_device_id* devices,
                            const char* options, cl_uint inputs, const cl_program* input_programs,
                            void(CL_CALLBACK* done)(cl_program, void*), void* user,
                            cl_int* result) {
  cl_program program = State::below().clLinkProgram(context, count, devices, options, inputs,
                                                    input_programs, done, user, result);
  if (program == nullptr || input_programs == nullptr) return program;
  Program what{hash_text(options == nullptr ? "" : options), ProgramKind::source};
  for (cl_uint i = 0; i < inputs; ++i) {
    const Program input = program_of(input_programs[i]);
    what.hash = mix(what.hash, input.hash);
    if (input.kind != ProgramKind::source) what.kind = input.kind;
  }
  note_program(program, what);
  return program;
}

void note_kernel(cl_kernel kernel, std::string_view name, cl_program program) {
  State::get().record([&](Recorder& recorder) {
    recorder.note_kernel(kernel, name, recorder.program_of(program));
  });
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* result) {
  cl_kernel kernel = State::below().clCreateKernel(program, name, result);
  if (kernel != nullptr) note_kernel(kernel, name, program);
  return kernel;
}

cl_int CL_API_CALL create_kernels(cl_program program, cl_uint count, cl_kernel* kernels,
                                  cl_uint* found) {
  cl_uint made = 0;
  const cl_int error = State::below().clCreateKernelsInProgram(program, count, kernels, &made);
  if (found != nullptr) *found = made;
  for (cl_uint i = 0; error == CL_SUCCESS && kernels != nullptr && i < made; ++i) {
    std::array<char, 1024> name{};
    State::below().clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, name.size() - 1,
                                   name.data(), nullptr);
    note_kernel(kernels[i], name.data(), program);
  }
  return error;
}

cl_kernel CL_API_CALL clone_kernel(cl_kernel kernel, cl_int* result) {
  cl_kernel copy = State::below().clCloneKernel(kernel, result);
  if (copy != nullptr) {
    State::get().record([&](Recorder& recorder) { recorder.note_clone(kernel, copy); });
  }
  return copy;
}

void note_svm(cl_kernel kernel) {
  State::get().record([&](Recorder& recorder) { recorder.note_svm(kernel); });
}

cl_int CL_API_CALL set_svm_argument(cl_kernel kernel, cl_uint index, const void* pointer) {
  const cl_int error = State::below().clSetKernelArgSVMPointer(kernel, index, pointer);
  if (error == CL_SUCCESS) note_svm(kernel);
  return error;
}

cl_int CL_API_CALL set_exec_info(cl_kernel kernel, cl_kernel_exec_info name, std::size_t size,
                                 const void* value) {
  const cl_int error = State::below().clSetKernelExecInfo(kernel, name, size, value);
  if (error == CL_SUCCESS && name == CL_KERNEL_EXEC_INFO_SVM_PTRS) note_svm(kernel);
  return error;
}

}  // namespace

void wrap_programs(cl_icd_dispatch& table) {
  wrap<&cl_icd_dispatch::clCreateProgramWithSource>(table, create_from_source);
  wrap<&cl_icd_dispatch::clCreateProgramWithBinary>(table, create_from_binary);
  wrap<&cl_icd_dispatch::clCreateProgramWithIL>(table, create_from_il);
  wrap<&cl_icd_dispatch::clCreateProgramWithBuiltInKernels>(table, create_from_built_in);
  wrap<&cl_icd_dispatch::clBuildProgram>(table, build);
  wrap<&cl_icd_dispatch::clCompileProgram>(table, compile);
  wrap<&cl_icd_dispatch::clLinkProgram>(table, link);
  wrap<&cl_icd_dispatch::clCreateKernel>(table, create_kernel);
  wrap<&cl_icd_dispatch::clCreateKernelsInProgram>(table, create_kernels);
  wrap<&cl_icd_dispatch::clCloneKernel>(table, clone_kernel);
  wrap<&cl_icd_dispatch::clSetKernelArgSVMPointer>(table, set_svm_argument);
  wrap<&cl_icd_dispatch::clSetKernelExecInfo>(table, set_exec_info);
}

}  // namespace clprobe::layer
