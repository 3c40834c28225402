// SPDX-License-Identifier: Apache-2.0
// Speed of transfers between host and device. Method: docs/transfer.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/host_effects.hpp"
#include "probes/shared/permutation.hpp"
#include "probes/shared/selection.hpp"
#include "probes/transfer/transfer.hpp"

namespace clprobe::transfer {

namespace {

std::uint64_t weighted(std::uint32_t mark, std::uint32_t value) {
  return std::uint64_t{value} * (2 * std::uint64_t{mark} + 1);
}

}  // namespace

Marks::Marks(std::uint64_t words, std::uint32_t launch)
    : words_(words),
      launch_(launch),
      count_(static_cast<std::uint32_t>(std::min<std::uint64_t>(words, max_count))) {}

std::uint32_t Marks::value(std::uint32_t mark) const {
  return mixed(launch_ * static_cast<std::uint32_t>(max_count) + mark);
}

std::uint64_t Marks::place(std::uint32_t mark) const {
  if (mark == 0) return 0;
  if (mark + 1 == count_) return words_ - 1;
  const std::uint64_t each = words_ / count_;
  return mark * each + value(mark) % each;
}

void Marks::write_to(std::span<std::uint32_t> words) const {
  for (std::uint32_t mark = 0; mark < count_; ++mark) words[place(mark)] = value(mark);
}

std::uint64_t Marks::sum_in(std::span<const std::uint32_t> words) const {
  std::uint64_t sum = 0;
  for (std::uint32_t mark = 0; mark < count_; ++mark) sum += weighted(mark, words[place(mark)]);
  return sum;
}

std::uint64_t Marks::expected_sum() const {
  std::uint64_t sum = 0;
  for (std::uint32_t mark = 0; mark < count_; ++mark) sum += weighted(mark, value(mark));
  return sum;
}

std::uint64_t sum_of_marks(std::span<const std::uint32_t> found) {
  std::uint64_t sum = 0;
  for (std::uint32_t mark = 0; mark < found.size(); ++mark) sum += weighted(mark, found[mark]);
  return sum;
}

std::vector<std::uint64_t> peers_of(const DeviceInfo& device) {
  const auto own = device.platform_index.substr(device.platform_index.find(':') + 1);
  constexpr std::int64_t max_devices = 64;
  const std::int64_t count =
      std::min(max_devices, device.reported.integer_or("devices_on_platform", 1));
  std::vector<std::uint64_t> peers;
  for (std::int64_t i = 0; i < count; ++i) {
    if (fmt::to_string(i) != own) peers.push_back(static_cast<std::uint64_t>(i));
  }
  return count > 1 ? peers : std::vector<std::uint64_t>{};
}

std::string series_with_peer(const SeriesSpec& series, std::uint64_t peer) {
  return fmt::format("{}-{}", series.name, peer);
}

std::string missing_in(const SeriesSpec& series, const DeviceInfo& device) {
  constexpr std::int64_t coarse_grain_buffer = 1;  // CL_DEVICE_SVM_COARSE_GRAIN_BUFFER
  const std::int64_t svm = device.reported.integer_or("svm_capabilities", 0);
  if (series.way == Way::svm && (svm & coarse_grain_buffer) == 0) {
    return "the device has no shared virtual memory";
  }
  if (series.way == Way::peer && peers_of(device).empty()) {
    return "the platform has no other device";
  }
  return {};
}

std::uint64_t count_buffers(const std::vector<SeriesSpec>& series, const DeviceInfo& device) {
  const auto has = [&](auto is_such) { return std::any_of(series.begin(), series.end(), is_such); };
  const auto by = [&](Way way) {
    return has([way](const SeriesSpec& each) { return each.way == way; });
  };
  const bool has_other = has([](const SeriesSpec& each) {
    return each.direction == Direction::both || each.direction == Direction::on_device ||
           each.way == Way::duplex;
  });
  const bool has_ordinary = by(Way::pageable) || by(Way::map) || by(Way::svm);
  // Mappings and kernels share one buffer. Pinned memory has two more buffers, which are mapped
  // once.
  const bool has_pinned = by(Way::pinned) || by(Way::duplex);
  // In a context of two devices, the driver may keep each of the two buffers on both devices.
  const std::uint64_t of_peers = by(Way::peer) ? 2 * peers_of(device).size() : 0;
  return 1 + of_peers + (has_other ? 1U : 0U) + (has_ordinary ? 1U : 0U) + (has_pinned ? 2U : 0U) +
         (by(Way::map) || by(Way::kernel) ? 1U : 0U) + (by(Way::svm) ? 1U : 0U);
}

namespace {

const Finding* rate_of(const ProbeResult& result, std::string_view series) {
  return find_value(result.findings, "bandwidth", series);
}

/// Formats consecutive rates. A unit is written only if it differs from the previous unit, and an
/// interval only if the interval is wide.
class Rates {
 public:
  std::string text(const Finding& rate) {
    constexpr double wide = 1.5;
    std::string shown = with_new_unit(*rate.value);
    if (rate.low && rate.high && *rate.high > wide * wide * *rate.low) {
      shown += fmt::format(" ({} to {})", with_new_unit(*rate.low), with_new_unit(*rate.high));
    }
    return shown;
  }

 private:
  std::string with_new_unit(double rate) {
    const std::string whole = format_rate(rate);
    const std::size_t space = whole.find(' ');
    const std::string unit = whole.substr(space);
    const bool is_new = unit != unit_;
    unit_ = unit;
    return is_new ? whole : whole.substr(0, space);
  }

  std::string unit_{};
};

/// Returns "88 % of PCIe 5.0 x16". Returns an empty string if the share is unknown.
std::string share_text(const ProbeResult& result, std::string_view series) {
  const Finding* const link = find_finding(result.findings, "link");
  const Finding* const share = find_value(result.findings, "share_of_link", series);
  if (share == nullptr || link == nullptr) return {};
  return fmt::format("{:.0f} % of {}", 100.0 * *share->value, link->label);
}

/// Returns "host to device 55.3 GB/s, back 55.3, both at once 93.5; to the device 88 % of PCIe 5.0
/// x16; ordinary memory 6.70 and 14.4". The first three rates are those of pinned memory. Returns
/// an empty string without rates.
std::string both_ways(const ProbeResult& result) {
  struct Way {
    std::string_view word;
    std::string_view series;
  };
  const auto list = [&](Rates& rates, std::string_view between, std::initializer_list<Way> ways) {
    std::string text;
    for (const Way& way : ways) {
      const Finding* const rate = rate_of(result, way.series);
      if (rate != nullptr) append(text, between, fmt::format("{}{}", way.word, rates.text(*rate)));
    }
    return text;
  };
  Rates rates;
  std::string text = list(rates, ", ",
                          {{"host to device ", "to-device-pinned"},
                           {"back ", "from-device-pinned"},
                           {"both at once ", "both-pinned"}});
  if (text.empty()) {
    text = list(rates, ", ", {{"host to device ", "to-device"}, {"back ", "from-device"}});
    return text.empty() ? text : text + " (ordinary memory)";
  }
  const std::string share = share_text(result, "to-device-pinned");
  append(text, "; ", share.empty() ? share : "to the device " + share);
  const bool has_both =
      rate_of(result, "to-device") != nullptr && rate_of(result, "from-device") != nullptr;
  const std::string ordinary =
      has_both ? list(rates, " and ", {{"", "to-device"}, {"", "from-device"}})
               : list(rates, "", {{"there ", "to-device"}, {"back ", "from-device"}});
  append(text, "; ", ordinary.empty() ? ordinary : "ordinary memory " + ordinary);
  return text;
}

std::string row_of(const ProbeResult& result, const std::string& series) {
  const Finding* const rate = rate_of(result, series);
  std::string text = rate != nullptr ? format_rate(*rate->value) : std::string();
  append(text, ", ", share_text(result, series));
  const Finding* const start = find_value(result.findings, "start_up", series);
  if (start != nullptr) append(text, ", ", "start-up " + format_seconds(*start->value));
  const Finding* const half = find_value(result.findings, "half_size", series);
  if (half != nullptr) append(text, ", ", "half the bandwidth at " + size_text(*half->value));
  const Finding* const one_way = find_value(result.findings, "one_way_bandwidth", series);
  if (one_way != nullptr) append(text, ", ", format_rate(*one_way->value));
  const Finding* const on_device = find_value(result.findings, "device_bandwidth", series);
  if (on_device != nullptr) {
    append(text, ", ", format_rate(*on_device->value) + " in device memory");
  }
  return text;
}

/// Returns "to 7 others: 388 GB/s to 391 GB/s, direct" for seven other devices, and "to 388 GB/s,
/// direct" for one.
std::string with_peers(const ProbeResult& result, std::string_view series) {
  const std::string_view word = series.substr(0, series.find('-'));
  std::vector<double> rates;
  std::vector<std::string> paths;
  for (const Finding& each : result.findings) {
    if (each.name != "peer_path" || !each.series.starts_with(series)) continue;
    const Finding* const rate = find_value(result.findings, "bandwidth", each.series);
    if (rate == nullptr) continue;
    rates.push_back(*rate->value);
    const bool is_new = std::find(paths.begin(), paths.end(), each.label) == paths.end();
    if (is_new && !each.label.empty()) paths.push_back(each.label);
  }
  if (rates.empty()) return {};
  const auto [slowest, fastest] = std::minmax_element(rates.begin(), rates.end());
  std::string text = fmt::format("{} {}", word, format_rate(*slowest));
  if (rates.size() > 1) {
    text = fmt::format("{} {} others: {} to {}", word, rates.size(), format_rate(*slowest),
                       format_rate(*fastest));
  }
  for (const std::string& path : paths) append(text, ", ", path);
  return text;
}

Card card(const ProbeResult& result) {
  Card card;
  std::string host = both_ways(result);
  const Finding* const zero_copy = find_finding(result.findings, "zero_copy");
  if (zero_copy != nullptr && zero_copy->label == is_zero_copy) append(host, "; ", "zero copy");
  if (!host.empty()) card.lines.push_back({"transfer", std::move(host)});
  std::string others = with_peers(result, "to-peer");
  append(others, "; ", with_peers(result, "from-peer"));
  if (!others.empty()) card.lines.push_back({"other devices", std::move(others)});
  for (const std::string& series : series_in(result.findings)) {
    std::string row = row_of(result, series);
    if (!row.empty()) card.rows.push_back({series, std::move(row)});
  }
  return card;
}

constexpr Option options[]{
    {.name = "sizes",
     .value_name = "RANGE",
     .summary = "transfer sizes: a size (64KiB), a range (1KiB-256MiB), a range with a ratio "
                "(1KiB-256MiB*2), or a comma-separated list",
     .details =
         "Size of a transfer in each direction: one size (`64KiB`), a range (`1KiB-256MiB`), a "
         "range with the ratio of neighbouring sizes (`1KiB-256MiB*2`), or a comma-separated list "
         "of these. Each size is rounded down to a multiple of 16 bytes. Default: 64 B to 64 MiB. "
         "On devices with at least 16 GiB of their own memory, the default maximum is 256 MiB for "
         "one-way transfers of pinned memory. With --thorough, this maximum applies to all series.",
     .value = Sizes{}},
};

constexpr auto declared_series = declare_series(all_series);

constexpr FindingSpec finding_specs[]{
    {.name = "bandwidth", .unit = "bytes_per_second", .role = Role::headline},
    // This rate varies between runs. In one of ten runs of an H100 the rate was 27 GB/s from the
    // device, in the other nine runs 50 GB/s.
    {.name = "one_way_bandwidth", .unit = "bytes_per_second", .role = Role::passing},
    // Rate of a kernel in the driver's host memory if the driver keeps this memory on the device.
    {.name = "device_bandwidth", .unit = "bytes_per_second", .role = Role::headline},
    // The start-up varies between runs. In one of five runs of an H200 the start-up from SVM was
    // 39 us, in the other four runs 16 to 17 us.
    {.name = "start_up", .unit = "seconds", .role = Role::passing},
    // A larger half size is neither better nor worse: with an equal start-up, a faster link has a
    // larger half size.
    {.name = "half_size", .unit = "bytes", .role = Role::passing},
    {.name = "duplex", .unit = "share", .better = Better::more, .is_ratio = true},
    {.name = "zero_copy"},
    {.name = "host_memory"},
    {.name = "peer_path"},
    {.name = "link"},
    // `share_of_link` follows from `bandwidth`: comparing both would count a change twice.
    {.name = "share_of_link", .unit = "share", .role = Role::remark, .is_ratio = true},
};

constexpr DescribedNumber described[]{
    {"to_device.bandwidth", "bandwidth", "to-device-pinned"},
    {"to_device.start_up", "start_up", "to-device-pinned"},
    {"to_device.pageable_bandwidth", "bandwidth", "to-device"},
    {"from_device.bandwidth", "bandwidth", "from-device-pinned"},
    {"from_device.start_up", "start_up", "from-device-pinned"},
    {"from_device.pageable_bandwidth", "bandwidth", "from-device"},
};

constexpr Budgets budgets{.quick = {.probe_time = std::chrono::seconds(1),
                                    .first_visit_time = std::chrono::seconds(1),
                                    .relative_interval = 0.05,
                                    .min_visits = 1,
                                    .max_visits = 2},
                          // This limit is for slow links, many devices and busy hosts. On an H200
                          // two visits of all points take a second.
                          .normal = {.probe_time = std::chrono::milliseconds(4500),
                                     .relative_interval = 0.02,
                                     .max_visits = 2,
                                     .samples_per_visit = 2},
                          .thorough = {.probe_time = std::chrono::seconds(60), .max_visits = 20}};

// Size in bytes of a vector of the copy kernel. All transfer sizes are multiples of this size.
constexpr std::uint64_t granule = 16;
// Smallest default size, for which start-up dominates on every device.
constexpr Bytes smallest{64};

std::vector<SeriesSpec> wanted_series(const Request& request) {
  std::vector<SeriesSpec> wanted;
  for (const SeriesSpec& each : all_series) {
    if (wants(request, each.name)) wanted.push_back(each);
  }
  return wanted;
}

/// Maximum size of transfers that the link limits. The rate of the link grows up to this size.
constexpr Bytes max_of_link = mebibytes(256);
/// Maximum size of other transfers. The host does not copy larger transfers faster.
constexpr Bytes max_of_all = mebibytes(64);

bool has_large_link(const DeviceInfo& device) {
  return !shares_memory_with_host(device) && device.global_memory >= gibibytes(16);
}

/// Returns the size, limited so that `buffers` buffers of this size fit the memory.
Bytes cut_to_memory(Bytes max, const DeviceInfo& device, const Request& request,
                    std::uint64_t buffers) {
  // Drivers may keep host buffers on the device, so all buffers must fit the device. Without
  // requested sizes, half of its memory remains for other programs.
  const bool is_requested = !request.own.sizes("sizes").empty();
  const std::uint64_t parts = is_requested ? buffers + 1 : 2 * buffers;
  if (device.global_memory.count != 0) max = std::min(max, device.global_memory / parts);
  if (device.max_allocation.count != 0) max = std::min(max, device.max_allocation);
  if (request.max_memory.count != 0) max = std::min(max, request.max_memory / (buffers + 1));
  return max;
}

Bytes largest_transfer(const DeviceInfo& device, const Request& request, std::uint64_t buffers) {
  const bool is_requested = !request.own.sizes("sizes").empty();
  const bool is_thorough = request.effort == Effort::thorough;
  Bytes max = has_large_link(device) && is_thorough ? max_of_link : max_of_all;
  // Requested sizes are limited only by the buffers.
  if (is_requested) max = gibibytes(64);
  return cut_to_memory(max, device, request, buffers);
}

/// Maximum size of small transfers. The fit of the start-up needs three small sizes.
constexpr Bytes small = kibibytes(1);

/// Ratio of neighbouring sizes: `near` for small sizes, `far` for larger sizes.
struct Spacing {
  double near{4.0};
  double far{16.0};
};

/// Returns the spacing of sizes. The smallest and the largest sizes show start-up and rate; with
/// few sizes in between, all series together end within a second. A quick run has fewer sizes.
constexpr Spacing spacing_of(Effort effort) {
  if (effort == Effort::thorough) return {2.0, 2.0};
  return effort == Effort::quick ? Spacing{4.0, 64.0} : Spacing{};
}

/// Returns the spacing of the sizes of copies between devices. By default, there is one size
/// between the small sizes and the largest: NVIDIA's driver takes 80 us for the smallest copy, lays
/// out a new buffer for each size, and copies at 2 GB/s.
Spacing peer_spacing(const Request& request, std::size_t peers) {
  const bool is_requested = !request.own.sizes("sizes").empty();
  if (is_requested || (request.effort == Effort::thorough && peers == 1)) {
    return spacing_of(request.effort);
  }
  return {4.0, 256.0};
}

std::vector<std::uint64_t> sizes_of(const DeviceInfo& device, const Request& request,
                                    std::uint64_t buffers, Spacing spacing) {
  const Bytes largest = largest_transfer(device, request, buffers);
  std::vector<SizeRange> ranges = request.own.sizes("sizes");
  if (ranges.empty()) ranges.push_back({smallest, largest, 0.0});
  const std::vector<Bytes> wanted = expand_ranges(ranges, largest, [&](double size) {
    return size < static_cast<double>(small.count) ? spacing.near : spacing.far;
  });
  std::vector<std::uint64_t> sizes;
  for (const Bytes each : wanted) {
    const std::uint64_t size = each.count / granule * granule;
    const bool is_known = std::find(sizes.begin(), sizes.end(), size) != sizes.end();
    if (size >= granule && !is_known) sizes.push_back(size);
  }
  return sizes;
}

/// Sorts points by importance, so that a time limit cuts off the least important points. The
/// largest transfers come first, and among these the transfers of the card. Small transfers and
/// then all other transfers follow. Transfers with other devices come last, since there may be
/// many devices.
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

/// Returns the series that the device supports. Adds to `result` the reasons why the other series
/// are missing.
std::vector<SeriesSpec> possible_series(const DeviceInfo& device, const Request& request,
                                        Plan& result) {
  std::vector<SeriesSpec> possible;
  for (const SeriesSpec& series : wanted_series(request)) {
    const std::string reason = missing_in(series, device);
    if (reason.empty()) {
      possible.push_back(series);
    } else if (series.way != Way::peer || !request.series.empty()) {
      // Missing series with other devices are reported only if they were requested.
      result.findings.push_back(not_measured("bandwidth", series.name, reason));
    }
  }
  return possible;
}

/// Adds larger one-way transfers of pinned memory with their own buffers, if the memory suffices.
/// The other series keep smaller buffers: laying out larger buffers would take longer than all
/// transfers.
void add_largest_of_link(const std::vector<SeriesSpec>& series, const DeviceInfo& device,
                         const Request& request, std::uint64_t buffers, Plan& result) {
  // One buffer on the device, and two pinned buffers, of which one-way transfers use one.
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
    .builds = builds,
    .find_problem = find_problem<Shape, Observation>,
    .analyse = analyse,
    .combine = combine,
    .card = card,
    .described = described,
};

}  // namespace clprobe::transfer
