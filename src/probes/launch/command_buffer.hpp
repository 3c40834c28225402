// SPDX-License-Identifier: Apache-2.0
// Launches that are recorded once and then launched together (cl_khr_command_buffer). The functions
// that are called have had the same arguments from revision 0.9.0 on, which Debian 12's headers and
// PoCL 3.1 speak, to 1.0.
#pragma once

#include <cstdint>
#include <memory>

#include "clprobe/device.hpp"

namespace clprobe::launch {

/// A queue of the kind that the device wants for command buffers.
cl::CommandQueue queue_for_command_buffers(const Session& session);

class CommandBuffer {
 public:
  /// So many launches of the kernel, of one work-item each, one after another. The kernel's
  /// arguments are those of now. Throws cl::Error.
  CommandBuffer(const Session& session, cl::CommandQueue queue, cl::Kernel kernel,
                std::uint64_t launches);

  /// Does not wait for it; the one before must have ended. Throws cl::Error.
  void enqueue() const;

 private:
  struct Functions;

  std::shared_ptr<const Functions> functions_;
  cl::CommandQueue queue_;
  cl::Kernel kernel_;
  std::shared_ptr<void> buffer_{};
};

}  // namespace clprobe::launch
