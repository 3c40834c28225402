// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/memories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "probes/shared/permutation.hpp"

namespace clprobe::transfer {
namespace {

constexpr std::uint64_t word_bytes = Shape::word_bytes;

void fill_on_host(void* begin, Bytes size) {
  // The rest of the memory repeats the first MiB. A link with compression does not find
  // repetitions at this distance.
  constexpr std::uint64_t part = mebibytes(1).count;
  auto* const bytes = static_cast<std::byte*>(begin);
  auto* const words = static_cast<std::uint32_t*>(begin);
  const std::uint64_t made = std::min(part, size.count);
  for (std::uint64_t w = 0; w < made / word_bytes; ++w) {
    words[w] = mixed(static_cast<std::uint32_t>(w));
  }
  for (std::uint64_t at = made; at < size.count; at += part) {
    std::memcpy(bytes + at, bytes, std::min(part, size.count - at));
  }
}

/// Launches a kernel over `words` words. Argument 0 of the kernel must already be set.
void launch_over_words(Session& session, cl::Kernel& kernel, std::uint64_t words) {
  kernel.setArg(1, cl_ulong{words});
  launch_over(session, kernel, spread_over(session.info(), words));
}

/// Returns the memory of a buffer that is mapped for as long as the returned pointer exists.
std::shared_ptr<void> make_pinned(const Session& session, const cl::CommandQueue& queue,
                                  Bytes size) {
  const cl::Buffer buffer(session.context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size.count);
  void* const begin =
      queue.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size.count);
  return {begin, [queue, buffer](void* mapped) {
            clEnqueueUnmapMemObject(queue(), buffer(), mapped, 0, nullptr, nullptr);
            clFinish(queue());
          }};
}

FoundDevice find_peer(const DeviceInfo& device, std::uint64_t peer) {
  std::optional<FoundDevice> found = find_neighbour(device, static_cast<int>(peer));
  if (!found) throw Unsupported(fmt::format("device {} of the platform does not respond", peer));
  return std::move(*found);
}

cl::Context context_of(const cl::Device& device, const cl::Device& peer) {
  try {
    return cl::Context(std::vector<cl::Device>{device, peer});
  } catch (const cl::Error& error) {
    throw Unsupported(
        fmt::format("the driver cannot create a context for both devices ({})", describe(error)));
  }
}

}  // namespace

Memories::Memories(Session& session, Bytes size)
    : session_(session),
      size_(size),
      queue_(session.context(), session.device()),
      second_queue_(session.context(), session.device()) {}

const cl::Buffer& Memories::filled(cl::Buffer& buffer, cl_mem_flags flags) {
  if (buffer() == nullptr) {
    buffer = cl::Buffer(session_.context(), CL_MEM_READ_WRITE | flags, size_.count);
    cl::Kernel kernel = spec.kernel(session_, "transfer_fill");
    kernel.setArg(0, buffer);
    launch_over_words(session_, kernel, size_.count / word_bytes);
  }
  return buffer;
}

void* Memories::ordinary() {
  if (ordinary_ == nullptr) {
    ordinary_ = std::make_unique<HostMemory>(size_);
    fill_on_host(ordinary_->begin(), size_);
  }
  return ordinary_->begin();
}

void* Memories::filled_pinned(std::shared_ptr<void>& pinned) {
  if (pinned == nullptr) {
    pinned = make_pinned(session_, queue_, size_);
    fill_on_host(pinned.get(), size_);
  }
  return pinned.get();
}

void* Memories::shared_virtual() {
  if (shared_virtual_ == nullptr) {
    shared_virtual_ = make_shared_virtual(session_, size_);
    if (shared_virtual_ == nullptr) {
      throw cl::Error(CL_MEM_OBJECT_ALLOCATION_FAILURE, "clSVMAlloc");
    }
    cl::Kernel kernel = spec.kernel(session_, "transfer_fill");
    bind_shared_virtual(kernel, 0, shared_virtual_.get());
    launch_over_words(session_, kernel, size_.count / word_bytes);
  }
  return shared_virtual_.get();
}

End End::on_host(Memories& memories, void* begin) {
  End end(memories);
  end.host_ = static_cast<std::uint32_t*>(begin);
  return end;
}

End End::of_buffer(Memories& memories, const cl::Buffer& buffer) {
  End end(memories);
  end.buffer_ = buffer;
  return end;
}

End End::of_shared_virtual(Memories& memories) {
  End end(memories);
  end.shared_virtual_ = memories.shared_virtual();
  return end;
}

End End::mapped(Memories& memories) {
  End end = of_buffer(memories, memories.mappable());
  end.is_mapped_ = true;
  return end;
}

/// Returns the kernel `name` with this memory as argument 0.
cl::Kernel End::kernel(const char* name) const {
  cl::Kernel kernel = spec.kernel(memories_->session(), name);
  if (shared_virtual_ != nullptr) {
    bind_shared_virtual(kernel, 0, shared_virtual_);
  } else {
    kernel.setArg(0, buffer_);
  }
  return kernel;
}

/// Launches the kernel with one work-item per mark. There are at least two work-groups, so that a
/// CPU's driver may use all cores.
void End::launch_for(const Marks& marks, cl::Kernel& kernel) const {
  constexpr std::uint64_t mark_group = 64;
  Session& session = memories_->session();
  set_arguments(kernel, 1, cl_ulong{marks.words()}, cl_uint{marks.count()},
                cl_uint{marks.launch()});
  const std::uint64_t group = std::min(mark_group, max_group_of(session.info()));
  const std::uint64_t groups = std::max<std::uint64_t>(2, (marks.count() + group - 1) / group);
  launch_over(session, kernel, {groups * group, group});
}

template <typename Action>
auto End::while_mapped(cl_map_flags flags, std::uint64_t words, Action action) const {
  const cl::CommandQueue& queue = memories_->queue();
  void* const begin = queue.enqueueMapBuffer(buffer_, CL_TRUE, flags, 0, words * word_bytes);
  const auto result = action(std::span(static_cast<std::uint32_t*>(begin), words));
  queue.enqueueUnmapMemObject(buffer_, begin);
  queue.finish();
  return result;
}

void End::mark(const Marks& marks) const {
  if (host_ != nullptr) {
    marks.write_to({host_, marks.words()});
  } else if (is_mapped_) {
    while_mapped(CL_MAP_READ | CL_MAP_WRITE, marks.words(), [&](std::span<std::uint32_t> words) {
      marks.write_to(words);
      return true;
    });
  } else {
    cl::Kernel marking = kernel("transfer_mark");
    launch_for(marks, marking);
  }
}

std::uint64_t End::sum(const Marks& marks) const {
  if (host_ != nullptr) return marks.sum_in({host_, marks.words()});
  if (is_mapped_) {
    return while_mapped(CL_MAP_READ, marks.words(),
                        [&](std::span<std::uint32_t> words) { return marks.sum_in(words); });
  }
  cl::Kernel gathering = kernel("transfer_gather");
  const cl::Buffer& found = memories_->results(marks.count() * word_bytes);
  gathering.setArg(4, found);
  launch_for(marks, gathering);
  return sum_of_marks(read_values<std::uint32_t>(memories_->session(), found, marks.count()));
}

PeerMemories::PeerMemories(const Session& session, std::uint64_t peer)
    : PeerMemories(session, find_peer(session.info(), peer)) {}

PeerMemories::PeerMemories(const Session& session, const FoundDevice& peer)
    : PeerMemories(session, peer, context_of(session.device(), peer.device)) {}

PeerMemories::PeerMemories(const Session& session, const FoundDevice& peer,
                           const cl::Context& context)
    : here_(session.device(), session.info(), session.seed(), context),
      there_(peer.device, peer.info, session.seed(), context) {}

void PeerMemories::hold(Bytes size) {
  if (here_memories_ && here_memories_->size() == size) return;
  here_memories_.reset();  // frees the old memory before the allocation
  there_memories_.reset();
  here_memories_.emplace(here_, size);
  there_memories_.emplace(there_, size);
}

}  // namespace clprobe::transfer
