// SPDX-License-Identifier: Apache-2.0
// Launches of cl/bandwidth.cl. Uses OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "measure/api/device.hpp"
#include "probes/bandwidth/bandwidth.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/opencl.hpp"

namespace clprobe::bandwidth {

namespace {

constexpr std::uint64_t word_bytes = sizeof(cl_uint);

/// Percentage of a store that is on huge pages. A query takes as long as a sample. The query is
/// repeated only for points that use more of the store than all earlier points.
struct HugePages {
  std::uint64_t known_bytes{0};
  int percent{0};

  int of(const HostMemory& memory, std::uint64_t touched_bytes) {
    if (touched_bytes > known_bytes) {
      percent = memory.huge_page_percent();
      known_bytes = touched_bytes;
    }
    return percent;
  }
};

/// Fields of a point's shape that determine its launches.
using Visited = std::tuple<Operation, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

Visited visited(const Shape& shape) {
  return {shape.operation, shape.lanes, shape.walks, shape.regions, shape.blocks};
}

/// State that all points share while the probe runs.
struct State {
  explicit State(Session& used) : session(used) {}

  Session& session;
  Store source{};  ///< always contains the words that `fill` writes
  Store target{};
  HugePages source_pages{};
  HugePages target_pages{};
  KeptBuffer places{};
  KeptBuffer results{};
  /// Results of a launch. The memory is reused, since new memory would cause page faults.
  std::vector<cl_uint> found{};
  std::uint32_t launches{0};
  /// Number of iterations of each point that was visited. To find this number takes as long as the
  /// point's samples.
  std::map<Visited, std::uint64_t> iterations{};

  void fill(const Store& store, std::uint64_t bytes, const KernelSpec& spec) {
    cl::Kernel kernel = spec.kernel(session, "bandwidth_fill");
    const std::uint64_t words = bytes / word_bytes;
    set_arguments(kernel, 0, store.buffer, cl_ulong{words});
    launch_over(session, kernel, spread_over(session.info(), words));
  }

  /// Replaces and fills `source` or `target` if it is too small for a point.
  void need(Store& store, const Shape& shape, const KernelSpec& spec) {
    const Bytes size{std::max(shape.buffer_bytes, shape.touched_bytes())};
    if (store.size >= size) return;
    const bool is_source = &store == &source;
    (is_source ? source_pages : target_pages) = {};
    store = Store{};  // frees the old store before the allocation
    store = make_store(session, size);
    // The source needs its words; filling a GPU's target makes the system allocate all its pages.
    if (is_source || !runs_items_in_turn(session.info())) fill(store, size.count, spec);
  }
};

cl::Image1DBuffer image_of(const Session& session, const cl::Buffer& buffer, std::uint64_t bytes) {
  try {
    return {session.context(), CL_MEM_READ_ONLY, cl::ImageFormat(CL_RGBA, CL_UNSIGNED_INT32),
            bytes / texel_bytes, buffer};
  } catch (const cl::Error& error) {
    throw Unsupported(
        fmt::format("the driver cannot create an image from the buffer: {}", describe(error)));
  }
}

class Walks {
 public:
  Walks(std::shared_ptr<State> state, const Point& point);

  Measurement run(std::uint64_t iterations);
  /// Launches the kernel without checking its results.
  LaunchTimes launch(std::uint64_t iterations);
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] KernelBuild build() const { return spec_.build(state_->session); }
  [[nodiscard]] const Store& store() const {
    return writes(shape_.operation) ? state_->target : state_->source;
  }
  /// Returns the percentage of the store on huge pages. Returns nothing if the driver allocated
  /// the store.
  [[nodiscard]] std::optional<int> huge_page_percent() const;

 private:
  void bind();
  std::span<const cl_uint> read_results(const cl::Buffer& results, std::uint64_t count);
  void prove_sums(std::uint64_t count, Measurement& measurement);
  void prove_contents(std::uint64_t iterations, Measurement& measurement);

  std::shared_ptr<State> state_;
  Shape shape_;
  KernelSpec spec_;
  std::vector<Place> places_;
  cl::Kernel kernel_{};
  cl::Image1DBuffer image_{};
  cl_uint count_argument_{0};
};

Walks::Walks(std::shared_ptr<State> state, const Point& point)
    : state_(std::move(state)),
      shape_(shape_of<Shape>(point)),
      spec_{"bandwidth.cl", build_options(shape_)},
      places_(places_of(shape_)) {
  const bool reads = !writes(shape_.operation);
  if (reads || shape_.operation == Operation::copy) {
    state_->need(state_->source, shape_, spec_);
  }
  if (!reads) state_->need(state_->target, shape_, spec_);
  bind();
}

std::optional<int> Walks::huge_page_percent() const {
  if (store().host == nullptr) return std::nullopt;
  const bool is_written = writes(shape_.operation);
  HugePages& pages = is_written ? state_->target_pages : state_->source_pages;
  // The source was written as a whole; the target was written only up to the end of the walks.
  return pages.of(*store().host, is_written ? shape_.touched_bytes() : store().size.count);
}

void Walks::bind() {
  Session& session = state_->session;
  const std::uint64_t bytes = places_.size() * sizeof(Place);
  const cl::Buffer& places = state_->places.at_least(session, bytes);
  session.queue().enqueueWriteBuffer(places, CL_TRUE, 0, bytes, places_.data());
  const std::string name = fmt::format("bandwidth_{}", word_in(operation_words, shape_.operation));
  kernel_ = spec_.kernel(session, name.c_str());
  cl_uint index = 0;
  if (shape_.operation == Operation::image) {
    image_ = image_of(session, store().buffer, shape_.touched_bytes());
    kernel_.setArg(index++, image_);
  } else {
    kernel_.setArg(index++, store().buffer);
  }
  if (shape_.operation == Operation::copy) {
    kernel_.setArg(0, state_->source.buffer);
    kernel_.setArg(index++, state_->target.buffer);
  }
  count_argument_ = set_arguments(kernel_, index, places, static_cast<cl_uint>(shape_.blocks));
  index = count_argument_ + 2;  // skips `turns` and `launch`, which launch() sets
  if (writes(shape_.operation)) return;
  kernel_.setArg(index++, state_->results.at_least(session, shape_.items() * word_bytes));
  if (shape_.operation == Operation::local) {
    kernel_.setArg(index, cl::Local(shape_.touched_bytes()));
  }
}

LaunchTimes Walks::launch(std::uint64_t iterations) {
  set_arguments(kernel_, count_argument_, static_cast<cl_uint>(iterations * shape_.step()),
                cl_uint{++state_->launches});
  return launch_over(state_->session, kernel_, {shape_.items(), shape_.group});
}

Measurement Walks::run(std::uint64_t iterations) {
  if (shape_.operation == Operation::update) {
    state_->fill(state_->target, shape_.touched_bytes(), spec_);
  }
  Measurement measurement =
      measurement_of(launch(iterations), iterations * shape_.bytes_per_iteration());
  if (writes(shape_.operation)) {
    prove_contents(iterations, measurement);
  } else {
    prove_sums(iterations * shape_.step(), measurement);
  }
  return measurement;
}

std::span<const cl_uint> Walks::read_results(const cl::Buffer& results, std::uint64_t count) {
  std::vector<cl_uint>& found = state_->found;
  if (found.size() < count) found.resize(count);
  state_->session.queue().enqueueReadBuffer(results, CL_TRUE, 0, count * word_bytes, found.data());
  return {found.data(), count};
}

void Walks::prove_sums(std::uint64_t count, Measurement& measurement) {
  const cl::Buffer& results =
      state_->results.at_least(state_->session, shape_.items() * word_bytes);
  const std::span<const cl_uint> sums = read_results(results, shape_.items());
  const auto items = static_cast<std::uint32_t>(shape_.items());
  measurement.sample.witness =
      std::accumulate(sums.begin(), sums.end(), std::uint32_t{0}) - items * state_->launches;
  measurement.expected_witness = expected_sum(shape_, places_, count);
}

/// Checks the written words. The checksum is the number of correct words.
void Walks::prove_contents(std::uint64_t iterations, Measurement& measurement) {
  Session& session = state_->session;
  cl::Kernel check = spec_.kernel(session, "bandwidth_check");
  const std::uint64_t words = shape_.touched_bytes() / word_bytes;
  const LaunchSize size = spread_over(session.info(), words);
  const bool is_update = shape_.operation == Operation::update;
  const auto times = is_update ? static_cast<std::uint32_t>(iterations) : 1U;
  const cl::Buffer& right = state_->results.at_least(session, size.items * word_bytes);
  set_arguments(check, 0, state_->target.buffer, cl_ulong{words},
                cl_uint{shape_.operation == Operation::write ? 0U : 1U},
                cl_uint{times * state_->launches}, right);
  launch_over(session, check, size);
  const std::span<const cl_uint> counts = read_results(right, size.items);
  measurement.sample.witness = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  measurement.expected_witness = words;
}

/// Finds, by launches, a number of iterations that makes the start-up a small part of a launch. In
/// longer launches, units that read the same working set run in step and share cache lines. In a
/// launch of 2 ms, an H100 read 127 MiB at 6 TB/s instead of 3.9 TB/s.
std::uint64_t enough_iterations(Walks& walks, const DeviceInfo& device) {
  constexpr double enough_gpu_ns = 0.6e6;
  constexpr double enough_cpu_ns = 3e6;
  const double enough = runs_items_in_turn(device) ? enough_cpu_ns : enough_gpu_ns;
  return iterations_for(enough, max_iterations_of(device, walks.shape()),
                        [&](std::uint64_t iterations) {
                          const LaunchTimes times = walks.launch(iterations);
                          return static_cast<double>(times.event_ns.value_or(times.host_ns));
                        });
}

Work prepare(const std::shared_ptr<State>& state, const Point& point) {
  const DeviceInfo& device = state->session.info();
  auto walks = std::make_shared<Walks>(state, point);
  Work work;
  work.accesses_per_iteration = walks->shape().bytes_per_iteration();
  work.max_iterations = max_iterations_of(device, walks->shape());
  std::uint64_t& enough = state->iterations[visited(walks->shape())];
  if (enough == 0) {
    enough = enough_iterations(*walks, device);
  } else {
    walks->launch(1);  // not timed: some drivers compile at this launch, and the first launch of a
                       // size may be slow
  }
  work.iterations = enough;
  if (const std::optional<int> percent = walks->huge_page_percent()) {
    work.facts.set("huge_page_percent", std::int64_t{*percent});
  }
  work.build = walks->build();
  work.run = [walks](std::uint64_t iterations) { return walks->run(iterations); };
  return work;
}

}  // namespace

Preparer open(Session& session) {
  return [state = std::make_shared<State>(session)](const Point& point) {
    return prepare(state, point);
  };
}

}  // namespace clprobe::bandwidth
