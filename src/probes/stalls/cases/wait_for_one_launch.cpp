// SPDX-License-Identifier: Apache-2.0
// Runs kernels that wait for one thing, and checks what they computed.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "clprobe/device.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/mixed.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/cases/wait_for_one.hpp"
#include "probes/stalls/launch.hpp"
#include "probes/stalls/stamps.hpp"
#include "probes/stalls/twin.hpp"

namespace clprobe::stalls::wait_for_one {
namespace {

constexpr std::uint64_t cpu_launch_ns = 3'000'000;
constexpr std::uint64_t few_iterations = 4;
// Of which the results are computed again, others in each launch: the host takes as long for a few
// as the device for all of them.
constexpr std::uint32_t checked_items = 2;

class Mixed {
 public:
  Mixed(const Mix& mix, Shared& shared, const Point& point)
      : shared_(shared),
        arguments_(Arguments::of(mix, point)),
        parts_of_group_(shape_of<Shape>(point).parts_of_group()),
        phase_(phase_of(point)),
        has_stamps_(has_stamps(point)),
        kernel_(shared.session.kernel(kernel_file, "stalls_mixed",
                                      options_of(shared.session.info(), point))) {
    require_group(shared.session, kernel_, arguments_.work_items);
    const Memory memory = memory_of(point);
    data_ = shared.filled_data(memory.data);
    out_ = shared.held(&Shared::results, memory.results);
    if (has_stamps_) stamps_ = shared.held(&Shared::stamps, memory.stamps);
    set_arguments();
  }

  Measurement run(std::uint64_t iterations);

 private:
  [[nodiscard]] std::uint64_t items() const {
    return std::uint64_t{arguments_.groups} * arguments_.work_items;
  }
  [[nodiscard]] const DeviceInfo& device() const { return shared_.session.info(); }
  [[nodiscard]] std::uint64_t ticks() const;
  void set_arguments();
  void prove(cl_uint launch, cl_uint count, Measurement& measurement) const;

  Shared& shared_;
  Arguments arguments_;
  std::size_t parts_of_group_;
  std::string phase_;
  bool has_stamps_;
  cl::Kernel kernel_;
  cl::Buffer data_{};
  cl::Buffer out_{};
  cl::Buffer stamps_{};
};

void Mixed::set_arguments() {
  kernel_.setArg(0, data_);
  cl_uint index = 3;
  const auto flag = [](bool value) { return value ? 1U : 0U; };
  for (const cl_uint value :
       {arguments_.workers, arguments_.far_loads, arguments_.far_mask, flag(arguments_.is_chase),
        arguments_.near_loads, arguments_.near_mask, arguments_.tile_loads, arguments_.tile_stride,
        arguments_.chain_steps, flag(arguments_.is_chain), arguments_.turn_steps,
        arguments_.turn_shift, arguments_.turn_mask, flag(arguments_.has_barrier),
        arguments_.noise.kind, arguments_.noise.amount, arguments_.noise.mask, step_multiplier,
        step_addend}) {
    kernel_.setArg(index++, value);
  }
  kernel_.setArg(index++, out_);
  if (!has_stamps_) return;
  kernel_.setArg(index++, never);
  kernel_.setArg(index, stamps_);
}

/// Of the phase, or of the middle group. On a CPU a group is one part: its work-items come one
/// after another.
std::uint64_t Mixed::ticks() const {
  std::vector<Stamp> stamps(arguments_.groups * parts_of_group_);
  shared_.session.queue().enqueueReadBuffer(stamps_, CL_TRUE, 0, stamps.size() * sizeof(Stamp),
                                            stamps.data());
  std::size_t of_group = parts_of_group_;
  if (runs_items_in_turn(device())) {
    for (std::size_t group = 0; group < arguments_.groups; ++group) {
      stamps[group] = as_one(std::span(stamps).subspan(group * of_group, of_group));
    }
    stamps.resize(arguments_.groups);
    of_group = 1;
  }
  if (phase_.empty()) return static_cast<std::uint64_t>(std::llround(ticks_of_middle(stamps)));
  const bool is_shared = has_shared_clock(device());
  const double scale = is_of_ends(phase_) ? ticks_of_shared(device()) : 1.0;
  return static_cast<std::uint64_t>(
      std::llround(scale * phase_ticks(phase_, stamps, of_group, is_shared)));
}

/// Others in each launch, and of noise makers as many as of workers.
void Mixed::prove(cl_uint launch, cl_uint count, Measurement& measurement) const {
  for (std::uint32_t k = 0; k < checked_items; ++k) {
    const std::uint32_t group = mixed(launch + k) % arguments_.groups;
    std::uint32_t item = mixed(launch * checked_items + k) % arguments_.work_items;
    if (k == 0) item = arguments_.work_items - 1;
    const std::uint64_t at = std::uint64_t{group} * arguments_.work_items + item;
    measurement.sample.witness =
        measurement.sample.witness * 31 + word_at(shared_.session, out_, at);
    measurement.expected_witness =
        measurement.expected_witness * 31 + result_of(arguments_, launch, count, group, item);
  }
}

Measurement Mixed::run(std::uint64_t iterations) {
  // Loads other lines than the launches before, which caches may still hold.
  const cl_uint launch = ++shared_.last_launch;
  const auto count = static_cast<cl_uint>(iterations);
  kernel_.setArg(1, launch);
  kernel_.setArg(2, count);
  const LaunchTimes times =
      shared_.session.launch(kernel_, cl::NDRange(items()), cl::NDRange(arguments_.work_items));
  Measurement measurement;
  measurement.sample.accesses = iterations;
  measurement.sample.event_ns = times.event_ns;
  measurement.sample.host_ns = times.host_ns;
  if (has_stamps_) measurement.sample.ticks = ticks();
  prove(launch, count, measurement);
  return measurement;
}

}  // namespace

std::string options_of(const DeviceInfo& device, const Point& point) {
  if (!has_stamps(point)) return part_options(0, false, device);
  const std::string_view stamps = runs_items_in_turn(device) ? with_ends : with_stamps;
  return part_options(0, true, device) + std::string(stamps);
}

Work prepare(const Mix& mix, Shared& shared, const Point& point) {
  const auto kernel = std::make_shared<Mixed>(mix, shared, point);
  const LaunchSize size{.few = few_iterations,
                        .max = turns_of(mix, shared.session.info(), point).iterations,
                        .cpu_launch_ns = cpu_launch_ns,
                        .is_phase = !phase_of(point).empty(),
                        .options = options_of(shared.session.info(), point)};
  return work_of(shared, size, [kernel](std::uint64_t count) { return kernel->run(count); });
}

}  // namespace clprobe::stalls::wait_for_one
