// SPDX-License-Identifier: Apache-2.0
// The only file of the probe that sees OpenCL.
#include "probes/@ID@/launch.hpp"

#include <fmt/format.h>

#include <memory>

#include "probes/shared/opencl.hpp"

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
  const KernelSpec spec{"@ID@.cl", build_options(chains)};
  auto kernel = std::make_shared<cl::Kernel>(spec.kernel(session, "@ID@_chains"));
  set_arguments(*kernel, 0, seed, cl_uint{1}, never, out);
  // Some drivers compile only now: never inside a timing.
  launch_over(session, *kernel, {.items = 1, .group = 1});
  Work work;
  work.accesses_per_iteration = static_cast<std::uint64_t>(chains);
  work.iterations = 10000;
  work.max_iterations = max_iterations;
  work.build = spec.build(session);
  work.run = [&session, kernel, out, chains](std::uint64_t iterations) {
    kernel->setArg(1, static_cast<cl_uint>(iterations));
    Measurement measurement = timed_launch(session, *kernel, {.items = 1, .group = 1}, out,
                                           iterations * static_cast<std::uint64_t>(chains));
    measurement.expected_witness = expected_sum(chains, iterations);
    return measurement;
  };
  return work;
}

}  // namespace

Preparer open(Session& session) {
  const cl::Buffer out(session.context(), CL_MEM_READ_WRITE, result_bytes.count);
  return [&session, out](const Point& point) { return prepare(session, out, point); };
}

std::vector<KernelVariant> builds(const DeviceInfo&, std::uint64_t, const Point& point) {
  return {{build_options(point.parameters.integer("chains")), ""}};
}

}  // namespace clprobe::@ID@
