// SPDX-License-Identifier: Apache-2.0
#include "probes/stride/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "clprobe/device.hpp"
#include "probes/stride/shape.hpp"
#include "probes/stride/state.hpp"
#include "probes/stride/walk.hpp"

namespace clprobe::stride {
namespace {

constexpr const char* file = "stride.cl";

/// Sets the arguments 1 to 7 of a kernel that walks over a region.
void share_out(cl::Kernel& kernel, const Region& region, const Walk& walk) {
  cl_uint index = 0;
  for (const std::uint64_t value : {walk.apart, walk.step, walk.each, walk.blocks_each,
                                    region.first, region.block, region.blocks_apart}) {
    kernel.setArg(++index, cl_ulong{value});
  }
}

/// CPUs add 64 bits as fast as 32, and need no instruction to widen a place to an address.
bool is_built_wide(const DeviceInfo& device, const Shape& shape) {
  return needs_wide(shape) || runs_items_in_turn(device);
}

/// A point in place, and the launches on it.
class Stream {
 public:
  Stream(std::shared_ptr<State> state, const Point& point);

  Measurement run(std::uint64_t batches);
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const Memory& memory() const { return source_ ? *source_ : *target_; }
  [[nodiscard]] KernelBuild build() const { return session_.build_of(file, options_); }

 private:
  void bind();
  void set_word(cl::Kernel& kernel, cl_uint index, std::uint64_t value) const;
  void set_place(cl_uint index, std::uint64_t value);
  void set_rule(cl::Kernel& kernel, cl_uint index, const WordRule& rule) const;
  void fill(Memory& memory, const Region& region);
  void prove_sums(std::uint64_t first, std::uint64_t count, Measurement& measurement);
  void prove_contents(std::uint64_t first, std::uint64_t count, Measurement& measurement);
  LaunchTimes launch(std::uint64_t first, std::uint64_t batches);

  std::shared_ptr<State> state_;
  Session& session_;
  Shape shape_;
  bool is_wide_;
  std::string options_;
  std::uint64_t samples_;
  std::shared_ptr<Memory> source_{};
  std::shared_ptr<Memory> target_{};
  cl::Kernel kernel_{};
  cl::Kernel check_{};
  cl_uint stride_argument_{0};  // then log2_run, first, batches
  cl_uint launch_argument_{0};
  std::uint64_t next_batch_{0};
};

Stream::Stream(std::shared_ptr<State> state, const Point& point)
    : state_(std::move(state)),
      session_(state_->session()),
      shape_(shape_of<Shape>(point)),
      is_wide_(is_built_wide(session_.info(), shape_)),
      options_(build_options(shape_, is_wide_)),
      samples_(std::min(shape_.grid, max_samples)) {
  if (reads_source(shape_.operation)) {
    source_ = state_->source(shape_);
    if (source_->filled_word_bytes != shape_.word_bytes()) {
      fill(*source_, whole(source_->bytes, shape_.word_bytes()));
    }
  }
  if (writes_target(shape_.operation)) {
    target_ = state_->target(shape_);
    // Pages that nobody wrote are no memory yet.
    if (target_->filled_word_bytes == 0) fill(*target_, whole(target_->bytes, shape_.word_bytes()));
  }
  bind();
}

void Stream::bind() {
  const std::string name = fmt::format("stride_{}", word_in(operation_words, shape_.operation));
  kernel_ = session_.kernel(file, name.c_str(), options_);
  cl_uint index = 0;
  if (source_) source_->bind(kernel_, index++);
  if (target_) target_->bind(kernel_, index++);
  if (!target_) kernel_.setArg(index++, state_->sums());
  stride_argument_ = index;
  set_place(index++, shape_.stride);
  kernel_.setArg(index++, cl_uint{log2_of(shape_.run())});
  index += 2;  // first, batches
  if (!target_) {
    index += 3;  // the rule of the sums
    launch_argument_ = index++;
    kernel_.setArg(index++, cl_uint{log2_of(shape_.grid / samples_)});
    kernel_.setArg(index++, static_cast<cl_uint>(samples_));
  } else {
    launch_argument_ = index++;
    check_ = session_.kernel(file, "stride_check", options_);
  }
  // Some drivers compile only now, and the first launch of a size may be slow.
  launch(0, 1);
}

/// Words of the elements' width.
void Stream::set_word(cl::Kernel& kernel, cl_uint index, std::uint64_t value) const {
  if (shape_.word_bytes() == sizeof(cl_ulong)) {
    kernel.setArg(index, cl_ulong{value});
  } else {
    kernel.setArg(index, static_cast<cl_uint>(value));
  }
}

void Stream::set_place(cl_uint index, std::uint64_t value) {
  if (is_wide_) {
    kernel_.setArg(index, cl_ulong{value});
  } else {
    kernel_.setArg(index, static_cast<cl_uint>(value));
  }
}

void Stream::set_rule(cl::Kernel& kernel, cl_uint index, const WordRule& rule) const {
  set_word(kernel, index, rule.square);
  set_word(kernel, index + 1, rule.line);
  set_word(kernel, index + 2, rule.constant);
}

void Stream::fill(Memory& memory, const Region& region) {
  cl::Kernel kernel = session_.kernel(file, "stride_fill", options_);
  memory.bind(kernel, 0);
  const Walk walk = Walk::over(region, runs_items_in_turn(session_.info()));
  share_out(kernel, region, walk);
  set_rule(kernel, 8, data_rule);
  session_.launch(kernel, cl::NDRange(walk.x, walk.y), cl::NullRange);
  memory.filled_word_bytes = shape_.word_bytes();
  if (memory.host && memory.huge_page_percent < 0) {
    memory.huge_page_percent = memory.host->huge_page_percent();
  }
}

LaunchTimes Stream::launch(std::uint64_t first, std::uint64_t batches) {
  set_place(stride_argument_ + 2, first * shape_.unroll());
  kernel_.setArg(stride_argument_ + 3, static_cast<cl_uint>(batches));
  if (!target_) {
    set_rule(kernel_, stride_argument_ + 4,
             sum_rule(shape_, first * shape_.unroll(), batches * shape_.unroll()));
  }
  set_word(kernel_, launch_argument_, state_->next_launch());
  return session_.launch(kernel_, cl::NDRange(shape_.grid), cl::NDRange(shape_.work_group));
}

/// Every work-item compared its sum; those of the samples are compared once more, here.
void Stream::prove_sums(std::uint64_t first, std::uint64_t count, Measurement& measurement) {
  const bool is_long = shape_.word_bytes() == sizeof(cl_ulong);
  const std::uint64_t mask = is_long ? ~std::uint64_t{0} : 0xffffffffU;
  std::vector<std::uint64_t> found(samples_ + 1);
  if (is_long) {
    session_.queue().enqueueReadBuffer(state_->sums(), CL_TRUE, 0, found.size() * sizeof(cl_ulong),
                                       found.data());
  } else {
    std::vector<cl_uint> narrow(found.size());
    session_.queue().enqueueReadBuffer(state_->sums(), CL_TRUE, 0, narrow.size() * sizeof(cl_uint),
                                       narrow.data());
    std::copy(narrow.begin(), narrow.end(), found.begin());
  }
  const WordRule rule = sum_rule(shape_, first, count);
  const std::uint64_t number = state_->launch() & mask;
  const std::uint64_t items_apart = shape_.grid / samples_;
  std::uint64_t witness = 0;
  std::uint64_t expected = 0;
  for (std::uint64_t k = 0; k < samples_; ++k) {
    // By their place, so that sums in the wrong places are no proof.
    witness = witness * 31 + (found[k] ^ number);
    expected = expected * 31 + (rule.at(shape_.first_of(k * items_apart)) & mask);
  }
  // The launch's number behind the samples says that some work-item found another sum.
  const bool is_refuted = found[samples_] == number;
  measurement.sample.witness = is_refuted ? ~expected : witness;
  measurement.expected_witness = expected;
}

/// Counts the words that are as they must be now.
void Stream::prove_contents(std::uint64_t first, std::uint64_t count, Measurement& measurement) {
  WordRule rule = data_rule;
  if (shape_.operation == Operation::write) rule = {0, 1, 0};
  rule.constant += state_->launch();
  const Region region = moved(shape_, first, count);
  target_->bind(check_, 0);
  const Walk walk = Walk::over(region, runs_items_in_turn(session_.info()));
  share_out(check_, region, walk);
  const cl::Buffer& right = state_->counts(walk.walkers());
  set_rule(check_, 8, rule);
  check_.setArg(11, right);
  session_.launch(check_, cl::NDRange(walk.x, walk.y), cl::NullRange);
  std::vector<cl_uint> counts(walk.walkers());
  session_.queue().enqueueReadBuffer(right, CL_TRUE, 0, counts.size() * sizeof(cl_uint),
                                     counts.data());
  measurement.sample.witness = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  measurement.expected_witness = region.words;
}

Measurement Stream::run(std::uint64_t batches) {
  // Part of a launch goes on where the part before ended, so that its data are in no cache.
  if (next_batch_ + batches > shape_.batches()) next_batch_ = 0;
  const std::uint64_t first = next_batch_;
  next_batch_ += batches;
  const std::uint64_t count = batches * shape_.unroll();
  if (shape_.operation == Operation::update) {
    fill(*target_, moved(shape_, first * shape_.unroll(), count));
  }
  const LaunchTimes times = launch(first, batches);
  Measurement measurement;
  measurement.sample.accesses =
      count * shape_.grid * shape_.element_bytes() * directions_of(shape_.operation);
  measurement.sample.event_ns = times.event_ns;
  measurement.sample.host_ns = times.host_ns;
  if (!target_) {
    prove_sums(first * shape_.unroll(), count, measurement);
  } else {
    prove_contents(first * shape_.unroll(), count, measurement);
    target_->filled_word_bytes = shape_.word_bytes();
  }
  return measurement;
}

/// A CPU needs part of its buffer for a good sample, where it is slow: so many milliseconds, of
/// which the start of a launch is a small part. The next sample goes on with the next part. Where
/// it is fast it moves the whole buffer, and also where the parts would be so small that what is
/// fetched ahead lies behind them.
std::uint64_t enough_batches(Stream& stream) {
  constexpr double enough_ns = 12e6;
  constexpr std::uint64_t trial_bytes = mebibytes(32).count;
  constexpr std::uint64_t piece_bytes = kibibytes(64).count;
  const Shape& shape = stream.shape();
  const std::uint64_t parts = std::max<std::uint64_t>(1, shape.buffer_bytes() / trial_bytes);
  const std::uint64_t step = shape.unroll() * shape.stride * shape.element_bytes();
  const std::uint64_t trial = std::min(
      shape.batches(), std::max({std::uint64_t{1}, shape.batches() / parts, piece_bytes / step}));
  const auto ns = static_cast<double>(std::max<std::uint64_t>(1, stream.run(trial).sample.host_ns));
  const double enough = static_cast<double>(trial) * enough_ns / ns;
  return std::clamp(std::bit_floor(static_cast<std::uint64_t>(enough)), trial, shape.batches());
}

Work prepare(const std::shared_ptr<State>& state, const Point& point) {
  const DeviceInfo& device = state->session().info();
  auto stream = std::make_shared<Stream>(state, point);
  const Shape& shape = stream->shape();
  Work work;
  if (shape.per_launch && max_batches(device, shape) < shape.batches()) {
    throw Unsupported("the driver ends loops before a launch has moved the whole buffer");
  }
  const std::uint64_t bytes_of_batch = shape.unroll() * shape.grid * shape.element_bytes();
  const std::uint64_t batches_of_iteration = shape.per_launch ? shape.batches() : 1;
  work.accesses_per_iteration = bytes_of_batch * batches_of_iteration;
  work.max_iterations = shape.per_launch ? 1 : max_batches(device, shape);
  if (!shape.per_launch) {
    work.iterations = runs_items_in_turn(device) ? enough_batches(*stream) : shape.batches();
  }
  const int huge = stream->memory().huge_page_percent;
  if (huge >= 0) work.facts.set("huge_page_percent", std::int64_t{huge});
  work.build = stream->build();
  work.run = [stream, batches_of_iteration](std::uint64_t iterations) {
    return stream->run(iterations * batches_of_iteration);
  };
  return work;
}

}  // namespace

std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t /*seed*/,
                                  const Point& point) {
  const auto shape = shape_of<Shape>(point);
  return {{build_options(shape, is_built_wide(device, shape)), ""}};
}

Preparer open(Session& session) {
  return [state = std::make_shared<State>(session)](const Point& point) {
    return prepare(state, point);
  };
}

}  // namespace clprobe::stride
