// SPDX-License-Identifier: Apache-2.0
// How fast bytes go between host and device. Method: docs/transfer.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/finding.hpp"
#include "probes/transfer/card.hpp"
#include "probes/transfer/findings.hpp"
#include "probes/transfer/launch.hpp"
#include "probes/transfer/series.hpp"

namespace clprobe::transfer {

extern const Probe probe;

namespace {

constexpr Option options[]{
    {.name = "sizes",
     .value_name = "RANGE",
     .summary = "transfers: 64KiB, 1KiB-256MiB, 1KiB-256MiB*2 or a comma list of those",
     .details = "Bytes of a transfer, each way: one size (`64KiB`), a range (`1KiB-256MiB`), a "
                "range with the ratio of neighbouring sizes (`1KiB-256MiB*2`), or a comma list of "
                "those; each is rounded down to a multiple of 16. By default 1 KiB to 256 MiB, and "
                "to 64 MiB where host and device share a memory.",
     .value = Sizes{}},
};

constexpr auto declared_series = [] {
  std::array<Series, all_series.size()> declared{};
  for (std::size_t i = 0; i < declared.size(); ++i) {
    declared[i] = {all_series[i].name, all_series[i].summary};
  }
  return declared;
}();

constexpr FindingSpec finding_specs[]{
    {.name = "bandwidth", .unit = "bytes_per_second", .role = Role::headline},
    {.name = "start_up", .unit = "seconds"},
    {.name = "half_size", .unit = "bytes", .better = Better::less},
    {.name = "duplex", .unit = "share", .better = Better::more},
    {.name = "zero_copy"},
    {.name = "host_memory"},
};

constexpr Budgets budgets{.quick = {.probe_time = std::chrono::seconds(1),
                                    .first_visit_time = std::chrono::seconds(1),
                                    .relative_interval = 0.05,
                                    .min_visits = 1,
                                    .max_visits = 2},
                          .normal = {.probe_time = std::chrono::milliseconds(1500),
                                     .relative_interval = 0.02,
                                     .max_visits = 4,
                                     .samples_per_visit = 2},
                          .thorough = {.probe_time = std::chrono::seconds(60), .max_visits = 20}};

// A vector of the kernel that copies.
constexpr std::uint64_t granule = 16;
constexpr Bytes smallest = kibibytes(1);

std::vector<SeriesSpec> wanted_series(const Request& request) {
  std::vector<SeriesSpec> wanted;
  for (const SeriesSpec& each : all_series) {
    const bool is_wanted =
        request.series.empty() ||
        std::find(request.series.begin(), request.series.end(), each.name) != request.series.end();
    if (is_wanted) wanted.push_back(each);
  }
  return wanted;
}

Bytes largest_transfer(const DeviceInfo& device, const Request& request, std::uint64_t buffers) {
  const bool is_large = !runs_items_in_turn(device) && device.global_memory >= gibibytes(16);
  Bytes most = is_large ? mebibytes(256) : mebibytes(64);
  if (request.effort == Effort::quick) most = mebibytes(64);
  // Sizes that were asked for are measured if a buffer can hold them.
  if (!request.own.sizes("sizes").empty()) most = gibibytes(64);
  if (device.global_memory.count != 0) most = std::min(most, device.global_memory / 4);
  if (device.max_allocation.count != 0) most = std::min(most, device.max_allocation);
  if (request.max_memory.count != 0) most = std::min(most, request.max_memory / (buffers + 1));
  return most;
}

double ratio_of(Effort effort) {
  if (effort == Effort::thorough) return 2.0;
  return effort == Effort::quick ? 16.0 : 4.0;
}

std::vector<std::uint64_t> sizes_of(const DeviceInfo& device, const Request& request,
                                    std::uint64_t buffers) {
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
    const double ratio = range.ratio > 1.0 ? range.ratio : ratio_of(request.effort);
    auto size = static_cast<double>(range.first.count);
    while (size < static_cast<double>(std::min(range.last, largest).count)) {
      add(size);
      size *= ratio;
    }
    if (range.first <= largest) add(static_cast<double>(std::min(range.last, largest).count));
  }
  return sizes;
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan result;
  std::vector<SeriesSpec> possible;
  for (const SeriesSpec& series : wanted_series(request)) {
    const std::string reason = missing_in(series, device);
    if (reason.empty()) {
      possible.push_back(series);
    } else {
      result.findings.push_back(not_measured("bandwidth", series.name, reason));
    }
  }
  const std::uint64_t buffers = count_buffers(possible);
  const std::vector<std::uint64_t> sizes = sizes_of(device, request, buffers);
  if (sizes.empty()) return result;
  const std::uint64_t largest = *std::max_element(sizes.begin(), sizes.end());
  for (const SeriesSpec& series : possible) {
    for (const std::uint64_t size : sizes) {
      Point point;
      point.series = series.name;
      write_shape(Shape{.transfer_bytes = size,
                        .direction = series.direction,
                        .way = series.way,
                        .buffer_bytes = largest},
                  point);
      result.points.push_back(std::move(point));
    }
  }
  if (!possible.empty()) result.memory = Bytes{largest} * buffers;
  return result;
}

std::string check(const DeviceInfo& device, const Request& request) {
  if (request.own.sizes("sizes").empty()) return {};
  const std::uint64_t buffers = count_buffers(wanted_series(request));
  if (!sizes_of(device, request, buffers).empty()) return {};
  return fmt::format("--sizes: none of them can be transferred: choose sizes between {} and {}",
                     format_bytes({granule}),
                     format_bytes(largest_transfer(device, request, buffers)));
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "transfer",
    .title = "Transfers between host and device",
    .question = "How fast do bytes go to the device and back, and by which way?",
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
