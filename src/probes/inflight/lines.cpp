// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/lines.hpp"

#include <fmt/format.h>

#include "probes/shared/store.hpp"

namespace clprobe::inflight {

Lines make_lines(Session& session, std::uint64_t bytes, std::string_view target) {
  Lines lines;
  if (runs_items_in_turn(session.info())) {
    lines.host = std::make_unique<HostMemory>(Bytes{bytes});
    lines.buffer = cl::Buffer(session.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes,
                              lines.host->begin());
  } else {
    const cl_mem_flags place = target == "host" ? CL_MEM_ALLOC_HOST_PTR : 0;
    lines.buffer = cl::Buffer(session.context(), CL_MEM_READ_WRITE | place, bytes);
  }
  return lines;
}

void run_over_lines(Session& session, cl::Kernel kernel, const Lines& lines,
                    const InflightShape& shape) {
  kernel.setArg(0, lines.buffer);
  kernel.setArg(1, as_uint(shape.lines - 1));
  kernel.setArg(2, as_uint(shape.line_bytes / sizeof(cl_uint)));
  const Spread spread = spread_over(session.info(), shape.lines);
  session.launch(kernel, cl::NDRange(spread.items), cl::NDRange(spread.group));
}

Lines& lines_of(Session& session, const InflightShape& shape) {
  using Kept = std::shared_ptr<Lines>;
  const std::string name =
      fmt::format("inflight {} {} {}", shape.pattern.target, shape.lines, shape.line_bytes);
  return *session.keep<Kept>(name, [&] {
    auto lines = std::make_shared<Lines>(
        make_lines(session, shape.lines * shape.line_bytes, shape.pattern.target));
    run_over_lines(session, session.kernel("inflight.cl", "inflight_fill", shape.options()), *lines,
                   shape);
    return lines;
  });
}

}  // namespace clprobe::inflight
