// SPDX-License-Identifier: Apache-2.0
// Launches of the kernels of cl/launch.cl, in every manner. Uses OpenCL.
#include "measure/api/device.hpp"

// cl_ext.h must come after the header of OpenCL, which sets the version.
#include <CL/cl_ext.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "probes/launch/launch.hpp"
#include "probes/shared/opencl.hpp"
#include "text/api/embedded.hpp"

namespace clprobe::launch {
namespace {

// Number that each launch adds to a 32-bit counter. Since the number is odd, only multiples of
// 2^32 launches leave the counter unchanged.
constexpr cl_uint each_adds = 0x9e3779b1;
constexpr cl_uint of_an_argument = 3;
/// Number of gaps or periods in one sample, which launches one more long kernel.
constexpr std::size_t spins = 32;

KernelSpec spec_of(int program) { return {"launch.cl", fmt::format("-DPROGRAM={}", program)}; }

/// Finds an extension function, which is not an exported symbol. Throws cl::Error.
template <typename Function>
Function find_function(const Session& session, const char* name) {
  const cl::Platform platform(session.device().getInfo<CL_DEVICE_PLATFORM>());
  void* const address = clGetExtensionFunctionAddressForPlatform(platform(), name);
  if (address == nullptr) throw cl::Error(CL_INVALID_OPERATION, name);
  return reinterpret_cast<Function>(address);
}

/// Returns a queue that has the properties the device requires for command buffers.
cl::CommandQueue queue_for_command_buffers(const Session& session) {
  cl_command_queue_properties wanted = 0;
  expect_success(
      clGetDeviceInfo(session.device()(), CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR,
                      sizeof wanted, &wanted, nullptr),
      "clGetDeviceInfo");
  return {session.context(), session.device(), wanted};
}

/// Launches that are recorded once and then submitted together (cl_khr_command_buffer). The
/// functions used have the same arguments in all revisions from 0.9.0 (Debian 12's headers, PoCL
/// 3.1) to 1.0.
class CommandBuffer {
 public:
  /// Records `launches` consecutive launches of the kernel with its current arguments. Each launch
  /// has one work-item. Throws cl::Error.
  CommandBuffer(const Session& session, cl::CommandQueue queue, cl::Kernel kernel,
                std::uint64_t launches)
      : queue_(std::move(queue)),
        kernel_(std::move(kernel)),
        enqueue_(
            find_function<clEnqueueCommandBufferKHR_fn>(session, "clEnqueueCommandBufferKHR")) {
    const auto create =
        find_function<clCreateCommandBufferKHR_fn>(session, "clCreateCommandBufferKHR");
    const auto record =
        find_function<clCommandNDRangeKernelKHR_fn>(session, "clCommandNDRangeKernelKHR");
    const auto finalize =
        find_function<clFinalizeCommandBufferKHR_fn>(session, "clFinalizeCommandBufferKHR");
    const auto release =
        find_function<clReleaseCommandBufferKHR_fn>(session, "clReleaseCommandBufferKHR");
    cl_int status = CL_SUCCESS;
    cl_command_queue used = queue_();
    cl_command_buffer_khr made = create(1, &used, nullptr, &status);
    expect_success(status, "clCreateCommandBufferKHR");
    buffer_ = std::shared_ptr<void>(
        made, [release](void* buffer) { release(static_cast<cl_command_buffer_khr>(buffer)); });
    constexpr std::size_t one = 1;
    for (std::uint64_t i = 0; i < launches; ++i) {
      expect_success(record(made, nullptr, nullptr, kernel_(), 1, nullptr, &one, &one, 0, nullptr,
                            nullptr, nullptr),
                     "clCommandNDRangeKernelKHR");
    }
    expect_success(finalize(made), "clFinalizeCommandBufferKHR");
  }

  /// Submits the recorded launches without waiting. The previous submission must have ended.
  /// Throws cl::Error.
  void enqueue() const {
    expect_success(enqueue_(0, nullptr, static_cast<cl_command_buffer_khr>(buffer_.get()), 0,
                            nullptr, nullptr),
                   "clEnqueueCommandBufferKHR");
  }

 private:
  cl::CommandQueue queue_;
  cl::Kernel kernel_;
  clEnqueueCommandBufferKHR_fn enqueue_;
  std::shared_ptr<void> buffer_{};
};

/// Programs that no driver has built before. Three series share each program, since compilers are
/// slow. The first of these series measures the times of all three, and the other two use the
/// stored times.
class NewPrograms {
 public:
  NewPrograms(Session& session, cl::CommandQueue queue, cl::Buffer counter)
      : session_(session), queue_(std::move(queue)), counter_(std::move(counter)) {}

  /// Returns a time in ns, as `manner` requires. The time is that of a build or rebuild, with its
  /// first launch, or that of the first launch with a work-group of 2. This launch follows a
  /// launch with a work-group of 1.
  std::uint64_t next_time(Manner manner) {
    added_ = 0;
    std::deque<std::uint64_t>& times = times_[manner];
    if (times.empty()) measure_one();
    const std::uint64_t first = times.front();
    times.pop_front();
    return first;
  }
  /// Returns the number that launches of the last next_time() added; 0 if the time was stored.
  [[nodiscard]] cl_uint added() const { return added_; }
  /// Drops the stored times. Used after a wrong result.
  void forget() { times_.clear(); }

 private:
  void measure_one() {
    constexpr cl_uint one = 1;
    constexpr cl_uint two = 2;
    // The current time makes the number, and thus the program, unique among all runs.
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t number =
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() + ++count_;
    {
      cl::Kernel kernel;
      times_[Manner::build].push_back(host_ns_of([&] {
        kernel = build(number);
        launch(kernel, one);  // some drivers compile at the first launch
      }));
      if (session_.info().max_work_group_size >= two) {
        times_[Manner::new_local_size].push_back(host_ns_of([&] { launch(kernel, two); }));
      }
    }  // The program is released here, so that the rebuild cannot find it in memory.
    times_[Manner::build_again].push_back(host_ns_of([&] { launch(build(number), one); }));
  }

  [[nodiscard]] cl::Kernel build(std::int64_t number) const {
    const cl::Program program(session_.context(), kernel_source("launch.cl", ""));
    program.build(session_.device(), fmt::format("-DCLOCK=0 -DPROGRAM={}", number).c_str());
    cl::Kernel kernel(program, "launch_count");
    set_arguments(kernel, 0, counter_, each_adds);
    return kernel;
  }

  void launch(const cl::Kernel& kernel, cl_uint items) {
    queue_.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(items), cl::NDRange(items));
    queue_.finish();
    added_ += items * each_adds;
  }

  Session& session_;
  cl::CommandQueue queue_;
  cl::Buffer counter_;
  cl_uint added_{0};
  std::int64_t count_{0};
  std::map<Manner, std::deque<std::uint64_t>> times_{};
};

/// State that all points share while the probe runs.
struct State {
  explicit State(Session& used)
      : session(used),
        queue(used.context(), used.device()),
        counter(used.context(), CL_MEM_READ_WRITE, sizeof(cl_uint)),
        programs(used, queue, counter) {
    const cl_uint zero = 0;
    queue.enqueueWriteBuffer(counter, CL_TRUE, 0, sizeof zero, &zero);
  }

  cl_uint read_counter() const {
    cl_uint value = 0;
    queue.enqueueReadBuffer(counter, CL_TRUE, 0, sizeof value, &value);
    return value;
  }

  Session& session;
  cl::CommandQueue queue;  ///< in-order queue without profiling, which costs time in some drivers
  cl::Buffer counter;
  NewPrograms programs;
};

void enqueue(const cl::CommandQueue& queue, const cl::Kernel& kernel,
             const std::vector<cl::Event>* wait_for = nullptr, cl::Event* event = nullptr) {
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NDRange(1), wait_for,
                             event);
}

class Launches {
 public:
  Launches(std::shared_ptr<State> state, const Point& point);

  Measurement run(std::uint64_t iterations);
  /// Returns `count` times in ns, each of all launches of the shape and the wait after them.
  [[nodiscard]] std::vector<std::uint64_t> waits(std::uint64_t count);
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] KernelBuild build() const { return spec_of(0).build(state_->session); }

 private:
  void launch_all();
  void launch_one(std::uint64_t number);
  Middle device_times();
  [[nodiscard]] cl::Kernel counting(int program) const;
  [[nodiscard]] cl::CommandQueue make_queue() const;

  std::shared_ptr<State> state_;
  Shape shape_;
  cl::CommandQueue queue_;
  std::vector<cl::CommandQueue> idle_queues_{};
  std::vector<cl::Kernel> kernels_{};  ///< one kernel, or two that alternate
  std::vector<cl::Event> last_{};
  std::optional<CommandBuffer> recorded_{};
  cl_uint launched_{0};  ///< number that the launches have added to the counter
};

cl::Kernel Launches::counting(int program) const {
  const bool is_spinning = is_on_device(shape_.manner);
  const std::string name = is_spinning ? "launch_spin"
                           : shape_.arguments == 0
                               ? "launch_count"
                               : fmt::format("launch_count_{}", shape_.arguments);
  cl::Kernel kernel = spec_of(program).kernel(state_->session, name.c_str());
  set_arguments(kernel, 0, state_->counter, each_adds);
  if (is_spinning) kernel.setArg(2, cl_uint{spin_turns});
  for (cl_uint argument = 0; argument < shape_.arguments; ++argument) {
    kernel.setArg(2 + argument, of_an_argument);
  }
  return kernel;
}

cl::CommandQueue Launches::make_queue() const {
  const Session& session = state_->session;
  if (is_on_device(shape_.manner)) return session.queue();  // the session's queue has profiling
  if (shape_.manner == Manner::command_buffer) return queue_for_command_buffers(session);
  if (shape_.manner == Manner::out_of_order) {
    return {session.context(), session.device(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE};
  }
  return state_->queue;
}

Launches::Launches(std::shared_ptr<State> state, const Point& point)
    : state_(std::move(state)), shape_(shape_of<Shape>(point)), queue_(make_queue()) {
  Session& session = state_->session;
  session.use_all_cores();
  kernels_.push_back(counting(0));
  if (shape_.manner == Manner::two_programs) kernels_.push_back(counting(1));
  for (std::uint64_t i = 0; i < shape_.idle_queues; ++i) {
    idle_queues_.emplace_back(session.context(), session.device());
    // Some drivers allocate the resources of a queue at its first use.
    enqueue(idle_queues_.back(), kernels_[0]);
    idle_queues_.back().finish();
  }
  // These launches are not timed: some drivers compile at the first launch.
  for (const cl::Kernel& kernel : kernels_) enqueue(queue_, kernel);
  queue_.finish();
  if (shape_.manner == Manner::command_buffer) {
    recorded_.emplace(session, queue_, kernels_[0], shape_.launches);
    launch_all();
  }
}

void Launches::launch_one(std::uint64_t number) {
  cl::Kernel& kernel = kernels_.at(number % kernels_.size());
  switch (shape_.manner) {
    case Manner::event: {
      cl::Event event;
      enqueue(queue_, kernel, nullptr, &event);
      break;
    }
    case Manner::wait_list: {
      cl::Event event;
      enqueue(queue_, kernel, last_.empty() ? nullptr : &last_, &event);
      last_.assign(1, event);
      break;
    }
    case Manner::changed_argument: {
      const auto more = static_cast<cl_uint>(each_adds + number);
      kernel.setArg(1, more);
      enqueue(queue_, kernel);
      launched_ += more;
      return;
    }
    default:
      enqueue(queue_, kernel);
      break;
  }
  launched_ += each_adds + static_cast<cl_uint>(shape_.arguments) * of_an_argument;
}

void Launches::launch_all() {
  if (recorded_) {
    recorded_->enqueue();
    launched_ += static_cast<cl_uint>(shape_.launches) * each_adds;
  } else {
    for (std::uint64_t i = 0; i < shape_.launches; ++i) launch_one(i);
  }
  queue_.finish();
  last_.clear();
}

std::vector<std::uint64_t> Launches::waits(std::uint64_t count) {
  std::vector<std::uint64_t> times;
  times.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) times.push_back(host_ns_of([&] { launch_all(); }));
  return times;
}

/// Returns the middle half of the times from the end of each kernel to the start of the next
/// kernel, or from start to start.
Middle Launches::device_times() {
  std::array<cl::Event, spins + 1> events;
  for (cl::Event& event : events) {
    enqueue(queue_, kernels_[0], nullptr, &event);
    launched_ += each_adds;
  }
  queue_.finish();
  std::vector<std::uint64_t> times;
  for (std::size_t i = 1; i < events.size(); ++i) {
    const auto status = events.at(i).getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
    if (status < 0) throw cl::Error(status, "launch");
    const cl::Event& last = events.at(i - 1);
    const auto from = shape_.manner == Manner::start_to_start
                          ? last.getProfilingInfo<CL_PROFILING_COMMAND_START>()
                          : last.getProfilingInfo<CL_PROFILING_COMMAND_END>();
    const auto start = events.at(i).getProfilingInfo<CL_PROFILING_COMMAND_START>();
    // If a kernel starts before the previous kernel ends, the gap is 0.
    times.push_back(start > from ? start - from : 0);
  }
  Middle middle = middle_half(times);
  middle.ns = std::max<std::uint64_t>(1, middle.ns);
  return middle;
}

Measurement Launches::run(std::uint64_t iterations) {
  const cl_uint before = state_->read_counter();
  launched_ = 0;
  Measurement measurement;
  Sample& sample = measurement.sample;
  sample.accesses = 1;
  switch (shape_.manner) {
    case Manner::build:
    case Manner::build_again:
    case Manner::new_local_size:
      sample.host_ns = state_->programs.next_time(shape_.manner);
      launched_ += state_->programs.added();
      break;
    case Manner::after_idling:
      std::this_thread::sleep_for(std::chrono::milliseconds(shape_.idle_ms));
      sample.host_ns = host_ns_of([&] { launch_all(); });
      break;
    case Manner::back_to_back:
    case Manner::start_to_start: {
      Middle middle;
      sample.host_ns = host_ns_of([&] { middle = device_times(); });
      sample.event_ns = middle.ns;
      sample.accesses = middle.count;
      break;
    }
    default: {
      const Middle middle = middle_half(waits(iterations));
      sample.host_ns = middle.ns;
      sample.accesses = middle.count * shape_.launches;
      break;
    }
  }
  sample.witness = state_->read_counter();
  measurement.expected_witness = cl_uint{before + launched_};
  if (sample.witness != measurement.expected_witness) state_->programs.forget();
  return measurement;
}

/// Returns the number of waits of a sample. A sample has about a thousand launches in 3 to 64
/// waits. At least three waits keep a delay by the scheduler from changing the middle half. One
/// wait for more than 2048 launches suffices: the wait is long compared with a delay.
std::uint64_t waits_of(const Shape& shape) {
  constexpr std::uint64_t usual_launches = 1024;
  constexpr std::uint64_t thousands = 2048;
  constexpr std::uint64_t min_waits = 3;
  constexpr std::uint64_t max_waits = 64;
  if (!is_of_many(shape.manner) || shape.launches > thousands) return 1;
  return std::clamp(usual_launches / shape.launches, min_waits, max_waits);
}

/// Returns true for pauses and builds, for which one sample per visit suffices. On an H200 a build
/// takes 62 ms, and a second build in the same visit takes as long as the first.
bool takes_long(Manner manner) {
  return manner == Manner::after_idling || manner == Manner::build ||
         manner == Manner::build_again || manner == Manner::new_local_size;
}

Work prepare(const std::shared_ptr<State>& state, const Point& point) {
  const auto launches = std::make_shared<Launches>(state, point);
  const Shape& shape = launches->shape();
  Work work;
  work.accesses_per_iteration = shape.launches;
  work.iterations = waits_of(shape);
  work.max_iterations = work.iterations;
  if (takes_long(shape.manner)) work.max_samples = 1;
  if (shape.is_plain() && shape.launches == 1) {
    constexpr std::uint64_t round_trips = 1000;
    const Slow slow = slow_one_in_100(launches->waits(round_trips));
    work.facts.set(slow_ns, saturated(slow.ns));
    work.facts.set(slow_low_ns, saturated(slow.interval.low));
    work.facts.set(slow_high_ns, saturated(slow.interval.high));
  }
  work.build = launches->build();
  work.run = [launches](std::uint64_t iterations) { return launches->run(iterations); };
  return work;
}

}  // namespace

Preparer open(Session& session) {
  return [state = std::make_shared<State>(session)](const Point& point) {
    return prepare(state, point);
  };
}

std::vector<KernelVariant> builds(const DeviceInfo& /*device*/, std::uint64_t /*seed*/,
                                  const Point& point) {
  const auto shape = shape_of<Shape>(point);
  std::vector<KernelVariant> all{{spec_of(0).options, ""}};
  if (shape.manner == Manner::two_programs) all.push_back({spec_of(1).options, ""});
  return all;
}

}  // namespace clprobe::launch
