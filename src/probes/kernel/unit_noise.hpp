// SPDX-License-Identifier: Apache-2.0
// A kernel of clprobe's that keeps each compute unit busy with one group, in a queue of its own.
// Sees OpenCL.
#pragma once

#include <cstdint>
#include <string>

#include "clprobe/device.hpp"
#include "probes/kernel/shape.hpp"

namespace clprobe::kernel {

/// When a launch was on the device, by its clock in ns.
struct Span {
  std::uint64_t begin{0};
  std::uint64_t end{0};
  [[nodiscard]] double ns() const { return static_cast<double>(end - begin); }
};

[[nodiscard]] Span span_of(const cl::Event& event);

class UnitNoise {
 public:
  /// `options` are its kernel's, `room` of so many bytes is what its loads read.
  UnitNoise(Session& session, std::string options, cl::Buffer room, std::uint64_t room_bytes);

  /// Launches so much of it, and comes back once it runs, as far as the driver tells that.
  cl::Event start(Beside kind, std::uint32_t amount);
  /// Until all that was launched is over.
  void finish();

  /// How long so much takes with nothing beside it.
  double alone_ns(Beside kind, std::uint32_t amount);
  /// Of that time, the share in which it leaves its unit idle: by how much faster as much is done
  /// by as many work-items as fill the unit.
  double idle_share(Beside kind, std::uint32_t amount);
  /// So much that it outlasts a kernel of so many ns. Throws Unsupported where none takes time.
  std::uint32_t amount_for(Beside kind, double kernel_ns);

 private:
  cl::Event launch(Beside kind, std::uint32_t amount, std::uint64_t items);
  double alone_ns(Beside kind, std::uint32_t amount, std::uint64_t items);

  Session& session_;
  std::string options_;
  cl::Buffer room_;
  std::uint64_t room_bytes_;
  cl::CommandQueue queue_;
};

}  // namespace clprobe::kernel
