// SPDX-License-Identifier: Apache-2.0
// The functions of OpenCL that a capture has to see: each lets the call pass, and writes down what
// came of it.
#include "layer/wraps.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "clprobe/includes.hpp"
#include "layer/above.hpp"
#include "layer/programs.hpp"

namespace clprobe::layer {
namespace {

/// An open file, which nobody else writes through.
class OpenFile {
 public:
  // A pipe without a writer would hold the application up.
  explicit OpenFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile(OpenFile&&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  OpenFile& operator=(OpenFile&&) = delete;

  /// Of a plain file; nothing of anything else.
  [[nodiscard]] std::optional<std::size_t> bytes() const {
    struct stat what {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &what) != 0 || !S_ISREG(what.st_mode)) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(what.st_size);
  }

  [[nodiscard]] std::optional<std::string> read(std::size_t count) const {
    std::string text(count, '\0');
    for (std::size_t at = 0; at < count;) {
      const ssize_t got = ::read(descriptor_, text.data() + at, count - at);
      if (got <= 0) return std::nullopt;
      at += static_cast<std::size_t>(got);
    }
    return text;
  }

 private:
  int descriptor_;
};

std::optional<std::string> read_header(const std::string& path, std::size_t max_bytes) {
  const OpenFile file(path);
  const std::optional<std::size_t> bytes = file.bytes();
  if (!bytes || *bytes > max_bytes) return std::nullopt;
  return file.read(*bytes);
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// PoCL compiles a text where it keeps its builds.
std::string pocl_folder() {
  if (std::string folder = variable("POCL_CACHE_DIR"); !folder.empty()) return folder;
  if (const std::string caches = variable("XDG_CACHE_HOME"); !caches.empty()) {
    return caches + "/pocl/kcache";
  }
  return variable("HOME") + "/.cache/pocl/kcache";
}

/// The headers that the text reaches, read now: later the application may be in another folder.
/// None where they would make too long a text. Throws std::bad_alloc.
includes::Gathered find_headers(const std::string& text, const std::string& options) {
  if (text.find("include") == std::string::npos) return {};
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  const includes::Files files{
      .read = read_header, .working_folder = here, .text_folders = {here, pocl_folder()}};
  includes::Gathered found = includes::gather(text, options, files);
  if (!includes::whole_text(text, options, found).refusal.empty()) return {};
  return found;
}

cl_program CL_API_CALL create_from_source(cl_context context, cl_uint count, const char** strings,
                                          const std::size_t* lengths, cl_int* result) {
  cl_program program = next().clCreateProgramWithSource(context, count, strings, lengths, result);
  if (program == nullptr) return program;
  note([&](Known& known) {
    std::string text;
    for (cl_uint i = 0; i < count; ++i) text += source_at(strings, lengths, i);
    known.note_program(program, {.units = {{std::move(text), {}}}});
  });
  return program;
}

void note_without_text(cl_program program, const char* problem) {
  if (program == nullptr) return;
  note([&](Known& known) { known.note_program(program, {.problem = problem}); });
}

cl_program CL_API_CALL create_from_binary(cl_context context, cl_uint count,
                                          const cl_device_id* devices, const std::size_t* lengths,
                                          const unsigned char** binaries, cl_int* status,
                                          cl_int* result) {
  cl_program program =
      next().clCreateProgramWithBinary(context, count, devices, lengths, binaries, status, result);
  note_without_text(program, "its program came as a binary, without source text");
  return program;
}

cl_program CL_API_CALL create_from_il(cl_context context, const void* text, std::size_t length,
                                      cl_int* result) {
  cl_program program = next().clCreateProgramWithIL(context, text, length, result);
  note_without_text(program, "its program came as intermediate language (IL)");
  return program;
}

cl_program CL_API_CALL create_from_built_in(cl_context context, cl_uint count,
                                            const cl_device_id* devices, const char* names,
                                            cl_int* result) {
  cl_program program =
      next().clCreateProgramWithBuiltInKernels(context, count, devices, names, result);
  note_without_text(program, "its program is built into the driver");
  return program;
}

void note_options(cl_program program, const char* options, const char* problem) {
  note([&](Known& known) {
    KnownProgram what = known.program(program);
    for (KnownProgram::Unit& unit : what.units) {
      unit.options = options == nullptr ? "" : options;
      unit.headers = find_headers(unit.text, unit.options);
    }
    if (problem != nullptr) what.problem = problem;
    known.note_program(program, std::move(what));
  });
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id* devices,
                         const char* options, void(CL_CALLBACK* done)(cl_program, void*),
                         void* user) {
  note_options(program, options, nullptr);
  return next().clBuildProgram(program, count, devices, options, done, user);
}

cl_int CL_API_CALL compile(cl_program program, cl_uint count, const cl_device_id* devices,
                           const char* options, cl_uint headers, const cl_program* header_programs,
                           const char** header_names, void(CL_CALLBACK* done)(cl_program, void*),
                           void* user) {
  note_options(program, options,
               headers > 0 ? "its program is compiled with headers in memory" : nullptr);
  return next().clCompileProgram(program, count, devices, options, headers, header_programs,
                                 header_names, done, user);
}

cl_program CL_API_CALL link(cl_context context, cl_uint count, const cl_device_id* devices,
                            const char* options, cl_uint inputs, const cl_program* input_programs,
                            void(CL_CALLBACK* done)(cl_program, void*), void* user,
                            cl_int* result) {
  cl_program program = next().clLinkProgram(context, count, devices, options, inputs,
                                            input_programs, done, user, result);
  if (program == nullptr || input_programs == nullptr) return program;
  note([&](Known& known) {
    KnownProgram whole{.link_options = options == nullptr ? "" : options};
    for (cl_uint i = 0; i < inputs; ++i) {
      const KnownProgram input = known.program(input_programs[i]);
      whole.units.insert(whole.units.end(), input.units.begin(), input.units.end());
      if (!input.problem.empty()) whole.problem = input.problem;
    }
    known.note_program(program, std::move(whole));
  });
  return program;
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* result) {
  cl_kernel kernel = next().clCreateKernel(program, name, result);
  if (kernel != nullptr) note([&](Known& known) { known.note_kernel(kernel, name, program); });
  return kernel;
}

cl_int CL_API_CALL create_kernels(cl_program program, cl_uint count, cl_kernel* kernels,
                                  cl_uint* found) {
  cl_uint made = 0;
  const cl_int error = next().clCreateKernelsInProgram(program, count, kernels, &made);
  if (found != nullptr) *found = made;
  for (cl_uint i = 0; error == CL_SUCCESS && kernels != nullptr && i < made; ++i) {
    std::array<char, 1024> name{};
    next().clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, name.size() - 1, name.data(),
                           nullptr);
    note([&](Known& known) { known.note_kernel(kernels[i], name.data(), program); });
  }
  return error;
}

cl_kernel CL_API_CALL clone_kernel(cl_kernel kernel, cl_int* result) {
  cl_kernel copy = next().clCloneKernel(kernel, result);
  if (copy != nullptr) note([&](Known& known) { known.note_clone(kernel, copy); });
  return copy;
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, std::size_t bytes,
                                const void* value) {
  const cl_int error = next().clSetKernelArg(kernel, index, bytes, value);
  if (error != CL_SUCCESS) return error;
  note([&](Known& known) {
    KnownArgument argument{.bytes = bytes, .has_value = value != nullptr};
    if (bytes > bundle::max_value_bytes && value != nullptr) {
      argument.problem = "a value that is too large";
    } else if (value != nullptr) {
      argument.value.assign(static_cast<const char*>(value), bytes);
    }
    known.note_argument(kernel, index, std::move(argument));
  });
  return error;
}

cl_int CL_API_CALL set_svm_argument(cl_kernel kernel, cl_uint index, const void* pointer) {
  const cl_int error = next().clSetKernelArgSVMPointer(kernel, index, pointer);
  if (error != CL_SUCCESS) return error;
  note([&](Known& known) {
    known.note_argument(kernel, index, {.problem = "a pointer to shared virtual memory"});
  });
  return error;
}

cl_int CL_API_CALL set_exec_info(cl_kernel kernel, cl_kernel_exec_info name, std::size_t size,
                                 const void* value) {
  const cl_int error = next().clSetKernelExecInfo(kernel, name, size, value);
  if (error == CL_SUCCESS && name == CL_KERNEL_EXEC_INFO_SVM_PTRS) {
    note([&](Known& known) { known.note_kernel_problem(kernel, "it uses shared virtual memory"); });
  }
  return error;
}

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const std::size_t* offset, const std::size_t* global,
                                  const std::size_t* local, cl_uint waits, const cl_event* awaited,
                                  cl_event* event) {
  bundle::NdRange range{.dimensions = std::min<cl_uint>(dimensions, 3)};
  for (std::size_t i = 0; i < range.dimensions; ++i) {
    range.offset.at(i) = offset == nullptr ? 0 : offset[i];
    range.global.at(i) = global == nullptr ? 0 : global[i];
    range.local.at(i) = local == nullptr ? 0 : local[i];
  }
  return Captures::get().launch(queue, kernel, range, event, [&](cl_event* used) {
    return next().clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits,
                                         awaited, used);
  });
}

cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint waits,
                                const cl_event* awaited, cl_event* event) {
  constexpr bundle::NdRange one{.dimensions = 1, .offset = {}, .global = {1}, .local = {1}};
  return Captures::get().launch(queue, kernel, one, event, [&](cl_event* used) {
    return next().clEnqueueTask(queue, kernel, waits, awaited, used);
  });
}

}  // namespace

void wrap_capture(cl_icd_dispatch& table) {
  Captures::begin();
  wrap_above<&cl_icd_dispatch::clCreateProgramWithSource>(table, create_from_source);
  wrap_above<&cl_icd_dispatch::clCreateProgramWithBinary>(table, create_from_binary);
  wrap_above<&cl_icd_dispatch::clCreateProgramWithIL>(table, create_from_il);
  wrap_above<&cl_icd_dispatch::clCreateProgramWithBuiltInKernels>(table, create_from_built_in);
  wrap_above<&cl_icd_dispatch::clBuildProgram>(table, build);
  wrap_above<&cl_icd_dispatch::clCompileProgram>(table, compile);
  wrap_above<&cl_icd_dispatch::clLinkProgram>(table, link);
  wrap_above<&cl_icd_dispatch::clCreateKernel>(table, create_kernel);
  wrap_above<&cl_icd_dispatch::clCreateKernelsInProgram>(table, create_kernels);
  wrap_above<&cl_icd_dispatch::clCloneKernel>(table, clone_kernel);
  wrap_above<&cl_icd_dispatch::clSetKernelArg>(table, set_argument);
  wrap_above<&cl_icd_dispatch::clSetKernelArgSVMPointer>(table, set_svm_argument);
  wrap_above<&cl_icd_dispatch::clSetKernelExecInfo>(table, set_exec_info);
  wrap_above<&cl_icd_dispatch::clEnqueueNDRangeKernel>(table, enqueue_kernel);
  wrap_above<&cl_icd_dispatch::clEnqueueTask>(table, enqueue_task);
  next().clGetKernelInfo = State::below().clGetKernelInfo;
  wrap_captured_objects(table);
}

}  // namespace clprobe::layer
