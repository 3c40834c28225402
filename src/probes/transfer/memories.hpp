// SPDX-License-Identifier: Apache-2.0
// Source and target memories of the probe `transfer`. Uses OpenCL.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "measure/api/device.hpp"
#include "probes/shared/opencl.hpp"
#include "probes/transfer/transfer.hpp"

namespace clprobe::transfer {

inline const KernelSpec spec{"transfer.cl"};

/// Memories of the probe on one device. Each memory is created when it is first used. The memory
/// is filled with incompressible words, since the operating system allocates only pages that were
/// written.
class Memories {
 public:
  Memories(Session& session, Bytes size);

  [[nodiscard]] Session& session() const { return session_; }
  [[nodiscard]] Bytes size() const { return size_; }
  /// Returns the in-order queue. The queue has no profiling, which costs time in some drivers. The
  /// second queue serves the opposite direction.
  [[nodiscard]] const cl::CommandQueue& queue() const { return queue_; }
  [[nodiscard]] const cl::CommandQueue& second_queue() const { return second_queue_; }

  const cl::Buffer& device() { return filled(device_, 0); }
  const cl::Buffer& other() { return filled(other_, 0); }  ///< a second buffer on the device
  /// Returns a buffer of the driver that the host can map.
  const cl::Buffer& mappable() { return filled(mappable_, CL_MEM_ALLOC_HOST_PTR); }
  void* ordinary();
  void* pinned_source() { return filled_pinned(pinned_source_); }
  void* pinned_target() { return filled_pinned(pinned_target_); }
  void* shared_virtual();

  const cl::Buffer& results(std::uint64_t bytes) { return results_.at_least(session_, bytes); }

 private:
  const cl::Buffer& filled(cl::Buffer& buffer, cl_mem_flags flags);
  void* filled_pinned(std::shared_ptr<void>& pinned);

  Session& session_;
  Bytes size_;
  cl::CommandQueue queue_;
  cl::CommandQueue second_queue_;
  cl::Buffer device_{};
  cl::Buffer other_{};
  cl::Buffer mappable_{};
  KeptBuffer results_{};
  std::unique_ptr<HostMemory> ordinary_{};
  std::shared_ptr<void> pinned_source_{};
  std::shared_ptr<void> pinned_target_{};
  std::shared_ptr<void> shared_virtual_{};
};

/// One end of a transfer: a memory whose marks can be written and read without a transfer.
class End {
 public:
  /// Returns an end whose marks the host writes and reads.
  static End on_host(Memories& memories, void* begin);
  /// Returns an end whose marks kernels write and read.
  static End of_buffer(Memories& memories, const cl::Buffer& buffer);
  static End of_shared_virtual(Memories& memories);
  /// Returns the mappable memory as an end. The host accesses its marks through a mapping.
  static End mapped(Memories& memories);

  /// Writes the marks of a sample to the memory.
  void mark(const Marks& marks) const;
  /// Returns the checksum of the words at the positions of the marks.
  [[nodiscard]] std::uint64_t sum(const Marks& marks) const;

 private:
  explicit End(Memories& memories) : memories_(&memories) {}
  [[nodiscard]] cl::Kernel kernel(const char* name) const;
  void launch_for(const Marks& marks, cl::Kernel& kernel) const;
  template <typename Action>
  auto while_mapped(cl_map_flags flags, std::uint64_t words, Action action) const;

  Memories* memories_;
  std::uint32_t* host_{nullptr};  ///< null unless the host accesses the marks without a mapping
  cl::Buffer buffer_{};
  void* shared_virtual_{nullptr};  ///< if not null, used instead of the buffer
  bool is_mapped_{false};
};

/// Memories of this device and of another device of its platform, in a common context. A context
/// of all devices would cost time in runs without copies between devices.
class PeerMemories {
 public:
  /// Makes a context of this device and the device `peer`. Throws Unsupported if the other device
  /// does not respond or if the driver has no context for both devices.
  PeerMemories(const Session& session, std::uint64_t peer);

  /// Replaces the memories unless they have exactly this size: a driver may move a whole buffer
  /// even if only a part is copied.
  void hold(Bytes size);

  [[nodiscard]] Memories& here() { return here_memories_.value(); }
  [[nodiscard]] Memories& there() { return there_memories_.value(); }
  [[nodiscard]] const DeviceInfo& peer() const { return there_.info(); }

 private:
  PeerMemories(const Session& session, const FoundDevice& peer);
  PeerMemories(const Session& session, const FoundDevice& peer, const cl::Context& context);

  Session here_;
  Session there_;
  std::optional<Memories> here_memories_{};
  std::optional<Memories> there_memories_{};
};

}  // namespace clprobe::transfer
