// SPDX-License-Identifier: Apache-2.0
// What the layer knows of this process. Nothing here may change what the application sees: no
// exception leaves, and no call waits for another thread's call of a driver.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "layer/opencl.hpp"
#include "survey/recorder.hpp"

namespace clprobe::layer {

/// The folder that CLPROBE_SURVEY names; empty: nobody asked for a survey.
std::string survey_folder();

/// Replaces the file as a whole; whether that went well.
bool write_file(const std::string& path, std::string_view bytes);

/// END - START of a launch, or why it is not known.
struct EventTime {
  std::optional<std::uint64_t> ns{};
  std::optional<survey::Gap> gap{};
};

/// Of a launch that has ended.
EventTime time_of(cl_event event);

std::string device_text(cl_device_id device, cl_device_info name);
std::string kernel_name(cl_kernel kernel);

/// How the application made a queue, and what we made of it.
struct Queue {
  bool is_known{false};
  bool asked_for_profiling{false};
  bool has_profiling{false};
  /// Null: nobody can wait for what is in it, as kernels fill it, or it came by an extension.
  cl_context context{nullptr};
  /// The application's own, counted: the driver's number has those of events as well. While there
  /// are any we hold one of our own. 0: it came by an extension, and nothing is counted or held.
  cl_uint references{0};
  std::uint32_t device{0};
  /// The application's own list of properties, where the driver has got another.
  std::optional<std::vector<cl_queue_properties>> list{};
};

/// A launch whose time is not known yet; the event is ours to release.
struct Waiting {
  cl_event event{nullptr};
  std::chrono::steady_clock::time_point began{};  ///< the call that enqueued it
  std::chrono::steady_clock::time_point ended{};
  std::size_t row{0};
  std::uint64_t ordinal{0};  ///< in its row, from 1
  std::uint32_t device{0};
};

class State {
 public:
  /// The functions of the loader or of the layer below.
  static void set_below(const cl_icd_dispatch& table);
  static const cl_icd_dispatch& below();

  /// Of this process: a fork begins with nothing.
  static State& get();

  /// Runs `change` with the recorder, alone. What is thrown costs a count.
  template <typename Change>
  void record(const Change& change) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      change(recorder_);
    } catch (...) {
      lost_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void note_queue(cl_command_queue queue, cl_device_id device, Queue how) noexcept;
  void retain_queue(cl_command_queue queue) noexcept;
  /// Returns whether this was the application's last reference of a queue that we hold: the caller
  /// releases ours as well.
  [[nodiscard]] bool release_queue(cl_command_queue queue) noexcept;
  /// Queues of the host, retained for the caller.
  [[nodiscard]] std::vector<cl_command_queue> queues_of(cl_context context);
  /// Not known for a queue that came by an extension.
  [[nodiscard]] Queue find_queue(cl_command_queue queue) noexcept;

  /// What the application changed; returns whether it wants profiling now.
  bool change_profiling(cl_command_queue queue, cl_command_queue_properties properties,
                        bool is_enabled) noexcept;

  /// Counts a launch whose time is not asked for, because that has taken its part of the
  /// application's time already. Its row; nothing, and nothing counted, where it is to be timed.
  std::optional<std::size_t> count_untimed(cl_command_queue queue, cl_kernel kernel,
                                           const survey::Shape& shape) noexcept;
  /// The driver did not take it.
  void take_back(std::size_t row) noexcept;

  /// Counts a launch and takes over its event, which may be null. `launch` has that and the times
  /// of the call.
  void note_launch(cl_command_queue queue, cl_kernel kernel, const survey::Shape& shape,
                   const Waiting& launch) noexcept;

  /// What a launch is told by in the survey; nothing where the queue or the kernel is not known.
  [[nodiscard]] std::optional<survey::Signature> signature_of(cl_command_queue queue,
                                                              cl_kernel kernel,
                                                              const survey::Shape& shape) noexcept;

  /// Looks which launches have ended, unless another thread is at it. Otherwise than
  /// `looks_at_all`, it gives up behind many that have not.
  void harvest(bool looks_at_all) noexcept;

  /// Writes the file at once, so that clprobe sees that OpenCL was loaded.
  void begin() noexcept;

 private:
  State() = default;

  /// What asking for times has cost, of what it may cost by now; behind the second launch.
  [[nodiscard]] double part_spent() const;
  void start_thread();
  void watch() noexcept;
  void end() noexcept;
  void write() noexcept;
  [[nodiscard]] survey::Survey survey();
  /// What became of a launch: `full` and `no` leave its event to the caller, `foreign` everything.
  enum class Taken { yes, no, full, foreign };
  Taken take_launch(cl_command_queue queue, cl_kernel kernel, const survey::Shape& shape,
                    Waiting launch);
  /// Compares the event clock with the host's, from the first launch of a device to this one.
  void check_clock(const Waiting& launch) noexcept;
  /// What came by functions that nobody told us of.
  void note_foreign(cl_command_queue queue, cl_kernel kernel) noexcept;

  static void forget_parent() noexcept;
  static void end_process() noexcept;

  const std::chrono::steady_clock::time_point began_{std::chrono::steady_clock::now()};
  std::mutex mutex_{};
  std::condition_variable wake_{};
  survey::Recorder recorder_{};
  std::unordered_map<cl_command_queue, Queue> queues_{};
  std::vector<Waiting> waiting_{};
  std::optional<std::chrono::steady_clock::time_point> launched_{};  ///< the second time
  std::uint64_t timed_{0};                                           ///< launches
  bool can_afford_all_{false};  ///< so far, with as many launches again
  std::uint32_t chance_{1};
  std::uint64_t changes_{0};  ///< of the recorder, for the file
  std::uint64_t written_changes_{0};
  bool has_thread_{false};
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_harvesting_{false};
  std::optional<Waiting> first_checked_{};  ///< of the thread that harvests
  std::uint64_t first_stamp_{0};
  std::chrono::steady_clock::time_point last_check_{};
  survey::ClockCheck clock_{};
  std::atomic<std::uint64_t> lost_{0};
  std::mutex file_mutex_{};
  std::string path_{};  // of the file; empty until the first time
};

inline void note_gap(survey::Gap gap) {
  State::get().record([gap](survey::Recorder& recorder) { recorder.add_gap(gap); });
}

}  // namespace clprobe::layer
