// SPDX-License-Identifier: Apache-2.0
// Launches of cl/compute.cl. Uses OpenCL.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/api/device.hpp"
#include "probes/compute/compute.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/opencl.hpp"

namespace clprobe::compute {
namespace {

/// State that all points share.
struct State {
  explicit State(Session& used) : session(used) {}

  /// Returns the results of an operation's chains. Visits repeat the numbers of steps.
  const std::array<std::uint32_t, chain_starts>& results(const Operation& operation,
                                                         std::uint64_t steps) {
    const auto key = std::pair(operation.name, steps);
    const auto found = known_results.find(key);
    if (found != known_results.end()) return found->second;
    return known_results.emplace(key, results_after(operation, steps)).first->second;
  }

  Session& session;
  KeptBuffer out{};
  std::map<std::pair<std::string_view, std::uint64_t>, std::array<std::uint32_t, chain_starts>>
      known_results{};
  /// Iterations of launches by build options and number of work-items, without `work`.
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> iterations{};
};

/// Returns the kernel of a point. A driver may list an extension that its compiler lacks.
cl::Kernel kernel_for(Session& session, const Operation& operation, const KernelSpec& spec) {
  const bool is_extension = operation.number == Number::float16 || operation.name == dot_product;
  try {
    return spec.kernel(session, "compute_chains");
  } catch (const Unsupported&) {
    throw;
  } catch (const DeviceError& error) {
    if (is_extension) throw Unsupported(error.what());
    throw;
  }
}

class Chains {
 public:
  Chains(std::shared_ptr<State> state, const Point& point);

  Measurement run(std::uint64_t iterations);
  /// Returns the number of iterations of a launch, from trial launches before the first visit.
  std::uint64_t iterations();

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] KernelBuild build() const { return spec_.build(state_->session); }
  [[nodiscard]] std::uint64_t max_iterations() const { return max_iterations_of(steps_); }
  [[nodiscard]] std::uint64_t operations_per_iteration() const {
    return size_.items * steps_ * static_cast<std::uint64_t>(shape_.chains) *
           static_cast<std::uint64_t>(shape_.width);
  }

 private:
  template <typename Argument>
  void set_operands();

  std::shared_ptr<State> state_;
  const Operation& operation_;
  Shape shape_;
  LaunchSize size_;
  std::uint32_t steps_;
  KernelSpec spec_;
  cl::Kernel kernel_;
};

Chains::Chains(std::shared_ptr<State> state, const Point& point)
    : state_(std::move(state)),
      operation_(operation_of(point.series)),
      shape_(shape_of<Shape>(point)),
      size_(launch_size(state_->session.info(), shape_)),
      steps_(steps_of(state_->session.info(), operation_, shape_.chains)),
      spec_{"compute.cl", build_options(state_->session.info(), operation_, shape_)},
      kernel_(kernel_for(state_->session, operation_, spec_)) {
  // A larger work-group is launched even if the driver reports a smaller maximum (see inflight).
  if (size_.group <= usual_group) check_group(state_->session, kernel_, size_.group);
  if (operation_.number == Number::float64) {
    set_operands<cl_double>();
  } else if (operation_.number == Number::uint32) {
    set_operands<cl_uint>();
  } else {
    set_operands<cl_float>();
  }
}

template <typename Argument>
void Chains::set_operands() {
  set_arguments(kernel_, 0, static_cast<Argument>(operation_.start),
                static_cast<Argument>(operation_.spread), Argument{0},
                static_cast<Argument>(operation_.first), static_cast<Argument>(operation_.second),
                static_cast<cl_float>(operation_.low), static_cast<cl_float>(operation_.high));
}

Measurement Chains::run(std::uint64_t iterations) {
  const std::uint64_t groups = size_.items / size_.group;
  const cl::Buffer& out = state_->out.at_least(state_->session, (1 + groups) * sizeof(cl_ulong));
  set_arguments(kernel_, 7, static_cast<cl_uint>(iterations), never, out);
  Measurement measurement = timed_launch(state_->session, kernel_, size_, out,
                                         iterations * operations_per_iteration(), groups);
  measurement.expected_witness =
      expected_witness(state_->results(operation_, iterations * steps_), shape_, size_);
  return measurement;
}

std::uint64_t Chains::iterations() {
  constexpr double unit_ns = 150e3;
  constexpr double device_ns = 2e6;
  // A CPU's core may be interrupted, and starts a launch at a lower clock.
  constexpr double cpu_unit_ns = 5e5;
  constexpr double cpu_device_ns = 3e6;
  const bool is_cpu = runs_items_in_turn(state_->session.info());
  const bool is_unit = shape_.scope == Scope::unit;
  std::uint64_t& known = state_->iterations[{spec_.options, size_.items}];
  if (known == 0) {
    // This launch is not timed: some drivers compile at the first launch.
    static_cast<void>(run(1));
    const double wanted_ns =
        is_unit ? (is_cpu ? cpu_unit_ns : unit_ns) : (is_cpu ? cpu_device_ns : device_ns);
    // Half of the maximum, so that twice the work is possible.
    known = iterations_for(wanted_ns, max_iterations() / 2, [&](std::uint64_t tried) {
      const Sample sample = run(tried).sample;
      return static_cast<double>(sample.event_ns.value_or(sample.host_ns));
    });
    // Without an in-kernel clock, partners of samples have an eighth of the iterations.
    constexpr std::uint64_t min_of_unit = 8;
    if (is_unit) known = std::max(known, min_of_unit);
  }
  return is_unit ? known : known * static_cast<std::uint64_t>(shape_.work);
}

Work prepare(const std::shared_ptr<State>& state, const Point& point) {
  auto chains = std::make_shared<Chains>(state, point);
  Work work;
  work.accesses_per_iteration = chains->operations_per_iteration();
  work.iterations = chains->iterations();
  // On all compute units, a launch does exactly once or twice the work.
  work.max_iterations =
      chains->shape().scope == Scope::device ? work.iterations : chains->max_iterations();
  work.build = chains->build();
  work.run = [chains](std::uint64_t iterations) { return chains->run(iterations); };
  return work;
}

}  // namespace

std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t /*seed*/,
                                  const Point& point) {
  return {{build_options(device, operation_of(point.series), shape_of<Shape>(point)), ""}};
}

Preparer open(Session& session) {
  return [state = std::make_shared<State>(session)](const Point& point) {
    return prepare(state, point);
  };
}

}  // namespace clprobe::compute
