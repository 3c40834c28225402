// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "clprobe/device.hpp"
#include "clprobe/embedded.hpp"
#include "clprobe/statistics.hpp"
#include "probes/launch/series.hpp"

namespace clprobe::launch {
namespace {

constexpr const char* file = "launch.cl";
// An odd number: so many launches as a counter of 32 bits has values leave it as it was.
constexpr cl_uint each_adds = 0x9e3779b1;
constexpr cl_uint of_an_argument = 3;
/// Launches of kernels that go on for a while, in one sample.
constexpr std::uint64_t spins = 32;

std::string build_options(int program) { return fmt::format("-DPROGRAM={}", program); }

cl_int status_of(const cl::Event& event) {
  return event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
}

template <typename Action>
std::uint64_t ns_of(const Action& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  const auto took = std::chrono::steady_clock::now() - begin;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
}

/// What all points share while the probe runs.
struct State {
  explicit State(Session& used)
      : session(used),
        queue(used.context(), used.device()),
        counter(used.context(), CL_MEM_READ_WRITE, sizeof(cl_uint)) {
    const cl_uint zero = 0;
    queue.enqueueWriteBuffer(counter, CL_TRUE, 0, sizeof zero, &zero);
  }

  cl_uint read_counter() const {
    cl_uint value = 0;
    queue.enqueueReadBuffer(counter, CL_TRUE, 0, sizeof value, &value);
    return value;
  }

  Session& session;
  cl::CommandQueue queue;  // in order, and without profiling, which some drivers pay for
  cl::Buffer counter;
  std::uint64_t programs_built{0};
};

void enqueue(const cl::CommandQueue& queue, const cl::Kernel& kernel,
             const std::vector<cl::Event>* wait_for = nullptr, cl::Event* event = nullptr) {
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NDRange(1), wait_for,
                             event);
}

/// Launches as a point wants them.
class Launches {
 public:
  Launches(std::shared_ptr<State> state, const Point& point);

  Measurement run(std::uint64_t iterations);
  /// Round trips one by one.
  [[nodiscard]] std::vector<double> round_trips(std::size_t count);
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] KernelBuild build() const {
    return state_->session.build_of(file, build_options(0));
  }

 private:
  void launch_all(std::uint64_t count);
  void launch_one(std::uint64_t number);
  std::uint64_t gaps();
  std::uint64_t build_time();
  cl::Kernel counting(int program) const;

  std::shared_ptr<State> state_;
  Shape shape_;
  cl::CommandQueue queue_;
  std::vector<cl::CommandQueue> idle_queues_{};
  std::array<cl::Kernel, 2> kernels_{};
  std::vector<cl::Event> last_{};
  cl_uint launched_{0};  // what they have added to the counter
};

cl::Kernel Launches::counting(int program) const {
  const bool is_spinning = shape_.manner == Manner::back_to_back;
  const std::string name = is_spinning ? "launch_spin"
                           : shape_.arguments == 0
                               ? "launch_count"
                               : fmt::format("launch_count_{}", shape_.arguments);
  cl::Kernel kernel = state_->session.kernel(file, name.c_str(), build_options(program));
  kernel.setArg(0, state_->counter);
  kernel.setArg(1, each_adds);
  if (is_spinning) kernel.setArg(2, cl_uint{spin_turns});
  for (cl_uint argument = 0; argument < shape_.arguments; ++argument) {
    kernel.setArg(2 + argument, of_an_argument);
  }
  return kernel;
}

Launches::Launches(std::shared_ptr<State> state, const Point& point)
    : state_(std::move(state)), shape_(shape_of<Shape>(point)), queue_(state_->queue) {
  Session& session = state_->session;
  session.use_all_cores();
  if (shape_.manner == Manner::out_of_order) {
    queue_ = cl::CommandQueue(session.context(), session.device(),
                              CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  } else if (shape_.manner == Manner::back_to_back) {
    queue_ = session.queue();  // with profiling
  }
  kernels_ = {counting(0), shape_.manner == Manner::two_programs ? counting(1) : counting(0)};
  for (std::uint64_t i = 0; i < shape_.idle_queues; ++i) {
    idle_queues_.emplace_back(session.context(), session.device());
    // Drivers give a queue what it needs when it is first used.
    enqueue(idle_queues_.back(), kernels_[0]);
    idle_queues_.back().finish();
  }
  // Some drivers compile only now.
  for (const cl::Kernel& kernel : kernels_) enqueue(queue_, kernel);
  queue_.finish();
}

void Launches::launch_one(std::uint64_t number) {
  cl::Kernel& kernel = kernels_[number % kernels_.size()];
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

void Launches::launch_all(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) launch_one(i);
  queue_.finish();
  last_.clear();
}

std::vector<double> Launches::round_trips(std::size_t count) {
  std::vector<double> times;
  times.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    times.push_back(static_cast<double>(ns_of([&] { launch_all(1); })));
  }
  return times;
}

/// From the end of each kernel to the start of the next one, together.
std::uint64_t Launches::gaps() {
  std::array<cl::Event, spins + 1> events;
  for (cl::Event& event : events) {
    enqueue(queue_, kernels_[0], nullptr, &event);
    launched_ += each_adds;
  }
  queue_.finish();
  std::uint64_t all = 0;
  for (std::size_t i = 1; i < events.size(); ++i) {
    if (const cl_int status = status_of(events[i]); status < 0) throw cl::Error(status, "launch");
    const auto end = events[i - 1].getProfilingInfo<CL_PROFILING_COMMAND_END>();
    const auto start = events[i].getProfilingInfo<CL_PROFILING_COMMAND_START>();
    if (start > end) all += start - end;
  }
  return std::max<std::uint64_t>(1, all);
}

/// Of a program with its first launch, since some drivers compile only then. A new one has a text
/// that no driver has seen, one that is built again has that of the new one before.
std::uint64_t Launches::build_time() {
  const Session& session = state_->session;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const std::string name = fmt::format("-DPROGRAM={}{:03}", now, ++state_->programs_built % 1000);
  const auto build = [&] {
    cl::Program program(session.context(), kernel_source(file, ""));
    program.build(session.device(), fmt::format("-DCLOCK=0 {}", name).c_str());
    cl::Kernel kernel(program, "launch_count");
    kernel.setArg(0, state_->counter);
    kernel.setArg(1, each_adds);
    enqueue(queue_, kernel);
    queue_.finish();
    launched_ += each_adds;
  };
  const std::uint64_t first = ns_of(build);
  return shape_.manner == Manner::build ? first : ns_of(build);
}

Measurement Launches::run(std::uint64_t iterations) {
  const cl_uint before = state_->read_counter();
  launched_ = 0;
  Measurement measurement;
  measurement.sample.accesses = iterations * shape_.launches;
  switch (shape_.manner) {
    case Manner::build:
    case Manner::build_again:
      measurement.sample.host_ns = build_time();
      break;
    case Manner::after_idling:
      std::this_thread::sleep_for(std::chrono::milliseconds(shape_.idle_ms));
      measurement.sample.host_ns = ns_of([&] { launch_all(1); });
      break;
    case Manner::back_to_back: {
      std::uint64_t between = 0;
      measurement.sample.host_ns = ns_of([&] { between = gaps(); });
      measurement.sample.event_ns = between;
      measurement.sample.accesses = spins;
      break;
    }
    default:
      measurement.sample.host_ns = ns_of([&] {
        for (std::uint64_t i = 0; i < iterations; ++i) launch_all(shape_.launches);
      });
      break;
  }
  measurement.sample.witness = state_->read_counter();
  measurement.expected_witness = cl_uint{before + launched_};
  return measurement;
}

Work prepare(const std::shared_ptr<State>& state, const Point& point) {
  const auto launches = std::make_shared<Launches>(state, point);
  const Shape& shape = launches->shape();
  const bool is_one_by_one = is_by_count(shape.manner) && shape.launches == 1;
  Work work;
  work.accesses_per_iteration = shape.launches;
  if (is_by_count(shape.manner)) {
    constexpr std::uint64_t usual_launches = 64;
    work.iterations = std::max<std::uint64_t>(1, usual_launches / shape.launches);
  } else {
    work.max_iterations = 1;
  }
  if (is_one_by_one && point.series == queued_series) {
    constexpr std::size_t round_trips = 1000;
    const std::vector<double> times = launches->round_trips(round_trips);
    work.facts.set(middle_ns, saturated(median(times)));
    work.facts.set(slow_ns, saturated(quantile(times, 0.99)));
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

std::vector<KernelVariant> variants() { return {{build_options(0), ""}, {build_options(1), ""}}; }

std::vector<KernelVariant> builds(const DeviceInfo& /*device*/, std::uint64_t /*seed*/,
                                  const Point& point) {
  const auto shape = shape_of<Shape>(point);
  std::vector<KernelVariant> all{{build_options(0), ""}};
  if (shape.manner == Manner::two_programs) all.push_back({build_options(1), ""});
  return all;
}

std::vector<KernelLoops> loops(const DeviceInfo& /*device*/, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  if (shape.manner == Manner::back_to_back) return {{"launch_spin", spin_turns}};
  if (shape.arguments != 0) {
    constexpr std::array names{"launch_count_4", "launch_count_16", "launch_count_64"};
    return {{names.at(shape.arguments == 4 ? 0 : shape.arguments == 16 ? 1 : 2), 0}};
  }
  return {{"launch_count", 0}};
}

}  // namespace clprobe::launch
