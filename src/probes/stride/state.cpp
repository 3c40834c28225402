// SPDX-License-Identifier: Apache-2.0
#include "probes/stride/state.hpp"
#include "probes/shared/expect_success.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace clprobe::stride {
namespace {

std::shared_ptr<Memory> make_memory(Session& session, BufferKind kind, std::uint64_t bytes) {
  auto memory = std::make_shared<Memory>();
  memory->bytes = bytes;
  const cl::Context& context = session.context();
  if (kind == BufferKind::svm) {
    void* const begin = clSVMAlloc(context(), CL_MEM_READ_WRITE, bytes, 0);
    if (begin == nullptr) {
      throw Unsupported(fmt::format("the driver does not provide {} of shared virtual memory",
                                    format_bytes({bytes})));
    }
    memory->shared =
        std::shared_ptr<void>(begin, [context](void* all) { clSVMFree(context(), all); });
  } else if (kind == BufferKind::host) {
    memory->buffer = cl::Buffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes);
  } else if (runs_items_in_turn(session.info())) {
    // On huge pages where the system gives them: with small ones a CPU measures its page walks.
    memory->host = std::make_unique<HostMemory>(Bytes{bytes});
    memory->buffer =
        cl::Buffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory->host->begin());
  } else {
    memory->buffer = cl::Buffer(context, CL_MEM_READ_WRITE, bytes);
  }
  return memory;
}

}  // namespace

void Memory::bind(cl::Kernel& kernel, cl_uint index) const {
  if (shared == nullptr) {
    kernel.setArg(index, buffer);
    return;
  }
  expect_success(clSetKernelArgSVMPointer(kernel(), index, shared.get()),
                 "clSetKernelArgSVMPointer");
}

std::shared_ptr<Memory> State::memory(Memories& of, const Shape& shape) {
  const std::uint64_t bytes = std::max(shape.buffer_bytes(), shape.shared_buffer_bytes);
  std::shared_ptr<Memory>& kept = of[shape.buffer];
  if (kept == nullptr || kept->bytes < bytes) {
    kept = nullptr;  // first, so that its memory is free
    kept = make_memory(session_, shape.buffer, bytes);
  }
  return kept;
}

const cl::Buffer& State::sums() {
  if (sums_() == nullptr) {
    sums_ = cl::Buffer(session_.context(), CL_MEM_READ_WRITE, sums_bytes);
    const std::vector<char> nothing(sums_bytes, 0);
    session_.queue().enqueueWriteBuffer(sums_, CL_TRUE, 0, sums_bytes, nothing.data());
  }
  return sums_;
}

const cl::Buffer& State::counts(std::uint64_t walkers) {
  const std::uint64_t bytes = walkers * sizeof(cl_uint);
  if (counts_bytes_ < bytes) {
    counts_ = cl::Buffer();  // first, so that its memory is free
    counts_ = cl::Buffer(session_.context(), CL_MEM_READ_WRITE, bytes);
    counts_bytes_ = bytes;
  }
  return counts_;
}

}  // namespace clprobe::stride
