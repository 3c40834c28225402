// SPDX-License-Identifier: Apache-2.0
// Runs the case `implicit`, and checks chunks of what it stored.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "clprobe/device.hpp"
#include "probes/mixed.hpp"
#include "probes/stalls_copy.hpp"
#include "probes/stalls_kernels.hpp"
#include "probes/stalls_micro.hpp"

namespace clprobe::stalls_device {
namespace {

constexpr std::uint64_t gpu_launch_ns = 1'000'000;
constexpr std::uint64_t cpu_launch_ns = 5'000'000;
constexpr std::uint32_t checked_chunks = 3;

class Copies {
 public:
  Copies(Session& session, const Point& point)
      : session_(session),
        shape_(CopyShape::of(point)),
        options_(part_options(1, true, session.info())),
        kernel_(session.kernel(stalls_file, "stalls_copy", options_)),
        from_(stalls_data(session, shape_.words)),
        to_(session.keep<cl::Buffer>(fmt::format("stalls copies {}", shape_.words),
                                     [&] {
                                       return cl::Buffer(session.context(), CL_MEM_READ_WRITE,
                                                         shape_.words * sizeof(cl_uint));
                                     })),
        ticks_(session.keep<cl::Buffer>(fmt::format("stalls copy ticks {}", shape_.groups),
                                        [&] {
                                          return cl::Buffer(session.context(), CL_MEM_READ_WRITE,
                                                            tick_words() * sizeof(cl_ulong));
                                        })),
        launches_(session.keep<std::shared_ptr<cl_uint>>(
            "stalls copy launches", [] { return std::make_shared<cl_uint>(0); })) {
    require_group(session, kernel_, shape_.work_items);
    cl_uint index = 0;
    kernel_.setArg(index++, from_);
    kernel_.setArg(index++, to_);
    kernel_.setArg(index, cl_uint{shape_.way});
    index += 3;  // first, iterations
    kernel_.setArg(index++, cl_uint{shape_.from_mask});
    kernel_.setArg(index++, cl_uint{shape_.to_mask});
    kernel_.setArg(index++, cl_uint{shape_.steps});
    kernel_.setArg(index++, cl_uint{shape_.is_chain ? 1U : 0U});
    kernel_.setArg(index++, step_multiplier);
    addend_argument_ = index++;
    kernel_.setArg(index++, never);
    kernel_.setArg(index, ticks_);
  }

  Measurement run(std::uint64_t iterations);

 private:
  [[nodiscard]] std::size_t tick_words() const {
    return std::size(all_copy_phases) * shape_.groups;
  }
  void prove(cl_uint first, cl_uint count, cl_uint addend, Measurement& measurement);

  Session& session_;
  CopyShape shape_;
  std::string options_;
  cl::Kernel kernel_;
  cl::Buffer from_;
  cl::Buffer to_;
  cl::Buffer ticks_;
  std::shared_ptr<cl_uint> launches_;
  cl_uint addend_argument_{0};
  cl_uint next_{0};
};

/// Some of the chunks that the launch stored, others each time. What it adds is its number, so that
/// what an earlier one left behind is wrong.
void Copies::prove(cl_uint first, cl_uint count, cl_uint addend, Measurement& measurement) {
  std::vector<cl_uint> found(chunk_words);
  for (std::uint32_t k = 0; k < checked_chunks; ++k) {
    const std::uint32_t turn = first + (k == 0 ? count - 1 : mixed(addend + k) % count);
    const std::uint32_t group = mixed(addend * checked_chunks + k) % shape_.groups;
    const std::uint32_t number = turn * shape_.groups + group;
    const std::uint64_t bytes = chunk_words * sizeof(cl_uint);
    session_.queue().enqueueReadBuffer(to_, CL_TRUE, (number & shape_.to_mask) * bytes, bytes,
                                       found.data());
    const std::vector<std::uint32_t> expected = copied_chunk(shape_, number, addend);
    for (std::uint32_t at = 0; at < chunk_words; ++at) {
      measurement.sample.witness = measurement.sample.witness * 31 + found[at];
      measurement.expected_witness = measurement.expected_witness * 31 + expected[at];
    }
  }
}

Measurement Copies::run(std::uint64_t iterations) {
  const cl_uint addend = step_addend + ++*launches_;
  const auto count = static_cast<cl_uint>(iterations);
  // Goes on where the launch before ended, so that its data are in no cache.
  const cl_uint first = next_;
  next_ += count;
  kernel_.setArg(3, first);
  kernel_.setArg(4, count);
  kernel_.setArg(addend_argument_, addend);
  const LaunchTimes times =
      session_.launch(kernel_, cl::NDRange(std::uint64_t{shape_.groups} * shape_.work_items),
                      cl::NDRange(shape_.work_items));
  Measurement measurement;
  measurement.sample.accesses = iterations;
  measurement.sample.event_ns = times.event_ns;
  measurement.sample.host_ns = times.host_ns;
  if (shape_.phase >= 0) {
    std::vector<cl_ulong> ticks(tick_words());
    session_.queue().enqueueReadBuffer(ticks_, CL_TRUE, 0, ticks.size() * sizeof(cl_ulong),
                                       ticks.data());
    std::uint64_t sum = 0;
    for (std::size_t group = 0; group < shape_.groups; ++group) {
      sum += ticks[group * std::size(all_copy_phases) + static_cast<std::size_t>(shape_.phase)];
    }
    measurement.sample.ticks = sum / std::max<std::uint64_t>(shape_.groups, 1);
  }
  prove(first, count, addend, measurement);
  return measurement;
}

}  // namespace

Work prepare_copy(Session& session, const Point& point) {
  auto copies = std::make_shared<Copies>(session, point);
  copies->run(1);  // some drivers compile only now
  constexpr std::uint64_t few = 2;
  const Sample sample = copies->run(few).sample;
  const bool is_cpu = session.info().type == "cpu";
  Work work;
  work.iterations =
      std::clamp<std::uint64_t>(iterations_for(is_cpu ? cpu_launch_ns : gpu_launch_ns, few, sample),
                                few, most_iterations / 8);
  // A phase that takes no time does not take more in a longer launch.
  work.max_iterations = CopyShape::of(point).phase >= 0 ? 4 * work.iterations : most_iterations;
  work.build = session.build_of(stalls_file, part_options(1, true, session.info()));
  work.run = [copies](std::uint64_t iterations) { return copies->run(iterations); };
  return work;
}

}  // namespace clprobe::stalls_device
