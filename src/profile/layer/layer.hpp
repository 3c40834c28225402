// SPDX-License-Identifier: Apache-2.0
// State of the layer in this process, captures of launches, and wrappers of OpenCL's functions. The
// layer must not change what the application observes. No exception leaves the layer, and no call
// waits for another thread's call of a driver.
#pragma once

// Old functions are intercepted as well, because applications use them.
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

/// Replaces the whole file; returns false on failure.
bool write_file(const std::string& path, std::string_view bytes);

/// Time of a launch (END - START), or the reason why it is unknown.
struct EventTime {
  std::optional<std::uint64_t> ns{};
  std::optional<survey::Gap> gap{};
};

/// Returns the time of a launch that has ended.
EventTime time_of(cl_event event);

std::string device_text(cl_device_id device, cl_device_info name);
std::string kernel_name(cl_kernel kernel);

/// Queue as the application created it, and the layer's changes.
struct Queue {
  bool is_known{false};
  bool requested_profiling{false};
  bool has_profiling{false};
  /// Context of the queue. Null if no capture can wait for the queue: kernels fill it, or an
  /// extension created it.
  cl_context context{nullptr};
  /// References of the application; the driver's number includes those of events. While there are
  /// any, the layer keeps a reference of its own. 0: an extension created the queue, and the layer
  /// keeps none.
  cl_uint references{0};
  std::uint32_t device{0};
  /// List of properties from the application, if the driver got another one.
  std::optional<std::vector<cl_queue_properties>> list{};
};

/// Launch whose time is not known yet. The layer releases its event.
struct Waiting {
  cl_event event{nullptr};
  std::chrono::steady_clock::time_point began{};  ///< start of the call that enqueued the launch
  std::chrono::steady_clock::time_point ended{};
  std::size_t row{0};
  std::uint64_t ordinal{0};  ///< number in its row, from 1
  std::uint32_t device{0};
};

/// Texts and options of a program, or the reason why it cannot be rebuilt.
struct KnownProgram {
  struct Unit {
    std::string text{};
    std::string options{};
    includes::Gathered headers{};  ///< headers found when the program was built
  };
  survey::Program identity{};  ///< identity in the survey
  std::vector<Unit> units{};   ///< units; without texts if nothing is captured
  std::string link_options{};
  std::string problem{};
};

/// Argument passed to clSetKernelArg.
struct KnownArgument {
  std::size_t bytes{0};
  bool has_value{false};
  std::string value{};
  std::string problem{};
};

struct KnownKernel {
  std::string name{};
  std::shared_ptr<const KnownProgram> program{};  ///< program; null if an extension created it
  std::vector<std::optional<KnownArgument>> arguments{};
  std::string problem{};
};

/// Memory object. The driver reports further properties of images.
struct KnownMemory {
  cl_mem root{nullptr};  ///< buffer that contains this part, or the object itself
  bool is_image{false};
  cl_mem lies_in{nullptr};  ///< buffer or image whose memory an image uses; null if none
  std::uint64_t origin{0};
  std::uint64_t bytes{0};
  std::string problem{};  ///< kind of an object that cannot be captured: "a pipe"
};

/// Objects of the application by their handles, and launches to capture.
struct Known {
  std::unordered_map<cl_program, std::shared_ptr<const KnownProgram>> programs{};
  std::unordered_map<cl_kernel, KnownKernel> kernels{};
  std::unordered_map<cl_mem, KnownMemory> memories{};
  std::unordered_set<const void*> samplers{};
  std::vector<survey::Wanted> wanted{};  ///< launches to capture; constant
  std::vector<std::uint64_t> matches{};  ///< number of launches that match each wanted one
};

class State {
 public:
  /// Sets the functions of the loader or of the layer below.
  static void set_below(const cl_icd_dispatch& table);
  static const cl_icd_dispatch& below();

  /// Returns the state of this process; a fork begins with a new one.
  static State& get();

  /// Runs `change` with the recorder under the lock. An exception counts as a lost launch.
  template <typename Change>
  void record(const Change& change) noexcept {
    alone([&] { change(recorder_); });
  }

  /// Runs `change` with the known objects under the lock, so it must not call a driver. An object
  /// without memory to record it stays unknown and is not captured.
  template <typename Change>
  void note(const Change& change) noexcept {
    alone([&] { change(known_); });
  }

  /// Returns the known properties of a handle; nothing if an extension created the object.
  template <typename Handle, typename What>
  std::optional<What> find(std::unordered_map<Handle, What> Known::*map, Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto& all = known_.*map;
    const auto found = all.find(handle);
    return found == all.end() ? std::nullopt : std::optional<What>(found->second);
  }

  void note_queue(cl_command_queue queue, cl_device_id device, Queue how) noexcept;
  void retain_queue(cl_command_queue queue) noexcept;
  /// Returns true if this was the application's last reference of a queue that the layer references
  /// as well: the caller releases the layer's.
  [[nodiscard]] bool release_queue(cl_command_queue queue) noexcept;
  /// Returns the host queues of the context, retained for the caller.
  [[nodiscard]] std::vector<cl_command_queue> queues_of(cl_context context);
  /// Returns a queue; `is_known` is false if an extension created it.
  [[nodiscard]] Queue find_queue(cl_command_queue queue) noexcept;

  /// Counts a launch without timing it if timing has used its share of the application's time, and
  /// returns its row. Returns nothing, and counts nothing, if the launch is to be timed.
  std::optional<std::size_t> count_untimed(cl_command_queue queue, cl_kernel kernel,
                                           const survey::Shape& shape) noexcept;
  /// Uncounts a launch counted by `count_untimed` that the driver refused.
  void take_back(std::size_t row) noexcept;

  /// Counts a launch and takes over its event, which may be null. `launch` has the event and the
  /// times of the call.
  void note_launch(cl_command_queue queue, cl_kernel kernel, const survey::Shape& shape,
                   const Waiting& launch) noexcept;

  /// Returns the signature of a launch in the survey; nothing if the queue or the kernel is
  /// unknown.
  [[nodiscard]] std::optional<survey::Signature> signature_of(cl_command_queue queue,
                                                              cl_kernel kernel,
                                                              const survey::Shape& shape) noexcept;

  /// Collects the times of launches that have ended, unless another thread is doing so. Without
  /// `checks_all`, gives up after many unfinished launches.
  void harvest(bool checks_all) noexcept;

  /// Writes the file at once, so that clprobe knows that the program loaded OpenCL.
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

  /// Returns the cost of timing so far, as a share of the permitted cost. Needs a second launch.
  [[nodiscard]] double spent_share() const;
  void start_thread();
  void watch() noexcept;
  void end() noexcept;
  void write() noexcept;
  [[nodiscard]] survey::Survey survey();
  /// Result of `take_launch`. After `full` and `no`, the caller keeps the event; `foreign`: the
  /// queue or kernel is unknown, and nothing was done.
  enum class Taken { yes, no, full, foreign };
  Taken take_launch(cl_command_queue queue, cl_kernel kernel, const survey::Shape& shape,
                    Waiting launch);
  /// Compares the event clock with the host's, from the first launch of a device to this one.
  void check_clock(const Waiting& launch) noexcept;
  /// Notes a queue or a kernel created by functions that the layer does not intercept.
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
  bool can_afford_all_{false};  ///< true if timing could afford all launches so far twice
  std::uint32_t chance_{1};
  std::uint64_t changes_{0};  ///< changes of the recorder, to know whether the file is outdated
  std::uint64_t written_changes_{0};
  bool has_thread_{false};
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_harvesting_{false};
  std::optional<Waiting> first_checked_{};  ///< used only by the harvesting thread
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

/// Reason why a launch is not captured; it completes "is not captured: ".
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns an image of the application as its driver describes it. `lies_in_buffer`: the image has
/// no memory of its own. Throws Refusal.
bundle::Image describe_image(cl_mem image, bool lies_in_buffer);

bundle::Sampler describe_sampler(cl_sampler sampler);

/// Returns all pixels without gaps between rows. Reads a copy if the host may not read the image.
/// Throws Refusal.
std::string read_image(cl_context context, cl_command_queue queue, cl_mem image,
                       const bundle::Image& what);

/// True if CLPROBE_CAPTURE named a folder when the layer was loaded.
bool is_capturing();

/// Returns the launches in the folder's list; none if it is no list.
std::vector<survey::Wanted> read_wanted() noexcept;

using Enqueue = std::function<cl_int(cl_event* event)>;
/// Launches with `enqueue`, and captures a bundle if the launch is wanted. A launch that cannot be
/// captured proceeds normally.
cl_int capture_launch(cl_command_queue queue, cl_kernel kernel, const bundle::NdRange& range,
                      cl_event* event, const Enqueue& enqueue) noexcept;

/// Wraps launches: counts, times, and captures the wanted ones.
void wrap_launches(cl_icd_dispatch& table);

/// Wraps queues: each gets profiling, but the application observes its queues as it created them.
void wrap_queues(cl_icd_dispatch& table);

/// Wraps programs with their texts and options, and kernels with their programs and arguments.
void wrap_programs(cl_icd_dispatch& table);

/// Wraps buffers, images and samplers, which only captures need.
void wrap_objects(cl_icd_dispatch& table);

/// Answers a query as OpenCL does: copies `bytes` from `from` if `size` is sufficient.
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

/// Wraps a function that creates an object. `note` gets the new object and the arguments of the
/// call. An exception in `note` leaves the creation valid.
template <auto member, typename Note>
void wrap_creation(cl_icd_dispatch& table, Note /*note*/) {
  wrap_creation_of<member, Note>(table, State::below().*member);
}

}  // namespace clprobe::layer
