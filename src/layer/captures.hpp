// SPDX-License-Identifier: Apache-2.0
// Which launches are captured, and their count.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "layer/capture_launch.hpp"
#include "layer/known.hpp"
#include "survey/recorder.hpp"

namespace clprobe::layer {

/// The folder that CLPROBE_CAPTURE names; empty: nothing is captured.
std::string capture_folder();

class Captures {
 public:
  /// Of this process: a fork begins with nothing known.
  static Captures& get();
  /// Before the first call.
  static void begin();

  [[nodiscard]] Known& known() { return known_; }

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
  std::optional<CaptureLaunch> begin_capture(cl_command_queue queue, cl_kernel kernel,
                                             const bundle::NdRange& range) noexcept;
  static void forget_parent() noexcept;

  std::vector<survey::Wanted> wanted_{};
  std::mutex mutex_{};
  std::vector<std::uint64_t> seen_{};  // launches like each of the wanted ones
  Known known_{};
};

}  // namespace clprobe::layer
