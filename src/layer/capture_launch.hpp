// SPDX-License-Identifier: Apache-2.0
// One launch on its way into a bundle. Calls drivers, and holds no lock meanwhile.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "clprobe/launch.hpp"
#include "clprobe/survey.hpp"
#include "layer/bundle_files.hpp"
#include "layer/known.hpp"
#include "layer/opencl.hpp"

namespace clprobe::layer {

class CaptureLaunch {
 public:
  CaptureLaunch(const Known& known, std::string folder, cl_command_queue queue)
      : known_(known), files_(std::move(folder)), queue_(queue) {}

  /// Before the launch: waits for all queues of its context, and writes down what the kernel gets.
  /// Throws Refusal.
  void begin(cl_kernel kernel, const bundle::NdRange& range, const survey::Wanted& wanted);
  /// Behind it: waits for it, and writes what it left. Throws Refusal.
  void end(cl_int error, cl_event event);
  void refuse(std::string_view reason) noexcept { files_.refuse(reason); }

 private:
  [[nodiscard]] bool finish(cl_command_queue queue) const;
  void finish_queues() const;
  void take_program(const KnownKernel& kernel);
  void take_headers(const std::vector<includes::Header>& headers);
  void take_arguments(cl_kernel kernel, const KnownKernel& known);
  bundle::Argument take_argument(cl_kernel kernel, cl_uint index, const KnownArgument& known);
  bundle::Argument take_buffer(const KnownMemory& memory);
  bundle::Argument take_image(cl_mem image, const KnownMemory& known);
  [[nodiscard]] std::size_t place_of(cl_mem root) const;
  void add_object(cl_mem root, bundle::Object object);
  [[nodiscard]] std::string read(cl_mem root, const bundle::Object& object) const;
  [[nodiscard]] std::string read_buffer(cl_mem buffer, std::uint64_t bytes) const;

  const Known& known_;
  BundleFiles files_;
  cl_command_queue queue_;
  cl_context context_{nullptr};
  std::chrono::duration<double> longest_wait_{0.0};
  bundle::Launch launch_{};
  std::vector<cl_mem> roots_{};  // of the launch's objects, in their order
};

}  // namespace clprobe::layer
