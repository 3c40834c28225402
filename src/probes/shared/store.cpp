// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/store.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clprobe {
namespace {

void fill(Session& session, const cl::Buffer& buffer, std::uint64_t bytes,
          const std::string& options) {
  cl::Kernel kernel = session.kernel("latency.cl", "latency_fill", options);
  kernel.setArg(0, buffer);
  kernel.setArg(1, cl_ulong{bytes / sizeof(cl_ulong)});
  const Spread spread = spread_over(session.info(), bytes / sizeof(cl_ulong));
  session.launch(kernel, cl::NDRange(spread.items), cl::NDRange(spread.group));
}

}  // namespace

Spread spread_over(const DeviceInfo& device, std::uint64_t most_items) {
  const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(1, device.compute_units));
  if (runs_items_in_turn(device)) {
    // A CPU runs the items of a group one after another, so that a few per thread are enough; but
    // none may have more iterations than llvmpipe makes.
    const std::uint64_t least = most_items / most_iterations + 1;
    return {std::min(std::max(units * 4, least), std::max<std::uint64_t>(1, most_items)), 1};
  }
  const std::uint64_t group =
      static_cast<std::uint64_t>(std::clamp<std::int64_t>(device.max_work_group_size, 1, 128));
  const std::uint64_t groups = std::clamp<std::uint64_t>(most_items / group, 1, units * 4);
  return {groups * group, group};
}

Store& store_of(Session& session, const Shape& shape, const std::string& options) {
  using Kept = std::shared_ptr<Store>;
  const std::string name = fmt::format("store {}", shape.buffer_bytes);
  return *session.keep<Kept>(name, [&] {
    auto store = std::make_shared<Store>();
    if (runs_items_in_turn(session.info())) {
      store->host = std::make_unique<HostMemory>(Bytes{shape.buffer_bytes});
      store->buffer = cl::Buffer(session.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                 shape.buffer_bytes, store->host->begin());
    } else {
      store->buffer = cl::Buffer(session.context(), CL_MEM_READ_WRITE, shape.buffer_bytes);
    }
    fill(session, store->buffer, shape.buffer_bytes, options);
    if (store->host) store->huge_page_percent = store->host->huge_page_percent();
    return store;
  });
}

const NestedCycle& cycle_of(Session& session, const Shape& shape) {
  using Kept = std::shared_ptr<const NestedCycle>;
  const auto most = static_cast<std::uint32_t>(shape.buffer_bytes / shape.step_bytes);
  return *session.keep<Kept>(fmt::format("cycle {}", most), [&] {
    return std::make_shared<const NestedCycle>(most, session.seed());
  });
}

std::string table_text(const Shape& shape, const std::vector<std::uint32_t>& order,
                       std::uint64_t unit_bytes) {
  std::vector<std::uint64_t> words(shape.working_set_bytes / sizeof(cl_uint), 0);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::uint64_t to = shape.offset_of(order[(k + 1) % order.size()]);
    words[shape.offset_of(order[k]) / sizeof(cl_uint)] = to / unit_bytes;
  }
  return fmt::format("constant uint table[{}] = {{{}}};\n", words.size(), fmt::join(words, ","));
}

}  // namespace clprobe
