// SPDX-License-Identifier: Apache-2.0
// Findings from the times of transfers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/host_effects.hpp"
#include "probes/shared/relative_line.hpp"
#include "probes/transfer/transfer.hpp"

namespace clprobe::transfer {

namespace {

constexpr std::size_t fewest_small = 3;

/// Fits a line through the times of transfers that consist mostly of start-up. Returns nothing if
/// the transfers do not determine a line.
std::optional<Line> line_of(const std::vector<Timed>& small) {
  if (small.size() < fewest_small || small.front().bytes == small.back().bytes) return std::nullopt;
  std::vector<double> bytes;
  std::vector<double> ns;
  for (const Timed& each : small) {
    bytes.push_back(each.bytes);
    ns.push_back(each.ns);
  }
  const Line line = fit_relative_line(bytes, ns);
  // With impossible sizes or times in a stored run, the fit can divide by 0.
  const bool is_known = line.intercept > 0.0 && std::isfinite(line.intercept_interval.high);
  return is_known ? std::optional(line) : std::nullopt;
}

}  // namespace

std::optional<Law> fit_law(std::vector<Timed> transfers) {
  std::erase_if(transfers, [](const Timed& each) { return !(each.ns > 0.0 && each.bytes > 0.0); });
  if (transfers.empty()) return std::nullopt;
  std::sort(transfers.begin(), transfers.end(),
            [](const Timed& a, const Timed& b) { return a.bytes < b.bytes; });
  const Timed& largest = transfers.back();
  const double rate = largest.bytes / largest.ns;
  std::vector<Timed> small;
  for (const Timed& each : transfers) {
    if (each.bytes / rate < each.ns / 2) small.push_back(each);
  }
  const std::optional<Line> line = line_of(small);
  Law law;
  std::vector<double> rates;
  std::vector<double> slow;
  std::vector<double> fast;
  for (const Timed& each : transfers) {
    if (each.bytes * static_cast<double>(large_part) < largest.bytes) continue;
    const double of_start = line ? std::min(line->intercept, each.ns / 2) : 0.0;
    rates.push_back(each.bytes / (each.ns - of_start));
    slow.push_back(each.bytes / (each.ns_interval.high - of_start));
    fast.push_back(each.bytes / std::max(each.ns_interval.low - of_start, each.ns / 4));
  }
  law.bytes_per_ns = median(rates);
  law.bytes_per_ns_interval = {
      std::min(*std::min_element(slow.begin(), slow.end()), law.bytes_per_ns),
      std::max(*std::max_element(fast.begin(), fast.end()), law.bytes_per_ns)};
  if (line) {
    law.start_ns = line->intercept;
    law.start_interval = {std::max(0.0, line->intercept_interval.low),
                          line->intercept_interval.high};
  }
  return law;
}

namespace {

constexpr std::string_view law_method = "start-up and rate";
/// Minimum factor by which a mapping that moves no bytes is faster than the fastest call that moves
/// bytes. A kernel that is faster by this factor does not read from the host.
constexpr double beyond_moving = 3.0;
/// Minimum time in ns that the fastest call needs to move the bytes. In shorter transfers the
/// overhead of a call hides whether bytes were moved.
constexpr double telling_ns = 200e3;
constexpr std::string_view too_small =
    "no transfer is large enough to stand out from the overhead of a call";

using Laws = std::map<std::string, Law, std::less<>>;

std::vector<Timed> transfers_of(std::string_view series, const DeviceInfo& device,
                                std::span<const Point> points) {
  std::vector<Timed> transfers;
  for (const Point& point : points) {
    if (point.series != series || !point.failure.empty()) continue;
    const auto shape = find_shape<Shape>(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (!shape || !time) continue;
    const auto bytes = static_cast<double>(shape->moved_bytes());
    transfers.push_back(
        {bytes, time->ns * bytes, {time->ns_interval.low * bytes, time->ns_interval.high * bytes}});
  }
  return transfers;
}

/// Returns true if the host copies the bytes, for example from ordinary memory to the driver's
/// memory.
bool is_copied_by_host(Way way) {
  return way == Way::pageable || way == Way::map || way == Way::svm;
}

/// Returns the interval of a rate that varies between runs, widened to at least 6 % on each side.
/// Two directions share the link and the host's memory differently in each run. In seven runs of an
/// H200 the sum of both directions was 95 to 103 GB/s. The rate of copies on the device depends on
/// the addresses of the buffers. In ten runs of an H200 this rate was 1.97 to 2.17 TB/s.
Interval shared_rate(const Law& law) {
  constexpr double share = 0.06;
  return of_any_run(law.bytes_per_ns_interval, law.bytes_per_ns, share);
}

Interval rate_of(const Law& law, const SeriesSpec& spec, DeviceType type) {
  if (is_copied_by_host(spec.way)) {
    return of_any_run(law.bytes_per_ns_interval, law.bytes_per_ns, copy_share(type));
  }
  const bool is_shared = spec.direction == Direction::both || is_of_large_ones(spec);
  const bool is_by_place = spec.way == Way::device || spec.way == Way::kernel;
  return is_shared || is_by_place ? shared_rate(law) : law.bytes_per_ns_interval;
}

/// Name of the finding for a series' rate, and whether the series has a start-up.
struct Named {
  std::string_view rate{"bandwidth"};
  bool has_start{true};
};

void add_law(Findings& found, std::string_view series, const SeriesSpec& spec, const Law& law,
             DeviceType type, const Named& named = {}) {
  const Interval rate = rate_of(law, spec, type);
  found.findings.push_back(finding_of(named.rate, series, "bytes_per_second", law_method,
                                      law.bytes_per_ns * ns_per_second, rate.low * ns_per_second,
                                      rate.high * ns_per_second));
  if (!named.has_start) return;
  if (!law.start_ns) {
    constexpr std::string_view reason = "no transfer is small enough for the start-up to dominate";
    found.findings.push_back(without_value("start_up", series, law_method, reason, "seconds"));
    return;
  }
  const double copied = copy_share(type);
  const double begun =
      is_copied_by_host(spec.way) ? std::max(copied, thread_share(type)) : thread_share(type);
  const Interval start = of_any_run(law.start_interval, *law.start_ns,
                                    spec.direction == Direction::both ? copied : begun);
  found.findings.push_back(finding_of("start_up", series, "seconds", law_method,
                                      *law.start_ns / ns_per_second, start.low / ns_per_second,
                                      start.high / ns_per_second));
  found.findings.push_back(finding_of("half_size", series, "bytes", law_method,
                                      *law.start_ns * law.bytes_per_ns, start.low * rate.low,
                                      start.high * rate.high));
}

/// Bytes and time of one transfer.
struct Moved {
  double bytes{0.0};
  double ns{0.0};

  [[nodiscard]] double rate() const { return bytes / ns; }
};

/// Returns the highest one-way rate, in bytes per ns, between host and device. Only transfers of
/// at least `bytes` bytes count. Returns 0 if there is none.
double best_moved(const DeviceInfo& device, std::span<const Point> points, double bytes) {
  double best = 0.0;
  for (const SeriesSpec& each : all_series) {
    if (!surely_moves(each) || each.direction == Direction::both) continue;
    for (const Timed& timed : transfers_of(each.name, device, points)) {
      if (timed.bytes >= bytes && timed.ns > 0.0) best = std::max(best, timed.bytes / timed.ns);
    }
  }
  return best;
}

/// Adds the rate of both directions at once, as a share of the sum of the rates of each direction
/// alone.
void add_duplex(Findings& found, const Laws& laws) {
  const auto both = laws.find(both_series);
  const auto to = laws.find("to-device-pinned");
  const auto from = laws.find("from-device-pinned");
  if (both == laws.end() || to == laws.end() || from == laws.end()) return;
  const Interval& of_to = to->second.bytes_per_ns_interval;
  const Interval& of_from = from->second.bytes_per_ns_interval;
  const double alone = to->second.bytes_per_ns + from->second.bytes_per_ns;
  const Interval of_both = shared_rate(both->second);
  found.findings.push_back(
      finding_of("duplex", both_series, "share", "compared with each direction alone",
                 both->second.bytes_per_ns / alone, of_both.low / (of_to.high + of_from.high),
                 of_both.high / (of_to.low + of_from.low)));
}

/// Labels a finding: `beyond` if `moved` is clearly faster than `best`, the rate of the fastest
/// call that moves bytes, and else `otherwise`.
Finding compare_with_moving(Finding finding, const Moved& moved, double best,
                            std::string_view beyond, std::string_view otherwise) {
  if (!(best > 0.0)) {
    finding.reason = "no other transfer of this size was measured for comparison";
  } else if (moved.bytes / best < telling_ns) {
    finding.reason = too_small;
  } else {
    finding.label = moved.rate() > beyond_moving * best ? beyond : otherwise;
  }
  return finding;
}

/// Adds whether a mapping moves bytes. The time of the largest mapping without a copy decides.
void add_zero_copy(Findings& found, const DeviceInfo& device, std::span<const Point> points) {
  Moved mapping;
  std::string_view series;
  for (const SeriesSpec& each : all_series) {
    if (each.way != Way::map) continue;
    for (const Point& point : points) {
      const std::optional<double> took = number_in(point.facts, mapping_ns);
      const auto shape = find_shape<Shape>(point);
      if (point.series != each.name || !took || !(*took > 0.0) || !shape) continue;
      const auto size = static_cast<double>(shape->transfer_bytes);
      // A mapping in either direction may move bytes, so the slower direction counts.
      if (size < mapping.bytes || (size == mapping.bytes && *took <= mapping.ns)) continue;
      mapping = {size, *took};
      series = each.name;
    }
  }
  if (!(mapping.ns > 0.0)) return;
  found.findings.push_back(compare_with_moving(
      finding_of("zero_copy", series, "", "mapping without a copy"), mapping,
      best_moved(device, points, mapping.bytes), is_zero_copy, is_no_zero_copy));
}

/// Decides from a series of kernels whether the driver keeps its host memory on the host or on the
/// device.
std::optional<Finding> find_host_memory(std::string_view series, const DeviceInfo& device,
                                        std::span<const Point> points) {
  if (shares_memory_with_host(device)) return std::nullopt;
  Moved largest;
  for (const Timed& each : transfers_of(series, device, points)) {
    if (each.bytes > largest.bytes) largest = {each.bytes, each.ns};
  }
  if (!(largest.ns > 0.0)) return std::nullopt;
  return compare_with_moving(finding_of("host_memory", series, "", "compared with transfers"),
                             largest, best_moved(device, points, largest.bytes), kept_on_device,
                             kept_on_host);
}

/// Names the rate of a series. One-way rates with both directions busy, and rates of memory on the
/// device, get other names and no start-up, since rates with equal names are compared.
Named name_rate(const SeriesSpec& spec, const std::optional<Finding>& host_memory) {
  if (is_of_large_ones(spec)) return {"one_way_bandwidth", false};
  if (host_memory && host_memory->label == kept_on_device) return {"device_bandwidth", false};
  return {};
}

/// Series of transfers between this device and another device.
struct PeerSeries {
  std::string name{};
  const SeriesSpec* spec{nullptr};
  std::string peer_name{};
  bool peer_shares_memory{false};
};

/// Returns the series with other devices, in the order of the points.
std::vector<PeerSeries> peer_series_in(std::span<const Point> points) {
  std::vector<PeerSeries> all;
  for (const Point& point : points) {
    const auto shape = find_shape<Shape>(point);
    if (!shape || shape->way != Way::peer || !point.failure.empty()) continue;
    const auto is_it = [&](const PeerSeries& each) { return each.name == point.series; };
    if (std::any_of(all.begin(), all.end(), is_it)) continue;
    const auto* const spec =
        std::find_if(all_series.begin(), all_series.end(), [&](const SeriesSpec& each) {
          return each.way == Way::peer && each.direction == shape->direction;
        });
    if (spec == all_series.end()) continue;
    all.push_back({point.series, spec, point.facts.text_or(peer_name, ""),
                   point.facts.integer_or(peer_shares_memory, 0) != 0});
  }
  return all;
}

/// Returns the rate of the fastest call in a direction. Returns 0 if there is none.
double best_rate(const Laws& laws, Direction direction) {
  double best = 0.0;
  for (const SeriesSpec& each : all_series) {
    const auto law = laws.find(each.name);
    if (law == laws.end() || each.direction != direction || !surely_moves(each)) continue;
    best = std::max(best, law->second.bytes_per_ns);
  }
  return best;
}

/// Decides whether bytes reach another device through the host. A driver may move all bytes to the
/// host and then to the other device: the times add up. A driver that overlaps parts needs only
/// the time of the slower direction. If the rate exceeds the rates of both directions, the path
/// does not go through the host.
Finding path_to(const PeerSeries& peer, const Law& law, const DeviceInfo& device,
                const Laws& laws) {
  constexpr double beyond_links = 1.1;
  constexpr double staged_share = 0.2;
  Finding finding = finding_of("peer_path", peer.name, "", "compared with transfers");
  const bool is_in_one = shares_memory_with_host(device);
  if (is_in_one && peer.peer_shares_memory) {
    finding.label = path_in_memory;
    return finding;
  }
  const double to = best_rate(laws, Direction::to_device);
  const double from = best_rate(laws, Direction::from_device);
  if (is_in_one || peer.peer_shares_memory) {
    finding.reason = "one of the two devices uses the host's memory";
  } else if (peer.peer_name != device.name) {
    finding.reason =
        "the other device is a different model, whose link to the host was not measured";
  } else if (!(to > 0.0 && from > 0.0)) {
    finding.reason = "no transfers to and from the host were measured for comparison";
  } else {
    const double staged = 1.0 / (1.0 / to + 1.0 / from);
    const double rate = law.bytes_per_ns;
    if (rate > beyond_links * std::max(to, from)) {
      finding.label = path_direct;
    } else if (std::abs(rate / staged - 1.0) <= staged_share) {
      finding.label = path_by_host;
    } else if (rate > staged) {
      finding.reason =
          "the rate fits two paths: pipelined through the host, or direct over the same link";
    } else {
      finding.reason = "the transfer is slower than a transfer through the host would be";
    }
  }
  return finding;
}

}  // namespace

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  Laws laws;
  std::vector<Finding> host_memories;
  for (const SeriesSpec& series : all_series) {
    std::optional<Finding> host_memory;
    if (series.way == Way::kernel) host_memory = find_host_memory(series.name, device, points);
    if (host_memory) host_memories.push_back(*host_memory);
    const std::optional<Law> law = fit_law(transfers_of(series.name, device, points));
    if (!law) continue;
    laws.emplace(series.name, *law);
    add_law(found, series.name, series, *law, device.type, name_rate(series, host_memory));
  }
  for (const PeerSeries& peer : peer_series_in(points)) {
    const std::optional<Law> law = fit_law(transfers_of(peer.name, device, points));
    if (!law) continue;
    add_law(found, peer.name, *peer.spec, *law, device.type);
    found.findings.push_back(path_to(peer, *law, device, laws));
  }
  add_link(found, device, points);
  add_duplex(found, laws);
  add_zero_copy(found, device, points);
  found.findings.insert(found.findings.end(), host_memories.begin(), host_memories.end());
  return found;
}

}  // namespace clprobe::transfer
