// SPDX-License-Identifier: Apache-2.0
#include "probes/latency/ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "probes/latency/build.hpp"
#include "probes/latency/loops.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::latency {
namespace {

/// Random contents: unwritten or compressible memory reads too fast.
void fill(Session& session, const Store& store, const std::string& options) {
  cl::Kernel kernel = session.kernel("latency.cl", "latency_fill", options);
  const std::uint64_t words = store.size.count / sizeof(cl_ulong);
  kernel.setArg(0, store.buffer);
  kernel.setArg(1, cl_ulong{words});
  const LaunchSize size = spread_over(session.info(), words);
  session.launch(kernel, cl::NDRange(size.items), cl::NDRange(size.group));
}

/// The rings of all series on one side are cut from one store, made anew when a larger one is
/// needed.
const Store& store_for(Shared& shared, bool is_on_host, Bytes size, const std::string& options) {
  std::optional<Store>& kept = is_on_host ? shared.host_store : shared.store;
  if (!kept || kept->size < size) {
    // The old one first: both together may be more memory than is allowed.
    kept.reset();
    Store store = make_store(shared.session, size, is_on_host ? CL_MEM_ALLOC_HOST_PTR : 0);
    fill(shared.session, store, options);
    if (!is_on_host) {
      shared.huge_page_percent = store.host ? store.host->huge_page_percent() : 0;
    }
    kept.emplace(std::move(store));
  }
  return *kept;
}

void lay_out(Ring& ring) {
  Session& session = ring.shared->session;
  const std::string options = layout_options(ring.shape);
  ring.memory =
      store_for(*ring.shared, ring.series->is_on_host, {ring.shape.buffer_bytes}, options).buffer;
  cl::Kernel kernel = session.kernel("latency.cl", "latency_layout", options);
  kernel.setArg(0, ring.memory);
  kernel.setArg(1, cl_uint{ring.shape.nodes()});
  kernel.setArg(2, cl_uint{ring.key});
  kernel.setArg(3, cl_ulong{ring.shape.step_bytes});
  kernel.setArg(4, cl_ulong{ring.shape.line_bytes});
  const LaunchSize size = spread_over(session.info(), ring.shape.nodes());
  session.launch(kernel, cl::NDRange(size.items), cl::NDRange(size.group));
  ring.sweep = session.kernel("latency.cl", "latency_sweep", options);
  ring.sweep.setArg(0, ring.memory);
  ring.sweep.setArg(1, cl_uint{ring.shape.nodes()});
  ring.sweep.setArg(2, cl_uint{ring.key});
  ring.sweep.setArg(3, cl_ulong{ring.shape.step_bytes});
  ring.sweep.setArg(4, cl_ulong{ring.shape.line_bytes});
  ring.sweep.setArg(5, ring.sink);
  ring.sweep_argument = 6;
}

/// Whether the compiler takes the chase with a table of a few bytes.
bool builds_small_table(Session& session, const std::string& options) {
  try {
    static_cast<void>(
        session.kernel("latency.cl", "latency_chase", options, std::string(smallest_table)));
    return true;
  } catch (const DeviceError&) {
    return false;
  }
}

cl::Kernel build_chase(const Ring& ring) {
  Session& session = ring.shared->session;
  const std::string options = build_options(*ring.series, ring.shape);
  std::string table;
  if (ring.series->space == Space::constant_program) {
    table = table_text(ring.shape, ring.key);
  }
  try {
    return session.kernel("latency.cl", "latency_chase", options, table);
  } catch (const DeviceError& error) {
    // It is the size that this compiler refuses if the same text with a smaller table builds.
    if (table.empty() || !builds_small_table(session, options)) throw;
    throw Unsupported(fmt::format("the driver's compiler rejects a table of {}: {}",
                                  format_bytes({ring.shape.working_set_bytes}), error.what()));
  }
}

/// A piece of the right size: a driver may refuse a larger buffer than it has constants.
cl::Buffer constant_piece(const Ring& ring) {
  cl_buffer_region piece{0, ring.shape.working_set_bytes};
  cl::Buffer whole = ring.memory;
  return whole.createSubBuffer(CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &piece);
}

cl::Image1DBuffer image_of_memory(const Session& session, const Ring& ring) {
  try {
    return {session.context(), CL_MEM_READ_ONLY, cl::ImageFormat(CL_R, CL_UNSIGNED_INT32),
            ring.shape.working_set_bytes / sizeof(cl_uint), ring.memory};
  } catch (const cl::Error& error) {
    throw Unsupported(
        fmt::format("the driver cannot create an image from the buffer: {}", describe(error)));
  }
}

void bind(Ring& ring) {
  cl_uint argument = 0;
  switch (ring.series->space) {
    case Space::global:
      ring.chase.setArg(argument++, ring.memory);
      break;
    case Space::constant_argument:
      ring.memory = constant_piece(ring);
      ring.chase.setArg(argument++, ring.memory);
      break;
    case Space::image:
      ring.image = image_of_memory(ring.shared->session, ring);
      ring.chase.setArg(argument++, ring.image);
      break;
    case Space::local:
    case Space::constant_program:
      break;
  }
  ring.chase.setArg(argument++, cl_uint{ring.shape.nodes()});
  ring.chase.setArg(argument++, cl_uint{ring.key});
  ring.chase.setArg(argument++, cl_ulong{ring.shape.step_bytes});
  ring.chase.setArg(argument++, cl_ulong{ring.shape.line_bytes});
  ring.start_argument = argument++;
  // Far from where the first timed chase starts: it must not find its first nodes in a cache.
  ring.chase.setArg(ring.start_argument, cl_uint{ring.shape.nodes() / 2});
  ring.chase.setArg(argument++, cl_uint{0});  // lead
  ring.chase.setArg(argument++, static_cast<cl_uint>(ring.warm));
  ring.chase.setArg(argument++, cl_uint{1});  // iterations
  ring.age_argument = argument;
  for (int i = 0; i < 3; ++i) ring.chase.setArg(argument++, cl_uint{0});
  ring.chase.setArg(argument++, never);
  ring.chase.setArg(argument++, ring.out);
}

/// Some drivers compile only now. Some refuse constants or local memory that they said to have.
void first_launch(const Ring& ring) {
  try {
    ring.shared->session.launch(ring.chase, cl::NDRange(1), cl::NDRange(1));
  } catch (const cl::Error& error) {
    if (!may_refuse(ring.series->space) || !is_refusal(error.err())) throw;
    throw Unsupported(fmt::format("the driver refuses {} of this memory: {}",
                                  format_bytes({ring.shape.working_set_bytes}), describe(error)));
  }
}

}  // namespace

Ring make_ring(const std::shared_ptr<Shared>& shared, const Point& point) {
  Session& session = shared->session;
  const SeriesSpec& series = series_named(point.series);
  Ring ring{shared, shape_of<RingShape>(point), &series,
            series.is_in_order ? in_order_key : shared->key};
  // Small buffers before the store: they take the numbers of released ones, whose notes Oclgrind
  // mixes up with those of larger buffers (tests/runtimes/oclgrind.bats).
  ring.out = shared->out.at_least(session, 3 * sizeof(cl_ulong));
  ring.sink = shared->sink.at_least(session, sweep_items(session.info()) * sizeof(cl_ulong));
  ring.usual_hops = usual_hops(session.info());
  ring.warm = warm_iterations(session.info(), ring.shape);
  if (has_store(ring.series->space)) lay_out(ring);
  ring.chase = build_chase(ring);
  bind(ring);
  first_launch(ring);
  return ring;
}

}  // namespace clprobe::latency
