// SPDX-License-Identifier: Apache-2.0
// Launching cl/stride.cl: buffers, data, launches and checks of their results. Uses OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "probes/shared/opencl.hpp"
#include "probes/stride/stride.hpp"

namespace clprobe::stride {
namespace {

/// Memory of one kind of buffer, which kernels use as an argument.
struct Memory {
  std::unique_ptr<HostMemory> host{};  // declared first, so that it is destroyed after the buffer
  cl::Buffer buffer{};
  std::shared_ptr<void> shared{};  ///< shared virtual memory, used instead of `buffer`
  std::uint64_t bytes{0};
  std::uint64_t filled_word_bytes{0};  ///< 0: the memory contains no data yet
  int huge_page_percent{-1};           ///< percentage of huge pages; -1: unknown

  void bind(cl::Kernel& kernel, cl_uint index) const {
    if (shared == nullptr) {
      kernel.setArg(index, buffer);
    } else {
      bind_shared_virtual(kernel, index, shared.get());
    }
  }
};

/// Allocates memory. Throws cl::Error. Throws Unsupported if the driver has no shared virtual
/// memory of this size.
std::shared_ptr<Memory> make_memory(Session& session, BufferKind kind, Bytes size) {
  auto memory = std::make_shared<Memory>();
  memory->bytes = size.count;
  if (kind == BufferKind::svm) {
    memory->shared = make_shared_virtual(session, size);
    if (memory->shared == nullptr) {
      throw Unsupported(fmt::format("the driver does not provide {} of shared virtual memory",
                                    format_bytes(size)));
    }
  } else if (kind == BufferKind::host) {
    memory->buffer =
        cl::Buffer(session.context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size.count);
  } else {
    // The store has huge pages if the system provides huge pages. With small pages a CPU would
    // measure its page walks.
    Store store = make_store(session, size);
    memory->host = std::move(store.host);
    memory->buffer = store.buffer;
  }
  return memory;
}

/// State that all points share while the probe runs.
struct State {
  using Memories = std::map<BufferKind, std::shared_ptr<Memory>>;

  explicit State(Session& used) : session(used) {}

  Session& session;
  Memories sources{};         ///< memory that launches read, one for each kind of buffer
  Memories targets{};         ///< memory that launches write, one for each kind of buffer
  cl::Buffer sums{};          ///< sums of launches that read
  KeptBuffer counts{};        ///< number of correct words per work-item that checks
  std::uint64_t launches{0};  ///< number of the latest launch; results depend on it

  std::shared_ptr<Memory> memory_for(Memories& memories, const Shape& shape) {
    const std::uint64_t bytes = std::max(shape.buffer_bytes(), shape.shared_buffer_bytes);
    std::shared_ptr<Memory>& kept = memories[shape.buffer];
    if (kept == nullptr || kept->bytes < bytes) {
      kept = nullptr;  // frees the old memory before the allocation
      kept = make_memory(session, shape.buffer, {bytes});
    }
    return kept;
  }

  void need_sums() {
    if (sums() != nullptr) return;
    sums = cl::Buffer(session.context(), CL_MEM_READ_WRITE, sums_bytes);
    const std::vector<char> nothing(sums_bytes, 0);
    session.queue().enqueueWriteBuffer(sums, CL_TRUE, 0, sums_bytes, nothing.data());
  }
};

/// Returns true for kernels with 64-bit indices. CPUs always use 64-bit indices. CPUs add 64 bits
/// as fast as 32 bits, and need no instruction to extend a 64-bit index to an address.
bool is_built_wide(const DeviceInfo& device, const Shape& shape) {
  return needs_wide(shape) || runs_items_in_turn(device);
}

/// Sets a numeric argument of 4 or 8 bytes.
void set_number(cl::Kernel& kernel, cl_uint index, std::uint64_t value, std::uint64_t bytes) {
  if (bytes == sizeof(cl_ulong)) {
    kernel.setArg(index, cl_ulong{value});
  } else {
    kernel.setArg(index, static_cast<cl_uint>(value));
  }
}

class Stream {
 public:
  Stream(std::shared_ptr<State> state, const Point& point);

  Measurement run(std::uint64_t batches);
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const Memory& memory() const { return source_ ? *source_ : *target_; }
  [[nodiscard]] KernelBuild build() const { return spec_.build(session_); }

 private:
  cl_uint set_rule(cl::Kernel& kernel, cl_uint index, const WordRule& rule) const;
  void launch_walk(cl::Kernel& kernel, const Memory& memory, const Region& region, const Walk& walk,
                   const WordRule& rule);
  void fill(Memory& memory, const Region& region);
  void prove_sums(std::uint64_t first, std::uint64_t count, Measurement& measurement);
  void prove_contents(std::uint64_t first, std::uint64_t count, Measurement& measurement);
  LaunchTimes launch(std::uint64_t first, std::uint64_t batches);

  std::shared_ptr<State> state_;
  Session& session_;
  Shape shape_;
  bool is_wide_;
  KernelSpec spec_;
  std::uint64_t samples_;
  std::shared_ptr<Memory> source_{};
  std::shared_ptr<Memory> target_{};
  cl::Kernel kernel_{};
  std::uint64_t next_batch_{0};
};

Stream::Stream(std::shared_ptr<State> state, const Point& point)
    : state_(std::move(state)),
      session_(state_->session),
      shape_(shape_of<Shape>(point)),
      is_wide_(is_built_wide(session_.info(), shape_)),
      spec_{"stride.cl", build_options(shape_, is_wide_)},
      samples_(std::min(shape_.grid, max_samples)) {
  if (reads_source(shape_.operation)) {
    source_ = state_->memory_for(state_->sources, shape_);
    if (source_->filled_word_bytes != shape_.word_bytes()) {
      fill(*source_, whole(source_->bytes, shape_.word_bytes()));
    }
  }
  if (writes_target(shape_.operation)) {
    target_ = state_->memory_for(state_->targets, shape_);
    // The target is filled once, since the operating system allocates only pages that were
    // written.
    if (target_->filled_word_bytes == 0) fill(*target_, whole(target_->bytes, shape_.word_bytes()));
  } else {
    state_->need_sums();
  }
  const std::string name = fmt::format("stride_{}", word_in(operation_words, shape_.operation));
  kernel_ = spec_.kernel(session_, name.c_str());
  // This launch is not timed: some drivers compile at the first launch, and the first launch of a
  // size may be slow.
  launch(0, 1);
}

LaunchTimes Stream::launch(std::uint64_t first, std::uint64_t batches) {
  const std::uint64_t place_bytes = is_wide_ ? sizeof(cl_ulong) : sizeof(cl_uint);
  cl_uint index = 0;
  if (source_) source_->bind(kernel_, index++);
  if (target_) {
    target_->bind(kernel_, index++);
  } else {
    kernel_.setArg(index++, state_->sums);
  }
  set_number(kernel_, index++, shape_.stride, place_bytes);
  kernel_.setArg(index++, cl_uint{log2_of(shape_.run())});
  set_number(kernel_, index++, first * shape_.unroll(), place_bytes);
  kernel_.setArg(index++, static_cast<cl_uint>(batches));
  if (!target_) {
    index = set_rule(kernel_, index,
                     sum_rule(shape_, first * shape_.unroll(), batches * shape_.unroll()));
  }
  set_number(kernel_, index++, ++state_->launches, shape_.word_bytes());
  if (!target_) {
    set_arguments(kernel_, index, cl_uint{log2_of(shape_.grid / samples_)},
                  static_cast<cl_uint>(samples_));
  }
  return launch_over(session_, kernel_, {shape_.grid, shape_.work_group});
}

/// Sets three arguments that have the size of a word. Returns the index after the last argument.
cl_uint Stream::set_rule(cl::Kernel& kernel, cl_uint index, const WordRule& rule) const {
  for (const std::uint64_t value : {rule.square, rule.line, rule.constant}) {
    set_number(kernel, index++, value, shape_.word_bytes());
  }
  return index;
}

/// Launches a kernel that walks over a region of a memory. The arguments from index 11 on must
/// already be set.
void Stream::launch_walk(cl::Kernel& kernel, const Memory& memory, const Region& region,
                         const Walk& walk, const WordRule& rule) {
  memory.bind(kernel, 0);
  set_arguments(kernel, 1, cl_ulong{walk.apart}, cl_ulong{walk.step}, cl_ulong{walk.each},
                cl_ulong{walk.blocks_each}, cl_ulong{region.first}, cl_ulong{region.block},
                cl_ulong{region.blocks_apart});
  set_rule(kernel, 8, rule);
  session_.launch(kernel, cl::NDRange(walk.x, walk.y), cl::NullRange);
}

void Stream::fill(Memory& memory, const Region& region) {
  cl::Kernel kernel = spec_.kernel(session_, "stride_fill");
  const Walk walk = Walk::over(region, runs_items_in_turn(session_.info()));
  launch_walk(kernel, memory, region, walk, data_rule);
  memory.filled_word_bytes = shape_.word_bytes();
  if (memory.host && memory.huge_page_percent < 0) {
    memory.huge_page_percent = memory.host->huge_page_percent();
  }
}

/// Compares the sums of sampled work-items. In the kernel, all work-items have already compared
/// their own sums.
void Stream::prove_sums(std::uint64_t first, std::uint64_t count, Measurement& measurement) {
  const bool is_long = shape_.word_bytes() == sizeof(cl_ulong);
  const std::uint64_t mask = is_long ? ~std::uint64_t{0} : 0xffffffffU;
  std::vector<std::uint64_t> found;
  if (is_long) {
    const auto sums = read_values<cl_ulong>(session_, state_->sums, samples_ + 1);
    found.assign(sums.begin(), sums.end());
  } else {
    const auto sums = read_values<cl_uint>(session_, state_->sums, samples_ + 1);
    found.assign(sums.begin(), sums.end());
  }
  const WordRule rule = sum_rule(shape_, first, count);
  const std::uint64_t number = state_->launches & mask;
  const std::uint64_t items_apart = shape_.grid / samples_;
  std::uint64_t witness = 0;
  std::uint64_t expected = 0;
  for (std::uint64_t k = 0; k < samples_; ++k) {
    // The checksum depends on the order of the sums, so that exchanged sums fail.
    witness = witness * 31 + (found[k] ^ number);
    expected = expected * 31 + (rule.at(shape_.first_of(k * items_apart)) & mask);
  }
  // If any work-item found a wrong sum, the kernel has stored the number of the launch after the
  // samples.
  const bool is_refuted = found[samples_] == number;
  measurement.sample.witness = is_refuted ? ~expected : witness;
  measurement.expected_witness = expected;
}

/// Checks the written words. The checksum is the number of correct words.
void Stream::prove_contents(std::uint64_t first, std::uint64_t count, Measurement& measurement) {
  WordRule rule = data_rule;
  if (shape_.operation == Operation::write) rule = {0, 1, 0};
  rule.constant += state_->launches;
  const Region region = moved(shape_, first, count);
  const Walk walk = Walk::over(region, runs_items_in_turn(session_.info()));
  const cl::Buffer& right = state_->counts.at_least(session_, walk.walkers() * sizeof(cl_uint));
  cl::Kernel check = spec_.kernel(session_, "stride_check");
  check.setArg(11, right);
  launch_walk(check, *target_, region, walk, rule);
  const auto counts = read_values<cl_uint>(session_, right, walk.walkers());
  measurement.sample.witness = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  measurement.expected_witness = region.words;
}

Measurement Stream::run(std::uint64_t batches) {
  // A launch over part of the buffer continues where the previous launch ended, so that no cache
  // holds its data.
  if (next_batch_ + batches > shape_.batches()) next_batch_ = 0;
  const std::uint64_t first = next_batch_ * shape_.unroll();
  const std::uint64_t count = batches * shape_.unroll();
  if (shape_.operation == Operation::update) fill(*target_, moved(shape_, first, count));
  Measurement measurement =
      measurement_of(launch(next_batch_, batches), count * shape_.grid * shape_.element_bytes() *
                                                       directions_of(shape_.operation));
  next_batch_ += batches;
  if (!target_) {
    prove_sums(first, count, measurement);
  } else {
    prove_contents(first, count, measurement);
    target_->filled_word_bytes = shape_.word_bytes();
  }
  return measurement;
}

/// Returns the number of batches in a CPU's sample, after a trial launch. A sample of a slow CPU
/// takes about 12 ms, so that the start of a launch is a small part of the sample. The next sample
/// continues with the next part of the buffer. A fast CPU moves the whole buffer. Contiguous pieces
/// of a part have at least 64 KiB, more than a CPU prefetches, or the part is the whole buffer.
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
  const DeviceInfo& device = state->session.info();
  auto stream = std::make_shared<Stream>(state, point);
  const Shape& shape = stream->shape();
  Work work;
  if (shape.per_launch && max_batches(device, shape) < shape.batches()) {
    throw Unsupported(
        "the driver cuts long loops short, so one launch cannot move the whole buffer");
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
