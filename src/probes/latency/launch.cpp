// SPDX-License-Identifier: Apache-2.0
// Launching cl/latency.cl: rings of nodes in each memory, and timed chases on them. Uses OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "probes/latency/latency.hpp"
#include "probes/shared/opencl.hpp"
#include "probes/shared/permutation.hpp"

namespace clprobe::latency {
namespace {

/// State that all rings of a probe share. Only one ring at a time is laid out in each store.
struct Shared {
  explicit Shared(Session& of) : session(of), key(permutation_key(of.seed())) {}

  Session& session;
  std::uint32_t key;  ///< key of the random order of nodes
  std::optional<Store> store{};
  std::optional<Store> host_store{};
  int huge_page_percent{0};  ///< percentage of huge pages in the store
  KeptBuffer out{};
  KeptBuffer sink{};

  const Store& store_for(bool is_on_host, Bytes size, const KernelSpec& spec);
};

/// Returns the store for rings on the host or on the device. A larger size replaces the store.
/// The store has random contents, since loads of unwritten or compressible memory are too fast.
const Store& Shared::store_for(bool is_on_host, Bytes size, const KernelSpec& spec) {
  std::optional<Store>& kept = is_on_host ? host_store : store;
  if (!kept || kept->size < size) {
    // The old store is freed before the new one is allocated: both together may exceed the allowed
    // memory.
    kept.reset();
    Store made = make_store(session, size, is_on_host ? CL_MEM_ALLOC_HOST_PTR : 0);
    cl::Kernel fill = spec.kernel(session, "latency_fill");
    const std::uint64_t words = size.count / sizeof(cl_ulong);
    set_arguments(fill, 0, made.buffer, cl_ulong{words});
    launch_over(session, fill, spread_over(session.info(), words));
    if (!is_on_host) huge_page_percent = made.host ? made.host->huge_page_percent() : 0;
    kept.emplace(std::move(made));
  }
  return *kept;
}

/// Ring of nodes with its kernels.
class Chase {
 public:
  /// Lays out the nodes, builds the chase and launches it once. Throws DeviceError and cl::Error.
  /// Throws Unsupported if the driver refuses the size or the memory.
  Chase(std::shared_ptr<Shared> shared, const Point& point);

  Measurement run(std::uint64_t iterations);
  [[nodiscard]] Work work() const;

 private:
  /// Nodes that a launch walks, untimed, before the chase begins.
  struct Walk {
    std::uint64_t begin{0};
    std::uint64_t end{0};
    std::uint64_t hops{0};
  };

  cl_uint set_ring(cl::Kernel& kernel, cl_uint index) const;
  void set_chase(std::uint64_t start, std::uint64_t lead, std::uint64_t iterations);
  void lay_out();
  void build_chase();
  void cut_memory();
  void launch_once();
  void age(std::uint64_t hops);
  void walk(std::uint64_t begin, std::uint64_t end);

  std::shared_ptr<Shared> shared_;
  Session& session_;
  RingShape shape_;
  const SeriesSpec& series_;
  std::uint32_t key_;  ///< key of the random order of nodes
  Permutation order_;
  KernelSpec spec_;
  std::uint64_t warm_;  ///< untimed iterations
  cl::Buffer out_;      ///< ticks, offset of the last node and sum of the walk
  cl::Buffer sink_;     ///< results of sweeps
  cl::Buffer memory_{};
  cl::Image1DBuffer image_{};
  cl::Kernel chase_{};
  cl::Kernel sweep_{};
  Walk walk_{};
  bool is_fresh_{true};          ///< no chase has run since the layout
  std::uint64_t position_{0};    ///< start of the next chase
  std::uint64_t aged_until_{0};  ///< position up to which the nodes are aged
};

// Small buffers are allocated before the store. Oclgrind records accesses by buffer number and
// reuses the numbers of released buffers. If the store took such a number, Oclgrind would report
// false errors (tests/runtimes/oclgrind.bats).
Chase::Chase(std::shared_ptr<Shared> shared, const Point& point)
    : shared_(std::move(shared)),
      session_(shared_->session),
      shape_(shape_of<RingShape>(point)),
      series_(series_named(point.series)),
      key_(series_.is_in_order ? in_order_key : shared_->key),
      order_(shape_.nodes(), key_),
      spec_{"latency.cl", build_options(series_, shape_)},
      warm_(warm_iterations(session_.info(), shape_)),
      out_(shared_->out.at_least(session_, 3 * sizeof(cl_ulong))),
      sink_(shared_->sink.at_least(session_, sweep_items(session_.info()) * sizeof(cl_ulong))) {
  if (series_.space == Space::constant_program) spec_.preamble = table_text(shape_, key_);
  if (has_store(series_.space)) lay_out();
  build_chase();
  cut_memory();
  launch_once();
}

cl_uint Chase::set_ring(cl::Kernel& kernel, cl_uint index) const {
  return set_arguments(kernel, index, cl_uint{shape_.nodes()}, cl_uint{key_},
                       cl_ulong{shape_.step_bytes}, cl_ulong{shape_.line_bytes});
}

void Chase::lay_out() {
  const KernelSpec spec{spec_.file, layout_options(shape_)};
  memory_ = shared_->store_for(series_.is_on_host, {shape_.buffer_bytes}, spec).buffer;
  cl::Kernel kernel = spec.kernel(session_, "latency_layout");
  kernel.setArg(0, memory_);
  set_ring(kernel, 1);
  launch_over(session_, kernel, spread_over(session_.info(), shape_.nodes()));
  sweep_ = spec.kernel(session_, "latency_sweep");
}

void Chase::build_chase() {
  const auto builds_small_table = [&] {
    try {
      const KernelSpec small{spec_.file, spec_.options, std::string(smallest_table)};
      static_cast<void>(small.kernel(session_, "latency_chase"));
      return true;
    } catch (const DeviceError&) {
      return false;
    }
  };
  try {
    chase_ = spec_.kernel(session_, "latency_chase");
  } catch (const DeviceError& error) {
    // If the same kernel builds with a smaller table, the compiler refuses the size of this table.
    if (spec_.preamble.empty() || !builds_small_table()) throw;
    throw Unsupported(fmt::format("the driver's compiler rejects a constant table of {}: {}",
                                  format_bytes({shape_.working_set_bytes}), error.what()));
  }
}

/// Restricts constants to a sub-buffer, since a driver may refuse a buffer larger than its constant
/// memory, and images to the working set. Throws Unsupported if the driver refuses the image.
void Chase::cut_memory() {
  if (series_.space == Space::constant_argument) {
    cl_buffer_region piece{0, shape_.working_set_bytes};
    memory_ = memory_.createSubBuffer(CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &piece);
  }
  if (series_.space != Space::image) return;
  try {
    image_ = {session_.context(), CL_MEM_READ_ONLY, cl::ImageFormat(CL_R, CL_UNSIGNED_INT32),
              shape_.working_set_bytes / sizeof(cl_uint), memory_};
  } catch (const cl::Error& error) {
    throw Unsupported(
        fmt::format("the driver cannot create an image from the buffer: {}", describe(error)));
  }
}

void Chase::set_chase(std::uint64_t start, std::uint64_t lead, std::uint64_t iterations) {
  cl_uint index = 0;
  if (series_.space == Space::image) {
    chase_.setArg(index++, image_);
  } else if (has_store(series_.space)) {
    chase_.setArg(index++, memory_);
  }
  const auto number = [](std::uint64_t value) { return static_cast<cl_uint>(value); };
  set_arguments(chase_, set_ring(chase_, index), number(start), number(lead), number(warm_),
                number(iterations), number(walk_.begin), number(walk_.end), number(walk_.hops),
                never, out_);
}

/// Launches the chase once. Some drivers compile at the first launch, and some refuse constants or
/// local memory of a size that they report as supported.
void Chase::launch_once() {
  try {
    // This launch starts half a ring away from the first timed chase, whose first nodes must not
    // be in a cache.
    set_chase(shape_.nodes() / 2, 0, 1);
    launch_over(session_, chase_, {1, 1});
  } catch (const cl::Error& error) {
    if (!may_refuse(series_.space) || !is_refusal(error.err())) throw;
    throw Unsupported(fmt::format("the driver refuses {} of this memory: {}",
                                  format_bytes({shape_.working_set_bytes}), describe(error)));
  }
}

/// Walks the nodes from `begin` to `end` before the next chase. On a native CPU with an in-kernel
/// clock, the launch of the chase walks, since a sweep on another core would miss private caches.
/// On other devices, a sweep walks now.
void Chase::walk(std::uint64_t begin, std::uint64_t end) {
  // The chase kernel can include the walk only with an in-kernel clock, which leaves the walk out
  // of the time.
  if (is_native_cpu(session_.info()) && session_.info().timer == Timer::clock) {
    walk_ = {begin, end, sweep_hops(end - begin, 1)};
    return;
  }
  const auto items =
      std::clamp<std::size_t>(sweep_.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(session_.device()),
                              1, sweep_items(session_.info()));
  sweep_.setArg(0, memory_);
  set_arguments(sweep_, set_ring(sweep_, 1), sink_, static_cast<cl_uint>(begin),
                static_cast<cl_uint>(end), static_cast<cl_uint>(sweep_hops(end - begin, items)));
  launch_over(session_, sweep_, {items, items});
}

/// Makes the next `hops` nodes the least recently used ones, as in an endless chase. The next chase
/// restarts at position 0 after aging, or if the ring needs no aging. In rings much longer than a
/// chase, one aging serves more than one chase. The reuse distance then varies by 3 %.
void Chase::age(std::uint64_t hops) {
  const std::uint64_t nodes = shape_.nodes();
  walk_ = {};
  if (nodes <= hops || !has_store(series_.space)) {
    position_ = 0;
    return;
  }
  if (position_ + hops <= aged_until_) return;
  const std::uint64_t visit = 3 * hops;
  if (std::exchange(is_fresh_, false) && is_aged_by_layout(session_.info(), shape_, visit)) {
    aged_until_ = visit;
  } else {
    aged_until_ = std::max(hops, nodes / long_ring);
    walk(aged_until_, nodes);
  }
  position_ = 0;
}

Measurement Chase::run(std::uint64_t iterations) {
  const std::uint64_t all = (warm_ + iterations) * shape_.unroll;
  // If the hops are whole laps, an extra hop is added so that the chase does not end at its start.
  // Otherwise a kernel that does nothing would have the right checksum.
  const std::uint64_t lead = all % shape_.nodes() == 0 ? 1 : 0;
  const std::uint64_t hops = lead + all;
  age(hops);
  set_chase(position_, lead, iterations);
  Measurement measurement =
      timed_launch(session_, chase_, {1, 1}, out_, iterations * shape_.unroll);
  position_ += hops;
  measurement.expected_witness =
      shape_.offset_of(order_(static_cast<std::uint32_t>(position_ % shape_.nodes())));
  return measurement;
}

Work Chase::work() const {
  Work work;
  work.accesses_per_iteration = shape_.unroll;
  work.iterations = usual_hops(session_.info()) / shape_.unroll;
  work.max_iterations = max_timed(session_.info(), series_, shape_);
  if (is_cut_from_store(series_) && shared_->store->host) {
    work.facts.set("huge_page_percent", std::int64_t{shared_->huge_page_percent});
  }
  work.build = spec_.build(session_);
  return work;
}

}  // namespace

Preparer open(Session& session) {
  return [shared = std::make_shared<Shared>(session)](const Point& point) {
    const auto chase = std::make_shared<Chase>(shared, point);
    Work work = chase->work();
    work.run = [chase](std::uint64_t iterations) { return chase->run(iterations); };
    return work;
  };
}

}  // namespace clprobe::latency
