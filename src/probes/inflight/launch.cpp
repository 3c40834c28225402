// SPDX-License-Identifier: Apache-2.0
// Launches cl/inflight.cl. Uses OpenCL.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "probes/inflight/inflight.hpp"
#include "probes/inflight/loaded.hpp"
#include "probes/inflight/shape.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/opencl.hpp"

namespace clprobe::inflight {
namespace {

constexpr std::string_view file = "inflight.cl";

/// Filled buffer, and the position at which the next launch starts.
struct Lines {
  Store store{};
  std::uint64_t position{0};
};

/// State that all points share. Each launch continues at the position where the previous launch in
/// its buffer ended.
struct Shared {
  Session& session;
  std::map<std::string, Lines> lines{};  ///< key: target
  std::optional<Lines> stream{};
  KeptBuffer out{};
  KeptBuffer starts{};
  KeptBuffer progress{};

  explicit Shared(Session& of) : session(of) {}
};

cl_uint as_uint(std::uint64_t value) { return static_cast<cl_uint>(value); }

/// Launches a kernel over `elements` elements. The first arguments of the kernel are the buffer,
/// the mask of line numbers and the words per line.
void run_over(std::uint64_t elements, Session& session, cl::Kernel kernel, const Lines& lines,
              const Shape& shape) {
  set_arguments(kernel, 0, lines.store.buffer, as_uint(shape.lines() - 1),
                as_uint(shape.line_bytes / sizeof(cl_uint)));
  launch_over(session, kernel, spread_over(session.info(), elements));
}

/// Returns the filled buffer for the shape's target. Replaces a buffer of another size.
Lines& lines_for(Shared& shared, const Shape& shape) {
  const std::string& target = shape.pattern.target;
  const auto found = shared.lines.find(target);
  if (found != shared.lines.end()) {
    if (found->second.store.size.count == shape.buffer_bytes) return found->second;
    shared.lines.erase(found);  // freed before the allocation: both buffers together may exceed
                                // the allowed memory
  }
  const cl_mem_flags flags = target == "host" ? CL_MEM_ALLOC_HOST_PTR : 0;
  Lines lines{make_store(shared.session, {shape.buffer_bytes}, flags)};
  run_over(shape.words(), shared.session,
           shared.session.kernel(file, "inflight_fill", shape.options()), lines, shape);
  return shared.lines.emplace(target, std::move(lines)).first->second;
}

// A chase repeats `lead` untimed hops until the streams run, at most `max_leads` times. A CPU's
// threads must wake up first: 1024 times 64 hops take 10 ms at 150 ns per hop.
constexpr std::uint64_t lead = 64;
constexpr std::uint64_t max_leads = 16;
constexpr std::uint64_t max_leads_of_cpu = 1024;
// Hops of a timed chase. The chase takes long compared with a round of the slowest streams.
constexpr std::uint64_t usual_loaded_hops = 512;
constexpr std::uint64_t usual_loaded_hops_of_cpu = 4096;
// Time limit of a stream in ns. The limit is needed if work-groups run one after another with the
// streams first.
constexpr double max_stream_ns = 20e6;
// The kernel uses progress[0] and progress[64], which lie in different cache lines.
constexpr std::size_t progress_words = 65;
// Maximum number of launches until one has overlapping streams and chase. On CPUs other processes
// may use the threads of the streams, so that more launches are needed.
constexpr int max_attempts = 4;
constexpr int max_attempts_of_cpu = 10;
// Minimum share of the streams' rounds in each half of the chase. A smaller share shows that the
// streams did not run throughout the chase.
constexpr double min_half = 0.2;

struct LaunchResult {
  std::uint64_t chase_ticks{0};
  std::uint64_t all_ticks{0};
  std::uint64_t first_half{0};   ///< rounds of the streams in the first half of the chase
  std::uint64_t second_half{0};  ///< rounds of the streams in the second half
  std::uint64_t leads{0};
  std::uint64_t end{0};
  std::uint64_t wrong_groups{0};  ///< streaming work-groups with a wrong checksum
  LaunchTimes times{};

  [[nodiscard]] std::uint64_t rounds() const { return first_half + second_half; }
  [[nodiscard]] bool is_side_by_side() const {
    const double min = min_half * static_cast<double>(rounds());
    return rounds() > 0 && static_cast<double>(std::min(first_half, second_half)) >= min;
  }
};

/// Prepared chase with streams at the same time.
class Loaded {
 public:
  Loaded(std::shared_ptr<Shared> shared, const Point& point)
      : shared_(std::move(shared)),
        session_(shared_->session),
        shape_(LoadedShape::of(point)),
        lines_(lines_for(*shared_, shape_.chase)),
        streamed_(stream()),
        progress_(shared_->progress.at_least(session_, progress_words * sizeof(cl_uint))),
        out_(shared_->out.at_least(session_,
                                   (words_of_chase + 2 * shape_.groups) * sizeof(cl_ulong))),
        kernel_(session_.kernel(file, "inflight_loaded", shape_.chase.options())) {
    check_group(session_, kernel_, shape_.items);
  }

  Measurement run(std::uint64_t hops);
  [[nodiscard]] const LoadedShape& shape() const { return shape_; }

 private:
  Lines& stream();
  LaunchTimes start(std::uint64_t hops);
  LaunchResult launch(std::uint64_t hops);

  std::shared_ptr<Shared> shared_;
  Session& session_;
  LoadedShape shape_;
  Lines& lines_;
  Lines& streamed_;
  cl::Buffer progress_;
  cl::Buffer out_;
  cl::Kernel kernel_;
  std::uint64_t expected_end_{0};
};

/// Returns the buffer of the streams. The chase has another buffer, since streams would bring the
/// lines of the chase into a cache.
Lines& Loaded::stream() {
  const Bytes size{shape_.chase.buffer_bytes};
  std::optional<Lines>& stream = shared_->stream;
  if (stream && stream->store.size == size) return *stream;
  stream.reset();  // freed before the allocation: both buffers together may exceed the allowed
                   // memory
  Lines lines{make_store(session_, size)};
  const std::uint64_t words = size.count / sizeof(cl_uint);
  cl::Kernel fill = session_.kernel(file, "inflight_fill_stream", shape_.chase.options());
  set_arguments(fill, 0, lines.store.buffer, as_uint(words - 1));
  launch_over(session_, fill, spread_over(session_.info(), words));
  return stream.emplace(std::move(lines));
}

/// Resets the results of the previous launch, then launches.
LaunchTimes Loaded::start(std::uint64_t hops) {
  const std::vector<cl_uint> zero(progress_words, 0);
  session_.queue().enqueueWriteBuffer(progress_, CL_TRUE, 0, zero.size() * sizeof(cl_uint),
                                      zero.data());
  const std::vector<cl_ulong> nothing(words_of_chase + 2 * shape_.groups, never);
  session_.queue().enqueueWriteBuffer(out_, CL_TRUE, 0, nothing.size() * sizeof(cl_ulong),
                                      nothing.data());
  const std::uint64_t usual_leads =
      runs_items_in_turn(session_.info()) ? max_leads_of_cpu : max_leads;
  const std::uint64_t leads = shape_.groups == 0 ? 2 : usual_leads;
  const double max_ticks = max_stream_ns * session_.info().clock.ticks_per_ns;
  set_arguments(kernel_, 0, lines_.store.buffer,
                shape_.chase.cycle().at(lines_.position % shape_.chase.lines()), as_uint(lead),
                as_uint(leads), as_uint(hops), streamed_.store.buffer,
                as_uint(shape_.vectors() - 1), as_uint(streamed_.position & (shape_.vectors() - 1)),
                as_uint(shape_.turns), as_uint(max_iterations), as_uint(shape_.delay),
                static_cast<cl_ulong>(max_ticks), never, progress_, out_);
  return launch_over(session_, kernel_, {(shape_.groups + 1) * shape_.items, shape_.items});
}

LaunchResult Loaded::launch(std::uint64_t hops) {
  LaunchResult result;
  result.times = start(hops);
  const auto out = read_values<cl_ulong>(session_, out_, words_of_chase + 2 * shape_.groups);
  result.chase_ticks = out[0];
  result.all_ticks = out[1];
  result.first_half = out[2];
  result.second_half = out[3];
  result.leads = out[4];
  result.end = out[5];
  lines_.position += result.leads * lead + hops;
  expected_end_ = shape_.chase.cycle().at(lines_.position % shape_.chase.lines());
  std::uint64_t max_rounds = 0;
  for (std::uint64_t group = 0; group < shape_.groups; ++group) {
    const std::uint64_t rounds = out[words_of_chase + 2 * group];
    const std::uint64_t words = out[words_of_chase + 2 * group + 1];
    if (as_uint(rounds * shape_.words_per_round()) != words) ++result.wrong_groups;
    max_rounds = std::max(max_rounds, rounds);
  }
  // The next launch continues after the last vector of this launch. No cache then holds the data
  // of the next launch.
  streamed_.position += max_rounds * shape_.groups * shape_.vectors_per_round();
  return result;
}

Measurement Loaded::run(std::uint64_t hops) {
  LaunchResult result = launch(hops);
  const bool has_threads = runs_items_in_turn(session_.info()) && session_.info().compute_units > 1;
  const int attempts = has_threads ? max_attempts_of_cpu : max_attempts;
  for (int attempt = 1; shape_.groups > 0 && !result.is_side_by_side(); ++attempt) {
    if (attempt == attempts) {
      throw Unsupported(
          "the streaming work-groups did not run at the same time as the chasing work-group");
    }
    result = launch(hops);
  }
  const std::uint64_t lines = result.rounds() * shape_.bytes_per_round() / shape_.chase.line_bytes;
  Measurement measurement = measurement_of(result.times, shape_.counts_traffic ? lines : hops);
  measurement.sample.ticks = shape_.counts_traffic ? result.all_ticks : result.chase_ticks;
  measurement.sample.witness = result.end + result.wrong_groups;
  measurement.expected_witness = expected_end_;
  return measurement;
}

Work prepare_loaded(const std::shared_ptr<Shared>& shared, const Point& point) {
  auto prepared = std::make_shared<Loaded>(shared, point);
  Session& session = shared->session;
  Work work;
  work.iterations =
      runs_items_in_turn(session.info()) ? usual_loaded_hops_of_cpu : usual_loaded_hops;
  work.max_iterations = work.iterations;
  work.build = session.build_of(file, prepared->shape().chase.options());
  work.run = [prepared](std::uint64_t hops) { return prepared->run(hops); };
  // This launch is not timed: some drivers compile at the first launch, and the first launch
  // misses the TLB.
  static_cast<void>(work.run(work.iterations));
  return work;
}

/// Returns the work-group size for which the kernel of a large group is built. The size is a power
/// of two, since each size needs a build. Returns 0 if the usual build suffices.
std::uint64_t large_group_for(const DeviceInfo& device, const Shape& shape) {
  const bool is_large = shape.work_items > usual_group && !runs_items_in_turn(device);
  return is_large ? std::bit_ceil(shape.work_items) : 0;
}

std::string usual_options(const DeviceInfo& device, const Shape& shape) {
  const bool is_in_loop = runs_items_in_turn(device) && shape.work_items > 1;
  return shape.options() + std::string(is_in_loop ? clock_without_asm : "");
}

class InFlight {
 public:
  InFlight(std::shared_ptr<Shared> shared, const Point& point)
      : shared_(std::move(shared)),
        session_(shared_->session),
        shape_(Shape::of(point)),
        lines_(lines_for(*shared_, shape_)),
        out_(shared_->out.at_least(session_,
                                   (first_own() + 2 * shape_.sub_groups()) * sizeof(cl_ulong))) {
    if (shape_.pattern.target == "cache") touch();
    build();
  }

  Measurement run(std::uint64_t iterations);
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] bool is_block() const { return shape_.is_block(); }
  [[nodiscard]] const std::string& options() const { return options_; }

 private:
  /// Index of the own times of the sub-groups in the results: two words per sub-group. The ticks
  /// and a checksum per work-item come first.
  [[nodiscard]] std::uint64_t first_own() const { return 1 + shape_.work_items; }
  void touch();
  void set_own_time(std::uint64_t rounds, Measurement& measurement) const;
  void build();
  void build_with(const std::string& options, std::uint64_t group);
  std::uint64_t set_block(std::uint64_t rounds);
  std::uint64_t set_chains(std::uint64_t hops);

  std::shared_ptr<Shared> shared_;
  Session& session_;
  Shape shape_;
  Lines& lines_;
  cl::Buffer out_;
  std::string options_{};
  std::uint64_t group_{1};  ///< number of launched work-items
  cl::Kernel kernel_{};
};

void InFlight::build_with(const std::string& options, std::uint64_t group) {
  options_ = options;
  group_ = group;
  kernel_ = session_.kernel(file, is_block() ? "inflight_block" : "inflight_chains", options_);
}

/// Builds the kernel and launches it once, untimed: some drivers compile at the first launch,
/// which also misses the TLB. A large work-group is launched even if the driver reports a smaller
/// maximum: NVIDIA's driver reports 256 for kernels that it runs with 1024 work-items.
void InFlight::build() {
  if (const std::uint64_t group = large_group_for(session_.info(), shape_); group != 0) {
    try {
      build_with(shape_.options() + large_group(group), group);
      static_cast<void>(run(1));
      return;
    } catch (const cl::Error&) {
      // If the driver refuses the large work-group, the usual kernel is built. The maximum
      // work-group size of the usual kernel may still suffice.
    }
  }
  build_with(usual_options(session_.info(), shape_), shape_.work_items);
  check_group(session_, kernel_, shape_.work_items);
  static_cast<void>(run(1));
}

/// Loads the buffer into the caches again, since launches of other points have used the caches.
void InFlight::touch() {
  cl::Kernel kernel = session_.kernel(file, "inflight_touch", shape_.options());
  kernel.setArg(3, out_);
  run_over(shape_.lines(), session_, kernel, lines_, shape_);
}

/// Sets the arguments of the block kernel and returns the expected checksum. Each launch continues
/// in the buffer after the previous launch, so that no two consecutive launches load the same
/// lines.
std::uint64_t InFlight::set_block(std::uint64_t rounds) {
  const std::uint64_t first = lines_.position & (shape_.lines() - 1);
  lines_.position += (rounds + 1) * shape_.lines_per_round();
  set_arguments(kernel_, 0, lines_.store.buffer, as_uint(shape_.lines() - 1),
                as_uint(shape_.line_bytes / sizeof(cl_uint)), as_uint(first),
                as_uint(shape_.lines_per_load()), as_uint(rounds),
                static_cast<cl_uint>(shape_.pattern.merger),
                cl_uint{shape_.pattern.mode == MergerMode::across ? 1U : 0U},
                as_uint(shape_.sub_group), never, as_uint(shape_.work_items), out_);
  return shape_.block_checksum(first, rounds);
}

/// Sets the arguments of the chains and returns the expected checksum. The chains start after the
/// chains of the previous launch, whose lines may still be in a cache.
std::uint64_t InFlight::set_chains(std::uint64_t hops) {
  const std::uint64_t begin = lines_.position;
  const std::uint64_t distance = shape_.chain_distance(hops);
  lines_.position += shape_.chain_positions(hops);
  const std::vector<std::uint32_t> starts = shape_.chain_lines(begin, distance);
  const std::uint64_t bytes = starts.size() * sizeof(cl_uint);
  const cl::Buffer& buffer = shared_->starts.at_least(session_, bytes);
  session_.queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, starts.data());
  set_arguments(kernel_, 0, lines_.store.buffer, buffer, as_uint(hops), never, out_);
  const std::vector<std::uint32_t> ends = shape_.chain_lines(begin + hops, distance);
  return std::accumulate(ends.begin(), ends.end(), std::uint64_t{0});
}

/// Sets the ticks to those of the timed sub-group. If all sub-groups read the same clock, adds
/// facts: begin and end in ticks per round, relative to the begin of the first sub-group.
void InFlight::set_own_time(std::uint64_t rounds, Measurement& measurement) const {
  const ClockKind clock = session_.info().clock.kind;
  if (clock == ClockKind::none) return;
  const std::uint64_t own = first_own() + 2 * shape_.number();
  const auto out = read_values<cl_ulong>(session_, out_, own + 2);
  const std::uint64_t late = out[own];
  const std::uint64_t took = out[own + 1];
  measurement.sample.ticks = took;
  if (clock == ClockKind::intel || clock == ClockKind::khr_sub_group) return;
  const auto per_round = [&](std::uint64_t ticks) {
    return static_cast<double>(ticks) / static_cast<double>(rounds);
  };
  measurement.facts.set("begin_ticks", per_round(late));
  measurement.facts.set("end_ticks", per_round(late + took));
}

Measurement InFlight::run(std::uint64_t iterations) {
  const std::uint64_t expected = is_block() ? set_block(iterations) : set_chains(iterations);
  const std::uint64_t chains = is_block() ? 1 : shape_.work_items * shape_.chains;
  Measurement measurement = timed_launch(session_, kernel_, {group_, group_}, out_,
                                         iterations * chains, shape_.work_items);
  measurement.expected_witness = expected;
  if (shape_.kind == Kind::sub_group) set_own_time(iterations, measurement);
  return measurement;
}

// Minimum number of rounds of a launch, and number of lines to load in all rounds: the mean time of
// a few lines would depend on their location in the cache. For chains, the number of hops of a
// launch is fixed.
constexpr std::uint64_t usual_rounds = 3;
constexpr std::uint64_t lines_for_mean = 96;
constexpr std::uint64_t usual_hops = 128;
constexpr std::uint64_t usual_hops_of_cpu = 16384;

Work prepare(const std::shared_ptr<Shared>& shared, const Point& point) {
  auto prepared = std::make_shared<InFlight>(shared, point);
  const Shape& shape = prepared->shape();
  Session& session = shared->session;
  Work work;
  if (prepared->is_block()) {
    const std::uint64_t round = std::max<std::uint64_t>(1, shape.lines_per_round());
    work.max_iterations = max_rounds(shape);
    work.iterations = std::min(std::max(usual_rounds, lines_for_mean / round), work.max_iterations);
  } else {
    work.accesses_per_iteration = shape.work_items * shape.chains;
    work.iterations = runs_items_in_turn(session.info()) ? usual_hops_of_cpu : usual_hops;
    work.max_iterations = max_iterations;
  }
  work.build = session.build_of(file, prepared->options());
  work.run = [prepared](std::uint64_t iterations) { return prepared->run(iterations); };
  return work;
}

}  // namespace

std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t /*seed*/,
                                  const Point& point) {
  if (is_loaded(point)) return {{LoadedShape::of(point).chase.options(), ""}};
  const Shape shape = Shape::of(point);
  const std::uint64_t group = large_group_for(device, shape);
  // The first build provides the kernels that fill and touch the buffers.
  return {{shape.options(), ""},
          {group != 0 ? shape.options() + large_group(group) : usual_options(device, shape), ""}};
}

Preparer open(Session& session) {
  return [shared = std::make_shared<Shared>(session)](const Point& point) {
    return is_loaded(point) ? prepare_loaded(shared, point) : prepare(shared, point);
  };
}

}  // namespace clprobe::inflight
