// SPDX-License-Identifier: Apache-2.0
// Which launches are captured, and what a capture has to know of the application's objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "clprobe/launch.hpp"
#include "layer/opencl.hpp"
#include "layer/state.hpp"

namespace clprobe::layer {

/// The texts and options that a program was made from, or why it cannot be made again.
struct KnownProgram {
  struct Unit {
    std::string text{};
    std::string options{};
    includes::Gathered headers{};  ///< that the driver found when the program was built
  };
  std::vector<Unit> units{};
  std::string link_options{};
  std::string problem{};
};

/// As clSetKernelArg got it.
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
  cl_mem root{nullptr};  ///< the buffer that this is a part of, or itself
  bool is_image{false};
  cl_mem lies_in{nullptr};  ///< of an image: the buffer or image whose memory it has, if any
  std::uint64_t origin{0};
  std::uint64_t bytes{0};
  std::string problem{};  ///< what it is that cannot be captured: "a pipe"
};

/// The application's objects, by their handles.
struct Known {
  std::unordered_map<cl_program, std::shared_ptr<const KnownProgram>> programs{};
  std::unordered_map<cl_kernel, KnownKernel> kernels{};
  std::unordered_map<cl_mem, KnownMemory> memories{};
  std::unordered_set<const void*> samplers{};
};

class Captures {
 public:
  /// Of this process: a fork begins with nothing known.
  static Captures& get();
  /// Before the first call, where CLPROBE_CAPTURE names a folder with a list of launches.
  static void begin();
  [[nodiscard]] static bool is_on() { return is_capturing; }

  /// Runs `change` with what is known, alone: it must not call a driver. Without memory for
  /// something it is not known, and not captured.
  template <typename Change>
  static void note(const Change& change) noexcept {
    if (!is_on()) return;
    try {
      const std::lock_guard lock(get().mutex_);
      change(get().known_);
    } catch (...) {
      note_gap(survey::Gap::lost);
    }
  }

  /// What is known of a handle; nothing if it came by an extension.
  template <typename Handle, typename What>
  static std::optional<What> find(std::unordered_map<Handle, What> Known::*map, Handle handle) {
    const std::lock_guard lock(get().mutex_);
    const auto& all = get().known_.*map;
    const auto found = all.find(handle);
    return found == all.end() ? std::nullopt : std::optional<What>(found->second);
  }
  static bool is_sampler(const void* handle) {
    const std::lock_guard lock(get().mutex_);
    return get().known_.samplers.contains(handle);
  }

  using Enqueue = std::function<cl_int(cl_event* event)>;
  /// Makes the launch by `enqueue`, and a bundle of it where it is one that is wanted. Whatever
  /// cannot be captured is launched as it is.
  cl_int launch(cl_command_queue queue, cl_kernel kernel, const bundle::NdRange& range,
                cl_event* event, const Enqueue& enqueue) noexcept;

 private:
  Captures();

  /// Its place in the list, where it is this launch's turn.
  std::optional<std::size_t> choose(cl_command_queue queue, cl_kernel kernel,
                                    const bundle::NdRange& range);
  static void forget_parent() noexcept;

  static bool is_capturing;

  std::vector<survey::Wanted> wanted_{};
  std::mutex mutex_{};
  std::vector<std::uint64_t> seen_{};  // launches like each of the wanted ones
  Known known_{};
};

}  // namespace clprobe::layer
