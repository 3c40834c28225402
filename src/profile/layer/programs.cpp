// SPDX-License-Identifier: Apache-2.0
// Wrappers of functions for programs and kernels.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "profile/api/prelude.hpp"
#include "profile/layer/layer.hpp"

namespace clprobe::layer {
namespace {

using survey::hash_text;
using survey::ProgramKind;
using survey::Recorder;

std::string_view bytes_of(const void* begin, std::size_t count) {
  return begin == nullptr ? std::string_view()
                          : std::string_view(static_cast<const char*>(begin), count);
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t other) {
  return hash_text(bytes_of(&other, sizeof(other)), hash);
}

/// Returns the bytes of a plain file; nothing for other files, because a pipe without a writer
/// would block the application.
std::optional<std::string> read_header(const std::string& path, std::size_t max_bytes) {
  const auto close = [](const int* descriptor) { ::close(*descriptor); };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  const std::unique_ptr<const int, decltype(close)> closed_at_end(&descriptor);
  struct stat what {};
  if (::fstat(descriptor, &what) != 0 || !S_ISREG(what.st_mode)) return std::nullopt;
  const auto bytes = static_cast<std::size_t>(what.st_size);
  if (bytes > max_bytes) return std::nullopt;
  std::string text(bytes, '\0');
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t got = ::read(descriptor, text.data() + at, bytes - at);
    if (got <= 0) return std::nullopt;
    at += static_cast<std::size_t>(got);
  }
  return text;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// Returns the folder in which PoCL compiles texts and caches builds.
std::string pocl_folder() {
  if (std::string folder = variable("POCL_CACHE_DIR"); !folder.empty()) return folder;
  if (const std::string caches = variable("XDG_CACHE_HOME"); !caches.empty()) {
    return caches + "/pocl/kcache";
  }
  return variable("HOME") + "/.cache/pocl/kcache";
}

/// Returns the headers that the text includes. The headers are read now, because the application
/// may later change its working folder. Returns no headers if the text with headers would be too
/// long. Throws std::bad_alloc.
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

void note_program(cl_program program, KnownProgram what) {
  const auto kept = std::make_shared<const KnownProgram>(std::move(what));
  State::get().note([&](Known& known) { known.programs[program] = kept; });
}

KnownProgram find_program(cl_program program) {
  const auto found = State::get().find(&Known::programs, program);
  return found ? **found : KnownProgram{.problem = "an extension created the kernel's program"};
}

/// Returns one of the texts of a program. A text without a length, or with length 0, ends at its
/// null character.
std::string_view source_at(const char** strings, const std::size_t* lengths, std::size_t index) {
  const bool has_length = lengths != nullptr && lengths[index] != 0;
  return has_length ? std::string_view(strings[index], lengths[index])
                    : std::string_view(strings[index]);
}

void note_source(cl_program program, cl_uint count, const char** strings,
                 const std::size_t* lengths) {
  std::string text;
  std::uint64_t hash = hash_text("");
  for (cl_uint i = 0; i < count; ++i) {
    const std::string_view source = source_at(strings, lengths, i);
    hash = hash_text(source, hash);
    if (is_capturing()) text += source;
  }
  note_program(program,
               {.identity = {hash, ProgramKind::source}, .units = {{.text = std::move(text)}}});
}

void note_binary(cl_program program, cl_uint count, const std::size_t* lengths,
                 const unsigned char** binaries) {
  std::uint64_t hash = hash_text("");
  for (cl_uint i = 0; i < count; ++i) hash = hash_text(bytes_of(binaries[i], lengths[i]), hash);
  KnownProgram what{.identity = {hash, ProgramKind::binary}};
  if (count != 1) {
    what.problem = "the application created the kernel's program from binaries for several devices";
  }
  if (is_capturing()) {
    what.units.push_back(
        {.text = std::string(bytes_of(binaries[0], lengths[0])), .form = bundle::Form::binary});
  }
  note_program(program, std::move(what));
}

void note_intermediate(cl_program program, const void* text, std::size_t length) {
  KnownProgram what{.identity = {hash_text(bytes_of(text, length)), ProgramKind::intermediate}};
  if (is_capturing()) {
    what.units.push_back(
        {.text = std::string(bytes_of(text, length)), .form = bundle::Form::spirv});
  }
  note_program(program, std::move(what));
}

/// Constants that the application sets in SPIR-V are part of the build, and bundles lack them.
cl_int CL_API_CALL set_constant(cl_program program, cl_uint id, std::size_t bytes,
                                const void* value) {
  try {
    KnownProgram what = find_program(program);
    what.problem = "the application sets specialization constants of the kernel's program";
    note_program(program, std::move(what));
  } catch (...) {
    note_gap(survey::Gap::lost);
  }
  return State::below().clSetProgramSpecializationConstant(program, id, bytes, value);
}

/// Records build options and header files of a program. Adds the options and headers in memory to
/// the program's identity, because both determine the kernels.
void note_options(cl_program program, const char* options, cl_uint headers = 0,
                  const cl_program* header_programs = nullptr) noexcept {
  try {
    KnownProgram what = find_program(program);
    if (options != nullptr) what.identity.hash = hash_text(options, what.identity.hash);
    for (cl_uint i = 0; header_programs != nullptr && i < headers; ++i) {
      what.identity.hash = mix(what.identity.hash, find_program(header_programs[i]).identity.hash);
    }
    for (KnownProgram::Unit& unit : what.units) {
      unit.options = options == nullptr ? "" : options;
      if (unit.form == bundle::Form::text) unit.headers = find_headers(unit.text, unit.options);
    }
    if (headers > 0) what.problem = "the kernel's program is compiled with headers in memory";
    note_program(program, std::move(what));
  } catch (...) {
    note_gap(survey::Gap::lost);
  }
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
  note_options(program, options, headers, header_programs);
  return State::below().clCompileProgram(program, count, devices, options, headers, header_programs,
                                         header_names, done, user);
}

void note_link(cl_program program, const char* options, cl_uint inputs,
               const cl_program* input_programs) {
  if (input_programs == nullptr) return;
  const std::string given = options == nullptr ? "" : options;
  KnownProgram whole{.identity = {hash_text(given), ProgramKind::source}, .link_options = given};
  for (cl_uint i = 0; i < inputs; ++i) {
    const KnownProgram input = find_program(input_programs[i]);
    whole.identity.hash = mix(whole.identity.hash, input.identity.hash);
    if (input.identity.kind != ProgramKind::source) {
      whole.identity.kind = input.identity.kind;
      whole.problem = "the kernel's program is linked from binaries or SPIR-V";
    }
    whole.units.insert(whole.units.end(), input.units.begin(), input.units.end());
    if (!input.problem.empty()) whole.problem = input.problem;
  }
  note_program(program, std::move(whole));
}

void note_kernel(cl_kernel kernel, std::string_view name, cl_program program) {
  const auto found = State::get().find(&Known::programs, program);
  State::get().record([&](Recorder& recorder) {
    recorder.note_kernel(kernel, name, found ? (*found)->identity : survey::Program{});
  });
  State::get().note([&](Known& known) {
    known.kernels[kernel] = {.name = std::string(name), .program = found.value_or(nullptr)};
  });
}

cl_int CL_API_CALL create_kernels(cl_program program, cl_uint count, cl_kernel* kernels,
                                  cl_uint* found) {
  cl_uint made = 0;
  const cl_int error = State::below().clCreateKernelsInProgram(program, count, kernels, &made);
  if (found != nullptr) *found = made;
  for (cl_uint i = 0; error == CL_SUCCESS && kernels != nullptr && i < made; ++i) {
    note_kernel(kernels[i], kernel_name(kernels[i]).data(), program);
  }
  return error;
}

void note_clone(cl_kernel copy, cl_kernel kernel) {
  State::get().record([&](Recorder& recorder) { recorder.note_clone(kernel, copy); });
  State::get().note([&](Known& known) {
    const auto found = known.kernels.find(kernel);
    if (found == known.kernels.end()) return;
    KnownKernel same = found->second;
    known.kernels[copy] = std::move(same);
  });
}

void note_argument(cl_kernel kernel, cl_uint index, KnownArgument argument) {
  // Maximum number of recorded arguments (kernels have some dozens). Without a limit, an invalid
  // index could exhaust the memory.
  constexpr cl_uint max_arguments = 1024;
  State::get().note([&](Known& known) {
    const auto found = known.kernels.find(kernel);
    if (found == known.kernels.end() || index >= max_arguments) return;
    auto& arguments = found->second.arguments;
    if (arguments.size() <= index) arguments.resize(std::size_t{index} + 1);
    arguments[index] = std::move(argument);
  });
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, std::size_t bytes,
                                const void* value) {
  const cl_int error = State::below().clSetKernelArg(kernel, index, bytes, value);
  if (error != CL_SUCCESS) return error;
  try {
    KnownArgument argument{.bytes = bytes, .has_value = value != nullptr};
    if (bytes > bundle::max_value_bytes && value != nullptr) {
      argument.problem = "a value that is too large";
    } else if (value != nullptr) {
      argument.value.assign(static_cast<const char*>(value), bytes);
    }
    note_argument(kernel, index, std::move(argument));
  } catch (...) {
    note_gap(survey::Gap::lost);
  }
  return error;
}

void note_svm(cl_kernel kernel) {
  State::get().record([&](Recorder& recorder) { recorder.note_svm(kernel); });
}

cl_int CL_API_CALL set_svm_argument(cl_kernel kernel, cl_uint index, const void* pointer) {
  const cl_int error = State::below().clSetKernelArgSVMPointer(kernel, index, pointer);
  if (error != CL_SUCCESS) return error;
  note_svm(kernel);
  note_argument(kernel, index, {.problem = "a pointer to shared virtual memory"});
  return error;
}

cl_int CL_API_CALL set_exec_info(cl_kernel kernel, cl_kernel_exec_info name, std::size_t size,
                                 const void* value) {
  const cl_int error = State::below().clSetKernelExecInfo(kernel, name, size, value);
  if (error != CL_SUCCESS || name != CL_KERNEL_EXEC_INFO_SVM_PTRS) return error;
  note_svm(kernel);
  State::get().note([&](Known& known) {
    const auto found = known.kernels.find(kernel);
    if (found != known.kernels.end()) {
      found->second.problem = "the kernel uses shared virtual memory";
    }
  });
  return error;
}

}  // namespace

void wrap_programs(cl_icd_dispatch& table) {
  using Table = cl_icd_dispatch;
  wrap_creation<&Table::clCreateProgramWithSource>(
      table,
      [](cl_program program, cl_context, cl_uint count, const char** strings,
         const std::size_t* lengths, cl_int*) { note_source(program, count, strings, lengths); });
  wrap_creation<&Table::clCreateProgramWithBinary>(
      table, [](cl_program program, cl_context, cl_uint count, const cl_device_id*,
                const std::size_t* lengths, const unsigned char** binaries,
                auto...) { note_binary(program, count, lengths, binaries); });
  wrap_creation<&Table::clCreateProgramWithIL>(
      table, [](cl_program program, cl_context, const void* text, std::size_t length, cl_int*) {
        note_intermediate(program, text, length);
      });
  wrap<&Table::clSetProgramSpecializationConstant>(table, set_constant);
  wrap_creation<&Table::clCreateProgramWithBuiltInKernels>(
      table,
      [](cl_program program, cl_context, cl_uint, const cl_device_id*, const char* names, cl_int*) {
        note_program(program, {.identity = {hash_text(names), ProgramKind::built_in},
                               .problem = "the kernel's program is built into the driver"});
      });
  wrap<&Table::clBuildProgram>(table, build);
  wrap<&Table::clCompileProgram>(table, compile);
  wrap_creation<&Table::clLinkProgram>(
      table, [](cl_program program, cl_context, cl_uint, const cl_device_id*, const char* options,
                cl_uint inputs, const cl_program* input_programs,
                auto...) { note_link(program, options, inputs, input_programs); });
  wrap_creation<&Table::clCreateKernel>(
      table, [](cl_kernel kernel, cl_program program, const char* name, cl_int*) {
        note_kernel(kernel, name, program);
      });
  wrap<&Table::clCreateKernelsInProgram>(table, create_kernels);
  wrap_creation<&Table::clCloneKernel>(
      table, [](cl_kernel copy, cl_kernel kernel, cl_int*) { note_clone(copy, kernel); });
  if (is_capturing()) wrap<&Table::clSetKernelArg>(table, set_argument);
  wrap<&Table::clSetKernelArgSVMPointer>(table, set_svm_argument);
  wrap<&Table::clSetKernelExecInfo>(table, set_exec_info);
}

}  // namespace clprobe::layer
