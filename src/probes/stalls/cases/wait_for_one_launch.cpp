// SPDX-License-Identifier: Apache-2.0
// Launches of the kernels that wait for one cause, with checks of their results.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>

#include "probes/shared/fields.hpp"
#include "probes/shared/opencl.hpp"
#include "probes/shared/permutation.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/case.hpp"
#include "probes/stalls/cases/wait_for_one.hpp"
#include "probes/stalls/launch.hpp"

namespace clprobe::stalls::wait_for_one {
namespace {

constexpr std::uint64_t cpu_launch_ns = 3'000'000;
constexpr std::uint64_t few_iterations = 4;
// Number of work-items whose results the host recomputes. Each launch checks different work-items.
// The number is small: the host takes as long for two work-items as the device for all.
constexpr std::uint32_t checked_items = 2;

class Mixed {
 public:
  Mixed(const Mix& mix, Shared& shared, const Point& point)
      : shared_(shared),
        arguments_(Arguments::of(mix, point)),
        phase_(phase_of(point)),
        has_stamps_(has_stamps(point)),
        kernel_(shared.session.kernel(kernel_file, "stalls_mixed",
                                      options_of(mix, shared.session.info(), point))) {
    require_group(shared.session, kernel_, arguments_.shape.work_items);
    const Memory memory = memory_of(mix, point);
    data_ = shared.filled_data(memory.data);
    out_ = shared.results.at_least(shared.session, memory.results);
    if (memory.copies != 0) stored_ = shared.copies.at_least(shared.session, memory.copies);
    if (has_stamps_) stamps_ = shared.stamps.at_least(shared.session, memory.stamps);
    set_arguments();
  }

  Measurement run(std::uint64_t iterations);

 private:
  [[nodiscard]] const DeviceInfo& device() const { return shared_.session.info(); }
  [[nodiscard]] std::uint64_t ticks() const;
  void set_arguments();
  void check_results(cl_uint launch, cl_uint count, Measurement& measurement) const;
  void check_store(cl_uint launch, cl_uint count, Measurement& measurement) const;

  Shared& shared_;
  Arguments arguments_;
  std::string phase_;
  bool has_stamps_;
  cl::Kernel kernel_;
  cl::Buffer data_{};
  cl::Buffer out_{};
  cl::Buffer stamps_{};
  cl::Buffer stored_{};  ///< buffer that stores go to; null if the kernel stores only results
};

void Mixed::set_arguments() {
  const Arguments& a = arguments_;
  const auto flag = [](bool value) { return cl_uint{value ? 1U : 0U}; };
  kernel_.setArg(0, data_);
  cl_uint index = clprobe::set_arguments(
      kernel_, 3, a.shape.workers, a.mix.far_loads, a.far_mask, flag(a.mix.is_chase),
      a.mix.near_loads, a.near_mask, a.mix.tile_loads, a.mix.tile_stride, a.mix.chain_steps,
      flag(a.is_chain), a.mix.turn_steps, a.turn_shift, a.turn_mask, flag(a.mix.has_barrier),
      a.noise.kind, a.noise.amount, a.noise.mask, step_multiplier, step_addend);
  if (a.mix.is_structural()) {
    index = clprobe::set_arguments(
        kernel_, index, a.mix.block_loads, a.load_mask, a.lane_stride, a.turn_stride, a.mix.stores,
        a.row_blocks, a.store_mask, a.gate, flag(a.mix.has_fence), a.mix.functions,
        flag(a.is_special), halving, a.function_scale(), stored_.get() == nullptr ? out_ : stored_);
  }
  kernel_.setArg(index++, out_);
  if (has_stamps_) clprobe::set_arguments(kernel_, index, never, stamps_);
}

/// Returns the ticks of the phase or, without a phase, of the median group. On a CPU, a group
/// counts as one part, because a core runs its work-items one after another.
std::uint64_t Mixed::ticks() const {
  const std::size_t groups = arguments_.shape.groups;
  const std::size_t parts = arguments_.shape.parts_of_group();
  auto stamps = read_values<Stamp>(shared_.session, stamps_, groups * parts);
  if (runs_items_in_turn(device())) {
    for (std::size_t group = 0; group < groups; ++group) {
      stamps[group] = merge_stamps(std::span(stamps).subspan(group * parts, parts));
    }
    stamps.resize(groups);
  }
  if (phase_.empty()) return static_cast<std::uint64_t>(std::llround(median_group_ticks(stamps)));
  const bool is_shared = phase_ != phase_barrier && phase_ != phase_all;
  const double scale = is_shared ? ticks_of_shared(device()) : 1.0;
  return static_cast<std::uint64_t>(std::llround(scale * phase_ticks(phase_, stamps)));
}

/// Checks the results of two work-items: the last of a group, which makes noise if the point has
/// noise, and a random one. Each launch checks different work-items.
void Mixed::check_results(cl_uint launch, cl_uint count, Measurement& measurement) const {
  for (std::uint32_t k = 0; k < checked_items; ++k) {
    const std::uint32_t group = mixed(launch + k) % arguments_.shape.groups;
    std::uint32_t item = mixed(launch * checked_items + k) % arguments_.shape.work_items;
    if (k == 0) item = arguments_.shape.work_items - 1;
    const std::uint64_t at = std::uint64_t{group} * arguments_.shape.work_items + item;
    measurement.sample.witness =
        measurement.sample.witness * 31 + word_at(shared_.session, out_, at);
    measurement.expected_witness =
        measurement.expected_witness * 31 + result_of(arguments_, launch, count, group, item);
  }
}

/// Checks one stored word, a different word in each launch. If the kernel must not store, checks
/// that the expected word is absent.
void Mixed::check_store(cl_uint launch, cl_uint count, Measurement& measurement) const {
  const std::uint32_t any = mixed(launch ^ step_addend);
  const std::uint32_t group = any % arguments_.shape.groups;
  const std::uint32_t item = (any >> 8U) % arguments_.shape.workers;
  const Store store{.row = (group * arguments_.shape.work_items + item) / line_words,
                    .lane = item % line_words,
                    .iteration = mixed(any) % count,
                    .turn = (any >> 16U) % (4 * arguments_.mix.stores)};
  const std::uint32_t index = index_of(arguments_, store);
  const std::uint32_t expected = stored_word(index, launch);
  const std::uint32_t found = word_at(shared_.session, stored_, index);
  const bool is_stored = arguments_.gate == 0;
  measurement.sample.witness = measurement.sample.witness * 31 +
                               (is_stored ? found : static_cast<cl_uint>(found == expected));
  measurement.expected_witness = measurement.expected_witness * 31 + (is_stored ? expected : 0);
}

Measurement Mixed::run(std::uint64_t iterations) {
  // Each launch loads different lines, because caches may contain lines of earlier launches.
  const cl_uint launch = ++shared_.last_launch;
  const auto count = static_cast<cl_uint>(iterations);
  clprobe::set_arguments(kernel_, 1, launch, count);
  const LaunchSize size{
      .items = std::uint64_t{arguments_.shape.groups} * arguments_.shape.work_items,
      .group = arguments_.shape.work_items};
  Measurement measurement = measurement_of(launch_over(shared_.session, kernel_, size), iterations);
  if (has_stamps_) measurement.sample.ticks = ticks();
  check_results(launch, count, measurement);
  if (arguments_.mix.stores != 0) check_store(launch, count, measurement);
  return measurement;
}

/// Throws Unsupported if the device has no fence that makes stores visible to the whole device, as
/// OpenCL 3.0 allows. Throws cl::Error if a query fails.
void require_fence(const Session& session) {
  const std::string problem = find_fence_problem(session.info());
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
  const bool has_clock = has_stamps(point);
  std::string options = part_options(0, has_clock, device);
  if (has_clock) options += runs_items_in_turn(device) ? with_ends : with_stamps;
  if (!mix.is_structural()) return options;
  if (!mix.has_fence) return options + " -DSTRUCTURAL=1";
  // The fence needs OpenCL C 2.0. NVIDIA's compiler needs no newer version, because it has an
  // instruction for the fence in every version.
  if (device.isa != "nvptx" && find_fence_problem(device).empty()) {
    options += fmt::format(" -cl-std=CL{}.0", device.version.starts_with("OpenCL 3.") ? 3 : 2);
  }
  return options + " -DSTRUCTURAL=2";
}

Work prepare(const Mix& mix, Shared& shared, const Point& point) {
  if (mix.has_fence) require_fence(shared.session);
  const auto kernel = std::make_shared<Mixed>(mix, shared, point);
  const DeviceInfo& device = shared.session.info();
  const LaunchPlan plan{.few = few_iterations,
                        .max = most_iterations(device, Arguments::of(mix, point)),
                        .cpu_launch_ns = cpu_launch_ns,
                        .is_phase = !phase_of(point).empty(),
                        .options = options_of(mix, device, point)};
  return work_of(shared, plan, [kernel](std::uint64_t count) { return kernel->run(count); });
}

}  // namespace clprobe::stalls::wait_for_one
