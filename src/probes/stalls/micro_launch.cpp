// SPDX-License-Identifier: Apache-2.0
// Runs kernels that wait for one thing, and checks what they computed.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "clprobe/device.hpp"
#include "probes/shared/kept_buffer.hpp"
#include "probes/shared/mixed.hpp"
#include "probes/stalls/kernels.hpp"
#include "probes/stalls/micro.hpp"
#include "probes/stalls/stamps.hpp"

namespace clprobe::stalls {
namespace {

constexpr std::uint64_t cpu_launch_ns = 3'000'000;
constexpr std::uint64_t few_iterations = 4;
// Of which the results are computed again.
constexpr std::uint32_t checked_items = 8;

std::string options_of(const Point& point, const DeviceInfo& device) {
  if (point.parameters.text_or("phase", "").empty()) return part_options(0, false, device);
  return part_options(0, true, device) + std::string(with_stamps);
}

class Mixed {
 public:
  Mixed(Session& session, const Point& point)
      : session_(session),
        shape_(MicroShape::of(point)),
        phase_(point.parameters.text_or("phase", "")),
        kernel_(session.kernel(stalls_file, "stalls_mixed", options_of(point, session.info()))),
        data_(stalls_data(session, shape_.words)),
        out_(kept_buffer(session, "stalls out", items() * sizeof(cl_uint))),
        launches_(session, "stalls launches") {
    require_group(session, kernel_, shape_.work_items);
    if (!phase_.empty()) stamps_ = kept_buffer(session, "stalls stamps", parts() * sizeof(Stamp));
    set_arguments();
  }

  Measurement run(std::uint64_t iterations);

 private:
  [[nodiscard]] std::uint64_t items() const {
    return std::uint64_t{shape_.groups} * shape_.work_items;
  }
  [[nodiscard]] std::uint64_t parts_of_group() const {
    return (shape_.work_items + line_words - 1) / line_words;
  }
  [[nodiscard]] std::uint64_t parts() const { return shape_.groups * parts_of_group(); }
  [[nodiscard]] std::uint64_t ticks() const;
  void set_arguments();
  void prove(cl_uint launch, cl_uint count, Measurement& measurement) const;

  Session& session_;
  MicroShape shape_;
  std::string phase_;
  cl::Kernel kernel_;
  cl::Buffer data_;
  cl::Buffer out_;
  cl::Buffer stamps_{};
  // A launch loads other lines than those before it, which caches may still hold.
  LaunchNumbers launches_;
};

void Mixed::set_arguments() {
  kernel_.setArg(0, data_);
  cl_uint index = 3;
  const auto flag = [](bool value) { return value ? 1U : 0U; };
  for (const cl_uint value :
       {shape_.workers, shape_.far_loads, shape_.far_mask, flag(shape_.is_chase), shape_.near_loads,
        shape_.near_mask, shape_.tile_loads, shape_.tile_stride, shape_.chain_steps,
        flag(shape_.is_chain), shape_.turn_steps, shape_.turn_shift, shape_.turn_mask,
        flag(shape_.has_barrier), shape_.noise.kind, shape_.noise.amount, shape_.noise.mask,
        step_multiplier, step_addend}) {
    kernel_.setArg(index++, value);
  }
  kernel_.setArg(index++, out_);
  if (phase_.empty()) return;
  kernel_.setArg(index++, never);
  kernel_.setArg(index, stamps_);
}

/// Of the phase. On a processor a group is one part: its work-items come one after another.
std::uint64_t Mixed::ticks() const {
  std::vector<Stamp> stamps(parts());
  session_.queue().enqueueReadBuffer(stamps_, CL_TRUE, 0, stamps.size() * sizeof(Stamp),
                                     stamps.data());
  std::size_t of_group = parts_of_group();
  if (runs_items_in_turn(session_.info())) {
    for (std::size_t group = 0; group < shape_.groups; ++group) {
      stamps[group] = as_one(std::span(stamps).subspan(group * of_group, of_group));
    }
    stamps.resize(shape_.groups);
    of_group = 1;
  }
  const bool is_shared = has_shared_clock(session_.info());
  const bool is_by_shared = phase_ == phase_tail || phase_ == phase_span;
  const double scale = is_by_shared ? ticks_of_shared(session_.info()) : 1.0;
  return static_cast<std::uint64_t>(
      std::llround(scale * phase_ticks(phase_, stamps, of_group, is_shared)));
}

/// Others in each launch, and of noise makers as many as of workers.
void Mixed::prove(cl_uint launch, cl_uint count, Measurement& measurement) const {
  std::vector<cl_uint> out(items());
  session_.queue().enqueueReadBuffer(out_, CL_TRUE, 0, out.size() * sizeof(cl_uint), out.data());
  for (std::uint32_t k = 0; k < checked_items; ++k) {
    const std::uint32_t group = mixed(launch + k) % shape_.groups;
    std::uint32_t item = mixed(launch * checked_items + k) % shape_.work_items;
    if (k == 0) item = shape_.work_items - 1;
    const std::uint64_t at = std::uint64_t{group} * shape_.work_items + item;
    measurement.sample.witness = measurement.sample.witness * 31 + out[at];
    measurement.expected_witness =
        measurement.expected_witness * 31 + micro_result(shape_, launch, count, group, item);
  }
}

Measurement Mixed::run(std::uint64_t iterations) {
  const cl_uint launch = launches_.next();
  const auto count = static_cast<cl_uint>(iterations);
  kernel_.setArg(1, launch);
  kernel_.setArg(2, count);
  const LaunchTimes times =
      session_.launch(kernel_, cl::NDRange(items()), cl::NDRange(shape_.work_items));
  Measurement measurement;
  measurement.sample.accesses = iterations;
  measurement.sample.event_ns = times.event_ns;
  measurement.sample.host_ns = times.host_ns;
  if (!phase_.empty()) measurement.sample.ticks = ticks();
  prove(launch, count, measurement);
  return measurement;
}

}  // namespace

Work prepare_micro(Session& session, const Point& point) {
  const auto kernel = std::make_shared<Mixed>(session, point);
  const LaunchSize size{.few = few_iterations,
                        .cpu_launch_ns = cpu_launch_ns,
                        .is_phase = !point.parameters.text_or("phase", "").empty(),
                        .options = options_of(point, session.info())};
  return work_of(session, size, [kernel](std::uint64_t count) { return kernel->run(count); });
}

}  // namespace clprobe::stalls
