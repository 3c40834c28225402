// SPDX-License-Identifier: Apache-2.0
// A bundle's launch, repeated on a device. Sees OpenCL.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/api/device.hpp"
#include "probes/kernel/shape.hpp"
#include "probes/kernel/side_by_side.hpp"
#include "profile/api/bundle.hpp"
#include "profile/api/prelude.hpp"

namespace clprobe::kernel {

/// Builds the bundle's program with `preamble` before each text. Throws DeviceError with the first
/// line of the build log.
cl::Program build_program(const Session& session, const bundle::Bundle& bundle,
                          const std::string& preamble = {});

/// The bundle as it is built after a text of clprobe's (prelude::without_redefinitions).
bundle::Bundle without_redefinitions(const bundle::Bundle& bundle);

/// The build for the document, without the folders that options name.
KernelBuild build_of(const bundle::Bundle& bundle);

/// A buffer of the launch between two guard regions, or an image, which has none.
struct ReplayedObject {
  std::string name{};
  std::uint64_t bytes{0};
  std::uint64_t guard_bytes{0};  ///< 0 for a buffer that holds images: PoCL makes none in parts
  cl::Buffer guarded{};
  std::optional<bundle::Image> layout{};  ///< of an image
  cl::Memory image{};
  std::optional<cl::Memory> pristine{};  ///< its data before the launch, if the kernel writes it
};

/// The result of two launches with the same data.
struct Outcome {
  bool is_deterministic{true};
  double differing_share{0.0};  ///< of the bytes that the kernel writes
  std::optional<bool> is_equal_to_app{};
  std::string wrong_buffers{};  ///< equal in both launches, but not to the program's
};

/// A build of the program after a text of clprobe's.
struct Rebuilt {
  std::optional<cl::Kernel> kernel{};  ///< nothing before it was built
  std::string problem{};               ///< why it is not used
  KernelBuild build{};
  std::uint64_t free_local_bytes{0};  ///< that a group may have besides its own
};

/// The arguments that an entry adds, and the number of groups to launch.
struct EntryLaunch {
  std::uint64_t groups{0};
  prelude::EntryMode mode{prelude::EntryMode::none};
  std::uint32_t patience{0};
  cl::Buffer room{};
  std::uint64_t padding_bytes{0};
};

class Replay {
 public:
  /// Builds the program, fills the objects, launches twice, and compares what the launches leave.
  /// Throws DeviceError, and VoidedPoint if the kernel writes outside its buffers.
  Replay(Session& session, const bundle::Bundle& bundle, std::uint64_t flush_bytes);

  /// Prepares launches of that variant, and returns the facts that it finds. The first call builds
  /// the text after clprobe's own, and checks that it leaves the same bytes as the plain text.
  /// Throws Unsupported and VoidedPoint.
  Parameters prepare(const Shape& shape);

  /// Launches once, with the same data. Throws VoidedPoint; and Unsupported if launches that should
  /// run side by side run one after another, or change each other's times.
  LaunchTimes run(const Shape& shape);

  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  /// The build of a prepared variant.
  [[nodiscard]] const KernelBuild& build(const Shape& shape) const;
  /// Bytes on the device.
  [[nodiscard]] std::uint64_t held_bytes() const;

 private:
  void build_own();
  std::vector<std::string> fill_objects(const bundle::Bundle& bundle);
  [[nodiscard]] ReplayedObject make_object(std::size_t place, const std::string& held) const;
  void make_parts();
  cl::Memory make_part(const bundle::Argument& argument);
  void set_arguments(cl::Kernel& kernel) const;

  void rebuild(Rebuilt& rebuilt, const bundle::Bundle& text, const std::string& preamble,
               std::string_view where, const std::function<void()>& launch);
  void prepare_instrumented(const prelude::Setting& setting);
  void prepare_entered();
  std::uint64_t count_resident(std::uint64_t padding_bytes);
  const std::vector<double>& turns(Timer timer);
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
  LaunchTimes run_beside_loads(const prelude::Setting& setting);
  LaunchTimes run_copies(const prelude::Setting& setting);
  [[nodiscard]] LaunchTimes judge_copies(double alone_ns, double each_ns) const;

  [[nodiscard]] const Rebuilt& built(const prelude::Setting& setting) const {
    return setting.without_functions ? cheap_ : instrumented_;
  }
  [[nodiscard]] std::uint64_t all_groups() const;
  [[nodiscard]] std::uint64_t padding_bytes(std::uint64_t eighths) const;
  [[nodiscard]] std::string other_object() const;
  [[nodiscard]] std::string read(const ReplayedObject& object) const;
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
  std::vector<cl::Memory> parts_{};   // the kernel's arguments: buffers, parts of them, and images
  std::vector<cl::Memory> viewed_{};  // buffers that images lie in
  std::vector<cl::Sampler> samplers_{};
  cl::Kernel kernel_{};
  Rebuilt instrumented_{};
  Rebuilt cheap_{};  // instrumented, without special functions
  Rebuilt entered_{};
  std::optional<std::vector<double>> turns_{};
  std::map<std::uint64_t, std::uint64_t> resident_groups_{};  // by bytes of padding
  // The data of the objects after the first launch. A hash of each would take less memory, but a
  // second for 250 MB at each comparison.
  std::vector<std::string> after_first_{};
  std::vector<bool> are_by_chance_{};  // whether the second launch left other bytes
  std::optional<LoadNoise> load_noise_{};
  std::optional<Copies> copies_{};
  std::uint32_t amount_{0};  // of loads, or of launches of each copy
  double start_ns_{0.0};     // of a launch without work
  double apart_ns_{0.0};     // from one launch without work to the next, in all queues of copies
  cl::Buffer flushed_{};
  std::uint64_t flush_bytes_;
  Outcome outcome_{};
};

}  // namespace clprobe::kernel
