// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls_device.hpp"

#include <fmt/format.h>

#include "probes/stalls_copy.hpp"
#include "probes/stalls_kernels.hpp"
#include "probes/stalls_micro.hpp"
#include "probes/stalls_search.hpp"
#include "probes/work_group.hpp"

namespace clprobe::stalls_device {
namespace {

void append(std::vector<Point>& points, std::vector<Point> more) {
  points.insert(points.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

}  // namespace

std::string part_options(int part, bool has_clock, const DeviceInfo& device) {
  const bool is_without = has_clock && device.type == "cpu";
  return fmt::format("-DPART={}{}", part, is_without ? clock_without_asm : "");
}

void require_group(const Session& session, const cl::Kernel& kernel, std::uint64_t work_items) {
  const auto most = kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(session.device());
  if (work_items <= most) return;
  throw Unsupported(fmt::format("the driver runs at most {} work-items of this kernel", most));
}

std::uint64_t iterations_for(std::uint64_t target_ns, std::uint64_t few, const Sample& sample) {
  // An event that says less than this of what the host waited is none of the launch.
  constexpr std::uint64_t least_share = 16;
  const std::uint64_t event_ns = sample.event_ns.value_or(0);
  const std::uint64_t taken_ns =
      event_ns > sample.host_ns / least_share ? event_ns : sample.host_ns;
  return taken_ns == 0 ? few : target_ns * few / taken_ns;
}

std::vector<KernelVariant> variants() {
  return {{"-DPART=0", ""},
          {"-DPART=1", ""},
          {"-DPART=2", ""},
          {fmt::format("-DPART=1{}", clock_without_asm), ""},
          {fmt::format("-DPART=2{}", clock_without_asm), ""}};
}

Plan plan(const DeviceInfo& device, const Limits& limits) {
  Plan result;
  for (const MicroCase& micro : all_micro_cases()) {
    if (is_wanted(micro.name, limits)) {
      append(result.points, micro_points(micro, device, limits));
    }
  }
  if (is_wanted("implicit", limits)) append(result.points, copy_points(device, limits));
  for (const std::string_view search : {"uts", "utsd"}) {
    if (is_wanted(search, limits)) append(result.points, search_points(search, device, limits));
  }
  return result;
}

Work prepare(Session& session, const Point& point) {
  const std::string& name = point.parameters.text("case");
  if (name == "implicit") return prepare_copy(session, point);
  if (name == "uts" || name == "utsd") return prepare_search(session, point);
  return prepare_micro(session, point);
}

}  // namespace clprobe::stalls_device
