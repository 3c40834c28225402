// SPDX-License-Identifier: Apache-2.0
// Launches of cl/ring.clh: rings of words and pairs in one store, and timed chases on them. Uses
// OpenCL.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "measure/api/device.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/opencl.hpp"
#include "probes/shared/permutation.hpp"
#include "probes/shared/ring.hpp"

namespace clprobe {
namespace {

/// RingStore that all rings share. Only one ring at a time is laid out in the store.
struct RingStore {
  RingStore(Session& used, std::string_view file)
      : session(used), key(permutation_key(used.seed())), spec{.file = file} {}

  const cl::Buffer& memory(Bytes size);

  Session& session;
  std::uint32_t key;
  KernelSpec spec;
  std::optional<Store> store{};
  KeptBuffer out{};
  KeptBuffer sink{};
};

/// Returns the store, which has random contents at first.
const cl::Buffer& RingStore::memory(Bytes size) {
  if (!store || store->size < size) {
    store.reset();
    store.emplace(make_store(session, size));
    cl::Kernel fill = spec.kernel(session, "ring_fill");
    const std::uint64_t words = size.count / sizeof(cl_ulong);
    set_arguments(fill, 0, store->buffer, cl_ulong{words});
    launch_over(session, fill, spread_over(session.info(), words));
  }
  return store->buffer;
}

/// Ring of nodes with its kernels.
class RingChase {
 public:
  RingChase(std::shared_ptr<RingStore> state, const RingShape& shape);

  Measurement run(std::uint64_t iterations);
  [[nodiscard]] Work work() const;

 private:
  cl_uint set_ring(cl::Kernel& kernel) const;
  void lay_out();
  /// Makes the first `hops` nodes of the ring the least recently used ones.
  void age(std::uint64_t hops);
  void displace();

  std::shared_ptr<RingStore> state_;
  Session& session_;
  RingShape shape_;
  Permutation order_;
  std::uint64_t warm_;  // hops of the launch before the clock is read
  cl::Buffer memory_;
  cl::Buffer out_;  // ticks, and offset of the last node
  cl::Kernel chase_;
};

RingChase::RingChase(std::shared_ptr<RingStore> state, const RingShape& shape)
    : state_(std::move(state)),
      session_(state_->session),
      shape_(shape),
      order_(static_cast<std::uint32_t>(shape.nodes), state_->key),
      warm_(warm_hops(session_.info(), shape)),
      memory_(state_->memory({shape.buffer_bytes})),
      out_(state_->out.at_least(session_, 2 * sizeof(cl_ulong))),
      chase_(state_->spec.kernel(session_, "ring_chase")) {
  lay_out();
  // This launch is not timed: some drivers compile at the first launch.
  static_cast<void>(run(1));
}

cl_uint RingChase::set_ring(cl::Kernel& kernel) const {
  return set_arguments(kernel, 0, memory_, static_cast<cl_uint>(shape_.nodes), cl_uint{state_->key},
                       static_cast<cl_uint>(shape_.step_bytes),
                       static_cast<cl_uint>(shape_.align_bytes));
}

void RingChase::lay_out() {
  cl::Kernel kernel = state_->spec.kernel(session_, "ring_layout");
  set_arguments(kernel, set_ring(kernel), static_cast<cl_uint>(shape_.distance_bytes.value_or(0)));
  launch_over(session_, kernel, spread_over(session_.info(), shape_.nodes));
}

void RingChase::age(std::uint64_t hops) {
  const std::uint64_t begin = hops / shape_.hops_per_node();
  if (begin >= shape_.nodes) return;
  cl::Kernel kernel = state_->spec.kernel(session_, "ring_sweep");
  // One work-group: L2 may have parts, of which each serves some compute units.
  constexpr std::uint64_t most = 1024;
  const std::uint64_t items = std::min<std::uint64_t>(
      most, kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(session_.device()));
  const cl::Buffer& sink = state_->sink.at_least(session_, items * sizeof(cl_uint));
  set_arguments(kernel, set_ring(kernel), static_cast<cl_uint>(begin), sink);
  launch_over(session_, kernel, {items, items});
}

void RingChase::displace() {
  constexpr std::uint64_t block = 64;  // as in cl/ring.clh
  const std::uint64_t count = *shape_.flush_bytes / block;
  const LaunchSize size = spread_over(session_.info(), count);
  cl::Kernel kernel = state_->spec.kernel(session_, "ring_flush");
  const cl::Buffer& sink = state_->sink.at_least(session_, size.items * sizeof(cl_uint));
  set_arguments(kernel, 0, memory_, static_cast<cl_uint>(shape_.ring_bytes()),
                static_cast<cl_uint>(count), sink);
  launch_over(session_, kernel, size);
}

Measurement RingChase::run(std::uint64_t iterations) {
  const std::uint64_t all = warm_ + iterations * ring_unroll;
  const std::uint64_t lap = shape_.nodes * shape_.hops_per_node();
  // After whole laps, a kernel that does nothing would have the right checksum.
  const std::uint64_t lead = all % lap == 0 ? shape_.hops_per_node() : 0;
  if (shape_.flush_bytes) {
    displace();
  } else if (warm_ == 0) {
    age(lead + all);
  }
  set_arguments(chase_, set_ring(chase_), static_cast<cl_uint>(lead),
                static_cast<cl_uint>(warm_ / ring_unroll), static_cast<cl_uint>(iterations), never,
                out_);
  Measurement measurement = timed_launch(session_, chase_, {1, 1}, out_,
                                         iterations * ring_unroll / shape_.hops_per_node());
  const std::uint64_t nodes = (lead + all) / shape_.hops_per_node();
  measurement.expected_witness =
      shape_.offset_of(order_(static_cast<std::uint32_t>(nodes % shape_.nodes)));
  return measurement;
}

Work RingChase::work() const {
  constexpr std::uint64_t usual = 2048;
  constexpr std::uint64_t usual_of_cpu = 8192;
  Work work;
  work.accesses_per_iteration = ring_unroll / shape_.hops_per_node();
  work.iterations = (runs_items_in_turn(session_.info()) ? usual_of_cpu : usual) / ring_unroll;
  work.max_iterations = max_iterations - warm_ / ring_unroll;
  if (shape_.flush_bytes) {
    // A chase on cold caches visits each node once.
    work.max_iterations = shape_.nodes * shape_.hops_per_node() / ring_unroll - 1;
    work.iterations = std::min(work.iterations, work.max_iterations);
  }
  work.build = state_->spec.build(session_);
  return work;
}

}  // namespace

Preparer open_rings(Session& session, std::string_view file) {
  return [state = std::make_shared<RingStore>(session, file)](const Point& point) {
    const auto chase = std::make_shared<RingChase>(state, shape_of<RingShape>(point));
    Work work = chase->work();
    work.run = [chase](std::uint64_t iterations) { return chase->run(iterations); };
    return work;
  };
}

}  // namespace clprobe
