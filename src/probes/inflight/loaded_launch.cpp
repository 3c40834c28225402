// SPDX-License-Identifier: Apache-2.0
// The launches of `inflight_loaded` through OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "clprobe/device.hpp"
#include "probes/inflight/lines.hpp"
#include "probes/inflight/loaded.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::inflight {
namespace {

// Hops that are not timed: the streams get going meanwhile. On CPUs other threads must wake
// up first: 10 ms at most of hops of 150 ns.
constexpr std::uint64_t lead = 64;
constexpr std::uint64_t max_leads = 16;
constexpr std::uint64_t max_leads_of_cpu = 1024;
// Of a timed chase: long against the rounds of streams with the longest delay.
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
// Of the rounds beside the chase, at least this share must lie in each of its halves.
constexpr double min_half = 0.2;

/// What a launch says.
struct Told {
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
  Told launch(std::uint64_t hops);

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

/// What is streamed: not the lines of the chase, which would find them in a cache.
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

Told Loaded::launch(std::uint64_t hops) {
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
  Told told;
  told.times = session_.launch(kernel_, cl::NDRange((shape_.groups + 1) * shape_.items),
                               cl::NDRange(shape_.items));
  session_.queue().enqueueReadBuffer(out_, CL_TRUE, 0, bytes, out.data());
  told.chase_ticks = out[0];
  told.all_ticks = out[1];
  told.first_half = out[2];
  told.second_half = out[3];
  told.leads = out[4];
  told.end = out[5];
  lines_.position += told.leads * lead + hops;
  expected_end_ = shape_.chase.cycle().at(lines_.position % shape_.chase.lines());
  std::uint64_t max_rounds = 0;
  for (std::uint64_t group = 0; group < shape_.groups; ++group) {
    const std::uint64_t rounds = out[words_of_chase + 2 * group];
    const std::uint64_t words = out[words_of_chase + 2 * group + 1];
    if (as_uint(rounds * shape_.words_per_round()) != words) ++told.wrong_groups;
    max_rounds = std::max(max_rounds, rounds);
  }
  // The next launch goes on behind this one, so that no cache has what it reads.
  streamed_.position += max_rounds * shape_.groups * shape_.vectors_per_round();
  return told;
}

Measurement Loaded::run(std::uint64_t hops) {
  Told told = launch(hops);
  const bool has_threads = runs_items_in_turn(session_.info()) && session_.info().compute_units > 1;
  const int attempts = has_threads ? max_attempts_of_cpu : max_attempts;
  for (int attempt = 1; shape_.groups > 0 && !told.is_side_by_side(); ++attempt) {
    if (attempt == attempts) {
      throw Unsupported(
          "the streaming work-groups did not run at the same time as the chasing one");
    }
    told = launch(hops);
  }
  Measurement measurement;
  measurement.sample.event_ns = told.times.event_ns;
  measurement.sample.host_ns = told.times.host_ns;
  measurement.sample.ticks = shape_.counts_traffic ? told.all_ticks : told.chase_ticks;
  measurement.sample.accesses =
      shape_.counts_traffic ? told.rounds() * shape_.bytes_per_round() / shape_.chase.line_bytes
                            : hops;
  measurement.sample.witness = told.end + told.wrong_groups;
  measurement.expected_witness = expected_end_;
  return measurement;
}

}  // namespace

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

}  // namespace clprobe::inflight
