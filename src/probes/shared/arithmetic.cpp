// SPDX-License-Identifier: Apache-2.0
// A chain of dependent arithmetic, which runs use as a reference point. Its kernel is that of the
// clock self-test (cl/ticks.cl), which is built already. The registry does not list the chain as a
// probe: it has neither options nor findings.
#include <memory>

#include "clprobe/probe.hpp"
#include "probes/shared/opencl.hpp"

namespace clprobe::arithmetic {

extern const Probe probe;

namespace {

constexpr cl_ulong first_value = 20160;
// Number of links in the macro LINK_64 of cl/ticks.cl.
constexpr std::uint64_t links_per_iteration = 64;
constexpr std::uint64_t usual_iterations = 256;

Plan plan(const DeviceInfo& /*device*/, const Request& /*request*/) {
  Plan made;
  Point chain;
  chain.series = "arithmetic";
  chain.parameters.set("links_per_iteration", static_cast<std::int64_t>(links_per_iteration));
  made.points.push_back(chain);
  made.references.push_back({ReferenceKind::arithmetic, 0, PointAlone{chain, Bytes{}}});
  return made;
}

/// Computes the expected end of the chain. The end is kept for the next sample, since consecutive
/// samples have equally many iterations.
class ChainEnd {
 public:
  std::uint64_t after(std::uint64_t iterations) {
    if (iterations != iterations_) end_ = end_of(iterations);
    iterations_ = iterations;
    return end_;
  }

 private:
  static std::uint64_t end_of(std::uint64_t iterations) {
    std::uint64_t value = first_value;
    for (std::uint64_t link = 0; link < iterations * links_per_iteration; ++link) {
      value = (value * 6364136223846793005U) ^ 1442695040888963407U;
    }
    return value;
  }

  std::uint64_t iterations_{0};
  std::uint64_t end_{first_value};
};

struct Chain {
  explicit Chain(Session& used)
      : session(used),
        kernel(used.kernel("ticks.cl", "ticks_chain", "")),
        out(used.context(), CL_MEM_READ_WRITE, 2 * sizeof(cl_ulong)) {}

  Measurement run(std::uint64_t iterations);

  Session& session;
  cl::Kernel kernel;
  cl::Buffer out;
  ChainEnd end{};
};

Measurement Chain::run(std::uint64_t iterations) {
  set_arguments(kernel, 0, first_value, static_cast<cl_uint>(iterations), never, out);
  Measurement measurement = timed_launch(session, kernel, {.items = 1, .group = 1}, out,
                                         iterations * links_per_iteration);
  measurement.expected_witness = end.after(iterations);
  return measurement;
}

Preparer open(Session& session) {
  return [&session](const Point& /*point*/) {
    const auto chain = std::make_shared<Chain>(session);
    Work work;
    work.accesses_per_iteration = links_per_iteration;
    work.iterations = usual_iterations;
    work.max_iterations = max_iterations;
    work.build = session.build_of("ticks.cl", "");
    work.run = [chain](std::uint64_t iterations) { return chain->run(iterations); };
    chain->run(1);
    return work;
  };
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "arithmetic",
    .title = "Arithmetic",
    .question = "How long does one link in a chain of dependent arithmetic operations take?",
    .lends_references = true,
    .plan = plan,
    .open = open};

}  // namespace clprobe::arithmetic
