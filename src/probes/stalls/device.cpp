// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/device.hpp"

#include <fmt/format.h>

#include "probes/shared/work_group.hpp"
#include "probes/stalls/copy.hpp"
#include "probes/stalls/kernels.hpp"
#include "probes/stalls/micro.hpp"
#include "probes/stalls/search.hpp"

namespace clprobe::stalls {
namespace {

void append(std::vector<Point>& points, std::vector<Point> more) {
  points.insert(points.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

}  // namespace

std::vector<KernelVariant> variants() {
  std::vector<KernelVariant> all{{"-DPART=0", ""}};
  for (const std::string_view clock : {std::string_view(), clock_without_asm}) {
    all.push_back({fmt::format("-DPART=0{}{}", clock, with_stamps), ""});
    for (std::uint32_t way = 0; way < std::size(all_copies); ++way) {
      all.push_back({fmt::format("-DPART=1{}{}", clock, way_option(way)), ""});
    }
    all.push_back({fmt::format("-DPART=2{}", clock), ""});
  }
  return all;
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

}  // namespace clprobe::stalls
