// SPDX-License-Identifier: Apache-2.0
// Launches of cl/atomics.cl. Uses OpenCL.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "measure/api/device.hpp"
#include "probes/atomics/atomics.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/opencl.hpp"

namespace clprobe::atomics {
namespace {

constexpr std::uint64_t node_words = line_bytes / sizeof(cl_uint);

/// State that all points share.
struct State {
  explicit State(Session& used) : session(used) {}

  Session& session;
  KeptBuffer blocks{};
  KeptBuffer counters{};
  KeptBuffer out{};
  /// Iterations of rates by build options, addresses and spacing.
  std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, std::uint64_t> iterations{};
};

/// Returns a kernel of a series. A driver may list an extension that its compiler lacks.
cl::Kernel kernel_for(Session& session, const SeriesSpec& series, const KernelSpec& spec,
                      const char* name) {
  try {
    return spec.kernel(session, name);
  } catch (const Unsupported&) {
    throw;
  } catch (const DeviceError& error) {
    if (series.word_bytes == sizeof(cl_ulong)) throw Unsupported(error.what());
    throw;
  }
}

/// A chain of additions by one work-item.
class Chain {
 public:
  Chain(std::shared_ptr<State> state, const SeriesSpec& series, const Shape& shape)
      : state_(std::move(state)),
        is_local_(series.is_local),
        first_(shape.offset_bytes / sizeof(cl_uint)),
        spec_{"atomics.cl", build_options(series, shape)},
        kernel_(spec_.kernel(state_->session, "atomics_chain")) {
    if (!is_local_) lay_out(shape);
  }

  Measurement run(std::uint64_t iterations);
  [[nodiscard]] Work work() const;

 private:
  void lay_out(const Shape& shape);

  std::shared_ptr<State> state_;
  bool is_local_;
  std::uint64_t first_;  ///< index of the ring's first word
  KernelSpec spec_;
  cl::Kernel kernel_;
};

/// Writes the ring: each word has the index of the next word.
void Chain::lay_out(const Shape& shape) {
  std::vector<cl_uint> words(block_bytes / sizeof(cl_uint), 0);
  for (std::uint64_t node = 0; node < chain_nodes; ++node) {
    words[node * node_words] = static_cast<cl_uint>(first_ + (node + 1) % chain_nodes * node_words);
  }
  const cl::Buffer& buffer = state_->blocks.at_least(state_->session, shape.buffer_bytes);
  state_->session.queue().enqueueWriteBuffer(buffer, CL_TRUE, shape.offset_bytes, block_bytes,
                                             words.data());
  kernel_.setArg(0, buffer);
}

Measurement Chain::run(std::uint64_t iterations) {
  const cl::Buffer& out = state_->out.at_least(state_->session, 2 * sizeof(cl_ulong));
  set_arguments(kernel_, is_local_ ? 0 : 1, static_cast<cl_uint>(first_), cl_uint{0},
                static_cast<cl_uint>(warm_hops(iterations)), static_cast<cl_uint>(iterations),
                never, out);
  Measurement measurement =
      timed_launch(state_->session, kernel_, {1, 1}, out, iterations * hops_per_iteration);
  measurement.expected_witness = first_ + end_of_chain(iterations) * (is_local_ ? 1 : node_words);
  return measurement;
}

Work Chain::work() const {
  // About 150 us, unless the engine needs longer launches.
  constexpr std::uint64_t usual = 16;
  constexpr std::uint64_t of_cpu = 512;
  Work work;
  work.accesses_per_iteration = hops_per_iteration;
  work.iterations = runs_items_in_turn(state_->session.info()) ? of_cpu : usual;
  work.max_iterations = max_iterations - 2 * chain_nodes;
  work.build = spec_.build(state_->session);
  return work;
}

/// Operations of many work-items on words of global memory, or of a work-group on words of local
/// memory.
class Rate {
 public:
  Rate(std::shared_ptr<State> state, const SeriesSpec& series, const Shape& shape);

  Measurement run(std::uint64_t iterations);
  [[nodiscard]] Work work();

 private:
  std::uint64_t collect(std::uint64_t last);
  std::uint64_t iterations();
  [[nodiscard]] cl_uint spacing() const {
    return static_cast<cl_uint>(shape_.spacing_bytes / series_.word_bytes);
  }

  std::shared_ptr<State> state_;
  const SeriesSpec& series_;
  Shape shape_;
  LaunchSize size_;
  KernelSpec spec_;
  cl::Kernel kernel_;
  cl::Kernel collect_{};
};

Rate::Rate(std::shared_ptr<State> state, const SeriesSpec& series, const Shape& shape)
    : state_(std::move(state)),
      series_(series),
      shape_(shape),
      size_(launch_size(state_->session.info(), shape_)),
      spec_{"atomics.cl", build_options(series_, shape_)},
      kernel_(kernel_for(state_->session, series_, spec_, "atomics_rate")) {
  check_group(state_->session, kernel_, size_.group);
  if (series_.is_local) return;
  collect_ = kernel_for(state_->session, series_, spec_, "atomics_collect");
  const cl::Buffer& counters =
      state_->counters.at_least(state_->session, shape_.addresses * shape_.spacing_bytes);
  kernel_.setArg(0, counters);
  collect_.setArg(0, counters);
  collect(0);
}

/// Returns the number of words with the value `last`, and sets all words to 0.
std::uint64_t Rate::collect(std::uint64_t last) {
  LaunchSize size = spread_over(state_->session.info(), shape_.addresses);
  const std::uint64_t groups = size.items / size.group;
  const cl::Buffer& out = state_->out.at_least(state_->session, (1 + groups) * sizeof(cl_ulong));
  cl_uint next = set_arguments(collect_, 1, static_cast<cl_uint>(shape_.addresses), spacing());
  next = series_.word_bytes == sizeof(cl_ulong)
             ? set_arguments(collect_, next, cl_ulong{last})
             : set_arguments(collect_, next, static_cast<cl_uint>(last));
  collect_.setArg(next, out);
  launch_over(state_->session, collect_, size);
  const auto found = read_values<cl_ulong>(state_->session, out, groups);
  return std::accumulate(found.begin(), found.end(), std::uint64_t{0});
}

Measurement Rate::run(std::uint64_t iterations) {
  const std::uint64_t groups = size_.items / size_.group;
  const std::uint64_t last = last_value(series_, shape_, iterations);
  const cl::Buffer& out = state_->out.at_least(state_->session, (1 + groups) * sizeof(cl_ulong));
  cl_uint next = set_arguments(kernel_, series_.is_local ? 0 : 1,
                               static_cast<cl_uint>(shape_.addresses - 1), spacing());
  next = series_.word_bytes == sizeof(cl_ulong) ? set_arguments(kernel_, next, cl_ulong{1})
                                                : set_arguments(kernel_, next, cl_uint{1});
  set_arguments(kernel_, next, static_cast<cl_uint>(last), static_cast<cl_uint>(iterations), never,
                out);
  Measurement measurement =
      timed_launch(state_->session, kernel_, size_, out,
                   iterations * steps_per_iteration * shape_.work_items, groups);
  if (!series_.is_local) {
    // The sums of the work-groups are modulo 2^32, and so is their sum.
    const auto results = static_cast<cl_uint>(measurement.sample.witness);
    measurement.sample.witness = (collect(last) << 32U) + results;
  }
  measurement.expected_witness = expected_witness(series_, shape_, iterations);
  return measurement;
}

/// Returns the number of iterations of a launch, from trial launches before the first visit.
std::uint64_t Rate::iterations() {
  constexpr double unit_ns = 150e3;
  constexpr double device_ns = 1e6;
  // A CPU's core may be interrupted, and starts a launch at a lower clock.
  constexpr double cpu_unit_ns = 5e5;
  constexpr double cpu_device_ns = 2e6;
  const bool is_cpu = runs_items_in_turn(state_->session.info());
  const bool is_unit = shape_.scope == Scope::unit;
  std::uint64_t& known =
      state_->iterations[{spec_.options, shape_.addresses, shape_.spacing_bytes}];
  if (known == 0) {
    // This launch is not timed: some drivers compile at the first launch.
    static_cast<void>(run(1));
    const double wanted_ns =
        is_unit ? (is_cpu ? cpu_unit_ns : unit_ns) : (is_cpu ? cpu_device_ns : device_ns);
    known = iterations_for(wanted_ns, max_iterations, [&](std::uint64_t tried) {
      const Sample sample = run(tried).sample;
      return static_cast<double>(sample.event_ns.value_or(sample.host_ns));
    });
    // Without an in-kernel clock, partners of samples have an eighth of the iterations.
    constexpr std::uint64_t min = 8;
    if (is_unit) known = std::max(known, min);
  }
  return known;
}

Work Rate::work() {
  Work work;
  work.accesses_per_iteration = steps_per_iteration * shape_.work_items;
  work.iterations = iterations();
  work.max_iterations = max_iterations;
  work.build = spec_.build(state_->session);
  return work;
}

Work prepare(const std::shared_ptr<State>& state, const Point& point) {
  const SeriesSpec& series = series_named(point.series);
  const auto shape = shape_of<Shape>(point);
  const auto prepared = [](const auto& timed) {
    Work work = timed->work();
    work.run = [timed](std::uint64_t iterations) { return timed->run(iterations); };
    return work;
  };
  if (series.scope == Scope::chain) return prepared(std::make_shared<Chain>(state, series, shape));
  return prepared(std::make_shared<Rate>(state, series, shape));
}

}  // namespace

std::vector<KernelVariant> builds(const DeviceInfo& /*device*/, std::uint64_t /*seed*/,
                                  const Point& point) {
  return {{build_options(series_named(point.series), shape_of<Shape>(point)), ""}};
}

Preparer open(Session& session) {
  return [state = std::make_shared<State>(session)](const Point& point) {
    return prepare(state, point);
  };
}

}  // namespace clprobe::atomics
