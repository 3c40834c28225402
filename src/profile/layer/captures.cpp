// SPDX-License-Identifier: Apache-2.0
#include "profile/layer/layer.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

namespace clprobe::layer {
namespace {

using bundle::Argument;
using bundle::ArgumentKind;

/// Returns the folder that the environment variable CLPROBE_CAPTURE names; empty if nothing is
/// captured.
std::string capture_folder() {
  const char* const folder = std::getenv("CLPROBE_CAPTURE");
  return folder == nullptr ? "" : folder;
}

/// Files of a new bundle, in a folder to which no other process writes.
class BundleFiles {
 public:
  explicit BundleFiles(std::string folder) : folder_(std::move(folder)) {}

  /// Writes a text and returns its SHA-256. Throws Refusal if the text is too long or the file
  /// cannot be written.
  [[nodiscard]] std::string add_text(std::string_view text,
                                     bundle::Form form = bundle::Form::text) const {
    if (text.size() > bundle::max_text_bytes) throw Refusal("the program's text is too long");
    std::string hash = bundle::sha256_of(text);
    write(bundle::text_file(hash, form), text);
    return hash;
  }

  /// Writes an object and returns its SHA-256. Throws Refusal if all objects together exceed 2 GiB,
  /// or the file cannot be written.
  std::string add_object(std::string_view bytes) {
    bytes_ += bytes.size();
    if (bytes_ > bundle::max_capture_bytes) throw Refusal("the kernel's buffers exceed 2 GiB");
    std::string hash = bundle::sha256_of(bytes);
    const std::string name = bundle::object_file(hash);
    struct stat there {};
    if (::stat((folder_ + '/' + name).c_str(), &there) != 0) write(name, bytes);
    return hash;
  }

  /// Writes launch.json as the last file, because a folder without launch.json does not count as a
  /// bundle.
  void finish(const bundle::Launch& launch) const {
    write(std::string(bundle::launch_file), bundle::to_json(launch));
  }

  void refuse(std::string_view reason) noexcept {
    try {
      static_cast<void>(write_file(folder_ + "/refused", reason));
    } catch (...) {
      bytes_ = 0;  // the reason is lost, because no memory is left for the file name
    }
  }

 private:
  void write(const std::string& name, std::string_view bytes) const {
    if (write_file(folder_ + '/' + name, bytes)) return;
    throw Refusal("clprobe cannot write the launch's files: " + std::string(std::strerror(errno)));
  }

  std::string folder_;
  std::uint64_t bytes_{0};
};

/// Returns the address space of a pointer argument; nothing if the driver does not report the
/// address space. Many drivers report it only for programs built with -cl-kernel-arg-info, an
/// option that would change the build.
std::optional<cl_kernel_arg_address_qualifier> address_of(cl_kernel kernel, cl_uint index) {
  const auto ask = State::below().clGetKernelArgInfo;
  cl_kernel_arg_address_qualifier where = 0;
  const bool is_known = ask != nullptr && ask(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
                                              sizeof where, &where, nullptr) == CL_SUCCESS;
  if (!is_known) return std::nullopt;
  return where;
}

/// True if the argument is an on-device queue, whose handle looks like a number. False if the
/// driver does not report the type; the replay then refuses the kernel because of its text.
bool is_device_queue(cl_kernel kernel, cl_uint index) {
  std::array<char, 16> type{};
  const auto ask = State::below().clGetKernelArgInfo;
  const bool is_known = ask != nullptr && ask(kernel, index, CL_KERNEL_ARG_TYPE_NAME,
                                              type.size() - 1, type.data(), nullptr) == CL_SUCCESS;
  return is_known && std::string_view(type.data()) == "queue_t";
}

bool points_to_memory(const std::optional<cl_kernel_arg_address_qualifier>& where) {
  const cl_kernel_arg_address_qualifier known = where.value_or(CL_KERNEL_ARG_ADDRESS_PRIVATE);
  return known == CL_KERNEL_ARG_ADDRESS_GLOBAL || known == CL_KERNEL_ARG_ADDRESS_CONSTANT;
}

/// Returns the value of an argument as a handle; null if the value's size is not that of a handle.
void* handle_in(const std::string& value) {
  void* handle = nullptr;
  if (value.size() == sizeof handle) std::memcpy(&handle, value.data(), sizeof handle);
  return handle;
}

/// Returns the includes with `first` added to the indices of their headers. `first`: the number of
/// headers of previous units.
std::vector<includes::Include> counted_from(std::size_t first,
                                            std::vector<includes::Include> list) {
  for (includes::Include& each : list) each.header += first;
  return list;
}

/// Returns the maximum time to wait for the device: twice the application's device time plus 2 s,
/// but at most 60 s.
std::chrono::duration<double> longest_wait(const survey::Wanted& wanted) {
  constexpr double nanoseconds = 1e9;
  const double of_kernel_s = wanted.mean_ns * static_cast<double>(wanted.launches) / nanoseconds;
  const double of_all_s = wanted.share > 0.0 ? of_kernel_s / wanted.share : of_kernel_s;
  return std::chrono::duration<double>(std::min(2.0 + 2.0 * of_all_s, 60.0));
}

bool is_sampler(const void* handle) {
  bool is_one = false;
  State::get().note([&](const Known& known) { is_one = known.samplers.contains(handle); });
  return is_one;
}

[[noreturn]] void refuse_argument(cl_uint index, std::string_view what) {
  throw Refusal("the kernel's argument " + std::to_string(index) + " is " + std::string(what));
}

/// Capture of one launch into a bundle. No lock is held during calls of drivers.
class CaptureLaunch {
 public:
  CaptureLaunch(std::string folder, cl_command_queue queue)
      : files_(std::move(folder)), queue_(queue) {}

  /// Captures the kernel's program, waits for all queues of the context, and captures the
  /// arguments, before the launch. Throws Refusal.
  void begin(cl_kernel kernel, const bundle::NdRange& range, const survey::Wanted& wanted) {
    const cl_icd_dispatch& below = State::below();
    const std::optional<KnownKernel> known = State::get().find(&Known::kernels, kernel);
    if (!known) throw Refusal("an extension created the kernel");
    if (!known->problem.empty()) throw Refusal(known->problem);
    cl_device_id device = nullptr;
    below.clGetCommandQueueInfo(queue_, CL_QUEUE_CONTEXT, sizeof(void*), &context_, nullptr);
    below.clGetCommandQueueInfo(queue_, CL_QUEUE_DEVICE, sizeof(void*), &device, nullptr);
    launch_.tool = "clprobe";
    launch_.app = {program_invocation_short_name};
    launch_.device =
        bundle::Device{device_text(device, CL_DEVICE_NAME), device_text(device, CL_DEVICE_VENDOR),
                       device_text(device, CL_DRIVER_VERSION)};
    launch_.ordinal = wanted.ordinal;
    if (wanted.launches > 0) launch_.survey = {wanted.launches, wanted.share, wanted.mean_ns};
    longest_wait_ = longest_wait(wanted);
    launch_.kernel = known->name;
    launch_.range = range;
    take_program(*known);
    finish_queues();
    take_arguments(kernel, *known);
  }

  /// Waits for the launch, hashes the objects after the launch, and finishes the bundle. Throws
  /// Refusal.
  void end(cl_int error, cl_event event) {
    if (error != CL_SUCCESS) throw Refusal("the driver refused the kernel's launch");
    if (!finish(queue_)) throw Refusal("the kernel's launch failed");
    const std::uint64_t ns = event == nullptr ? 0 : time_of(event).ns.value_or(0);
    if (ns > 0) launch_.app_event_ns = {ns};
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      const std::string bytes = read(roots_[i], launch_.objects[i]);
      launch_.epilogue.push_back({i, bundle::sha256_of(bytes)});
    }
    files_.finish(launch_);
  }

  void refuse(std::string_view reason) noexcept { files_.refuse(reason); }

 private:
  /// Waits for all commands in the queue; returns false if a command failed. Throws Refusal after
  /// the maximum wait, because commands may wait for the application (user events, flags in shared
  /// memory), which this call blocks.
  bool finish(cl_command_queue queue) const {
    const cl_icd_dispatch& below = State::below();
    cl_event marker = nullptr;
    cl_int error = below.clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker);
    // For drivers before OpenCL 1.2.
    if (error != CL_SUCCESS) error = below.clEnqueueMarker(queue, &marker);
    if (error == CL_SUCCESS) error = below.clFlush(queue);
    const auto began = std::chrono::steady_clock::now();
    cl_int status = CL_QUEUED;
    bool is_late = false;
    while (error == CL_SUCCESS && status > CL_COMPLETE && !is_late) {
      is_late = std::chrono::steady_clock::now() - began > longest_wait_;
      std::this_thread::sleep_for(std::chrono::microseconds(status == CL_QUEUED ? 10 : 100));
      error = below.clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                   &status, nullptr);
    }
    if (marker != nullptr) below.clReleaseEvent(marker);
    if (error != CL_SUCCESS || status < CL_COMPLETE) return false;
    if (status == CL_COMPLETE) return true;
    throw Refusal("earlier launches did not end while clprobe held this launch back for " +
                  std::to_string(std::llround(longest_wait_.count())) +
                  " s; the earlier launches may be waiting for the program");
  }

  /// Waits for all queues of the context, because running commands may write data that the kernel
  /// reads.
  void finish_queues() const {
    const auto let_go = [](const std::vector<cl_command_queue>* queues) {
      for (cl_command_queue each : *queues) State::below().clReleaseCommandQueue(each);
    };
    const std::vector<cl_command_queue> queues = State::get().queues_of(context_);
    const std::unique_ptr<const std::vector<cl_command_queue>, decltype(let_go)> held(&queues);
    for (cl_command_queue each : queues) {
      if (!finish(each)) throw Refusal("an earlier launch failed");
    }
  }

  void take_headers(const std::vector<includes::Header>& headers) {
    const std::size_t first = launch_.program.headers.size();
    for (const includes::Header& each : headers) {
      launch_.program.headers.push_back(
          {each.name, files_.add_text(each.text), counted_from(first, each.includes)});
    }
  }

  void take_program(const KnownKernel& kernel) {
    if (kernel.program == nullptr) throw Refusal("an extension created the kernel's program");
    if (!kernel.program->problem.empty()) throw Refusal(kernel.program->problem);
    if (kernel.program->units.size() > bundle::max_units) {
      throw Refusal("the kernel's program has too many compilation units");
    }
    for (const KnownProgram::Unit& unit : kernel.program->units) {
      const std::size_t first = launch_.program.headers.size();
      bundle::Unit taken{.sha256 = files_.add_text(unit.text, unit.form),
                         .options = unit.options,
                         .form = unit.form};
      if (first + unit.headers.headers.size() <= includes::max_headers) {
        taken.includes = counted_from(first, unit.headers.includes);
        take_headers(unit.headers.headers);
      }
      launch_.program.units.push_back(std::move(taken));
    }
    launch_.program.link_options = kernel.program->link_options;
  }

  /// Returns the index of `root` in `roots_`; the size of `roots_` if `root` is new.
  std::size_t index_of(cl_mem root) const {
    const auto found = std::find(roots_.begin(), roots_.end(), root);
    return static_cast<std::size_t>(found - roots_.begin());
  }

  void add_object(cl_mem root, bundle::Object object) {
    if (roots_.size() == bundle::max_objects) throw Refusal("the kernel has too many buffers");
    object.name = (object.image ? "i" : "b") + std::to_string(roots_.size());
    object.sha256 = files_.add_object(read(root, object));
    roots_.push_back(root);
    launch_.objects.push_back(std::move(object));
  }

  Argument take_buffer(const KnownMemory& memory) {
    const std::size_t index = index_of(memory.root);
    const std::optional<KnownMemory> root = State::get().find(&Known::memories, memory.root);
    if (!root) throw Refusal("the parent of one of the kernel's sub-buffers no longer exists");
    if (index == roots_.size()) add_object(memory.root, {.bytes = root->bytes});
    Argument argument{.kind = ArgumentKind::buffer, .object = index};
    const bool is_part = memory.bytes != root->bytes;
    if (is_part) argument.origin = memory.origin;
    if (is_part) argument.bytes = memory.bytes;
    return argument;
  }

  Argument take_image(cl_mem image, const KnownMemory& known) {
    const bool lies_in_other = known.lies_in != nullptr;
    bundle::Image what = describe_image(image, lies_in_other);
    if (lies_in_other) {
      const std::optional<KnownMemory> buffer = State::get().find(&Known::memories, known.lies_in);
      if (!buffer) {
        throw Refusal("the kernel takes an image created from a buffer that no longer exists");
      }
      if (buffer->is_image) throw Refusal("the kernel takes an image created from another image");
      if (!buffer->problem.empty()) {
        throw Refusal("an argument is an image created from " + buffer->problem);
      }
      Argument argument = take_buffer(*buffer);
      argument.kind = ArgumentKind::image;
      argument.origin = buffer->origin;
      argument.bytes = buffer->bytes;
      argument.image = what;
      return argument;
    }
    const std::size_t index = index_of(image);
    if (index == roots_.size()) {
      // The function `read_image` refuses images above 2 GiB, so the substitute is never stored.
      const std::uint64_t bytes = bytes_of_pixels(what).value_or(bundle::max_object_bytes);
      add_object(image, {.bytes = bytes, .image = what});
    }
    return {.kind = ArgumentKind::image, .object = index};
  }

  Argument take_argument(cl_kernel kernel, cl_uint index, const KnownArgument& known) {
    if (!known.problem.empty()) refuse_argument(index, known.problem);
    if (is_device_queue(kernel, index)) refuse_argument(index, "a device queue");
    const auto where = address_of(kernel, index);
    if (!known.has_value) {
      if (points_to_memory(where)) return {.kind = ArgumentKind::null};
      return {.kind = ArgumentKind::local, .bytes = known.bytes};
    }
    void* const handle = handle_in(known.value);
    const std::optional<KnownMemory> memory =
        State::get().find(&Known::memories, static_cast<cl_mem>(handle));
    if (memory && !memory->problem.empty()) refuse_argument(index, memory->problem);
    if (memory && memory->is_image) return take_image(static_cast<cl_mem>(handle), *memory);
    if (memory) return take_buffer(*memory);
    if (is_sampler(handle)) {
      return {.kind = ArgumentKind::sampler,
              .sampler = describe_sampler(static_cast<cl_sampler>(handle))};
    }
    if (!points_to_memory(where)) return {.kind = ArgumentKind::value, .value = known.value};
    if (handle == nullptr) return {.kind = ArgumentKind::null};
    refuse_argument(index, "a buffer or an image created by an extension");
  }

  void take_arguments(cl_kernel kernel, const KnownKernel& known) {
    cl_uint count = 0;
    State::below().clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr);
    if (count > bundle::max_arguments) {
      throw Refusal("the kernel has " + std::to_string(count) +
                    " arguments; clprobe captures at most " +
                    std::to_string(bundle::max_arguments));
    }
    for (cl_uint index = 0; index < count; ++index) {
      if (index >= known.arguments.size() || !known.arguments[index]) {
        refuse_argument(index, "not set, or was set by an extension");
      }
      launch_.arguments.push_back(take_argument(kernel, index, *known.arguments[index]));
    }
  }

  std::string read(cl_mem root, const bundle::Object& object) const {
    if (object.image) return read_image(context_, queue_, root, *object.image);
    return read_buffer(root, object.bytes);
  }

  /// Returns the contents of a buffer. If the host may not read the buffer, reads a copy of the
  /// buffer.
  std::string read_buffer(cl_mem buffer, std::uint64_t bytes) const {
    if (bytes > bundle::max_capture_bytes) throw Refusal("one buffer is larger than 2 GiB");
    const cl_icd_dispatch& below = State::below();
    std::string held(bytes, '\0');
    const auto read_all = [&](cl_mem from) {
      return below.clEnqueueReadBuffer(queue_, from, CL_TRUE, 0, held.size(), held.data(), 0,
                                       nullptr, nullptr);
    };
    cl_int error = read_all(buffer);
    if (error == CL_INVALID_OPERATION) {
      cl_mem copy = below.clCreateBuffer(context_, CL_MEM_READ_WRITE, held.size(), nullptr, &error);
      if (copy == nullptr) throw Refusal("not enough free memory to copy a buffer");
      error =
          below.clEnqueueCopyBuffer(queue_, buffer, copy, 0, 0, held.size(), 0, nullptr, nullptr);
      if (error == CL_SUCCESS) error = below.clFinish(queue_);
      if (error == CL_SUCCESS) error = read_all(copy);
      below.clReleaseMemObject(copy);
    }
    if (error != CL_SUCCESS) {
      throw Refusal("one of the kernel's buffers cannot be read (OpenCL error " +
                    std::to_string(error) + ")");
    }
    return held;
  }

  BundleFiles files_;
  cl_command_queue queue_;
  cl_context context_{nullptr};
  std::chrono::duration<double> longest_wait_{0.0};
  bundle::Launch launch_{};
  // Memory objects of the launch, in the order of the bundle's objects.
  std::vector<cl_mem> roots_{};
};

/// Creates the folder of a launch. Returns true in the one process that succeeds, which captures
/// the launch.
bool claim(std::size_t index) {
  return ::mkdir((capture_folder() + '/' + std::to_string(index)).c_str(), 0700) == 0;
}

/// True if the launch may be the wanted one. The program of a binary is compared by the kernel's
/// name alone, because an application that caches binaries passes source in its first run, and
/// some drivers build other bytes from the same source.
bool is_wanted(const survey::Wanted& wanted, const survey::Signature& launch) {
  if (!wanted.signature) return wanted.kernel == launch.kernel;
  survey::Signature expected = *wanted.signature;
  const bool is_binary = expected.program.kind == survey::ProgramKind::binary ||
                         launch.program.kind == survey::ProgramKind::binary;
  if (is_binary) expected.program = launch.program;
  return expected == launch;
}

/// Counts the launch as a match of wanted launches. If one of them is due, creates its folder,
/// copies the list's element to `wanted`, and returns its index. Returns nothing if the launch is
/// not wanted, or if another process captures the launch.
std::optional<std::size_t> choose(cl_command_queue queue, cl_kernel kernel,
                                  const bundle::NdRange& range, survey::Wanted& wanted) {
  const survey::Shape shape{range.dimensions, range.global, range.local};
  const std::optional<survey::Signature> signature =
      State::get().signature_of(queue, kernel, shape);
  if (!signature) return std::nullopt;
  std::vector<std::pair<std::size_t, survey::Wanted>> due;
  State::get().note([&](Known& known) {
    for (std::size_t i = 0; i < known.wanted.size(); ++i) {
      const survey::Wanted& each = known.wanted[i];
      if (is_wanted(each, *signature) && ++known.matches[i] == each.ordinal) {
        due.emplace_back(i, each);
      }
    }
  });
  const auto chosen =
      std::find_if(due.begin(), due.end(), [](const auto& each) { return claim(each.first); });
  if (chosen == due.end()) return std::nullopt;
  wanted = chosen->second;
  return chosen->first;
}

}  // namespace

bool is_capturing() {
  static const bool is_on = !capture_folder().empty();
  return is_on;
}

std::vector<survey::Wanted> read_wanted() noexcept {
  try {
    const std::ifstream file(capture_folder() + "/wanted", std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return survey::wanted_from_text(text.str());
  } catch (const std::exception&) {
    return {};
  }
}

cl_int capture_launch(cl_command_queue queue, cl_kernel kernel, const bundle::NdRange& range,
                      cl_event* event, const Enqueue& enqueue) noexcept {
  std::optional<CaptureLaunch> capture;
  const auto go_on = [&](const auto& step) {
    try {
      step();
      return;
    } catch (const Refusal& refusal) {
      if (capture) capture->refuse(refusal.what());
    } catch (const std::bad_alloc&) {
      if (capture) capture->refuse("not enough free memory for the kernel's buffers");
    } catch (...) {
      if (capture) capture->refuse("an unexpected error occurred");
    }
    capture.reset();
  };
  go_on([&] {
    survey::Wanted wanted;
    const std::optional<std::size_t> chosen = choose(queue, kernel, range, wanted);
    if (!chosen) return;
    capture.emplace(capture_folder() + '/' + std::to_string(*chosen), queue);
    capture->begin(kernel, range, wanted);
  });
  if (!capture) return enqueue(event);
  cl_event own = nullptr;
  cl_event* const used = event == nullptr ? &own : event;
  const cl_int error = enqueue(used);
  go_on([&] { capture->end(error, error == CL_SUCCESS ? *used : nullptr); });
  if (own != nullptr) State::below().clReleaseEvent(own);
  return error;
}

}  // namespace clprobe::layer
