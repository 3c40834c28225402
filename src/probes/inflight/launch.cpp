// SPDX-License-Identifier: Apache-2.0
// The launches of the probe `inflight` through OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "measure/api/device.hpp"
#include "probes/inflight/inflight.hpp"
#include "probes/inflight/loaded.hpp"
#include "probes/inflight/shape.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/opencl.hpp"

namespace clprobe::inflight {
namespace {

/// Memory that the loads go to, filled once, and how far they have got in it.
struct Lines {
  Store store{};
  std::uint64_t position{0};
};

/// State that the points of an opened probe share: each launch goes on where the one before ended,
/// whatever its point.
struct Shared {
  Session& session;
  std::map<std::string, Lines> lines{};  ///< by target
  std::optional<Lines> stream{};
  KeptBuffer out{};
  KeptBuffer starts{};
  KeptBuffer progress{};

  explicit Shared(Session& of) : session(of) {}
};

cl_uint as_uint(std::uint64_t value) { return static_cast<cl_uint>(value); }

/// Launches a kernel that takes the buffer, the mask and the words of a line, over so many places:
/// the words of all lines, or the lines.
void run_over(std::uint64_t places, Session& session, cl::Kernel kernel, const Lines& lines,
              const Shape& shape) {
  kernel.setArg(0, lines.store.buffer);
  kernel.setArg(1, as_uint(shape.lines() - 1));
  kernel.setArg(2, as_uint(shape.line_bytes / sizeof(cl_uint)));
  const LaunchSize size = spread_over(session.info(), places);
  session.launch(kernel, cl::NDRange(size.items), cl::NDRange(size.group));
}

/// The filled lines of a shape's target, made anew where they are of another size.
Lines& lines_for(Shared& shared, const Shape& shape) {
  const std::string& target = shape.pattern.target;
  const auto found = shared.lines.find(target);
  if (found != shared.lines.end()) {
    if (found->second.store.size.count == shape.buffer_bytes) return found->second;
    shared.lines.erase(found);  // first: both together may be more memory than is allowed
  }
  const cl_mem_flags place = target == "host" ? CL_MEM_ALLOC_HOST_PTR : 0;
  Lines lines{make_store(shared.session, {shape.buffer_bytes}, place)};
  run_over(shape.words(), shared.session,
           shared.session.kernel("inflight.cl", "inflight_fill", shape.options()), lines, shape);
  return shared.lines.emplace(target, std::move(lines)).first->second;
}

// Hops that are not timed: the streams get going meanwhile. On CPUs other threads must wake
// up first: 10 ms at most of hops of 150 ns.
constexpr std::uint64_t lead = 64;
constexpr std::uint64_t max_leads = 16;
constexpr std::uint64_t max_leads_of_cpu = 1024;
// Hops of a timed chase: long against the rounds of streams with the longest delay.
constexpr std::uint64_t usual_loaded_hops = 512;
constexpr std::uint64_t usual_loaded_hops_of_cpu = 4096;
// No stream goes on for longer, whatever becomes of the chase: work-groups may run one after
// another, the streams first.
constexpr double max_stream_ns = 20e6;
// progress[0] and progress[64] of the kernel, in lines of their own.
constexpr std::size_t progress_words = 65;
// Streams that begin late or end early are tried again so often; more often on CPUs, whose
// other threads others may use.
constexpr int max_attempts = 4;
constexpr int max_attempts_of_cpu = 10;
// Each half of the chase must have at least this share of the streams' rounds.
constexpr double min_half = 0.2;

/// Results of a launch.
struct LaunchResult {
  std::uint64_t chase_ticks{0};
  std::uint64_t all_ticks{0};
  std::uint64_t first_half{0};
  std::uint64_t second_half{0};
  std::uint64_t leads{0};
  std::uint64_t end{0};
  std::uint64_t wrong_groups{0};  ///< whose words are not those of their rounds
  LaunchTimes times{};

  [[nodiscard]] std::uint64_t rounds() const { return first_half + second_half; }
  [[nodiscard]] bool is_side_by_side() const {
    const double min = min_half * static_cast<double>(rounds());
    return rounds() > 0 && static_cast<double>(std::min(first_half, second_half)) >= min;
  }
};

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
        kernel_(session_.kernel("inflight.cl", "inflight_loaded", shape_.chase.options())) {
    check_group();
    bind();
  }

  Measurement run(std::uint64_t hops);
  [[nodiscard]] const LoadedShape& shape() const { return shape_; }

 private:
  Lines& stream();
  void check_group();
  void bind();
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

/// Buffer that is streamed: not the lines of the chase, which would find them in a cache.
Lines& Loaded::stream() {
  const Bytes size{shape_.chase.buffer_bytes};
  std::optional<Lines>& stream = shared_->stream;
  if (stream && stream->store.size == size) return *stream;
  stream.reset();  // first: both together may be more memory than is allowed
  Lines lines{make_store(session_, size)};
  const std::uint64_t words = size.count / sizeof(cl_uint);
  cl::Kernel fill = session_.kernel("inflight.cl", "inflight_fill_stream", shape_.chase.options());
  fill.setArg(0, lines.store.buffer);
  fill.setArg(1, as_uint(words - 1));
  const LaunchSize launch = spread_over(session_.info(), words);
  session_.launch(fill, cl::NDRange(launch.items), cl::NDRange(launch.group));
  return stream.emplace(std::move(lines));
}

void Loaded::check_group() {
  const auto max = kernel_.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(session_.device());
  if (shape_.items <= max) return;
  throw Unsupported(fmt::format("the driver runs this kernel with at most {} work-items, not {}",
                                max, shape_.items));
}

void Loaded::bind() {
  const double ticks = max_stream_ns * session_.info().clock.ticks_per_ns;
  kernel_.setArg(0, lines_.store.buffer);
  kernel_.setArg(2, as_uint(lead));
  const bool is_cpu = runs_items_in_turn(session_.info());
  // Nobody comes to the chase that is alone.
  const std::uint64_t leads = is_cpu ? max_leads_of_cpu : max_leads;
  kernel_.setArg(3, as_uint(shape_.groups == 0 ? 2 : leads));
  kernel_.setArg(5, streamed_.store.buffer);
  kernel_.setArg(6, as_uint(shape_.vectors() - 1));
  kernel_.setArg(8, as_uint(shape_.turns));
  kernel_.setArg(9, as_uint(max_iterations));
  kernel_.setArg(10, as_uint(shape_.delay));
  kernel_.setArg(11, static_cast<cl_ulong>(ticks));
  kernel_.setArg(12, never);
  kernel_.setArg(13, progress_);
  kernel_.setArg(14, out_);
}

LaunchResult Loaded::launch(std::uint64_t hops) {
  const std::uint64_t begin = lines_.position;
  kernel_.setArg(1, shape_.chase.cycle().at(begin % shape_.chase.lines()));
  kernel_.setArg(4, as_uint(hops));
  kernel_.setArg(7, as_uint(streamed_.position & (shape_.vectors() - 1)));
  const std::vector<cl_uint> zero(progress_words, 0);
  session_.queue().enqueueWriteBuffer(progress_, CL_FALSE, 0, zero.size() * sizeof(cl_uint),
                                      zero.data());
  std::vector<cl_ulong> out(words_of_chase + 2 * shape_.groups, never);
  const std::uint64_t bytes = out.size() * sizeof(cl_ulong);
  session_.queue().enqueueWriteBuffer(out_, CL_FALSE, 0, bytes, out.data());
  LaunchResult result;
  result.times = session_.launch(kernel_, cl::NDRange((shape_.groups + 1) * shape_.items),
                                 cl::NDRange(shape_.items));
  session_.queue().enqueueReadBuffer(out_, CL_TRUE, 0, bytes, out.data());
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
  // The next launch goes on behind this one, so that no cache has what it reads.
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
  Measurement measurement;
  measurement.sample.event_ns = result.times.event_ns;
  measurement.sample.host_ns = result.times.host_ns;
  measurement.sample.ticks = shape_.counts_traffic ? result.all_ticks : result.chase_ticks;
  measurement.sample.accesses =
      shape_.counts_traffic ? result.rounds() * shape_.bytes_per_round() / shape_.chase.line_bytes
                            : hops;
  measurement.sample.witness = result.end + result.wrong_groups;
  measurement.expected_witness = expected_end_;
  return measurement;
}

/// Prepares a point with streams.
Work prepare_loaded(const std::shared_ptr<Shared>& shared, const Point& point) {
  auto prepared = std::make_shared<Loaded>(shared, point);
  Session& session = shared->session;
  Work work;
  work.iterations =
      runs_items_in_turn(session.info()) ? usual_loaded_hops_of_cpu : usual_loaded_hops;
  work.max_iterations = work.iterations;
  work.build = session.build_of("inflight.cl", prepared->shape().chase.options());
  work.run = [prepared](std::uint64_t hops) { return prepared->run(hops); };
  // Drivers compile at the first launch, and the first launch of all finds cold translations.
  static_cast<void>(work.run(work.iterations));
  return work;
}

/// Work-items of a group that the kernel is built for, where these are many; 0: the usual build.
/// Powers of two alone, since each size takes a build of its own.
std::uint64_t large_group_for(const DeviceInfo& device, const Shape& shape) {
  const bool is_large = shape.work_items > usual_group && !runs_items_in_turn(device);
  return is_large ? std::bit_ceil(shape.work_items) : 0;
}

std::string usual_options(const DeviceInfo& device, const Shape& shape) {
  const bool has_loop = runs_items_in_turn(device) && shape.work_items > 1;
  return shape.options() + std::string(has_loop ? clock_without_asm : "");
}

/// A prepared point.
class InFlight {
 public:
  InFlight(std::shared_ptr<Shared> shared, const Point& point)
      : shared_(std::move(shared)),
        session_(shared_->session),
        shape_(Shape::of(point)),
        lines_(lines_for(*shared_, shape_)),
        out_(shared_->out.at_least(session_, out_words() * sizeof(cl_ulong))) {
    if (shape_.pattern.target == "cache") touch();
    build();
  }

  Measurement run(std::uint64_t iterations);
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] bool is_block() const { return shape_.is_block(); }
  [[nodiscard]] const std::string& options() const { return options_; }

 private:
  /// The ticks, what each work-item has loaded, and two numbers for each sub-group's own time.
  [[nodiscard]] std::uint64_t out_words() const {
    return first_own() + (shape_.kind == Kind::sub_group ? 2 * shape_.sub_groups() : 0);
  }
  [[nodiscard]] std::uint64_t first_own() const { return 1 + shape_.work_items; }
  void touch();
  void take_own_time(const std::vector<cl_ulong>& out, std::uint64_t rounds,
                     Measurement& measurement) const;
  void build();
  void build_with(const std::string& options, std::uint64_t group);
  void bind_block();
  void bind_chains();
  std::uint64_t aim_block(std::uint64_t rounds);
  std::uint64_t aim_chains(std::uint64_t hops);

  std::shared_ptr<Shared> shared_;
  Session& session_;
  Shape shape_;
  Lines& lines_;
  cl::Buffer out_;
  std::string options_{};
  std::uint64_t group_{1};  ///< work-items that are launched
  cl::Kernel kernel_{};
  cl::Buffer starts_{};
};

void InFlight::build_with(const std::string& options, std::uint64_t group) {
  options_ = options;
  group_ = group;
  kernel_ =
      session_.kernel("inflight.cl", is_block() ? "inflight_block" : "inflight_chains", options_);
  is_block() ? bind_block() : bind_chains();
}

/// And launches once: drivers compile then, and the first launch of all finds cold translations. A
/// large group is built as such and tried, whatever the driver says of it: NVIDIA's says 256 of
/// what it runs with 1024.
void InFlight::build() {
  if (const std::uint64_t group = large_group_for(session_.info(), shape_); group != 0) {
    try {
      build_with(shape_.options() + large_group(group), group);
      static_cast<void>(run(1));
      return;
    } catch (const cl::Error&) {
      // Then the usual kernel, if the driver says that it takes so many.
    }
  }
  build_with(usual_options(session_.info(), shape_), shape_.work_items);
  const auto max = kernel_.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(session_.device());
  if (shape_.work_items > max) {
    throw Unsupported(fmt::format("the driver runs this kernel with at most {} work-items, not {}",
                                  max, shape_.work_items));
  }
  static_cast<void>(run(1));
}

/// Brings the target back to caches, which other launches have used since.
void InFlight::touch() {
  cl::Kernel kernel = session_.kernel("inflight.cl", "inflight_touch", shape_.options());
  kernel.setArg(3, out_);
  run_over(shape_.lines(), session_, kernel, lines_, shape_);
}

void InFlight::bind_block() {
  kernel_.setArg(0, lines_.store.buffer);
  kernel_.setArg(1, as_uint(shape_.lines() - 1));
  kernel_.setArg(2, as_uint(shape_.line_bytes / sizeof(cl_uint)));
  kernel_.setArg(4, as_uint(shape_.lines_per_load()));
  kernel_.setArg(6, as_uint(static_cast<std::uint64_t>(shape_.pattern.merger)));
  kernel_.setArg(7, cl_uint{shape_.pattern.mode == MergerMode::across ? 1U : 0U});
  kernel_.setArg(8, as_uint(shape_.sub_group));
  kernel_.setArg(9, never);
  kernel_.setArg(10, as_uint(shape_.work_items));
  kernel_.setArg(11, out_);
}

void InFlight::bind_chains() {
  const std::uint64_t bytes = shape_.work_items * shape_.chains * sizeof(cl_uint);
  starts_ = shared_->starts.at_least(session_, bytes);
  kernel_.setArg(0, lines_.store.buffer);
  kernel_.setArg(1, starts_);
  kernel_.setArg(3, never);
  kernel_.setArg(4, out_);
}

/// Rounds go on through the buffer, so that no launch finds what the one before has loaded. Returns
/// what all work-items must have loaded.
std::uint64_t InFlight::aim_block(std::uint64_t rounds) {
  const std::uint64_t first = lines_.position & (shape_.lines() - 1);
  lines_.position += (rounds + 1) * shape_.lines_per_round();
  kernel_.setArg(3, as_uint(first));
  kernel_.setArg(5, as_uint(rounds));
  return shape_.block_witness(first, rounds);
}

/// Chains go on where those before them ended, however many these were: else they would meet lines
/// that were just read, and be as fast as the cache.
std::uint64_t InFlight::aim_chains(std::uint64_t hops) {
  const std::uint64_t begin = lines_.position;
  const std::uint64_t distance = shape_.chain_distance(hops);
  lines_.position += shape_.chain_positions(hops);
  const std::vector<std::uint32_t> starts = shape_.chain_lines(begin, distance);
  session_.queue().enqueueWriteBuffer(starts_, CL_TRUE, 0, starts.size() * sizeof(cl_uint),
                                      starts.data());
  kernel_.setArg(2, as_uint(hops));
  const std::vector<std::uint32_t> ends = shape_.chain_lines(begin + hops, distance);
  return std::accumulate(ends.begin(), ends.end(), std::uint64_t{0});
}

/// In place of the group's ticks those of one sub-group. When it began and had all, behind the
/// first one's begin, are facts where all sub-groups have one clock.
void InFlight::take_own_time(const std::vector<cl_ulong>& out, std::uint64_t rounds,
                             Measurement& measurement) const {
  const ClockKind clock = session_.info().clock.kind;
  if (clock == ClockKind::none) return;
  const std::uint64_t own = first_own() + 2 * shape_.number();
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
  Measurement measurement;
  measurement.expected_witness = is_block() ? aim_block(iterations) : aim_chains(iterations);
  std::vector<cl_ulong> out(out_words(), never);
  const std::uint64_t bytes = out.size() * sizeof(cl_ulong);
  // A launch that stores nothing must not find the result of the one before.
  session_.queue().enqueueWriteBuffer(out_, CL_FALSE, 0, bytes, out.data());
  const LaunchTimes times = session_.launch(kernel_, cl::NDRange(group_), cl::NDRange(group_));
  session_.queue().enqueueReadBuffer(out_, CL_TRUE, 0, bytes, out.data());
  const std::uint64_t each = is_block() ? 1 : shape_.work_items * shape_.chains;
  measurement.sample.accesses = iterations * each;
  if (session_.info().clock.kind != ClockKind::none) measurement.sample.ticks = out[0];
  measurement.sample.event_ns = times.event_ns;
  measurement.sample.host_ns = times.host_ns;
  const auto end = out.begin() + static_cast<std::ptrdiff_t>(first_own());
  measurement.sample.witness = std::accumulate(out.begin() + 1, end, std::uint64_t{0});
  if (shape_.kind == Kind::sub_group) take_own_time(out, iterations, measurement);
  return measurement;
}

// Rounds of a launch: enough to be a mean, few enough to stay in a cache. Of few lines more: how
// long such a round takes depends on where in the cache they lie.
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
  work.build = session.build_of("inflight.cl", prepared->options());
  work.run = [prepared](std::uint64_t iterations) { return prepared->run(iterations); };
  return work;
}

}  // namespace

std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t /*seed*/,
                                  const Point& point) {
  if (is_loaded(point)) return {{LoadedShape::of(point).chase.options(), ""}};
  const Shape shape = Shape::of(point);
  const std::uint64_t group = large_group_for(device, shape);
  // The lines are laid out, and touched, by the plain kernels.
  return {{shape.options(), ""},
          {group != 0 ? shape.options() + large_group(group) : usual_options(device, shape), ""}};
}

Preparer open(Session& session) {
  return [shared = std::make_shared<Shared>(session)](const Point& point) {
    return is_loaded(point) ? prepare_loaded(shared, point) : prepare(shared, point);
  };
}

}  // namespace clprobe::inflight
