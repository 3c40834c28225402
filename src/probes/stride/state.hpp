// SPDX-License-Identifier: Apache-2.0
// What all points of the probe `stride` share while it runs. Sees OpenCL.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "clprobe/device.hpp"
#include "probes/stride/shape.hpp"

namespace clprobe::stride {

/// A buffer of some kind, which a kernel takes as an argument.
struct Memory {
  std::unique_ptr<HostMemory> host{};  // before the buffer that uses it, so that it outlives it
  cl::Buffer buffer{};
  std::shared_ptr<void> shared{};
  std::uint64_t bytes{0};
  std::uint64_t filled_word_bytes{0};  ///< 0: no data in it yet
  int huge_page_percent{-1};           ///< -1: not known

  /// Throws cl::Error.
  void bind(cl::Kernel& kernel, cl_uint index) const;
};

/// Freed when the probe ends. Everything throws cl::Error, and Unsupported where the driver has not
/// the memory.
class State {
 public:
  explicit State(Session& session) : session_(session) {}

  [[nodiscard]] Session& session() { return session_; }
  /// What the launches of a point read, and what they write: one of each for each kind of buffer.
  std::shared_ptr<Memory> source(const Shape& shape) { return memory(sources_, shape); }
  std::shared_ptr<Memory> target(const Shape& shape) { return memory(targets_, shape); }
  /// Where launches that read leave their sums.
  const cl::Buffer& sums();
  /// Where so many work-items that check leave how many words are right.
  const cl::Buffer& counts(std::uint64_t walkers);
  /// The number of the latest launch, by which its results differ from those before.
  [[nodiscard]] std::uint64_t launch() const { return launches_; }
  std::uint64_t next_launch() { return ++launches_; }

 private:
  using Memories = std::map<BufferKind, std::shared_ptr<Memory>>;
  std::shared_ptr<Memory> memory(Memories& of, const Shape& shape);

  Session& session_;
  Memories sources_{};
  Memories targets_{};
  cl::Buffer sums_{};
  cl::Buffer counts_{};
  std::uint64_t counts_bytes_{0};
  std::uint64_t launches_{0};
};

}  // namespace clprobe::stride
