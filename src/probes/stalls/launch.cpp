// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "probes/stalls/case.hpp"

namespace clprobe::stalls {
namespace {

// Target time of a launch on a GPU. The time is long compared with the start of a launch, and short
// enough for hundreds of points.
constexpr std::uint64_t gpu_launch_ns = 300'000;

}  // namespace

std::string part_options(int part, bool has_clock, const DeviceInfo& device) {
  const bool is_without = has_clock && runs_items_in_turn(device);
  return fmt::format("-DPART={}{}", part, is_without ? clock_without_asm : "");
}

void require_group(const Session& session, const cl::Kernel& kernel, std::uint64_t work_items) {
  const auto max_items = kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(session.device());
  if (work_items <= max_items) return;
  throw Unsupported(fmt::format(
      "the driver runs this kernel with at most {} work-items per work-group", max_items));
}

cl_uint word_at(const Session& session, const cl::Buffer& words, std::uint64_t index) {
  cl_uint word = 0;
  session.queue().enqueueReadBuffer(words, CL_TRUE, index * sizeof word, sizeof word, &word);
  return word;
}

const cl::Buffer& Shared::filled_data(std::uint64_t bytes) {
  const cl::Buffer& array = data.at_least(session, bytes);
  if (bytes <= filled_bytes) return array;
  cl::Kernel fill =
      session.kernel(kernel_file, "stalls_fill", part_options(0, false, session.info()));
  fill.setArg(0, array);
  session.launch(fill, cl::NDRange(bytes / sizeof(cl_uint)), cl::NullRange);
  filled_bytes = bytes;
  return array;
}

void Shared::launch_first(const std::string& options, const std::function<void()>& launch) {
  if (launched.insert(options).second || runs_items_in_turn(session.info())) launch();
}

Work work_of(Shared& shared, const LaunchPlan& plan,
             std::function<Measurement(std::uint64_t)> run) {
  Session& session = shared.session;
  shared.launch_first(plan.options, [&] { run(1); });
  const bool is_cpu = runs_items_in_turn(session.info());
  const Length length{.target_ns = is_cpu ? plan.cpu_launch_ns : gpu_launch_ns,
                      .few = std::min(plan.few, plan.max),
                      .most = plan.max / 8,
                      .begins_cold = !is_cpu};
  Work work;
  work.iterations =
      fitting_iterations(length, [&](std::uint64_t count) { return run(count).sample; });
  work.max_iterations = plan.is_phase ? std::min(4 * work.iterations, plan.max) : plan.max;
  work.build = session.build_of(kernel_file, plan.options);
  work.run = std::move(run);
  return work;
}

}  // namespace clprobe::stalls
