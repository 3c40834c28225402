// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/opencl.hpp"

namespace clprobe {

Store make_store(Session& session, Bytes size, cl_mem_flags flags) {
  Store store;
  store.size = size;
  if (runs_items_in_turn(session.info())) {
    store.host = std::make_unique<HostMemory>(size);
    store.buffer = cl::Buffer(session.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                              size.count, store.host->begin());
  } else {
    store.buffer = cl::Buffer(session.context(), CL_MEM_READ_WRITE | flags, size.count);
  }
  return store;
}

std::shared_ptr<void> make_shared_virtual(const Session& session, Bytes size) {
  const cl::Context& context = session.context();
  void* const begin = clSVMAlloc(context(), CL_MEM_READ_WRITE, size.count, 0);
  if (begin == nullptr) return nullptr;
  return {begin, [context](void* all) { clSVMFree(context(), all); }};
}

void bind_shared_virtual(cl::Kernel& kernel, cl_uint index, const void* begin) {
  expect_success(clSetKernelArgSVMPointer(kernel(), index, begin), "clSetKernelArgSVMPointer");
}

const cl::Buffer& KeptBuffer::at_least(Session& session, std::uint64_t bytes) {
  // Drivers allocate whole pages. A buffer of at least one page shares no page with other buffers.
  constexpr Bytes page = kibibytes(4);
  if (size_.count < bytes || size_.count == 0) {
    // The old buffer is freed before the new one is allocated: both together may exceed the
    // allowed memory.
    buffer_ = cl::Buffer();
    size_ = Bytes{};
    const Bytes size = std::max(Bytes{bytes}, page);
    buffer_ = cl::Buffer(session.context(), CL_MEM_READ_WRITE, size.count);
    size_ = size;
  }
  return buffer_;
}

}  // namespace clprobe
