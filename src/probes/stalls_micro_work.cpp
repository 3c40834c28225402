// SPDX-License-Identifier: Apache-2.0
// Runs kernels that wait for one thing, and checks what they computed.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "clprobe/device.hpp"
#include "probes/mixed.hpp"
#include "probes/stalls_kernels.hpp"
#include "probes/stalls_micro.hpp"

namespace clprobe::stalls_device {
namespace {

// Long against the start of a launch, short enough for some hundreds of points.
constexpr std::uint64_t gpu_launch_ns = 1'000'000;
constexpr std::uint64_t cpu_launch_ns = 3'000'000;
// Of which the results are computed again.
constexpr std::uint32_t checked_items = 8;

class Mixed {
 public:
  Mixed(Session& session, const Point& point)
      : session_(session),
        shape_(MicroShape::of(point)),
        kernel_(
            session.kernel(stalls_file, "stalls_mixed", part_options(0, false, session.info()))),
        data_(stalls_data(session, shape_.words)),
        out_(session.keep<cl::Buffer>(fmt::format("stalls out {}", items()),
                                      [&] {
                                        return cl::Buffer(session.context(), CL_MEM_READ_WRITE,
                                                          items() * sizeof(cl_uint));
                                      })),
        launches_(session.keep<std::shared_ptr<cl_uint>>(
            "stalls launches", [] { return std::make_shared<cl_uint>(0); })) {
    require_group(session, kernel_, shape_.work_items);
    set_arguments();
  }

  [[nodiscard]] std::uint64_t items() const {
    return std::uint64_t{shape_.groups} * shape_.work_items;
  }

  Measurement run(std::uint64_t iterations);

 private:
  void set_arguments();

  Session& session_;
  MicroShape shape_;
  cl::Kernel kernel_;
  cl::Buffer data_;
  cl::Buffer out_;
  // A launch loads other lines than those before it, which caches may still hold.
  std::shared_ptr<cl_uint> launches_;
};

void Mixed::set_arguments() {
  kernel_.setArg(0, data_);
  cl_uint index = 3;
  const auto flag = [](bool value) { return value ? 1U : 0U; };
  for (const cl_uint value :
       {shape_.workers, shape_.far_loads, shape_.far_mask, flag(shape_.is_chase), shape_.near_loads,
        shape_.near_mask, shape_.tile_loads, shape_.tile_stride, shape_.chain_steps,
        flag(shape_.is_chain), shape_.turn_steps, shape_.turn_shift, shape_.turn_mask,
        flag(shape_.has_barrier), shape_.noise_kind, shape_.noise, shape_.noise_mask,
        step_multiplier, step_addend}) {
    kernel_.setArg(index++, value);
  }
  kernel_.setArg(index, out_);
}

Measurement Mixed::run(std::uint64_t iterations) {
  const cl_uint launch = ++*launches_;
  const auto count = static_cast<cl_uint>(iterations);
  kernel_.setArg(1, launch);
  kernel_.setArg(2, count);
  const LaunchTimes times =
      session_.launch(kernel_, cl::NDRange(items()), cl::NDRange(shape_.work_items));
  std::vector<cl_uint> out(items());
  session_.queue().enqueueReadBuffer(out_, CL_TRUE, 0, out.size() * sizeof(cl_uint), out.data());
  Measurement measurement;
  measurement.sample.accesses = iterations;
  measurement.sample.event_ns = times.event_ns;
  measurement.sample.host_ns = times.host_ns;
  // Others in each launch, and of noise makers as many as of workers.
  for (std::uint32_t k = 0; k < checked_items; ++k) {
    const std::uint32_t group = mixed(launch + k) % shape_.groups;
    std::uint32_t item = mixed(launch * checked_items + k) % shape_.work_items;
    if (k == 0) item = shape_.work_items - 1;
    const std::uint64_t at = std::uint64_t{group} * shape_.work_items + item;
    measurement.sample.witness = measurement.sample.witness * 31 + out[at];
    measurement.expected_witness =
        measurement.expected_witness * 31 + micro_result(shape_, launch, count, group, item);
  }
  return measurement;
}

}  // namespace

cl::Buffer stalls_data(Session& session, std::uint64_t words) {
  struct Kept {
    cl::Buffer buffer{};
    std::uint64_t words{0};
  };
  Kept& kept = session.keep<Kept>("stalls data", [] { return Kept{}; });
  if (kept.words >= words) return kept.buffer;
  kept.buffer = cl::Buffer();
  kept.buffer = cl::Buffer(session.context(), CL_MEM_READ_WRITE, words * sizeof(cl_uint));
  kept.words = words;
  cl::Kernel fill =
      session.kernel(stalls_file, "stalls_fill", part_options(0, false, session.info()));
  fill.setArg(0, kept.buffer);
  session.launch(fill, cl::NDRange(words), cl::NullRange);
  return kept.buffer;
}

Work prepare_micro(Session& session, const Point& point) {
  auto mixed_kernel = std::make_shared<Mixed>(session, point);
  mixed_kernel->run(1);  // some drivers compile only now
  constexpr std::uint64_t few = 4;
  const Sample sample = mixed_kernel->run(few).sample;
  const bool is_cpu = session.info().type == "cpu";
  Work work;
  work.iterations =
      std::clamp<std::uint64_t>(iterations_for(is_cpu ? cpu_launch_ns : gpu_launch_ns, few, sample),
                                few, most_iterations / 8);
  work.max_iterations = most_iterations;
  work.build = session.build_of(stalls_file, part_options(0, false, session.info()));
  work.run = [mixed_kernel](std::uint64_t iterations) { return mixed_kernel->run(iterations); };
  return work;
}

}  // namespace clprobe::stalls_device
