// SPDX-License-Identifier: Apache-2.0
// The probe `transfer`: its series (direction and OpenCL call), a point, and the marks that show
// the arrival of the bytes. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::transfer {

enum class Direction { to_device, from_device, both, on_device, to_peer, from_peer };
inline constexpr Word<Direction> direction_words[]{
    {Direction::to_device, "to-device"}, {Direction::from_device, "from-device"},
    {Direction::both, "both"},           {Direction::on_device, "on-device"},
    {Direction::to_peer, "to-peer"},     {Direction::from_peer, "from-peer"}};

/// Call that moves the bytes, and kind of host memory.
enum class Way {
  pageable,  ///< clEnqueueWriteBuffer or clEnqueueReadBuffer with ordinary memory
  pinned,    ///< clEnqueueWriteBuffer or clEnqueueReadBuffer with mapped memory of the driver
  duplex,    ///< pinned copies while bytes move in the opposite direction as well
  map,       ///< mapping of the driver's memory, copy by the host, unmapping
  svm,       ///< clEnqueueSVMMemcpy between ordinary and shared virtual memory
  kernel,    ///< kernel that reads or writes the driver's host memory
  device,    ///< clEnqueueCopyBuffer within the device
  peer       ///< clEnqueueCopyBuffer between buffers of two devices
};
inline constexpr Word<Way> way_words[]{{Way::pageable, "pageable"}, {Way::pinned, "pinned"},
                                       {Way::duplex, "duplex"},     {Way::map, "map"},
                                       {Way::svm, "svm"},           {Way::kernel, "kernel"},
                                       {Way::device, "device"},     {Way::peer, "peer"}};

struct SeriesSpec {
  std::string_view name{};
  std::string_view summary{};
  Direction direction{Direction::to_device};
  Way way{Way::pageable};
};

inline constexpr std::string_view both_series = "both-pinned";
inline constexpr std::string_view on_device_series = "on-device";

inline constexpr std::array all_series{
    SeriesSpec{"to-device", "copy to the device from ordinary memory", Direction::to_device,
               Way::pageable},
    SeriesSpec{"to-device-pinned", "copy to the device from pinned memory", Direction::to_device,
               Way::pinned},
    SeriesSpec{"to-device-map", "copy to the device through mapped memory", Direction::to_device,
               Way::map},
    SeriesSpec{"to-device-svm", "copy to the device into shared virtual memory",
               Direction::to_device, Way::svm},
    SeriesSpec{"to-device-kernel", "host memory read by a kernel", Direction::to_device,
               Way::kernel},
    SeriesSpec{"from-device", "copy from the device to ordinary memory", Direction::from_device,
               Way::pageable},
    SeriesSpec{"from-device-pinned", "copy from the device to pinned memory",
               Direction::from_device, Way::pinned},
    SeriesSpec{"from-device-map", "copy from the device through mapped memory",
               Direction::from_device, Way::map},
    SeriesSpec{"from-device-svm", "copy from the device out of shared virtual memory",
               Direction::from_device, Way::svm},
    SeriesSpec{"from-device-kernel", "host memory written by a kernel", Direction::from_device,
               Way::kernel},
    SeriesSpec{both_series, "copies in both directions at once", Direction::both, Way::pinned},
    SeriesSpec{"to-device-duplex",
               "copy to the device from pinned memory while both directions are busy",
               Direction::to_device, Way::duplex},
    SeriesSpec{"from-device-duplex",
               "copy from the device to pinned memory while both directions are busy",
               Direction::from_device, Way::duplex},
    SeriesSpec{on_device_series, "copy within the device", Direction::on_device, Way::device},
    SeriesSpec{"to-peer", "copy to every other device of the platform", Direction::to_peer,
               Way::peer},
    SeriesSpec{"from-peer", "copy from every other device of the platform", Direction::from_peer,
               Way::peer},
};

/// Returns true if the series has only large transfers, and no start-up.
constexpr bool is_of_large_ones(const SeriesSpec& series) { return series.way == Way::duplex; }

/// Returns true if the bytes certainly cross the link between host and device. A mapping may move
/// no bytes, and a kernel may find the mapped memory on the device.
constexpr bool surely_moves(const SeriesSpec& series) {
  return series.direction != Direction::on_device &&
         (series.way == Way::pageable || series.way == Way::pinned || series.way == Way::svm);
}

/// Returns the numbers of the other devices of the platform.
std::vector<std::uint64_t> peers_of(const DeviceInfo& device);

/// Returns the name of a series with another device, such as "to-peer-1".
std::string series_with_peer(const SeriesSpec& series, std::uint64_t peer);

/// Returns the reason why the device cannot measure the series. If the device can, returns an
/// empty string.
std::string missing_in(const SeriesSpec& series, const DeviceInfo& device);

/// Shape of a point: transfers of one size.
struct Shape {
  std::uint64_t transfer_bytes{1024};  ///< bytes per direction
  Direction direction{Direction::to_device};
  Way way{Way::pageable};
  std::uint64_t peer{0};  ///< number of the other device
  Timer timer{Timer::wait};
  /// Size of the buffers, which suffices for the largest transfer of the plan. Stored as a fact.
  std::uint64_t buffer_bytes{0};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.whole("transfer_bytes", transfer_bytes, {.min = word_bytes});
    f.word("direction", direction, direction_words);
    f.word("way", way, way_words);
    if (way == Way::peer) f.whole("peer", peer, count_from_0);
    f.word("timer", timer);
    f.fact("buffer_bytes", buffer_bytes);
  }

  static constexpr std::int64_t word_bytes = 4;

  [[nodiscard]] std::uint64_t words() const { return transfer_bytes / word_bytes; }
  /// Returns the number of bytes per iteration. The bytes of both directions count.
  [[nodiscard]] std::uint64_t moved_bytes() const {
    return transfer_bytes * (direction == Direction::both ? 2 : 1);
  }
};

/// Name of a fact of points with a mapping: the time of a mapping without a copy, in ns.
inline constexpr std::string_view mapping_ns = "mapping_ns";
// Names of facts of points between devices: the name of the other device, and whether its memory
// is the host's (0 or 1).
inline constexpr std::string_view peer_name = "peer_name";
inline constexpr std::string_view peer_shares_memory = "peer_shares_memory";

/// Name of a fact of large pinned transfers: the link directly after transfers ("PCIe 5.0 x16"), or
/// `unknown_link`.
inline constexpr std::string_view link_fact = "link";
inline constexpr std::string_view unknown_link = "unknown";

/// Numeric facts of a point.
struct Observation {
  std::uint64_t mapping{0};
  std::uint64_t shares{0};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.fact("mapping_ns", mapping);
    f.fact("peer_shares_memory", shares, {.max = 1});
  }
};

/// Returns the number of buffers that the series need together on host and device. Each buffer has
/// the size of the largest transfer.
std::uint64_t count_buffers(const std::vector<SeriesSpec>& series, const DeviceInfo& device);

/// Marks of a transfer, as in cl/transfer.cl: words at positions throughout the moved bytes. The
/// values of the words differ between samples.
class Marks {
 public:
  static constexpr std::uint64_t max_count = 512;

  /// Makes the marks of a transfer of `words` words. `words` must be at least 1.
  Marks(std::uint64_t words, std::uint32_t launch);

  [[nodiscard]] std::uint64_t words() const { return words_; }
  [[nodiscard]] std::uint32_t launch() const { return launch_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// Returns the index of a mark's word. The first and the last word of the transfer are marks.
  [[nodiscard]] std::uint64_t place(std::uint32_t mark) const;
  [[nodiscard]] std::uint32_t value(std::uint32_t mark) const;

  void write_to(std::span<std::uint32_t> words) const;
  /// Returns the checksum of the words at the positions of the marks: their sum, weighted by the
  /// number of the mark.
  [[nodiscard]] std::uint64_t sum_in(std::span<const std::uint32_t> words) const;
  [[nodiscard]] std::uint64_t expected_sum() const;

 private:
  std::uint64_t words_;
  std::uint32_t launch_;
  std::uint32_t count_;
};

/// Returns the checksum of the marks that a kernel has read, in the order of the marks.
std::uint64_t sum_of_marks(std::span<const std::uint32_t> found);

/// Transfers are large from 1 / `large_part` of the largest size on.
inline constexpr std::uint64_t large_part = 4;

struct Timed {
  double bytes{0.0};  ///< number of bytes that the transfer moves
  double ns{0.0};
  Interval ns_interval{};
};

struct Law {
  double bytes_per_ns{0.0};          ///< rate of the large transfers, without the start-up
  Interval bytes_per_ns_interval{};  ///< contains the intervals of all large transfers
  /// Start-up in ns. Nothing if the start-up does not dominate in at least three transfers.
  std::optional<double> start_ns{};
  Interval start_interval{};
};

/// Fits start-up and rate to the times of transfers (R. W. Hockney, The science of computer
/// benchmarking, 1996). Large transfers give the rate, and small transfers the start-up. Medium
/// sizes are not used, since caches and buffers of the driver change their rates. Returns nothing
/// without transfers.
std::optional<Law> fit_law(std::vector<Timed> transfers);

// Labels of the finding `zero_copy`, which reports whether a mapping moves no bytes.
inline constexpr std::string_view is_zero_copy = "yes";
inline constexpr std::string_view is_no_zero_copy = "no";
// Labels of the finding `host_memory`: where the driver keeps memory that the host can map.
inline constexpr std::string_view kept_on_host = "host";
inline constexpr std::string_view kept_on_device = "device";
// Labels of the finding `peer_path`: the path of the bytes to another device.
inline constexpr std::string_view path_direct = "direct";
inline constexpr std::string_view path_by_host = "through the host";
inline constexpr std::string_view path_in_memory = "in one memory";

/// Adds the link of large pinned transfers, the share of the link's rate that transfers to the
/// device reach, and a warning if the link is slower than its maximum.
void add_link(Findings& found, const DeviceInfo& device, std::span<const Point> points);

/// Sets the interval of the share of the link to that of the bandwidth.
void combine(std::vector<Finding>& findings);

extern const Probe probe;

/// Returns the findings of the probe. Method: docs/transfer.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

// Functions that `Probe` points to (launch.cpp).
Preparer open(Session& session);
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

}  // namespace clprobe::transfer
