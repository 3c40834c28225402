// SPDX-License-Identifier: Apache-2.0
// The memories between which the probe `transfer` moves bytes. Sees OpenCL.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "clprobe/device.hpp"
#include "probes/shared/kept_buffer.hpp"
#include "probes/transfer/marks.hpp"

namespace clprobe::transfer {

inline constexpr const char* file = "transfer.cl";

/// A buffer that the host has mapped once for all.
class Pinned {
 public:
  Pinned(Session& session, cl::CommandQueue queue, Bytes size);
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  Pinned(Pinned&&) = delete;
  Pinned& operator=(Pinned&&) = delete;
  ~Pinned();

  [[nodiscard]] void* begin() const { return begin_; }

 private:
  cl::CommandQueue queue_;
  cl::Buffer buffer_;
  void* begin_{nullptr};
};

/// Coarse-grained shared virtual memory.
class SharedVirtual {
 public:
  SharedVirtual(const Session& session, Bytes size);
  SharedVirtual(const SharedVirtual&) = delete;
  SharedVirtual& operator=(const SharedVirtual&) = delete;
  SharedVirtual(SharedVirtual&&) = delete;
  SharedVirtual& operator=(SharedVirtual&&) = delete;
  ~SharedVirtual();

  [[nodiscard]] void* begin() const { return begin_; }

 private:
  cl::Context context_;
  void* begin_;
};

/// All memories of the probe, each made when it is first needed and filled with words that nothing
/// can compress: pages that nobody wrote are no memory yet.
class Places {
 public:
  Places(Session& session, Bytes size);

  [[nodiscard]] Session& session() const { return session_; }
  [[nodiscard]] Bytes size() const { return size_; }
  /// In order and without profiling, which drivers pay for. The second is for the way back.
  [[nodiscard]] const cl::CommandQueue& queue() const { return queue_; }
  [[nodiscard]] const cl::CommandQueue& second_queue() const { return second_queue_; }

  const cl::Buffer& device();
  const cl::Buffer& other();     ///< a second one on the device
  const cl::Buffer& mappable();  ///< of the driver's, in a place where the host may map it
  void* ordinary();
  void* pinned_source();
  void* pinned_target();
  void* shared_virtual();

  /// Gives a kernel its first argument: a buffer, or shared virtual memory.
  using Bind = std::function<void(cl::Kernel&)>;
  static Bind bind(const cl::Buffer& buffer);
  Bind bind_shared_virtual();

  /// The marks of what a kernel finds there, written and added up by kernels.
  void mark(const Bind& bind, const Marks& marks);
  std::uint64_t sum_in(const Bind& bind, const Marks& marks);
  /// All words of what a kernel finds there: their sum, and how they become 0.
  std::uint64_t total_in(const Bind& bind, std::uint64_t words);
  void clear(const Bind& bind, std::uint64_t words);
  /// The marks of what can be mapped, by the host.
  void mark_mapped(const Marks& marks);
  std::uint64_t sum_in_mapped(const Marks& marks);

 private:
  const cl::Buffer& filled(cl::Buffer& buffer, cl_mem_flags flags);
  void fill(const Bind& bind);
  void launch_for(const Marks& marks, cl::Kernel& kernel);
  void* filled_pinned(std::unique_ptr<Pinned>& pinned);
  template <typename Action>
  auto while_mapped(cl_map_flags flags, std::uint64_t words, Action action);

  Session& session_;
  Bytes size_;
  cl::CommandQueue queue_;
  cl::CommandQueue second_queue_;
  cl::Buffer device_{};
  cl::Buffer other_{};
  cl::Buffer mappable_{};
  KeptBuffer found_{};
  std::unique_ptr<HostMemory> ordinary_{};
  std::unique_ptr<Pinned> source_{};
  std::unique_ptr<Pinned> target_{};
  std::unique_ptr<SharedVirtual> shared_{};
};

}  // namespace clprobe::transfer
