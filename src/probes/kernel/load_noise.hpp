// SPDX-License-Identifier: Apache-2.0
// A kernel of clprobe's that loads from each compute unit, with one group there, in a queue of its
// own. Sees OpenCL.
#pragma once

#include <cstdint>
#include <string>

#include "clprobe/device.hpp"
#include "probes/kernel/span.hpp"

namespace clprobe::kernel {

class LoadNoise {
 public:
  /// `options` are its kernel's, `room` of so many bytes is what it reads.
  LoadNoise(Session& session, std::string options, cl::Buffer room, std::uint64_t room_bytes);

  /// Launches so much of it, and comes back once it runs, as far as the driver tells that.
  cl::Event start(std::uint32_t amount);
  /// Until all that was launched is over.
  void finish();

  /// How long so much takes with nothing beside it.
  double alone_ns(std::uint32_t amount);
  /// So much that it outlasts a kernel of so many ns. Throws Unsupported where none takes time.
  std::uint32_t amount_for(double kernel_ns);

 private:
  cl::Event launch(std::uint32_t amount);

  Session& session_;
  std::string options_;
  cl::Buffer room_;
  std::uint64_t room_bytes_;
  cl::CommandQueue queue_;
};

}  // namespace clprobe::kernel
