// SPDX-License-Identifier: Apache-2.0
// A launch of a bundle, made again and again on a device. Sees OpenCL.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "clprobe/device.hpp"
#include "clprobe/launch.hpp"
#include "clprobe/prelude.hpp"
#include "probes/kernel/shape.hpp"
#include "probes/kernel/side_by_side.hpp"

namespace clprobe::kernel {

/// With `preamble` in front of each text. Throws DeviceError with the first line of the build log.
cl::Program build_program(const Session& session, const bundle::Bundle& bundle,
                          const std::string& preamble = {});

/// The same bundle as it is built behind a text of ours (prelude::without_redefinitions).
bundle::Bundle without_redefinitions(const bundle::Bundle& bundle);

/// For the document: without the folders that options name.
KernelBuild build_of(const bundle::Bundle& bundle);

/// A buffer of the launch, between two guards that nobody may write to; or an image, which has
/// none.
struct ReplayedObject {
  std::string name{};
  std::uint64_t bytes{0};
  std::uint64_t guard_bytes{0};  ///< 0 where images lie in it: PoCL makes none in parts of buffers
  cl::Buffer guarded{};
  std::optional<bundle::Image> layout{};  ///< of an image
  cl::Memory image{};
  std::optional<cl::Memory> pristine{};  ///< what it held before, where the kernel writes to it
};

/// What two launches with the same objects left behind.
struct Outcome {
  bool is_deterministic{true};
  double differing_share{0.0};  ///< of the bytes that the kernel writes to
  std::optional<bool> is_equal_to_app{};
  std::string other_buffers{};  ///< that the program had otherwise
  std::string wrong_buffers{};  ///< of these, those that are alike in two replays
};

/// The kernel behind the text that renames work-items, once it was asked for.
struct Instrumented {
  std::optional<cl::Kernel> kernel{};
  std::string problem{};  ///< why it is not used
  KernelBuild build{};
};

/// The kernel with an entry, once it was asked for.
struct Entered {
  std::optional<cl::Kernel> kernel{};
  std::string problem{};  ///< why it is not used
  KernelBuild build{};
  std::uint64_t free_local_bytes{0};  ///< that a group may have besides its own
  std::map<std::uint64_t, std::uint64_t> resident_groups{};  ///< by bytes of padding
};

/// What stands behind the kernel's own arguments, and how many groups are launched.
struct EntryLaunch {
  std::uint64_t groups{0};
  std::uint32_t mode{0};
  std::uint32_t amount{0};
  cl::Buffer room{};
  std::uint64_t padding_bytes{0};
};

/// What runs next to the kernel: how much the loading kernel loads, or how many copies each queue
/// has; and how long all loads, or one copy, take alone.
struct AmountBeside {
  std::uint32_t amount{0};
  double alone_ns{0.0};
};

/// Loads, and the kernel beside them.
struct BareSpans {
  Span loads{};
  Span kernel{};
};

/// What a compute unit has room for, seen by the kernel itself.
struct Residency {
  std::uint64_t padding_bytes{0};
  std::uint64_t resident_groups{0};
};

class Replay {
 public:
  /// Builds the program, fills the objects, launches twice, and looks what came of it. Throws
  /// DeviceError, and VoidedPoint where the kernel wrote outside its buffers.
  Replay(Session& session, const bundle::Bundle& bundle, std::uint64_t flush_bytes);

  /// Builds the text behind the prelude, once, and sees that it does what the plain one does where
  /// nothing is removed; and, for settings without special functions, once more. Throws
  /// Unsupported, for other settings than that where a header is missing, and VoidedPoint.
  void prepare_instrumented(const prelude::Setting& setting);

  /// The same of the text with an entry; then, with so much padding, counts the groups that run at
  /// once. Throws Unsupported, VoidedPoint.
  Residency prepare_entered(std::uint64_t padding_eighths);

  /// `prepare_instrumented`, and how many loads outlast the kernel, or how many copies of it in
  /// each queue are enough to be timed, and what one of them takes alone. Throws the same.
  AmountBeside prepare_bare(const Shape& shape);

  /// Of copies, the time of all for each of them, and what one takes alone. Beside loads, what the
  /// kernel takes; `beside` becomes as much as is enough. Throws Unsupported where the device runs
  /// one behind the other, and where one copy makes the next ones take other times.
  LaunchTimes run_bare(const Shape& shape, AmountBeside& beside);

  /// Once more, from the same objects.
  LaunchTimes run(const Shape& shape);

  /// How long the text behind the prelude, renaming nothing, takes in units of the plain one: by
  /// blocks of turns, plain, instrumented, instrumented, plain, of launches behind other things
  /// each. Once; behind prepare_renamed(). Up to 8 blocks, and 4 at least where a second allows
  /// these.
  const std::vector<double>& turns(Timer timer);

  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  /// Behind what prepares it.
  [[nodiscard]] const KernelBuild& build(const Shape& shape) const {
    if (shape.text == Text::own) return build_;
    if (shape.text == Text::instrumented || shape.text == Text::bare) {
      return built(shape.setting).build;
    }
    return entered_.build;
  }
  /// On the device.
  [[nodiscard]] std::uint64_t held_bytes() const;

 private:
  void build_own();
  std::vector<std::string> fill_objects(const bundle::Bundle& bundle);
  [[nodiscard]] ReplayedObject make_object(std::size_t place, const std::string& held) const;
  std::string build_instrumented(bool without_functions, Instrumented& instrumented);
  void make_parts();
  cl::Memory make_part(const bundle::Argument& argument);
  void set_arguments(cl::Kernel& kernel) const;
  LaunchTimes launch();
  LaunchTimes launch_instrumented(const prelude::Setting& setting);
  std::string build_with_entry(Entered& entered);
  LaunchTimes launch_with_entry(cl::Kernel& kernel, const EntryLaunch& launch);
  LaunchTimes launch_entered(const Shape& shape);
  /// What was built for that setting.
  [[nodiscard]] const Instrumented& built(const prelude::Setting& setting) const {
    return setting.without_functions ? cheap_ : instrumented_;
  }
  [[nodiscard]] std::string load_options() const;
  void enqueue_instrumented(const cl::CommandQueue& queue, const prelude::Setting& setting,
                            cl::Event* event);
  AmountBeside prepare_loads(double kernel_ns);
  AmountBeside prepare_copies(const Shape& shape, double kernel_ns);
  BareSpans launch_beside_loads(const Shape& shape, std::uint32_t amount);
  LaunchTimes run_beside_loads(const Shape& shape, AmountBeside& loads);
  LaunchTimes run_copies(const Shape& shape, std::uint64_t launches);
  [[nodiscard]] LaunchTimes judge_copies(double alone, double each) const;
  [[nodiscard]] std::uint64_t all_groups() const;
  std::uint64_t count_resident(std::uint64_t padding_bytes);
  [[nodiscard]] std::uint64_t padding_bytes(std::uint64_t eighths) const;
  /// What of the objects is not as the first launch left it. Of those that are left to chance
  /// floats may be a little other ones, and nothing is known of others; empty where that is all.
  [[nodiscard]] std::string other_object() const;
  LaunchTimes launch(const Shape& shape);
  [[nodiscard]] std::string read(const ReplayedObject& object) const;
  /// Of those that differ.
  void keep_pristine(const std::vector<std::string>& before);
  void compare_with_app();
  void compare_with_first();
  void restore();
  void flush();
  void make_flushed();
  void check_guards() const;

  Session& session_;
  const bundle::Bundle& bundle_;  // of the process, which outlives its replays
  KernelBuild build_{};
  std::vector<ReplayedObject> objects_{};
  std::vector<cl::Memory> parts_{};   // that the kernel's arguments are, and images
  std::vector<cl::Memory> viewed_{};  // buffers that such images lie in
  std::vector<cl::Sampler> samplers_{};
  cl::Kernel kernel_{};
  Instrumented instrumented_{};
  Instrumented cheap_{};  // without special functions
  std::optional<std::vector<double>> turns_{};
  Entered entered_{};
  // What the objects hold behind the first launch. A hash of each would take less memory, and a
  // second for 250 MB each time that they are compared.
  std::vector<std::string> behind_{};
  std::vector<bool> are_by_chance_{};      // whether the second launch left other bytes in them
  std::optional<LoadNoise> load_noise_{};  // behind prepare_bare()
  std::optional<Copies> copies_{};         // the same
  double start_ns_{0.0};                   // of a launch that does nothing
  double apart_ns_{0.0};  // of many such, in all queues of copies, from one to the next
  cl::Buffer flushed_{};
  std::uint64_t flush_bytes_;
  Outcome outcome_{};
};

}  // namespace clprobe::kernel
