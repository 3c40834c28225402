// SPDX-License-Identifier: Apache-2.0
// The series of the probe `latency`: one table, from which its options, plan, launches and findings
// follow. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/latency/asked.hpp"

namespace clprobe::latency {

/// The memories that a chase can run through; the numbers are SPACE in cl/latency.cl.
enum class Space { global = 0, constant_argument = 1, constant_program = 2, local = 3, image = 4 };

/// Whether rings in it are cut from the store; the others are no buffers.
constexpr bool has_store(Space space) {
  return space != Space::local && space != Space::constant_program;
}

/// Whether drivers refuse a part of what they say to have of it.
constexpr bool may_refuse(Space space) { return space != Space::global && space != Space::image; }

/// How far apart working sets are: by the effort, by 19 %, or by 42 %.
/// Or by 8 times, where it is the difference to another series that counts.
enum class Spacing { fine, coarse, sparse, few };

/// What the numbers of all series follow from.
struct Basis {
  const DeviceInfo& device;
  Bytes line;   ///< from node to node, but where a series has one node per page
  Bytes store;  ///< what rings can be cut from
  Bytes host;   ///< the same of the host's memory
};

struct SeriesSpec {
  std::string_view name;
  std::string_view summary;
  std::string_view title;
  Space space{Space::global};
  bool is_scalar{false};  ///< the start is uniform
  bool is_by_page{false};
  bool is_in_order{false};  ///< each node is followed by the next address, and not by a random one
  bool is_looped{false};    ///< a load per iteration, whatever was asked for
  bool is_on_host{false};   ///< in memory that the driver makes for the host to map
  Spacing spacing{Spacing::sparse};
  Bytes first{kibibytes(1)};  ///< smallest working set; two steps at least
  bool is_refined{false};     ///< gets more sizes around its knees
  bool is_shown{true};        ///< has levels of its own
  bool is_special{false};     ///< where a device has it not, nobody misses it
  bool is_on_request{false};  ///< measured where --series names it, or with --thorough
  std::span<const AddressForm> forms;
  AddressForm (*automatic)(const DeviceInfo&);
  Bytes (*last)(const Basis&);
  /// Why the device cannot; empty when it can.
  std::string_view (*missing)(const Basis&);
};

/// Whether its rings are cut from the one store on the device.
inline bool is_cut_from_store(const SeriesSpec& series) {
  return has_store(series.space) && !series.is_on_host;
}

inline constexpr std::string_view global_series = "global";
inline constexpr std::string_view pages_series = "global-pages";
inline constexpr std::string_view in_order_series = "global-in-order";
inline constexpr std::string_view looped_series = "global-looped";
inline constexpr std::string_view host_series = "host";

std::span<const SeriesSpec> all_series();

inline constexpr std::size_t series_count = 10;
/// The same as the probe declares them.
extern const std::array<Series, series_count> declared_series;

/// Throws std::out_of_range when there is no series of that name.
const SeriesSpec& series_named(std::string_view name);

/// What a series measures on a device, or why it cannot.
struct SeriesPlan {
  const SeriesSpec* spec;
  Bytes step;
  Bytes last;
  double ratio;
  Bytes sparse_from;  ///< from here on sizes are further apart; 0: they are not
  AddressForm address;
  std::string missing;  ///< empty when it can
  Bytes first;          ///< smallest working set; two steps at least
  bool is_refined;      ///< gets more sizes around its knees

  /// Whether sizes from here on are further apart.
  [[nodiscard]] bool is_sparse_at(double size) const {
    return sparse_from.count != 0 && size >= static_cast<double>(sparse_from.count);
  }
};

/// Bytes from node to node in all series but those by page: what was asked for, or a cache line.
Bytes line_of(const DeviceInfo& device, const Asked& asked);

/// Of the series that were asked for.
std::vector<SeriesPlan> plan_series(const DeviceInfo& device, const Asked& asked);

// Between the sizes that are added around knees.
inline constexpr double knee_ratio = 1.04;
// Where every size costs a build, or nothing but one plateau is expected.
inline constexpr double sparse_ratio = 1.42;

/// What the probe holds at once for rings that are cut from such a store.
Bytes memory_for(Bytes store);

/// Which of the wishes leaves no series a working set of two steps, and what to choose instead;
/// empty where that is not why.
std::string mistake_in(const std::vector<SeriesPlan>& all, const Asked& asked);

}  // namespace clprobe::latency
