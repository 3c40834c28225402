// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/lines.hpp"

#include "probes/shared/launch_size.hpp"

namespace clprobe::inflight {

void run_over(std::uint64_t places, Session& session, cl::Kernel kernel, const Lines& lines,
              const Shape& shape) {
  kernel.setArg(0, lines.store.buffer);
  kernel.setArg(1, as_uint(shape.lines() - 1));
  kernel.setArg(2, as_uint(shape.line_bytes / sizeof(cl_uint)));
  const LaunchSize size = spread_over(session.info(), places);
  session.launch(kernel, cl::NDRange(size.items), cl::NDRange(size.group));
}

Lines& lines_for(Shared& shared, const Shape& shape) {
  const std::string& target = shape.pattern.target;
  const auto found = shared.lines.find(target);
  if (found != shared.lines.end()) {
    if (found->second.store.size.count == shape.buffer_bytes) return found->second;
    shared.lines.erase(found);  // first: both together may be more memory than is allowed
  }
  const cl_mem_flags place = target == "host" ? CL_MEM_ALLOC_HOST_PTR : 0;
  Lines lines{make_store(shared.session, {shape.buffer_bytes}, place)};
  run_over(shape.words(), shared.session,
           shared.session.kernel("inflight.cl", "inflight_fill", shape.options()), lines, shape);
  return shared.lines.emplace(target, std::move(lines)).first->second;
}

}  // namespace clprobe::inflight
