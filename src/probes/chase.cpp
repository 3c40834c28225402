// SPDX-License-Identifier: Apache-2.0
#include "probes/chase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "clprobe/device.hpp"
#include "probes/cycle.hpp"

namespace clprobe {
namespace {

// Below 65,535: llvmpipe ends all loops of a launch after so many iterations, silently.
constexpr std::uint64_t most_iterations = 60000;

/// The numbers of a point, read once.
struct Shape {
  std::uint64_t working_set_bytes;
  std::uint64_t buffer_bytes;
  cl_ulong step_bytes;
  cl_ulong line_bytes;
  std::uint32_t unroll;
  std::uint32_t nodes;

  explicit Shape(const Point& point)
      : working_set_bytes(read(point, "working_set_bytes")),
        buffer_bytes(read(point, "buffer_bytes")),
        step_bytes(read(point, "step_bytes")),
        line_bytes(read(point, "line_bytes")),
        unroll(static_cast<std::uint32_t>(read(point, "unroll"))),
        nodes(static_cast<std::uint32_t>(working_set_bytes / step_bytes)) {}

  static std::uint64_t read(const Point& point, std::string_view name) {
    return static_cast<std::uint64_t>(point.parameters.integer(name));
  }

  /// Byte offset of a node, as node_offset() in cl/latency.cl.
  [[nodiscard]] std::uint64_t offset_of(std::uint32_t node) const {
    const std::uint32_t mixed = (node * 2654435761U) >> 16U;
    return node * step_bytes + (mixed * line_bytes) % step_bytes;
  }
};

/// Memory that rings are cut from, filled with random contents once.
struct Store {
  std::unique_ptr<HostMemory> host{};  // before the buffer that uses it, so that it outlives it
  cl::Buffer buffer{};
  int huge_page_percent{0};
};

constexpr std::uint64_t chains_per_item = 16;  // CHAINS in cl/latency.cl

/// Whether the device is the processor itself, run by native code: threads that may be on any core.
bool is_native_cpu(const DeviceInfo& device) {
  return device.type == "cpu" && device.isa != "spir";
}

/// Work-items for the launches that spread over the whole device.
struct Spread {
  std::uint64_t items;
  std::uint64_t group;
};

Spread spread_over(const DeviceInfo& device, std::uint64_t most_items) {
  const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(1, device.compute_units));
  if (device.type == "cpu") {
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

void fill(Session& session, const cl::Buffer& buffer, std::uint64_t bytes,
          const std::string& options) {
  cl::Kernel kernel = session.kernel("latency.cl", "latency_fill", options);
  kernel.setArg(0, buffer);
  kernel.setArg(1, cl_ulong{bytes / sizeof(cl_ulong)});
  const Spread spread = spread_over(session.info(), bytes / sizeof(cl_ulong));
  session.launch(kernel, cl::NDRange(spread.items), cl::NDRange(spread.group));
}

/// The session's store for global rings, made anew when a larger one is needed.
Store& store_of(Session& session, const Shape& shape, const std::string& options) {
  using Kept = std::shared_ptr<Store>;
  const std::string name = fmt::format("store {}", shape.buffer_bytes);
  return *session.keep<Kept>(name, [&] {
    auto store = std::make_shared<Store>();
    if (session.info().type == "cpu") {
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

/// A small buffer that is used again from point to point, since drivers take long to make one.
cl::Buffer kept_buffer(Session& session, const char* name, std::uint64_t bytes) {
  constexpr std::uint64_t least_bytes = 1U << 16U;
  std::uint64_t size = least_bytes;
  while (size < bytes) size *= 2;
  return session.keep<cl::Buffer>(fmt::format("{} {}", name, size), [&] {
    return cl::Buffer(session.context(), CL_MEM_READ_WRITE, size);
  });
}

const NestedCycle& cycle_of(Session& session, const Shape& shape) {
  using Kept = std::shared_ptr<const NestedCycle>;
  const auto most = static_cast<std::uint32_t>(shape.buffer_bytes / shape.step_bytes);
  return *session.keep<Kept>(fmt::format("cycle {}", most), [&] {
    return std::make_shared<const NestedCycle>(most, session.seed());
  });
}

/// The table of SPACE 2 as a program text.
std::string table_text(const Shape& shape, const std::vector<std::uint32_t>& order,
                       std::uint64_t unit_bytes) {
  std::vector<std::uint64_t> words(shape.working_set_bytes / sizeof(cl_uint), 0);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::uint64_t to = shape.offset_of(order[(k + 1) % order.size()]);
    words[shape.offset_of(order[k]) / sizeof(cl_uint)] = to / unit_bytes;
  }
  return fmt::format("constant uint table[{}] = {{{}}};\n", words.size(), fmt::join(words, ","));
}

/// A ring in place, and the launches on it.
class Ring {
 public:
  Ring(Session& session, const Point& point);

  Measurement run(std::uint64_t iterations);
  [[nodiscard]] std::uint64_t warm_iterations() const { return warm_; }
  [[nodiscard]] std::uint64_t usual_iterations() const { return usual_hops_ / shape_.unroll; }
  /// Null for rings that are not cut from a store.
  [[nodiscard]] const Store* store() const { return store_; }

 private:
  void lay_out(const std::string& options);
  void bind(const Point& point);
  void build_chase(const std::string& options, const std::string& table);
  [[nodiscard]] cl::Buffer constant_piece();
  [[nodiscard]] cl::Image1DBuffer image_of_memory() const;
  void first_launch();
  void age(std::uint64_t hops);
  void walk(std::uint64_t begin, std::uint64_t end);

  Session& session_;
  Shape shape_;
  Space space_;
  std::vector<std::uint32_t> order_;
  cl::Buffer order_buffer_;
  cl::Buffer out_;
  cl::Buffer memory_{};
  cl::Image1DBuffer image_{};
  cl::Kernel chase_{};
  cl::Kernel sweep_{};
  cl_uint start_argument_{0};  // then lead, warm, iterations
  cl_uint age_argument_{0};    // begin, then end, hops
  Store* store_{nullptr};
  std::uint64_t usual_hops_;
  std::uint64_t warm_;
  std::uint64_t position_{0};    // where the next chase starts
  std::uint64_t aged_until_{0};  // positions before this one were touched a lap ago
};

/// Options of the kernels that lay out and age a ring, which only know global memory.
std::string layout_options(const Point& point) {
  Point global = point;
  global.series = "global";
  return chase_options(global);
}

Ring::Ring(Session& session, const Point& point)
    : session_(session),
      shape_(point),
      space_(chase_series(point.series).space),
      order_(cycle_of(session, shape_).order(shape_.nodes)),
      order_buffer_(kept_buffer(session, "order", order_.size() * sizeof(cl_uint))),
      out_(kept_buffer(session, "out", 3 * sizeof(cl_ulong))),
      // More lines than the caches hold that belong to one core or compute unit, so that a chase of
      // so many hops leaves nothing of use in them for the next one.
      usual_hops_(session.info().type == "cpu" ? 65536 : 8192) {
  session.queue().enqueueWriteBuffer(order_buffer_, CL_TRUE, 0, order_.size() * sizeof(cl_uint),
                                     order_.data());
  // Small rings are walked once in the launch itself, since some devices empty their first caches
  // between launches. Large ones are aged by sweeps.
  const std::uint64_t lap = (shape_.nodes + shape_.unroll - 1) / shape_.unroll;
  // With few hops an iteration a lap is too many of them for one launch.
  const bool fits = shape_.nodes <= usual_hops_ && lap <= most_iterations / 2;
  warm_ = fits ? lap : std::min<std::uint64_t>(lap, 4);
  if (space_ != Space::local && space_ != Space::constant_program) lay_out(layout_options(point));
  bind(point);
}

void Ring::lay_out(const std::string& options) {
  store_ = &store_of(session_, shape_, options);
  memory_ = store_->buffer;
  cl::Kernel kernel = session_.kernel("latency.cl", "latency_layout", options);
  kernel.setArg(0, memory_);
  kernel.setArg(1, order_buffer_);
  kernel.setArg(2, cl_uint{shape_.nodes});
  kernel.setArg(3, shape_.step_bytes);
  kernel.setArg(4, shape_.line_bytes);
  const Spread spread = spread_over(session_.info(), shape_.nodes);
  session_.launch(kernel, cl::NDRange(spread.items), cl::NDRange(spread.group));
  sweep_ = session_.kernel("latency.cl", "latency_sweep", options);
}

void Ring::bind(const Point& point) {
  std::string table;
  if (space_ == Space::constant_program) {
    const std::uint64_t unit = point.parameters.text("address") == "index" ? sizeof(cl_uint) : 1;
    table = table_text(shape_, order_, unit);
  }
  build_chase(chase_options(point), table);
  cl_uint argument = 0;
  switch (space_) {
    case Space::global:
      chase_.setArg(argument++, memory_);
      break;
    case Space::constant_argument:
      memory_ = constant_piece();
      chase_.setArg(argument++, memory_);
      break;
    case Space::image:
      image_ = image_of_memory();
      chase_.setArg(argument++, image_);
      break;
    case Space::local:
    case Space::constant_program:
      break;
  }
  chase_.setArg(argument++, order_buffer_);
  chase_.setArg(argument++, cl_uint{shape_.nodes});
  chase_.setArg(argument++, shape_.step_bytes);
  chase_.setArg(argument++, shape_.line_bytes);
  start_argument_ = argument++;
  chase_.setArg(argument++, cl_uint{0});  // lead
  chase_.setArg(argument++, static_cast<cl_uint>(warm_));
  chase_.setArg(argument++, cl_uint{1});  // iterations
  age_argument_ = argument;
  for (int i = 0; i < 3; ++i) chase_.setArg(argument++, cl_uint{0});
  chase_.setArg(argument++, never);
  chase_.setArg(argument++, out_);
  chase_.setArg(start_argument_, cl_uint{0});
  first_launch();
}

void Ring::build_chase(const std::string& options, const std::string& table) {
  try {
    chase_ = session_.kernel("latency.cl", "latency_chase", options, table);
  } catch (const DeviceError& error) {
    // The same text with a smaller table builds: it is the size that this compiler refuses.
    if (table.empty()) throw;
    throw Unsupported(fmt::format("the driver's compiler takes no table of {}: {}",
                                  format_bytes({shape_.working_set_bytes}), error.what()));
  }
}

/// A piece of the right size: a driver may refuse a larger buffer than it has constants.
cl::Buffer Ring::constant_piece() {
  cl_buffer_region piece{0, shape_.working_set_bytes};
  return memory_.createSubBuffer(CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &piece);
}

cl::Image1DBuffer Ring::image_of_memory() const {
  try {
    return {session_.context(), CL_MEM_READ_ONLY, cl::ImageFormat(CL_R, CL_UNSIGNED_INT32),
            shape_.working_set_bytes / sizeof(cl_uint), memory_};
  } catch (const cl::Error& error) {
    throw Unsupported(fmt::format("the driver makes no image of a buffer: {}", describe(error)));
  }
}

/// Some drivers compile only now. Some refuse constants or local memory that they said to have.
void Ring::first_launch() {
  try {
    session_.launch(chase_, cl::NDRange(1), cl::NDRange(1));
  } catch (const cl::Error& error) {
    if (space_ == Space::global || space_ == Space::image) throw;
    throw Unsupported(fmt::format("the driver refuses {} of it: {}",
                                  format_bytes({shape_.working_set_bytes}), describe(error)));
  }
}

/// Walks the nodes from `begin` to `end` before the next chase, from where it will run: caches that
/// only some units share would else see only a part of the walk.
void Ring::walk(std::uint64_t begin, std::uint64_t end) {
  const auto hops_of = [&](std::uint64_t items) {
    const std::uint64_t chains = items * chains_per_item;
    return static_cast<cl_uint>((end - begin + chains - 1) / chains);
  };
  // Only a clock in the kernel can leave the walk out of the time.
  if (is_native_cpu(session_.info()) && session_.info().timer == Timer::clock) {
    chase_.setArg(age_argument_, static_cast<cl_uint>(begin));
    chase_.setArg(age_argument_ + 1, static_cast<cl_uint>(end));
    chase_.setArg(age_argument_ + 2, hops_of(1));
    return;
  }
  const auto most_items = static_cast<std::uint64_t>(
      std::clamp<std::int64_t>(session_.info().max_work_group_size, 1, 1024));
  const auto wanted = std::clamp<std::size_t>(
      sweep_.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(session_.device()), 1, most_items);
  const cl::Buffer sink = kept_buffer(session_, "sink", wanted * sizeof(cl_ulong));
  sweep_.setArg(0, store_->buffer);
  sweep_.setArg(1, order_buffer_);
  sweep_.setArg(2, shape_.step_bytes);
  sweep_.setArg(3, shape_.line_bytes);
  sweep_.setArg(4, static_cast<cl_uint>(begin));
  sweep_.setArg(5, static_cast<cl_uint>(end));
  sweep_.setArg(6, hops_of(wanted));
  sweep_.setArg(7, sink);
  session_.launch(sweep_, cl::NDRange(wanted), cl::NDRange(wanted));
}

/// Makes the next `hops` nodes those that were touched longest ago, as in a chase that goes on for
/// ever. For rings much longer than a chase one ageing serves three, at 3 % of the reuse distance.
void Ring::age(std::uint64_t hops) {
  chase_.setArg(age_argument_ + 2, cl_uint{0});
  if (shape_.nodes <= hops || store_ == nullptr) {
    position_ = 0;
    return;
  }
  if (position_ + hops <= aged_until_) return;
  constexpr std::uint64_t chases = 3;
  const bool is_long = shape_.nodes >= 32 * chases * hops;
  aged_until_ = is_long ? chases * hops : hops;
  // The others were walked by the chases before, or by the layout.
  walk(aged_until_, shape_.nodes);
  position_ = 0;
}

Measurement Ring::run(std::uint64_t iterations) {
  const std::uint64_t whole = (warm_ + iterations) * shape_.unroll;
  // One hop more where the chase would else end where it began: then a kernel that does nothing
  // would have the right witness.
  const std::uint64_t lead = whole % shape_.nodes == 0 ? 1 : 0;
  const std::uint64_t hops = lead + whole;
  age(hops);
  chase_.setArg(start_argument_, static_cast<cl_uint>(position_));
  chase_.setArg(start_argument_ + 1, static_cast<cl_uint>(lead));
  chase_.setArg(start_argument_ + 3, static_cast<cl_uint>(iterations));
  // A launch that stores nothing must not find the result of the one before.
  const std::array<cl_ulong, 2> nothing{never, never};
  session_.queue().enqueueWriteBuffer(out_, CL_TRUE, 0, sizeof nothing, nothing.data());
  const LaunchTimes times = session_.launch(chase_, cl::NDRange(1), cl::NDRange(1));
  std::array<cl_ulong, 2> out{};
  session_.queue().enqueueReadBuffer(out_, CL_TRUE, 0, sizeof out, out.data());
  position_ += hops;
  Measurement measurement;
  measurement.sample.accesses = iterations * shape_.unroll;
  if (session_.info().clock.kind != ClockKind::none) measurement.sample.ticks = out[0];
  measurement.sample.event_ns = times.event_ns;
  measurement.sample.host_ns = times.host_ns;
  measurement.sample.witness = out[1];
  measurement.expected_witness = shape_.offset_of(order_[position_ % shape_.nodes]);
  return measurement;
}

}  // namespace

Work prepare_chase(Session& session, const Point& point) {
  auto ring = std::make_shared<Ring>(session, point);
  Work work;
  work.accesses_per_iteration = Shape(point).unroll;
  work.iterations = ring->usual_iterations();
  work.max_iterations = most_iterations - ring->warm_iterations();
  if (ring->store() != nullptr && ring->store()->host) {
    work.facts.set("huge_page_percent", std::int64_t{ring->store()->huge_page_percent});
  }
  work.build = session.build_of("latency.cl", chase_options(point));
  work.run = [ring](std::uint64_t iterations) { return ring->run(iterations); };
  return work;
}

}  // namespace clprobe
