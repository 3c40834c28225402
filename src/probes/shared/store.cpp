// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/store.hpp"

namespace clprobe {

Store make_store(Session& session, Bytes size, cl_mem_flags place) {
  Store store;
  store.size = size;
  if (runs_items_in_turn(session.info())) {
    store.host = std::make_unique<HostMemory>(size);
    store.buffer = cl::Buffer(session.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                              size.count, store.host->begin());
  } else {
    store.buffer = cl::Buffer(session.context(), CL_MEM_READ_WRITE | place, size.count);
  }
  return store;
}

}  // namespace clprobe
