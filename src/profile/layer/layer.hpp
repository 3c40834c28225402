// SPDX-License-Identifier: Apache-2.0
// State of the layer in a process, captures of launches, and wrappers of OpenCL functions. The
// layer must not change what the application observes. No exception leaves the layer. No call waits
// until another thread returns from a driver.
#pragma once

// Deprecated functions are wrapped as well, because applications use them.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_layer.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "profile/api/bundle.hpp"
#include "profile/api/prelude.hpp"
#include "profile/api/survey.hpp"
#include "profile/survey/recorder.hpp"

namespace clprobe::layer {

/// Returns the folder that CLPROBE_SURVEY names; empty if no survey was requested.
std::string survey_folder();

/// Replaces the contents of the file. Returns false on failure.
bool write_file(const std::string& path, std::string_view bytes);

/// Time of a launch (END - START of its event), or the reason why the time is unknown.
struct EventTime {
  std::optional<std::uint64_t> ns{};
  std::optional<survey::Gap> gap{};
};

EventTime time_of(cl_event event);

std::string device_text(cl_device_id device, cl_device_info name);
std::string kernel_name(cl_kernel kernel);

/// Queue as the application created it, with the layer's changes.
struct Queue {
  bool is_known{false};
  bool requested_profiling{false};
  bool has_profiling{false};
  /// Context of the queue. Null if captures must not wait for the queue: an on-device queue, or a
  /// queue that an extension created.
  cl_context context{nullptr};
  /// Number of references that the application holds; 0 for an on-device queue, or if an extension
  /// created the queue. The driver's reference count also includes references by events. While this
  /// number is above 0, the layer holds one reference of its own.
  cl_uint references{0};
  std::uint32_t device{0};
  /// Properties that the application passed, if the layer passed other properties to the driver.
  std::optional<std::vector<cl_queue_properties>> list{};
};

/// Launch whose time is not known yet. The layer must release the launch's event.
struct Waiting {
  cl_event event{nullptr};
  std::chrono::steady_clock::time_point began{};  ///< start of the call that enqueued the launch
  std::chrono::steady_clock::time_point ended{};  ///< end of this call
  std::size_t row{0};
  std::uint64_t ordinal{0};  ///< number of the launch in its row, from 1
  std::uint32_t device{0};
};

/// Texts and options of a program, or the reason why the program cannot be rebuilt.
struct KnownProgram {
  struct Unit {
    std::string text{};
    std::string options{};
    bundle::Form form{bundle::Form::text};
    includes::Gathered headers{};  ///< headers found when the program was built
  };
  survey::Program identity{};  ///< identity of the program in the survey
  std::vector<Unit> units{};   ///< units; without texts if the layer captures nothing
  std::string link_options{};
  std::string problem{};
};

/// Argument that the application set, or the reason why the argument cannot be captured.
struct KnownArgument {
  std::size_t bytes{0};
  bool has_value{false};
  std::string value{};
  std::string problem{};
};

struct KnownKernel {
  std::string name{};
  /// Program of the kernel; null if an extension created the program.
  std::shared_ptr<const KnownProgram> program{};
  std::vector<std::optional<KnownArgument>> arguments{};
  std::string problem{};
};

/// Memory object of the application. The driver reports further properties of images.
struct KnownMemory {
  cl_mem root{nullptr};  ///< buffer that contains this sub-buffer, or the object itself
  bool is_image{false};
  /// Buffer or image that provides the memory of an image; null if the image has its own memory.
  cl_mem lies_in{nullptr};
  std::uint64_t origin{0};  ///< offset of a sub-buffer in `root`, in bytes
  std::uint64_t bytes{0};   ///< size of a buffer in bytes; 0 for other objects
  /// Kind of object that cannot be captured, such as "a pipe"; empty otherwise.
  std::string problem{};
};

/// Objects of the application by handle, and the launches to capture.
struct Known {
  std::unordered_map<cl_program, std::shared_ptr<const KnownProgram>> programs{};
  std::unordered_map<cl_kernel, KnownKernel> kernels{};
  std::unordered_map<cl_mem, KnownMemory> memories{};
  std::unordered_set<const void*> samplers{};
  std::vector<survey::Wanted> wanted{};  ///< launches to capture; never changes
  /// Number of matching launches so far, for each wanted launch.
  std::vector<std::uint64_t> matches{};
};

class State {
 public:
  /// Sets the table of functions that the layer calls: those of the loader, or of the next layer.
  static void set_below(const cl_icd_dispatch& table);
  static const cl_icd_dispatch& below();

  /// Returns the state of this process. A forked child process gets a new state.
  static State& get();

  /// Calls `change` with the recorder under the lock. An exception from `change` counts as a lost
  /// launch.
  template <typename Change>
  void record(const Change& change) noexcept {
    alone([&] { change(recorder_); });
  }

  /// Calls `change` with the known objects under the lock, so `change` must not call a driver. An
  /// exception from `change` counts as a lost launch, and the object stays unknown.
  template <typename Change>
  void note(const Change& change) noexcept {
    alone([&] { change(known_); });
  }

  /// Returns the recorded properties of the object with this handle; nothing without a
  /// record, for example if an extension created the object.
  template <typename Handle, typename What>
  std::optional<What> find(std::unordered_map<Handle, What> Known::*map, Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto& all = known_.*map;
    const auto found = all.find(handle);
    return found == all.end() ? std::nullopt : std::optional<What>(found->second);
  }

  void note_queue(cl_command_queue queue, cl_device_id device, Queue how) noexcept;
  void retain_queue(cl_command_queue queue) noexcept;
  /// Records that the application releases a queue. Returns true if the application released its
  /// last reference: the caller must then release the layer's reference.
  [[nodiscard]] bool release_queue(cl_command_queue queue) noexcept;
  /// Returns the context's host queues. Each queue is retained, and the caller must release it.
  [[nodiscard]] std::vector<cl_command_queue> queues_of(cl_context context);
  /// Returns the record of a queue; `is_known` is false if an extension created the queue.
  [[nodiscard]] Queue find_queue(cl_command_queue queue) noexcept;

  /// Counts a launch without timing it, and returns the launch's row, if the sampling leaves out
  /// the launch or timing has used its permitted share of the application's time. Otherwise counts
  /// nothing and returns nothing, and the caller times the launch.
  std::optional<std::size_t> count_untimed(cl_command_queue queue, cl_kernel kernel,
                                           const survey::Shape& shape) noexcept;
  /// Undoes `count_untimed` for a launch that the driver refused.
  void take_back(std::size_t row) noexcept;

  /// Counts a launch and takes ownership of its event, which may be null. `launch` holds the event
  /// and the start and end of the enqueue call.
  void note_launch(cl_command_queue queue, cl_kernel kernel, const survey::Shape& shape,
                   const Waiting& launch) noexcept;

  /// Returns the signature that the survey gives to a launch; nothing if the queue or the kernel is
  /// unknown.
  [[nodiscard]] std::optional<survey::Signature> signature_of(cl_command_queue queue,
                                                              cl_kernel kernel,
                                                              const survey::Shape& shape) noexcept;

  /// Records the times of finished launches, unless another thread is doing so. If `checks_all` is
  /// false, stops checking after 256 consecutive unfinished launches.
  void harvest(bool checks_all) noexcept;

  /// Keeps the loader in memory, prepares for forks, and writes a first survey file, which shows
  /// clprobe that the program loaded OpenCL.
  void begin() noexcept;

 private:
  State();

  template <typename Change>
  void alone(const Change& change) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      change();
    } catch (...) {
      lost_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  /// Returns the cost of timing so far, as a share of the permitted cost. Valid only after the
  /// second launch.
  [[nodiscard]] double spent_share() const;
  void start_thread();
  void watch() noexcept;
  void end() noexcept;
  void write() noexcept;
  [[nodiscard]] survey::Survey survey();
  /// Result of `take_launch`. Except after `yes`, the caller still owns the event. `foreign`: the
  /// queue or the kernel is unknown, and nothing was counted.
  enum class Taken { yes, no, full, foreign };
  Taken take_launch(cl_command_queue queue, cl_kernel kernel, const survey::Shape& shape,
                    Waiting launch);
  /// Updates the comparison of the event clock with the host's clock, over the time from the first
  /// checked launch to `launch`. Ignores launches on other devices than the first checked launch.
  void check_clock(const Waiting& launch) noexcept;
  /// Records a queue or a kernel that functions without a wrapper created.
  void note_foreign(cl_command_queue queue, cl_kernel kernel) noexcept;

  static void forget_parent() noexcept;
  static void end_process() noexcept;

  const std::chrono::steady_clock::time_point began_{std::chrono::steady_clock::now()};
  std::mutex mutex_{};
  std::condition_variable wake_{};
  survey::Recorder recorder_{};
  Known known_{};
  std::unordered_map<cl_command_queue, Queue> queues_{};
  std::vector<Waiting> waiting_{};
  std::optional<std::chrono::steady_clock::time_point> launched_{};  ///< time of the second launch
  std::uint64_t timed_{0};                                           ///< number of timed launches
  /// True if the permitted cost would suffice for timing twice as many launches.
  bool can_afford_all_{false};
  std::uint32_t chance_{1};  ///< last random number of the sampling
  /// Number of changes of the recorder, to detect that the file is outdated.
  std::uint64_t changes_{0};
  std::uint64_t written_changes_{0};
  bool has_thread_{false};
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_harvesting_{false};
  /// First launch of the clock check; used only by the harvesting thread.
  std::optional<Waiting> first_checked_{};
  std::uint64_t first_stamp_{0};
  std::chrono::steady_clock::time_point last_check_{};
  survey::ClockCheck clock_{};
  std::atomic<std::uint64_t> lost_{0};
  std::mutex file_mutex_{};
  std::string path_{};  // path of the survey file; empty before the first write
};

inline void note_gap(survey::Gap gap) {
  State::get().record([gap](survey::Recorder& recorder) { recorder.add_gap(gap); });
}

/// Reason why a launch is not captured. The message completes "is not captured: ".
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the layout of an application's image, as the driver describes the image.
/// `lies_in_buffer`: true if the image uses the memory of a buffer. Throws Refusal.
bundle::Image describe_image(cl_mem image, bool lies_in_buffer);

bundle::Sampler describe_sampler(cl_sampler sampler);

/// Returns all pixels of the image, without gaps between rows. If the host may not read the image,
/// reads a copy of the image. Throws Refusal.
std::string read_image(cl_context context, cl_command_queue queue, cl_mem image,
                       const bundle::Image& what);

/// True if the environment variable CLPROBE_CAPTURE names a folder.
bool is_capturing();

/// Returns the launches listed in the file CLPROBE_CAPTURE/wanted; none if the file is invalid.
std::vector<survey::Wanted> read_wanted() noexcept;

using Enqueue = std::function<cl_int(cl_event* event)>;
/// Calls `enqueue` to launch the kernel, and captures a bundle if the launch is wanted. A launch
/// that cannot be captured still runs normally.
cl_int capture_launch(cl_command_queue queue, cl_kernel kernel, const bundle::NdRange& range,
                      cl_event* event, const Enqueue& enqueue) noexcept;

/// Sets wrappers of the launch functions, which count, time and capture launches.
void wrap_launches(cl_icd_dispatch& table);

/// Sets wrappers of the queue functions. Host queues get profiling, but the application observes
/// the properties that it requested.
void wrap_queues(cl_icd_dispatch& table);

/// Sets wrappers that record programs with their options, and kernels with their programs. Texts of
/// programs and arguments of kernels are recorded only for captures.
void wrap_programs(cl_icd_dispatch& table);

/// Sets wrappers that record buffers, images and samplers, which only captures need.
void wrap_objects(cl_icd_dispatch& table);

/// Answers a query by OpenCL's rules: copies `bytes` bytes from `from` if `size` is sufficient.
inline cl_int answer(const void* from, std::size_t bytes, std::size_t size, void* value,
                     std::size_t* needed) {
  if (value != nullptr && size < bytes) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, from, bytes);
  if (needed != nullptr) *needed = bytes;
  return CL_SUCCESS;
}

/// Sets the wrapper of one function. If the layer below lacks the function, the table's member
/// stays null, and the loader skips the layer for the function.
template <auto member, typename Function>
void wrap(cl_icd_dispatch& table, Function function) {
  if (State::below().*member != nullptr) table.*member = function;
}

template <auto member, typename Note, typename Made, typename... Arguments>
void wrap_creation_of(cl_icd_dispatch& table, Made (*below)(Arguments...)) {
  if (below == nullptr) return;
  table.*member = [](Arguments... arguments) -> Made {
    Made made = (State::below().*member)(arguments...);
    try {
      if (made != nullptr) Note{}(made, arguments...);
    } catch (...) {
      note_gap(survey::Gap::lost);
    }
    return made;
  };
}

/// Sets the wrapper of a function that creates an object. `note` is called with the new object and
/// the arguments of the call. If `note` throws, the application still gets the object.
template <auto member, typename Note>
void wrap_creation(cl_icd_dispatch& table, Note /*note*/) {
  wrap_creation_of<member, Note>(table, State::below().*member);
}

}  // namespace clprobe::layer
