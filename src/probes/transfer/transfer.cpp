// SPDX-License-Identifier: Apache-2.0
// How fast bytes go between host and device. Method: docs/transfer.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/asked_sizes.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/one_memory.hpp"
#include "probes/shared/wanted_series.hpp"
#include "probes/transfer/card.hpp"
#include "probes/transfer/findings.hpp"
#include "probes/transfer/fit.hpp"
#include "probes/transfer/launch.hpp"
#include "probes/transfer/series.hpp"

namespace clprobe::transfer {

extern const Probe probe;

namespace {

constexpr Option options[]{
    {.name = "sizes",
     .value_name = "RANGE",
     .summary = "transfer sizes: 64KiB, 1KiB-256MiB, 1KiB-256MiB*2 or a comma-separated list",
     .details =
         "Size of a transfer in each direction: one size (`64KiB`), a range (`1KiB-256MiB`), a "
         "range with the ratio of neighbouring sizes (`1KiB-256MiB*2`), or a comma-separated list "
         "of these. Each size is rounded down to a multiple of 16 bytes. Default: 64 B to 64 MiB. "
         "On devices with at least 16 GiB of their own memory, the maximum is 256 MiB for one-way "
         "transfers of pinned memory, and with --thorough for all series.",
     .value = Sizes{}},
};

constexpr auto declared_series = declare_series(all_series);

constexpr FindingSpec finding_specs[]{
    {.name = "bandwidth", .unit = "bytes_per_second", .role = Role::headline},
    // Of ten runs with an H100 one had 27 GB/s from the device while bytes went to it, the
    // others 50.
    {.name = "one_way_bandwidth", .unit = "bytes_per_second", .role = Role::passing},
    // Of a kernel where the driver keeps on the device what it made for the host.
    {.name = "device_bandwidth", .unit = "bytes_per_second", .role = Role::headline},
    // Of five runs with an H200 one had 39 us from SVM all the time, and the others 16 to 17.
    {.name = "start_up", .unit = "seconds", .role = Role::passing},
    // A faster link has a larger one with the same start-up: neither is better.
    {.name = "half_size", .unit = "bytes", .role = Role::passing},
    {.name = "duplex", .unit = "share", .better = Better::more},
    {.name = "zero_copy"},
    {.name = "host_memory"},
    {.name = "peer_path"},
};

constexpr Budgets budgets{.quick = {.probe_time = std::chrono::seconds(1),
                                    .first_visit_time = std::chrono::seconds(1),
                                    .relative_interval = 0.05,
                                    .min_visits = 1,
                                    .max_visits = 2},
                          // A limit for slow links, many devices and busy hosts: two visits of all
                          // take a second on an H200.
                          .normal = {.probe_time = std::chrono::milliseconds(4500),
                                     .relative_interval = 0.02,
                                     .max_visits = 2,
                                     .samples_per_visit = 2},
                          .thorough = {.probe_time = std::chrono::seconds(60), .max_visits = 20}};

// A vector of the kernel that copies.
constexpr std::uint64_t granule = 16;
// All start-up, on every device.
constexpr Bytes smallest{64};

std::vector<SeriesSpec> wanted_series(const Request& request) {
  std::vector<SeriesSpec> wanted;
  for (const SeriesSpec& each : all_series) {
    if (wants(request, each.name)) wanted.push_back(each);
  }
  return wanted;
}

/// Where only a link can be what takes so long, which fills up to the end.
constexpr Bytes max_of_link = mebibytes(256);
/// Larger ones are no faster where the host copies, and take it long.
constexpr Bytes max_of_all = mebibytes(64);

bool has_large_link(const DeviceInfo& device) {
  return !shares_memory_with_host(device) && device.global_memory >= gibibytes(16);
}

/// Of so many buffers of its size.
Bytes cut_to_memory(Bytes max, const DeviceInfo& device, const Request& request,
                    std::uint64_t buffers) {
  // Drivers may keep on the device what the host has, too. Half of the memory is left to others,
  // unless sizes were asked for.
  const bool is_asked = !request.own.sizes("sizes").empty();
  const std::uint64_t parts = is_asked ? buffers + 1 : 2 * buffers;
  if (device.global_memory.count != 0) max = std::min(max, device.global_memory / parts);
  if (device.max_allocation.count != 0) max = std::min(max, device.max_allocation);
  if (request.max_memory.count != 0) max = std::min(max, request.max_memory / (buffers + 1));
  return max;
}

Bytes largest_transfer(const DeviceInfo& device, const Request& request, std::uint64_t buffers) {
  const bool is_asked = !request.own.sizes("sizes").empty();
  const bool is_thorough = request.effort == Effort::thorough;
  Bytes max = has_large_link(device) && is_thorough ? max_of_link : max_of_all;
  // Sizes that were asked for are measured if the buffers can hold them.
  if (is_asked) max = gibibytes(64);
  return cut_to_memory(max, device, request, buffers);
}

/// A start-up needs three transfers of which it is most.
constexpr Bytes small = kibibytes(1);

/// How far the next size is: up to the small ones, and beyond them.
struct Spacing {
  double near{4.0};
  double far{16.0};
};

/// Start-up and rate are seen at the ends; what lies between shows how one becomes the other, and
/// all series together are to end within a second. A first look has fewer.
constexpr Spacing spacing_of(Effort effort) {
  if (effort == Effort::thorough) return {2.0, 2.0};
  return effort == Effort::quick ? Spacing{4.0, 64.0} : Spacing{};
}

/// Between devices one size is in between: NVIDIA's driver takes 80 us for the smallest copy, lays
/// out a buffer for each size, and moves 2 GB/s.
Spacing peer_spacing(const Request& request, std::size_t peers) {
  const bool is_asked = !request.own.sizes("sizes").empty();
  if (is_asked || (request.effort == Effort::thorough && peers == 1)) {
    return spacing_of(request.effort);
  }
  return {4.0, 256.0};
}

std::vector<std::uint64_t> sizes_of(const DeviceInfo& device, const Request& request,
                                    std::uint64_t buffers, Spacing spacing) {
  const Bytes largest = largest_transfer(device, request, buffers);
  std::vector<SizeRange> ranges = request.own.sizes("sizes");
  if (ranges.empty()) ranges.push_back({smallest, largest, 0.0});
  std::vector<std::uint64_t> sizes;
  const auto add = [&](double bytes) {
    const std::uint64_t size = static_cast<std::uint64_t>(bytes) / granule * granule;
    const bool is_known = std::find(sizes.begin(), sizes.end(), size) != sizes.end();
    if (size >= granule && size <= largest.count && !is_known) sizes.push_back(size);
  };
  for (const SizeRange& range : ranges) {
    auto size = static_cast<double>(range.first.count);
    while (size < static_cast<double>(std::min(range.last, largest).count)) {
      add(size);
      const bool is_small = size < static_cast<double>(small.count);
      size *= range.ratio > 1.0 ? range.ratio : (is_small ? spacing.near : spacing.far);
    }
    if (range.first <= largest) add(static_cast<double>(std::min(range.last, largest).count));
  }
  return sizes;
}

/// Large transfers first, those of the card before all others, then small ones, and what lies
/// between at the end: wherever time cuts it off, the rates are known, then the start-ups. Other
/// devices come last: they may be many.
void order_by_weight(std::vector<Point>& points, std::uint64_t largest) {
  constexpr std::array<std::string_view, 5> of_card{"to-device-pinned", "from-device-pinned",
                                                    "to-device", "from-device", "both-pinned"};
  constexpr auto others = static_cast<std::ptrdiff_t>(of_card.size());
  const auto weight = [&](const Point& point) {
    const auto shape = shape_of<Shape>(point);
    const std::ptrdiff_t peers_last = shape.way == Way::peer ? others + 3 : 0;
    if (shape.transfer_bytes < largest) {
      return peers_last + others + (shape.transfer_bytes <= small.count ? 1 : 2);
    }
    return peers_last + (std::find(of_card.begin(), of_card.end(), point.series) - of_card.begin());
  };
  std::stable_sort(points.begin(), points.end(),
                   [&](const Point& a, const Point& b) { return weight(a) < weight(b); });
}

Point point_of(const SeriesSpec& series, Shape shape) {
  Point point;
  point.series = series.name;
  shape.direction = series.direction;
  shape.way = series.way;
  if (series.way == Way::peer) point.series = series_with_peer(series, shape.peer);
  write_shape(shape, point);
  return point;
}

/// Those that there are, and into `result` why the others are not.
std::vector<SeriesSpec> possible_series(const DeviceInfo& device, const Request& request,
                                        Plan& result) {
  std::vector<SeriesSpec> possible;
  for (const SeriesSpec& series : wanted_series(request)) {
    const std::string reason = missing_in(series, device);
    if (reason.empty()) {
      possible.push_back(series);
    } else if (series.way != Way::peer || !request.series.empty()) {
      // That a device is alone is told to those who ask for it.
      result.findings.push_back(not_measured("bandwidth", series.name, reason));
    }
  }
  return possible;
}

/// One way between pinned memory and the device by their own buffers, larger than all others, where
/// these are as large as they are meant to be: the others would take as much memory, and longer to
/// lay out than all of their transfers.
void add_largest_of_link(const std::vector<SeriesSpec>& series, const DeviceInfo& device,
                         const Request& request, std::uint64_t buffers, Plan& result) {
  // On the device, and pinned for each way.
  constexpr std::uint64_t own_buffers = 3;
  constexpr std::uint64_t as_large = max_of_link.count / max_of_all.count;
  const std::uint64_t all_buffers = own_buffers + buffers / as_large + 1;
  if (!has_large_link(device) || request.effort != Effort::normal ||
      !request.own.sizes("sizes").empty() ||
      cut_to_memory(max_of_link, device, request, all_buffers) < max_of_link) {
    return;
  }
  const auto add = [&](const SeriesSpec& each) {
    if (each.way != Way::pinned || each.direction == Direction::both) return false;
    result.points.push_back(
        point_of(each, {.transfer_bytes = max_of_link.count, .buffer_bytes = max_of_link.count}));
    return true;
  };
  if (std::count_if(series.begin(), series.end(), add) > 0) {
    result.memory = result.memory + max_of_link * own_buffers;
  }
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan result;
  const std::vector<SeriesSpec> possible = possible_series(device, request, result);
  const std::uint64_t buffers = count_buffers(possible, device);
  const std::vector<std::uint64_t> sizes =
      sizes_of(device, request, buffers, spacing_of(request.effort));
  if (sizes.empty()) return result;
  const std::uint64_t largest = *std::max_element(sizes.begin(), sizes.end());
  const std::vector<std::uint64_t> peers = peers_of(device);
  const std::vector<std::uint64_t> peer_sizes =
      sizes_of(device, request, buffers, peer_spacing(request, peers.size()));
  for (const SeriesSpec& series : possible) {
    if (series.way == Way::peer) {
      for (const std::uint64_t peer : peers) {
        for (const std::uint64_t size : peer_sizes) {
          result.points.push_back(
              point_of(series, {.transfer_bytes = size, .peer = peer, .buffer_bytes = size}));
        }
      }
      continue;
    }
    for (const std::uint64_t size : sizes) {
      if (is_of_large_ones(series) && size * large_part < largest) continue;
      result.points.push_back(point_of(series, {.transfer_bytes = size, .buffer_bytes = largest}));
    }
  }
  if (!possible.empty()) result.memory = Bytes{largest} * buffers;
  add_largest_of_link(possible, device, request, buffers, result);
  result.is_ordered = request.effort != Effort::thorough;
  if (result.is_ordered) order_by_weight(result.points, largest);
  return result;
}

std::string check(const DeviceInfo& device, const Request& request) {
  if (request.own.sizes("sizes").empty()) return {};
  const std::uint64_t buffers = count_buffers(wanted_series(request), device);
  const Bytes largest = largest_transfer(device, request, buffers);
  if (!sizes_of(device, request, buffers, spacing_of(request.effort)).empty()) {
    return beyond_room(request, largest);
  }
  return fmt::format(
      "--sizes: none of these sizes can be transferred; choose sizes between {} and {}",
      format_bytes({granule}), format_bytes(largest));
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "transfer",
    .title = "Transfers between host and device",
    .question = "How fast are transfers to and from the device, by each path?",
    .unit = Unit::bytes_per_second,
    .options = options,
    .series = declared_series,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve, .x = "transfer_bytes", .value_title = "bandwidth"},
    .budgets = budgets,
    .check = check,
    .plan = plan,
    .open = open,
    .variants = variants,
    .builds = builds,
    .find_problem = find_problem_of,
    .analyse = analyse,
    .card = card,
    .loops = loops,
};

}  // namespace clprobe::transfer
