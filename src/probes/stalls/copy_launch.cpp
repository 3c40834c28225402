// SPDX-License-Identifier: Apache-2.0
// Runs the case `implicit`, and checks chunks of what it stored.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "clprobe/device.hpp"
#include "probes/shared/kept_buffer.hpp"
#include "probes/shared/mixed.hpp"
#include "probes/stalls/copy.hpp"
#include "probes/stalls/kernels.hpp"
#include "probes/stalls/micro.hpp"
#include "probes/stalls/stamps.hpp"

namespace clprobe::stalls {
namespace {

constexpr std::uint64_t cpu_launch_ns = 5'000'000;
constexpr std::uint64_t few_iterations = 2;
constexpr std::uint32_t checked_chunks = 3;
// Of a group, as cl/stalls_copy.clh stores them: its phases, its beginning and its end.
constexpr std::size_t ticks_of_group = std::size(all_copy_phases) + 2;

std::string copy_options(std::uint32_t way, const DeviceInfo& device) {
  return part_options(1, true, device) + way_option(way);
}

class Copies {
 public:
  Copies(Session& session, const Point& point)
      : session_(session),
        shape_(CopyShape::of(point)),
        options_(copy_options(shape_.way, session.info())),
        kernel_(session.kernel(stalls_file, "stalls_copy", options_)),
        from_(stalls_data(session, shape_.words)),
        to_(kept_buffer(session, "stalls copies", shape_.words * sizeof(cl_uint))),
        ticks_(kept_buffer(session, "stalls copy ticks", tick_words() * sizeof(cl_ulong))),
        sums_(kept_buffer(session, "stalls copy sums", sum_words() * sizeof(cl_uint))),
        launches_(session, "stalls copy launches") {
    require_group(session, kernel_, shape_.work_items);
    cl_uint index = 0;
    kernel_.setArg(index++, from_);
    kernel_.setArg(index++, to_);
    first_argument_ = index;
    index += 2;  // with the number of iterations behind it
    kernel_.setArg(index++, cl_uint{shape_.from_mask});
    kernel_.setArg(index++, cl_uint{shape_.to_mask});
    kernel_.setArg(index++, cl_uint{shape_.steps});
    kernel_.setArg(index++, cl_uint{shape_.is_chain ? 1U : 0U});
    kernel_.setArg(index++, step_multiplier);
    addend_argument_ = index++;
    kernel_.setArg(index++, never);
    kernel_.setArg(index++, ticks_);
    for (const cl_uint value :
         {shape_.groups, shape_.noise.kind, shape_.noise.amount, shape_.noise.mask}) {
      kernel_.setArg(index++, value);
    }
    kernel_.setArg(index, sums_);
  }

  Measurement run(std::uint64_t iterations);

 private:
  [[nodiscard]] std::size_t tick_words() const { return ticks_of_group * shape_.groups; }
  [[nodiscard]] std::size_t sum_words() const {
    return std::size_t{std::max(shape_.noise_groups, 1U)} * shape_.work_items;
  }
  [[nodiscard]] std::uint64_t ticks() const;
  void prove_noise(cl_uint count, cl_uint addend, Measurement& measurement) const;
  void prove(cl_uint first, cl_uint count, cl_uint addend, Measurement& measurement);

  Session& session_;
  CopyShape shape_;
  std::string options_;
  cl::Kernel kernel_;
  cl::Buffer from_;
  cl::Buffer to_;
  cl::Buffer ticks_;
  cl::Buffer sums_;
  LaunchNumbers launches_;
  cl_uint first_argument_{0};
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

/// The same of work-items that made noise.
void Copies::prove_noise(cl_uint count, cl_uint addend, Measurement& measurement) const {
  if (shape_.noise_groups == 0) return;
  std::vector<cl_uint> sums(sum_words());
  session_.queue().enqueueReadBuffer(sums_, CL_TRUE, 0, sums.size() * sizeof(cl_uint), sums.data());
  for (std::uint32_t k = 0; k < checked_chunks; ++k) {
    const std::uint32_t group = mixed(addend + k) % shape_.noise_groups;
    const std::uint32_t item = mixed(addend * checked_chunks + k) % shape_.work_items;
    measurement.sample.witness =
        measurement.sample.witness * 31 + sums[group * shape_.work_items + item];
    measurement.expected_witness =
        measurement.expected_witness * 31 + noise_result(shape_, addend, count, group, item);
  }
}

/// Of the phase, in the mean over groups.
std::uint64_t Copies::ticks() const {
  std::vector<cl_ulong> words(tick_words());
  session_.queue().enqueueReadBuffer(ticks_, CL_TRUE, 0, words.size() * sizeof(cl_ulong),
                                     words.data());
  std::vector<Stamp> stamps;
  std::uint64_t sum = 0;
  const std::optional<std::size_t> place = place_of_copy_phase(shape_.phase);
  for (std::size_t group = 0; group < shape_.groups; ++group) {
    const cl_ulong* const own = &words[group * ticks_of_group];
    if (place) sum += own[*place];
    stamps.push_back({.shared_began = own[std::size(all_copy_phases)],
                      .shared_ended = own[std::size(all_copy_phases) + 1]});
  }
  if (place) return sum / std::max<std::uint64_t>(shape_.groups, 1);
  return static_cast<std::uint64_t>(
      std::llround(ticks_of_shared(session_.info()) *
                   phase_ticks(shape_.phase, stamps, 1, has_shared_clock(session_.info()))));
}

Measurement Copies::run(std::uint64_t iterations) {
  const cl_uint addend = step_addend + launches_.next();
  const auto count = static_cast<cl_uint>(iterations);
  // Goes on where the launch before ended, so that its data are in no cache.
  const cl_uint first = next_;
  next_ += count;
  kernel_.setArg(first_argument_, first);
  kernel_.setArg(first_argument_ + 1, count);
  kernel_.setArg(addend_argument_, addend);
  const LaunchTimes times = session_.launch(
      kernel_,
      cl::NDRange((std::uint64_t{shape_.groups} + shape_.noise_groups) * shape_.work_items),
      cl::NDRange(shape_.work_items));
  Measurement measurement;
  measurement.sample.accesses = iterations;
  measurement.sample.event_ns = times.event_ns;
  measurement.sample.host_ns = times.host_ns;
  if (!shape_.phase.empty()) measurement.sample.ticks = ticks();
  prove(first, count, addend, measurement);
  prove_noise(count, addend, measurement);
  return measurement;
}

}  // namespace

Work prepare_copy(Session& session, const Point& point) {
  const auto copies = std::make_shared<Copies>(session, point);
  const LaunchSize size{.few = few_iterations,
                        .cpu_launch_ns = cpu_launch_ns,
                        .is_phase = !CopyShape::of(point).phase.empty(),
                        .options = copy_options(CopyShape::of(point).way, session.info())};
  return work_of(session, size, [copies](std::uint64_t count) { return copies->run(count); });
}

}  // namespace clprobe::stalls
