// SPDX-License-Identifier: Apache-2.0
// The launches of the probe `latency` through OpenCL.
#include "probes/latency/launch.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "clprobe/device.hpp"
#include "probes/latency/build.hpp"
#include "probes/latency/loops.hpp"
#include "probes/latency/ring.hpp"

namespace clprobe::latency {
namespace {

/// A ring, and the launches on it.
class Chase {
 public:
  explicit Chase(Ring ring)
      : session_(ring.shared->session),
        ring_(std::move(ring)),
        order_(ring_.shape.nodes(), ring_.key) {}

  Measurement run(std::uint64_t iterations);
  [[nodiscard]] const Ring& ring() const { return ring_; }

 private:
  void age(std::uint64_t hops);
  void walk(std::uint64_t begin, std::uint64_t end);

  Session& session_;
  Ring ring_;
  Permutation order_;
  bool is_fresh_{true};          // no chase since the layout
  std::uint64_t position_{0};    // where the next chase starts
  std::uint64_t aged_until_{0};  // positions before this one were touched a lap ago
};

/// Walks the nodes from `begin` to `end` before the next chase, from where it will run: caches that
/// only some units share would else see only a part of the walk.
void Chase::walk(std::uint64_t begin, std::uint64_t end) {
  const auto hops_of = [&](std::uint64_t items) {
    return static_cast<cl_uint>(sweep_hops(end - begin, items));
  };
  // Only a clock in the kernel can leave the walk out of the time.
  if (is_native_cpu(session_.info()) && session_.info().timer == Timer::clock) {
    ring_.chase.setArg(ring_.age_argument, static_cast<cl_uint>(begin));
    ring_.chase.setArg(ring_.age_argument + 1, static_cast<cl_uint>(end));
    ring_.chase.setArg(ring_.age_argument + 2, hops_of(1));
    return;
  }
  const auto wanted = std::clamp<std::size_t>(
      ring_.sweep.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(session_.device()), 1,
      sweep_items(session_.info()));
  ring_.sweep.setArg(ring_.sweep_argument, static_cast<cl_uint>(begin));
  ring_.sweep.setArg(ring_.sweep_argument + 1, static_cast<cl_uint>(end));
  ring_.sweep.setArg(ring_.sweep_argument + 2, hops_of(wanted));
  session_.launch(ring_.sweep, cl::NDRange(wanted), cl::NDRange(wanted));
}

/// Makes the next `hops` nodes those that were touched longest ago, as in a chase that goes on for
/// ever. For rings much longer than a chase one ageing serves several, at 3 % of the reuse
/// distance.
void Chase::age(std::uint64_t hops) {
  const std::uint64_t nodes = ring_.shape.nodes();
  ring_.chase.setArg(ring_.age_argument + 2, cl_uint{0});
  if (nodes <= hops || !has_store(ring_.series->space)) {
    position_ = 0;
    return;
  }
  if (position_ + hops <= aged_until_) return;
  const std::uint64_t visit = 3 * hops;
  if (std::exchange(is_fresh_, false) && is_aged_by_layout(session_.info(), ring_.shape, visit)) {
    aged_until_ = visit;
  } else {
    aged_until_ = std::max(hops, nodes / long_ring);
    walk(aged_until_, nodes);
  }
  position_ = 0;
}

Measurement Chase::run(std::uint64_t iterations) {
  const std::uint64_t whole = (ring_.warm + iterations) * ring_.shape.unroll;
  // One hop more where the chase would else end where it began: then a kernel that does nothing
  // would have the right witness.
  const std::uint64_t lead = whole % ring_.shape.nodes() == 0 ? 1 : 0;
  const std::uint64_t hops = lead + whole;
  age(hops);
  ring_.chase.setArg(ring_.start_argument, static_cast<cl_uint>(position_));
  ring_.chase.setArg(ring_.start_argument + 1, static_cast<cl_uint>(lead));
  ring_.chase.setArg(ring_.start_argument + 3, static_cast<cl_uint>(iterations));
  // A launch that stores nothing must not find the result of the one before.
  const std::array<cl_ulong, 2> nothing{never, never};
  session_.queue().enqueueWriteBuffer(ring_.out, CL_TRUE, 0, sizeof nothing, nothing.data());
  const LaunchTimes times = session_.launch(ring_.chase, cl::NDRange(1), cl::NDRange(1));
  std::array<cl_ulong, 2> out{};
  session_.queue().enqueueReadBuffer(ring_.out, CL_TRUE, 0, sizeof out, out.data());
  position_ += hops;
  Measurement measurement;
  measurement.sample.accesses = iterations * ring_.shape.unroll;
  if (session_.info().clock.kind != ClockKind::none) measurement.sample.ticks = out[0];
  measurement.sample.event_ns = times.event_ns;
  measurement.sample.host_ns = times.host_ns;
  measurement.sample.witness = out[1];
  measurement.expected_witness =
      ring_.shape.offset_of(order_(static_cast<std::uint32_t>(position_ % ring_.shape.nodes())));
  return measurement;
}

}  // namespace

std::vector<KernelVariant> builds(const DeviceInfo& /*device*/, std::uint64_t seed,
                                  const Point& point) {
  const SeriesSpec& series = series_named(point.series);
  const auto shape = shape_of<RingShape>(point);
  std::vector<KernelVariant> all;
  if (has_store(series.space)) all.push_back({layout_options(shape), ""});
  std::string table;
  if (series.space == Space::constant_program) {
    table = table_text(shape, permutation_key(seed));
  }
  all.push_back({build_options(series, shape), std::move(table)});
  return all;
}

Preparer open(Session& session) {
  return [shared = std::make_shared<Shared>(session)](const Point& point) {
    auto chase = std::make_shared<Chase>(make_ring(shared, point));
    const Ring& ring = chase->ring();
    Work work;
    work.accesses_per_iteration = ring.shape.unroll;
    work.iterations = ring.usual_hops / ring.shape.unroll;
    work.max_iterations = max_timed(shared->session.info(), *ring.series, ring.shape);
    if (is_cut_from_store(*ring.series) && shared->store->host) {
      work.facts.set("huge_page_percent", std::int64_t{shared->huge_page_percent});
    }
    work.build = shared->session.build_of("latency.cl", build_options(*ring.series, ring.shape));
    work.run = [chase](std::uint64_t iterations) { return chase->run(iterations); };
    return work;
  };
}

}  // namespace clprobe::latency
