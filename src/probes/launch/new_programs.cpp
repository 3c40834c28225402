// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/new_programs.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "clprobe/embedded.hpp"
#include "probes/shared/host_time.hpp"

namespace clprobe::launch {

NewPrograms::NewPrograms(Session& session, cl::CommandQueue queue, cl::Buffer counter,
                         cl_uint each_adds)
    : session_(session),
      queue_(std::move(queue)),
      counter_(std::move(counter)),
      each_adds_(each_adds) {}

std::uint64_t NewPrograms::next_time(Manner manner) {
  added_ = 0;
  if (times_[manner].empty()) measure_one();
  std::deque<std::uint64_t>& times = times_.at(manner);
  const std::uint64_t first = times.front();
  times.pop_front();
  return first;
}

void NewPrograms::measure_one() {
  constexpr cl_uint one = 1;
  constexpr cl_uint two = 2;
  const std::int64_t number = new_number();
  {
    cl::Kernel kernel;
    times_[Manner::build].push_back(host_ns_of([&] {
      kernel = build(number);
      launch(kernel, one);  // some drivers compile only then
    }));
    if (session_.info().max_work_group_size >= two) {
      times_[Manner::new_local_size].push_back(host_ns_of([&] { launch(kernel, two); }));
    }
  }  // The driver must not find the program where it still is.
  times_[Manner::build_again].push_back(host_ns_of([&] { launch(build(number), one); }));
}

/// A number that no program of any run had.
std::int64_t NewPrograms::new_number() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() + ++count_;
}

/// The kernel that counts, of the program of that number.
cl::Kernel NewPrograms::build(std::int64_t number) const {
  const cl::Program program(session_.context(), kernel_source("launch.cl", ""));
  program.build(session_.device(), fmt::format("-DCLOCK=0 -DPROGRAM={}", number).c_str());
  cl::Kernel kernel(program, "launch_count");
  kernel.setArg(0, counter_);
  kernel.setArg(1, each_adds_);
  return kernel;
}

/// One work-group of so many work-items, waited for.
void NewPrograms::launch(const cl::Kernel& kernel, cl_uint items) {
  queue_.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(items), cl::NDRange(items));
  queue_.finish();
  added_ += items * each_adds_;
}

}  // namespace clprobe::launch
