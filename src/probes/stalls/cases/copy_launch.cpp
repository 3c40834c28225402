// SPDX-License-Identifier: Apache-2.0
// Runs the case `implicit`, and checks chunks of what it stored.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "clprobe/device.hpp"
#include "probes/shared/mixed.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/cases/copy.hpp"
#include "probes/stalls/launch.hpp"
#include "probes/stalls/stamps.hpp"
#include "probes/stalls/twin.hpp"

namespace clprobe::stalls::copy {
namespace {

constexpr std::uint64_t cpu_launch_ns = 5'000'000;
constexpr std::uint64_t few_iterations = 2;
constexpr std::uint32_t checked_chunks = 3;
// Of a group, as cl/stalls_copy.clh stores them: its phases, its beginning and its end.
constexpr std::size_t ticks_of_group = std::size(all_phases) + 2;

class Copies {
 public:
  Copies(Shared& shared, const Point& point)
      : shared_(shared),
        arguments_(Arguments::of(point)),
        phase_(phase_of(point)),
        has_stamps_(has_stamps(point)),
        kernel_(shared.session.kernel(kernel_file, "stalls_copy",
                                      options_of(shared.session.info(), point))) {
    require_group(shared.session, kernel_, arguments_.work_items);
    const Memory memory = memory_of(point);
    from_ = shared.filled_data(memory.data);
    to_ = shared.held(&Shared::copies, memory.copies);
    ticks_ = shared.held(&Shared::stamps, memory.stamps);
    sums_ = shared.held(&Shared::results, memory.results);
    set_arguments();
  }

  Measurement run(std::uint64_t iterations);

 private:
  [[nodiscard]] std::size_t tick_words() const { return ticks_of_group * arguments_.groups; }
  [[nodiscard]] const DeviceInfo& device() const { return shared_.session.info(); }
  [[nodiscard]] const cl::CommandQueue& queue() const { return shared_.session.queue(); }
  void set_arguments();
  [[nodiscard]] std::uint64_t ticks() const;
  void prove_noise(cl_uint count, cl_uint addend, Measurement& measurement) const;
  void prove(cl_uint first, cl_uint count, cl_uint addend, Measurement& measurement) const;

  Shared& shared_;
  Arguments arguments_;
  std::string phase_;
  bool has_stamps_;
  cl::Kernel kernel_;
  cl::Buffer from_{};
  cl::Buffer to_{};
  cl::Buffer ticks_{};
  cl::Buffer sums_{};
  cl_uint first_argument_{0};
  cl_uint addend_argument_{0};
  cl_uint next_{0};
};

void Copies::set_arguments() {
  cl_uint index = 0;
  kernel_.setArg(index++, from_);
  kernel_.setArg(index++, to_);
  first_argument_ = index;
  index += 2;  // with the number of iterations behind it
  kernel_.setArg(index++, cl_uint{arguments_.from_mask});
  kernel_.setArg(index++, cl_uint{arguments_.to_mask});
  kernel_.setArg(index++, cl_uint{arguments_.steps});
  kernel_.setArg(index++, cl_uint{arguments_.is_chain ? 1U : 0U});
  kernel_.setArg(index++, step_multiplier);
  addend_argument_ = index++;
  kernel_.setArg(index++, never);
  kernel_.setArg(index++, ticks_);
  for (const cl_uint value :
       {arguments_.groups, arguments_.noise.kind, arguments_.noise.amount, arguments_.noise.mask}) {
    kernel_.setArg(index++, value);
  }
  kernel_.setArg(index, sums_);
}

/// Some of the chunks that the launch stored, others each time. What it adds is its number, so that
/// what an earlier one left behind is wrong.
void Copies::prove(cl_uint first, cl_uint count, cl_uint addend, Measurement& measurement) const {
  std::vector<cl_uint> found(chunk_words);
  for (std::uint32_t k = 0; k < checked_chunks; ++k) {
    const std::uint32_t turn = first + (k == 0 ? count - 1 : mixed(addend + k) % count);
    const std::uint32_t group = mixed(addend * checked_chunks + k) % arguments_.groups;
    const std::uint32_t number = turn * arguments_.groups + group;
    const std::uint64_t bytes = chunk_words * sizeof(cl_uint);
    queue().enqueueReadBuffer(to_, CL_TRUE, (number & arguments_.to_mask) * bytes, bytes,
                              found.data());
    const std::vector<std::uint32_t> expected = copied_chunk(arguments_, number, addend);
    for (std::uint32_t at = 0; at < chunk_words; ++at) {
      measurement.sample.witness = measurement.sample.witness * 31 + found[at];
      measurement.expected_witness = measurement.expected_witness * 31 + expected[at];
    }
  }
}

/// The same of work-items that made noise.
void Copies::prove_noise(cl_uint count, cl_uint addend, Measurement& measurement) const {
  if (arguments_.noise_groups == 0) return;
  for (std::uint32_t k = 0; k < checked_chunks; ++k) {
    const std::uint32_t group = mixed(addend + k) % arguments_.noise_groups;
    const std::uint32_t item = mixed(addend * checked_chunks + k) % arguments_.work_items;
    const std::size_t at = std::size_t{group} * arguments_.work_items + item;
    measurement.sample.witness =
        measurement.sample.witness * 31 + word_at(shared_.session, sums_, at);
    measurement.expected_witness =
        measurement.expected_witness * 31 + noise_result(arguments_, addend, count, group, item);
  }
}

/// Of the phase, in the mean over groups, or of the middle one.
std::uint64_t Copies::ticks() const {
  std::vector<cl_ulong> words(tick_words());
  queue().enqueueReadBuffer(ticks_, CL_TRUE, 0, words.size() * sizeof(cl_ulong), words.data());
  std::vector<Stamp> stamps;
  std::uint64_t sum = 0;
  const std::optional<std::size_t> place = place_of_phase(phase_);
  for (std::size_t group = 0; group < arguments_.groups; ++group) {
    const cl_ulong* const own = &words[group * ticks_of_group];
    if (place) sum += own[*place];
    stamps.push_back({.shared_began = own[std::size(all_phases)],
                      .shared_ended = own[std::size(all_phases) + 1]});
  }
  if (place) return sum / std::max<std::uint64_t>(arguments_.groups, 1);
  const double ticks = phase_.empty() ? ticks_of_middle(stamps)
                                      : phase_ticks(phase_, stamps, 1, has_shared_clock(device()));
  return static_cast<std::uint64_t>(std::llround(ticks_of_shared(device()) * ticks));
}

Measurement Copies::run(std::uint64_t iterations) {
  const cl_uint addend = step_addend + ++shared_.last_launch;
  const auto count = static_cast<cl_uint>(iterations);
  // Goes on where the launch before ended, so that its data are in no cache.
  const cl_uint first = next_;
  next_ += count;
  kernel_.setArg(first_argument_, first);
  kernel_.setArg(first_argument_ + 1, count);
  kernel_.setArg(addend_argument_, addend);
  const LaunchTimes times = shared_.session.launch(
      kernel_,
      cl::NDRange((std::uint64_t{arguments_.groups} + arguments_.noise_groups) *
                  arguments_.work_items),
      cl::NDRange(arguments_.work_items));
  Measurement measurement;
  measurement.sample.accesses = iterations;
  measurement.sample.event_ns = times.event_ns;
  measurement.sample.host_ns = times.host_ns;
  if (has_stamps_) measurement.sample.ticks = ticks();
  prove(first, count, addend, measurement);
  prove_noise(count, addend, measurement);
  return measurement;
}

}  // namespace

std::string options_of(const DeviceInfo& device, const Point& point) {
  return part_options(1, true, device) + way_option(Arguments::of(point).way);
}

Work prepare(Shared& shared, const Point& point) {
  const auto copies = std::make_shared<Copies>(shared, point);
  const LaunchSize size{.few = few_iterations,
                        .max = turns_of(shared.session.info(), point).iterations,
                        .cpu_launch_ns = cpu_launch_ns,
                        .is_phase = !phase_of(point).empty(),
                        .options = options_of(shared.session.info(), point)};
  return work_of(shared, size, [copies](std::uint64_t count) { return copies->run(count); });
}

}  // namespace clprobe::stalls::copy
