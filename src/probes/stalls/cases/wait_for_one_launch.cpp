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
#include "probes/stalls/case.hpp"
#include "probes/stalls/cases/wait_for_one.hpp"
#include "probes/stalls/launch.hpp"
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
        is_structural_(mix.structural.is_used()),
        kernel_(shared.session.kernel(kernel_file, "stalls_mixed",
                                      options_of(mix, shared.session.info(), point))) {
    require_group(shared.session, kernel_, arguments_.work_items);
    const Memory memory = memory_of(mix, point);
    data_ = shared.filled_data(memory.data);
    out_ = shared.held(&Shared::results, memory.results);
    if (memory.copies != 0) stored_ = shared.held(&Shared::copies, memory.copies);
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
  cl_uint set_structural(cl_uint index);
  void prove(cl_uint launch, cl_uint count, Measurement& measurement) const;
  void prove_store(cl_uint launch, cl_uint count, Measurement& measurement) const;

  Shared& shared_;
  Arguments arguments_;
  std::size_t parts_of_group_;
  std::string phase_;
  bool has_stamps_;
  bool is_structural_;
  cl::Kernel kernel_;
  cl::Buffer data_{};
  cl::Buffer out_{};
  cl::Buffer stamps_{};
  cl::Buffer stored_{};  ///< none where nothing is stored but results
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
  if (is_structural_) index = set_structural(index);
  kernel_.setArg(index++, out_);
  if (!has_stamps_) return;
  kernel_.setArg(index++, never);
  kernel_.setArg(index, stamps_);
}

/// From the index on. The next one.
cl_uint Mixed::set_structural(cl_uint index) {
  const structural::Arguments& own = arguments_.structural;
  const auto flag = [](bool value) { return value ? 1U : 0U; };
  for (const cl_uint value :
       {own.loads, own.load_mask, own.lane_stride, own.turn_stride, own.stores, own.row_blocks,
        own.store_mask, own.gate, flag(own.has_fence), own.functions, flag(own.is_special)}) {
    kernel_.setArg(index++, value);
  }
  kernel_.setArg(index++, structural::halving);
  kernel_.setArg(index++, own.function_scale());
  kernel_.setArg(index++, stored_.get() == nullptr ? out_ : stored_);
  return index;
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

/// A word of the launch's stores, another in each launch; where none is made, that it is not there.
void Mixed::prove_store(cl_uint launch, cl_uint count, Measurement& measurement) const {
  const structural::Arguments& own = arguments_.structural;
  const std::uint32_t any = mixed(launch ^ step_addend);
  const std::uint32_t group = any % arguments_.groups;
  const std::uint32_t item = (any >> 8U) % arguments_.workers;
  const structural::Store store{.row = (group * arguments_.work_items + item) / line_words,
                                .lane = item % line_words,
                                .iteration = mixed(any) % count,
                                .turn = (any >> 16U) % (4 * own.stores)};
  const std::uint32_t place = place_of(own, store);
  const std::uint32_t expected = structural::stored_word(place, launch);
  const std::uint32_t found = word_at(shared_.session, stored_, place);
  const bool is_stored = own.gate == 0;
  measurement.sample.witness = measurement.sample.witness * 31 +
                               (is_stored ? found : static_cast<cl_uint>(found == expected));
  measurement.expected_witness = measurement.expected_witness * 31 + (is_stored ? expected : 0);
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
  if (arguments_.structural.stores != 0) prove_store(launch, count, measurement);
  return measurement;
}

/// Throws Unsupported where the device has no fence behind which all of it sees stores, and
/// cl::Error. OpenCL 3.0 need not have what 2.0 had.
void require_fence(const Session& session) {
  const std::string problem = structural::find_fence_problem(session.info());
  if (!problem.empty()) throw Unsupported(problem);
  if (!session.info().version.starts_with("OpenCL 3") || session.info().isa == "nvptx") return;
  constexpr cl_device_atomic_capabilities needed =
      CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_DEVICE;
  const auto has = session.device().getInfo<CL_DEVICE_ATOMIC_FENCE_CAPABILITIES>();
  if ((has & needed) == needed) return;
  throw Unsupported("the device reports no fence with release order and device scope");
}

}  // namespace

std::string options_of(const Mix& mix, const DeviceInfo& device, const Point& point) {
  const std::string structural = structural::option_of(mix.structural, device);
  if (!has_stamps(point)) return part_options(0, false, device) + structural;
  const std::string_view stamps = runs_items_in_turn(device) ? with_ends : with_stamps;
  return part_options(0, true, device) + std::string(stamps) + structural;
}

Work prepare(const Mix& mix, Shared& shared, const Point& point) {
  if (mix.structural.has_fence) require_fence(shared.session);
  const auto kernel = std::make_shared<Mixed>(mix, shared, point);
  const LaunchSize size{.few = few_iterations,
                        .max = most_iterations(mix, shared.session.info(), point),
                        .cpu_launch_ns = cpu_launch_ns,
                        .is_phase = !phase_of(point).empty(),
                        .options = options_of(mix, shared.session.info(), point)};
  return work_of(shared, size, [kernel](std::uint64_t count) { return kernel->run(count); });
}

}  // namespace clprobe::stalls::wait_for_one
