// SPDX-License-Identifier: Apache-2.0
// The only file of the probe that sees OpenCL.
#include "probes/@ID@/launch.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>

#include "clprobe/device.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::@ID@ {
namespace {

constexpr cl_ulong seed = 3;

std::string build_options(std::int64_t chains) { return fmt::format("-DCHAINS={}", chains); }

/// What the kernel must end with. A wrong kernel must fail, and not look fast.
std::uint64_t expected_sum(std::int64_t chains, std::uint64_t iterations) {
  std::uint64_t sum = 0;
  for (std::int64_t chain = 0; chain < chains; ++chain) {
    std::uint64_t value = seed + static_cast<std::uint64_t>(chain);
    for (std::uint64_t i = 0; i < iterations; ++i) value += value * value | 5;
    sum += value;
  }
  return sum;
}

Work prepare(Session& session, const cl::Buffer& out, const Point& point) {
  const std::int64_t chains = point.parameters.integer("chains");
  const std::string options = build_options(chains);
  auto kernel =
      std::make_shared<cl::Kernel>(session.kernel("@ID@.cl", "@ID@_chains", options));
  kernel->setArg(0, seed);
  kernel->setArg(1, cl_uint{1});
  kernel->setArg(2, never);
  kernel->setArg(3, out);
  // Some drivers compile only now: never inside a timing.
  session.launch(*kernel, cl::NDRange(1), cl::NDRange(1));
  Work work;
  work.accesses_per_iteration = static_cast<std::uint64_t>(chains);
  work.iterations = 10000;
  work.max_iterations = max_iterations;
  work.build = session.build_of("@ID@.cl", options);
  work.run = [&session, kernel, out, chains](std::uint64_t iterations) {
    kernel->setArg(1, static_cast<cl_uint>(iterations));
    const LaunchTimes times = session.launch(*kernel, cl::NDRange(1), cl::NDRange(1));
    std::array<cl_ulong, 2> found{};
    session.queue().enqueueReadBuffer(out, CL_TRUE, 0, sizeof found, found.data());
    Measurement measurement;
    measurement.sample.accesses = iterations * static_cast<std::uint64_t>(chains);
    if (session.info().clock.kind != ClockKind::none) measurement.sample.ticks = found[0];
    measurement.sample.event_ns = times.event_ns;
    measurement.sample.host_ns = times.host_ns;
    measurement.sample.witness = found[1];
    measurement.expected_witness = expected_sum(chains, iterations);
    return measurement;
  };
  return work;
}

}  // namespace

Preparer open(Session& session) {
  const cl::Buffer out(session.context(), CL_MEM_WRITE_ONLY, result_bytes.count);
  return [&session, out](const Point& point) { return prepare(session, out, point); };
}

std::vector<KernelVariant> variants() {
  std::vector<KernelVariant> all;
  for (const std::int64_t chains : {1, 2, 16}) all.push_back({build_options(chains), ""});
  return all;
}

std::vector<KernelLoops> loops(const DeviceInfo&, const Point&) {
  return {{"@ID@_chains", max_iterations}};
}

}  // namespace clprobe::@ID@
