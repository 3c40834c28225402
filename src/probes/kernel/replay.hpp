// SPDX-License-Identifier: Apache-2.0
// Replay of a bundle's launch on a device, by itself or next to other launches. Uses OpenCL.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/api/device.hpp"
#include "probes/kernel/kernel.hpp"
#include "profile/api/bundle.hpp"
#include "profile/api/prelude.hpp"

namespace clprobe::kernel {

/// Start and end of a launch in nanoseconds of the device's clock.
struct Span {
  std::uint64_t begin{0};
  std::uint64_t end{0};
  [[nodiscard]] double ns() const { return static_cast<double>(end - begin); }
};

/// Returns the start and end of a finished launch in a queue with profiling.
inline Span span_of(const cl::Event& event) {
  return {event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
          event.getProfilingInfo<CL_PROFILING_COMMAND_END>()};
}

class Copies {
 public:
  /// Function that enqueues the kernel once. The event pointer may be null.
  using Launcher = std::function<void(const cl::CommandQueue&, cl::Event*)>;

  Copies(Session& session, std::uint64_t count, Launcher launch);

  /// Returns the median time in ns of `launches` launches in a single queue.
  double alone_ns(std::uint64_t launches);
  /// Returns the total time in ns of `launches` launches in each queue, divided by the number of
  /// launches in all queues.
  double each_ns(std::uint64_t launches);

 private:
  std::vector<cl::CommandQueue> queues_{};
  Launcher launch_;
};

class LoadNoise {
 public:
  /// Creates the queue of the loads. `options`: build options of the loading kernel. `data`: buffer
  /// that the loading kernel reads.
  LoadNoise(Session& session, std::string options, cl::Buffer data, std::uint64_t data_bytes);

  /// Launches the loading kernel with 3 * `amount` loads per work-item. Returns once the driver
  /// reports that the launch runs, after at most 200 us.
  cl::Event start(std::uint32_t amount);
  void finish();

  /// Launches the loading kernel with 3 * `amount` loads per work-item and no other kernel, and
  /// returns the time in ns.
  double alone_ns(std::uint32_t amount);
  /// Returns the amount with which the loading kernel runs longer than a kernel of `kernel_ns` ns,
  /// from test launches. Throws Unsupported if no amount takes measurable time.
  std::uint32_t amount_for(double kernel_ns);

 private:
  cl::Event launch(std::uint32_t amount);

  Session& session_;
  std::string options_;
  cl::Buffer data_;
  std::uint64_t data_bytes_;
  cl::CommandQueue queue_;
};

/// Returns the bundle's program, built with `preamble` before each text. Throws DeviceError with
/// the first line of the build log.
cl::Program build_program(const Session& session, const bundle::Bundle& bundle,
                          const std::string& preamble = {});

/// Returns the PTX that the driver made of the kernel's program; empty if the driver gives none.
std::string ptx_of(const cl::Kernel& kernel);

/// Returns a program built from PTX. `options`: build options of the original program. Throws
/// DeviceError.
cl::Program build_ptx(const Session& session, const std::string& ptx, const std::string& options);

/// Returns the bundle with texts that can follow clprobe's text (prelude::without_redefinitions).
bundle::Bundle without_redefinitions(const bundle::Bundle& bundle);

/// Returns the build as documents record it: without paths and secrets in its options.
KernelBuild build_of(const bundle::Bundle& bundle);

/// Object of the replayed launch: a buffer between two guard regions, or an image without guard
/// regions.
struct ReplayedObject {
  std::string name{};
  std::uint64_t bytes{0};
  /// Size of each guard region. 0 for a buffer that contains images, because PoCL cannot create an
  /// image at an offset in a buffer.
  std::uint64_t guard_bytes{0};
  cl::Buffer guarded{};
  std::optional<bundle::Image> layout{};  ///< layout of an image; nothing for a buffer
  cl::Memory image{};
  /// Copy of the object's data before the launch. Nothing if the object need not be restored.
  std::optional<cl::Memory> pristine{};
};

/// Comparison of two replays with equal data, and of the replay with the program's launch.
struct Outcome {
  bool is_deterministic{true};
  double differing_share{0.0};  ///< differing bytes / bytes of all objects that the kernel writes
  std::optional<bool> is_equal_to_app{};
  /// Names of the objects with equal bytes in two replays, but other bytes than in the program.
  std::string wrong_buffers{};
  /// Like `wrong_buffers`, for floats or doubles and a replay of another text than the program's.
  std::string other_floats{};
};

struct Rebuilt {
  std::optional<cl::Kernel> kernel{};  ///< kernel of the build; nothing before the build
  std::string problem{};               ///< reason why the build cannot be used; empty if it can
  KernelBuild build{};
  /// Local memory in bytes that a group can have in addition to the kernel's own.
  std::uint64_t free_local_bytes{0};
};

/// Values of the arguments that the entry code adds to the kernel, and the number of groups to
/// launch.
struct EntryLaunch {
  std::uint64_t groups{0};
  prelude::EntryMode mode{prelude::EntryMode::none};
  std::uint32_t patience{0};
  cl::Buffer counters{};
  std::uint64_t padding_bytes{0};
};

/// Recorded decisions of the branches of one text.
struct Decisions {
  cl::Buffer bits{};
  std::uint64_t bytes{0};
  std::uint32_t words{0};  ///< number of 32-bit words of each work-item
};

/// Calls `launch` three times, and returns the minimum time in ns.
double least_ns(const std::function<LaunchTimes()>& launch);

class Replay {
 public:
  /// Builds the program, fills the objects, launches the kernel twice, and compares the results.
  /// Throws DeviceError, Unsupported, and VoidedPoint if the kernel writes outside its buffers.
  Replay(Session& session, const bundle::Bundle& bundle, std::uint64_t flush_bytes);

  /// Prepares launches of the variant, and returns facts about them. If the variant needs its own
  /// build, the first call builds it. A build that must give the original kernel's results is
  /// launched once and checked. Throws Unsupported and VoidedPoint.
  Parameters prepare(const Shape& shape);

  /// Restores the program's data, flushes or warms the caches, and returns the times of one launch;
  /// for `copies`, the times of judge_copies(). Throws VoidedPoint. Throws Unsupported if
  /// concurrent launches run one after another or change each other's times.
  LaunchTimes run(const Shape& shape);

  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  [[nodiscard]] const KernelBuild& build(const Shape& shape) const;
  /// Returns the number of bytes on the device that the replay's buffers take.
  [[nodiscard]] std::uint64_t held_bytes() const;

 private:
  void build_own();
  std::vector<std::string> fill_objects(const bundle::Bundle& bundle);
  [[nodiscard]] ReplayedObject make_object(std::size_t index, const std::string& held) const;
  void make_parts();
  cl::Memory make_part(const bundle::Argument& argument);
  void set_arguments(cl::Kernel& kernel) const;

  void rebuild(Rebuilt& rebuilt, const std::function<cl::Program()>& build, std::string_view where,
               const std::function<void()>& launch);
  void prepare_instrumented(const prelude::Setting& setting);
  void prepare_entry();
  Parameters count_removable();
  [[nodiscard]] ptx::Rewritten rewrite(const std::string& text, const ptx::Parts& parts,
                                       ptx::Branches branches) const;
  [[nodiscard]] bool can_replay_branches(const ptx::Rewritten& kernel) const;
  bool has_replayed_branches(const ptx::Rewritten& own);
  const std::string& text_without_functions();
  Decisions record_decisions(const std::string& text);
  const Decisions& recorded_decisions(const std::string& text, bool without_functions);
  void set_added_arguments(cl::Kernel& kernel, const Decisions& decisions);
  void prepare_rewritten(const Shape& shape);
  Rebuilt& rewritten(const Shape& shape);
  [[nodiscard]] const Rebuilt& rewritten(const Shape& shape) const {
    return rewritten_.at(key_of(shape));
  }
  static std::uint64_t key_of(const Shape& shape) {
    return shape.removed.to_ulong() << 2U | (shape.replays_branches ? 2U : 0U) |
           (shape.setting.without_functions ? 1U : 0U);
  }
  std::uint64_t count_resident(std::uint64_t padding_bytes);
  Parameters ratios_of(const Shape& changed);
  double prepare_copies(const prelude::Setting& setting, double kernel_ns);
  double prepare_loads(double kernel_ns);
  [[nodiscard]] std::string load_options() const;

  LaunchTimes launch(const Shape& shape);
  LaunchTimes launch(const cl::Kernel& kernel, const prelude::NdRange& range);
  LaunchTimes launch_plain();
  LaunchTimes launch_instrumented(const prelude::Setting& setting);
  LaunchTimes launch_with_entry(const EntryLaunch& entry);
  void enqueue_instrumented(const cl::CommandQueue& queue, const prelude::Setting& setting,
                            cl::Event* event);
  LaunchTimes run_alone(const Shape& shape, bool is_warm);
  LaunchTimes run_next_to_loads(const prelude::Setting& setting);
  LaunchTimes run_copies(const prelude::Setting& setting);
  [[nodiscard]] LaunchTimes judge_copies(double alone_ns, double each_ns) const;

  [[nodiscard]] const Rebuilt& built(const prelude::Setting& setting) const {
    return setting.without_functions ? without_functions_ : instrumented_;
  }
  [[nodiscard]] std::uint64_t all_groups() const;
  [[nodiscard]] std::uint64_t padding_bytes(std::uint64_t eighths) const;
  [[nodiscard]] std::string other_object() const;
  [[nodiscard]] std::string read(const ReplayedObject& object) const;
  void keep_pristine(const std::vector<std::string>& before);
  void keep_all_pristine();
  void compare_with_app();
  void compare_with_first();
  void restore();
  LaunchTimes flush();
  std::uint64_t memory_rate();
  void make_flush_buffer();
  void check_guards() const;

  Session& session_;
  const bundle::Bundle& bundle_;  // owned by the process, which outlives the replay
  KernelBuild build_{};
  std::vector<ReplayedObject> objects_{};
  // Arguments of the kernel: whole buffers, sub-buffers, and images.
  std::vector<cl::Memory> parts_{};
  std::vector<cl::Memory> image_buffers_{};  // buffers that store the pixels of images
  std::vector<cl::Sampler> samplers_{};
  cl::Kernel kernel_{};
  Rebuilt instrumented_{};
  Rebuilt without_functions_{};  // instrumented build without special functions
  Rebuilt with_entry_{};
  std::string ptx_{};  // empty if the driver gives none
  std::string ptx_without_functions_{};
  std::map<std::uint64_t, Rebuilt> rewritten_{};  // by key_of()
  std::map<bool, Decisions> decisions_{};         // key: true for the text without functions
  cl::Buffer sink_{};                             // words to which rewritten kernels may write
  std::map<Variant, std::vector<double>> ratios_{};
  std::optional<Parameters> plain_facts_{};
  // Resident groups, by padding in bytes.
  std::map<std::uint64_t, std::uint64_t> resident_groups_{};
  // Data of the objects after the first launch. Hashes would take less memory, but hashing takes
  // about 1 s per 250 MB at each comparison.
  std::vector<std::string> after_first_{};
  // True for each object whose bytes differ between the first and the second launch.
  std::vector<bool> are_nondeterministic_{};
  // True for each object whose data must be equal, or close floats, after launches of other builds.
  std::vector<bool> are_compared_{};
  std::optional<LoadNoise> load_noise_{};
  std::optional<Copies> copies_{};
  std::uint32_t amount_{0};  // argument of `load_noise_`, or number of launches of each copy
  double start_ns_{0.0};     // time in ns of a launch without work
  // Time in ns from one launch without work to the next, with launches in the queues of all copies.
  double interval_ns_{0.0};
  cl::Buffer flush_buffer_{};
  std::uint64_t flush_bytes_;
  Outcome outcome_{};
};

}  // namespace clprobe::kernel
