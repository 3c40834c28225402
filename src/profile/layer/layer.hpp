// SPDX-License-Identifier: Apache-2.0
// The state of the layer in this process, the captures of launches, and the wrappers of OpenCL's
// functions. The layer must not change what the application observes: no exception leaves the
// layer, and no call waits for another thread's call of a driver.
#pragma once

// Layers intercept old functions as well, because applications use them.
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

/// The folder that CLPROBE_SURVEY names; empty: no survey was requested.
std::string survey_folder();

/// Replaces the whole file; returns false if that failed.
bool write_file(const std::string& path, std::string_view bytes);

/// END - START of a launch, or why it is unknown.
struct EventTime {
  std::optional<std::uint64_t> ns{};
  std::optional<survey::Gap> gap{};
};

/// Returns the time of a launch that has ended.
EventTime time_of(cl_event event);

std::string device_text(cl_device_id device, cl_device_info name);
std::string kernel_name(cl_kernel kernel);

/// A queue as the application created it, and our changes to it.
struct Queue {
  bool is_known{false};
  bool asked_for_profiling{false};
  bool has_profiling{false};
  /// Null if no capture can wait for it: kernels fill the queue, or it came by an extension.
  cl_context context{nullptr};
  /// The application's references; the driver's number includes those of events. While there are
  /// any we hold one of our own. 0: the queue came by an extension, and we hold none.
  cl_uint references{0};
  std::uint32_t device{0};
  /// The application's own list of properties, if the driver got another one.
  std::optional<std::vector<cl_queue_properties>> list{};
};

/// A launch whose time is not known yet. We release its event.
struct Waiting {
  cl_event event{nullptr};
  std::chrono::steady_clock::time_point began{};  ///< the call that enqueued it
  std::chrono::steady_clock::time_point ended{};
  std::size_t row{0};
  std::uint64_t ordinal{0};  ///< in its row, from 1
  std::uint32_t device{0};
};

/// The texts and options of a program, or why it cannot be made again.
struct KnownProgram {
  struct Unit {
    std::string text{};
    std::string options{};
    includes::Gathered headers{};  ///< found when the program was built
  };
  survey::Program identity{};  ///< for the survey
  std::vector<Unit> units{};   ///< texts are empty where nothing is captured
  std::string link_options{};
  std::string problem{};
};

/// An argument as clSetKernelArg got it.
struct KnownArgument {
  std::size_t bytes{0};
  bool has_value{false};
  std::string value{};
  std::string problem{};
};

struct KnownKernel {
  std::string name{};
  std::shared_ptr<const KnownProgram> program{};  ///< null: made by an extension
  std::vector<std::optional<KnownArgument>> arguments{};
  std::string problem{};
};

/// A memory object. The driver reports the rest of an image.
struct KnownMemory {
  cl_mem root{nullptr};  ///< the buffer that contains this part, or itself
  bool is_image{false};
  cl_mem lies_in{nullptr};  ///< buffer or image whose memory an image uses, if any
  std::uint64_t origin{0};
  std::uint64_t bytes{0};
  std::string problem{};  ///< kind of an object that cannot be captured: "a pipe"
};

/// The application's objects, by their handles, and the launches that are to be captured.
struct Known {
  std::unordered_map<cl_program, std::shared_ptr<const KnownProgram>> programs{};
  std::unordered_map<cl_kernel, KnownKernel> kernels{};
  std::unordered_map<cl_mem, KnownMemory> memories{};
  std::unordered_set<const void*> samplers{};
  std::vector<survey::Wanted> wanted{};  ///< constant
  std::vector<std::uint64_t> seen{};     ///< launches like each of the wanted ones
};

class State {
 public:
  /// The functions of the loader or of the layer below.
  static void set_below(const cl_icd_dispatch& table);
  static const cl_icd_dispatch& below();

  /// Returns the state of this process; a fork begins with a new one.
  static State& get();

  /// Runs `change` with the recorder, under the lock. An exception is counted as lost.
  template <typename Change>
  void record(const Change& change) noexcept {
    alone([&] { change(recorder_); });
  }

  /// Runs `change` with the known objects, under the lock: it must not call a driver. An object for
  /// which there is no memory stays unknown, and is not captured.
  template <typename Change>
  void note(const Change& change) noexcept {
    alone([&] { change(known_); });
  }

  /// Returns what is known of a handle; nothing if it came by an extension.
  template <typename Handle, typename What>
  std::optional<What> find(std::unordered_map<Handle, What> Known::*map, Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto& all = known_.*map;
    const auto found = all.find(handle);
    return found == all.end() ? std::nullopt : std::optional<What>(found->second);
  }

  void note_queue(cl_command_queue queue, cl_device_id device, Queue how) noexcept;
  void retain_queue(cl_command_queue queue) noexcept;
  /// Returns whether this was the application's last reference of a queue that we hold: the caller
  /// releases ours as well.
  [[nodiscard]] bool release_queue(cl_command_queue queue) noexcept;
  /// Returns the queues of the host in the context, retained for the caller.
  [[nodiscard]] std::vector<cl_command_queue> queues_of(cl_context context);
  /// `is_known` is false for a queue that came by an extension.
  [[nodiscard]] Queue find_queue(cl_command_queue queue) noexcept;

  /// Notes a change by the application; returns whether it wants profiling now.
  bool change_profiling(cl_command_queue queue, cl_command_queue_properties properties,
                        bool is_enabled) noexcept;

  /// Counts a launch without timing it if timing has used up its share of the application's time,
  /// and returns its row. Returns nothing, and counts nothing, if the launch is to be timed.
  std::optional<std::size_t> count_untimed(cl_command_queue queue, cl_kernel kernel,
                                           const survey::Shape& shape) noexcept;
  /// Uncounts such a launch, because the driver refused it.
  void take_back(std::size_t row) noexcept;

  /// Counts a launch and takes over its event, which may be null. `launch` has that and the times
  /// of the call.
  void note_launch(cl_command_queue queue, cl_kernel kernel, const survey::Shape& shape,
                   const Waiting& launch) noexcept;

  /// Returns the signature of a launch in the survey; nothing if the queue or the kernel is
  /// unknown.
  [[nodiscard]] std::optional<survey::Signature> signature_of(cl_command_queue queue,
                                                              cl_kernel kernel,
                                                              const survey::Shape& shape) noexcept;

  /// Takes the times of launches that have ended, unless another thread is doing so. Without
  /// `looks_at_all` it gives up after many that have not ended.
  void harvest(bool looks_at_all) noexcept;

  /// Writes the file at once, so that clprobe sees that OpenCL was loaded.
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

  /// Returns the cost of timing so far, as a share of the permitted cost; only after the second
  /// launch.
  [[nodiscard]] double part_spent() const;
  void start_thread();
  void watch() noexcept;
  void end() noexcept;
  void write() noexcept;
  [[nodiscard]] survey::Survey survey();
  /// Result of `take_launch`. The caller keeps the event after `full` and `no`; `foreign` means
  /// that nothing was done.
  enum class Taken { yes, no, full, foreign };
  Taken take_launch(cl_command_queue queue, cl_kernel kernel, const survey::Shape& shape,
                    Waiting launch);
  /// Compares the event clock with the host's, from the first launch of a device to this one.
  void check_clock(const Waiting& launch) noexcept;
  /// Notes a queue or a kernel that came by functions that the layer does not intercept.
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
  std::optional<std::chrono::steady_clock::time_point> launched_{};  ///< the second time
  std::uint64_t timed_{0};                                           ///< launches
  bool can_afford_all_{false};  ///< so far, with as many launches again
  std::uint32_t chance_{1};
  std::uint64_t changes_{0};  ///< of the recorder, to know whether the file is old
  std::uint64_t written_changes_{0};
  bool has_thread_{false};
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_harvesting_{false};
  std::optional<Waiting> first_checked_{};  ///< only the harvesting thread uses it
  std::uint64_t first_stamp_{0};
  std::chrono::steady_clock::time_point last_check_{};
  survey::ClockCheck clock_{};
  std::atomic<std::uint64_t> lost_{0};
  std::mutex file_mutex_{};
  std::string path_{};  // path of the file; empty before the first write
};

inline void note_gap(survey::Gap gap) {
  State::get().record([gap](survey::Recorder& recorder) { recorder.add_gap(gap); });
}

/// The reason why a launch is not captured; it completes "is not captured: ".
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `lies_in_buffer`: the image has no memory of its own.
bundle::Image describe_image(cl_mem image, bool lies_in_buffer);

bundle::Sampler describe_sampler(cl_sampler sampler);

/// Returns all pixels without gaps between rows. Reads a copy if the host may not read the image.
std::string read_image(cl_context context, cl_command_queue queue, cl_mem image,
                       const bundle::Image& what);

/// True where CLPROBE_CAPTURE named a folder when the layer was loaded.
bool is_capturing();

/// The launches that the folder's list names; none where it is no list.
std::vector<survey::Wanted> read_wanted() noexcept;

using Enqueue = std::function<cl_int(cl_event* event)>;
/// Makes the launch by `enqueue`, and a bundle of it where it is one that is wanted. A launch that
/// cannot be captured is made as it is.
cl_int capture_launch(cl_command_queue queue, cl_kernel kernel, const bundle::NdRange& range,
                      cl_event* event, const Enqueue& enqueue) noexcept;

/// Counts and times launches, and captures the wanted ones.
void wrap_launches(cl_icd_dispatch& table);

/// Gives every queue profiling; the application sees its queues as it created them.
void wrap_queues(cl_icd_dispatch& table);

/// Notes programs with their texts and options, and kernels with their programs and arguments.
void wrap_programs(cl_icd_dispatch& table);

/// Notes buffers, images and samplers, which only a capture needs.
void wrap_objects(cl_icd_dispatch& table);

/// Answers a query as OpenCL does: with `bytes` from `from`, if `size` is enough for them.
inline cl_int answer(const void* from, std::size_t bytes, std::size_t size, void* value,
                     std::size_t* needed) {
  if (value != nullptr && size < bytes) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, from, bytes);
  if (needed != nullptr) *needed = bytes;
  return CL_SUCCESS;
}

/// Wraps one function. A function that is missing below stays null, which loaders skip.
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

/// Wraps a function that creates an object. `note` gets the object, if there is one, and the
/// arguments of the call. It may throw: what it noted until then stays.
template <auto member, typename Note>
void wrap_creation(cl_icd_dispatch& table, Note /*note*/) {
  wrap_creation_of<member, Note>(table, State::below().*member);
}

}  // namespace clprobe::layer
