// SPDX-License-Identifier: Apache-2.0
#include "probes/latency/ring.hpp"
#include "probes/shared/kept_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace clprobe::latency {
namespace {

/// Options of the kernels that lay out and age a ring, which only know global memory.
std::string layout_options(const Point& point) {
  Point global = point;
  global.series = "global";
  return chase_options(global);
}

void lay_out(Session& session, Ring& ring, const std::string& options) {
  ring.store = &store_of(session, ring.shape, options);
  ring.memory = ring.store->buffer;
  cl::Kernel kernel = session.kernel("latency.cl", "latency_layout", options);
  kernel.setArg(0, ring.memory);
  kernel.setArg(1, ring.order_buffer);
  kernel.setArg(2, cl_uint{ring.shape.nodes});
  kernel.setArg(3, ring.shape.step_bytes);
  kernel.setArg(4, ring.shape.line_bytes);
  const Spread spread = spread_over(session.info(), ring.shape.nodes);
  session.launch(kernel, cl::NDRange(spread.items), cl::NDRange(spread.group));
  ring.sweep = session.kernel("latency.cl", "latency_sweep", options);
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

cl::Kernel build_chase(Session& session, const Ring& ring, const Point& point) {
  const std::string options = chase_options(point);
  std::string table;
  if (ring.space == Space::constant_program) {
    const std::uint64_t unit = point.parameters.text("address") == "index" ? sizeof(cl_uint) : 1;
    table = table_text(ring.shape, ring.order, unit);
  }
  try {
    return session.kernel("latency.cl", "latency_chase", options, table);
  } catch (const DeviceError& error) {
    // It is the size that this compiler refuses if the same text with a smaller table builds.
    if (table.empty() || !builds_small_table(session, options)) throw;
    throw Unsupported(fmt::format("the driver's compiler takes no table of {}: {}",
                                  format_bytes({ring.shape.working_set_bytes}), error.what()));
  }
}

/// A piece of the right size: a driver may refuse a larger buffer than it has constants.
cl::Buffer constant_piece(Ring& ring) {
  cl_buffer_region piece{0, ring.shape.working_set_bytes};
  return ring.memory.createSubBuffer(CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &piece);
}

cl::Image1DBuffer image_of_memory(const Session& session, const Ring& ring) {
  try {
    return {session.context(), CL_MEM_READ_ONLY, cl::ImageFormat(CL_R, CL_UNSIGNED_INT32),
            ring.shape.working_set_bytes / sizeof(cl_uint), ring.memory};
  } catch (const cl::Error& error) {
    throw Unsupported(fmt::format("the driver makes no image of a buffer: {}", describe(error)));
  }
}

void bind(Session& session, Ring& ring) {
  cl_uint argument = 0;
  switch (ring.space) {
    case Space::global:
      ring.chase.setArg(argument++, ring.memory);
      break;
    case Space::constant_argument:
      ring.memory = constant_piece(ring);
      ring.chase.setArg(argument++, ring.memory);
      break;
    case Space::image:
      ring.image = image_of_memory(session, ring);
      ring.chase.setArg(argument++, ring.image);
      break;
    case Space::local:
    case Space::constant_program:
      break;
  }
  ring.chase.setArg(argument++, ring.order_buffer);
  ring.chase.setArg(argument++, cl_uint{ring.shape.nodes});
  ring.chase.setArg(argument++, ring.shape.step_bytes);
  ring.chase.setArg(argument++, ring.shape.line_bytes);
  ring.start_argument = argument++;
  ring.chase.setArg(ring.start_argument, cl_uint{0});
  ring.chase.setArg(argument++, cl_uint{0});  // lead
  ring.chase.setArg(argument++, static_cast<cl_uint>(ring.warm));
  ring.chase.setArg(argument++, cl_uint{1});  // iterations
  ring.age_argument = argument;
  for (int i = 0; i < 3; ++i) ring.chase.setArg(argument++, cl_uint{0});
  ring.chase.setArg(argument++, never);
  ring.chase.setArg(argument++, ring.out);
}

/// Some drivers compile only now. Some refuse constants or local memory that they said to have.
void first_launch(Session& session, const Ring& ring) {
  try {
    session.launch(ring.chase, cl::NDRange(1), cl::NDRange(1));
  } catch (const cl::Error& error) {
    const bool may_refuse = ring.space != Space::global && ring.space != Space::image;
    if (!may_refuse || !is_refusal(error.err())) throw;
    throw Unsupported(fmt::format("the driver refuses {} of it: {}",
                                  format_bytes({ring.shape.working_set_bytes}), describe(error)));
  }
}

/// Small rings are walked once in the launch itself, since some devices empty their first caches
/// between launches. Large ones are aged by sweeps.
std::uint64_t warm_iterations(const Ring& ring) {
  const std::uint64_t lap = (ring.shape.nodes + ring.shape.unroll - 1) / ring.shape.unroll;
  // With few hops an iteration a lap is too many of them for one launch.
  const bool fits = ring.shape.nodes <= ring.usual_hops && lap <= most_iterations / 2;
  return fits ? lap : std::min<std::uint64_t>(lap, 4);
}

}  // namespace

Ring make_ring(Session& session, const Point& point) {
  Ring ring{Shape(point), chase_series(point.series).space};
  ring.order = cycle_of(session, ring.shape).order(ring.shape.nodes);
  const std::uint64_t order_bytes = ring.order.size() * sizeof(cl_uint);
  ring.order_buffer = kept_buffer(session, "order", order_bytes);
  ring.out = kept_buffer(session, "out", 3 * sizeof(cl_ulong));
  // More lines than the caches hold that belong to one core or compute unit, so that a chase of
  // so many hops leaves nothing of use in them for the next one.
  ring.usual_hops = runs_items_in_turn(session.info()) ? 65536 : 8192;
  ring.warm = warm_iterations(ring);
  session.queue().enqueueWriteBuffer(ring.order_buffer, CL_TRUE, 0, order_bytes, ring.order.data());
  const bool has_store = ring.space != Space::local && ring.space != Space::constant_program;
  if (has_store) lay_out(session, ring, layout_options(point));
  ring.chase = build_chase(session, ring, point);
  bind(session, ring);
  first_launch(session, ring);
  return ring;
}

}  // namespace clprobe::latency
