// SPDX-License-Identifier: Apache-2.0
// The probe `latency`: a point, and the table of series that determines options, plan, launches and
// findings. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::latency {

/// Contents of a node. The numbers of `pointer`, `index` and `offset` are ADDRESS in
/// cl/latency.cl.
enum class AddressForm { pointer = 0, index = 1, offset = 2, automatic = 3 };

inline constexpr std::array address_table{
    Word{AddressForm::automatic, "auto"}, Word{AddressForm::pointer, "pointer"},
    Word{AddressForm::index, "index"}, Word{AddressForm::offset, "offset"}};

inline std::string_view to_word(AddressForm form) { return word_in(address_table, form); }

/// Shape of a point: a ring of nodes.
struct RingShape {
  std::uint64_t working_set_bytes{0};
  std::uint64_t step_bytes{64};  ///< distance between nodes
  /// Size of a cache line. If `step_bytes` is larger, each node lies in one of the lines of its
  /// step, so that nodes are spread over cache sets.
  std::uint64_t line_bytes{64};
  AddressForm address{AddressForm::index};
  std::uint64_t unroll{16};
  std::uint64_t buffer_bytes{0};  ///< size of the buffer that holds the ring

  template <typename Visitor>
  void visit(Visitor& fields) {
    fields.whole("working_set_bytes", working_set_bytes, from_1);
    fields.whole("step_bytes", step_bytes, from_1);
    fields.whole("line_bytes", line_bytes, from_1);
    fields.word("address", address, address_table);
    fields.whole("unroll", unroll, count_from_1);
    fields.fact("buffer_bytes", buffer_bytes);
  }

  [[nodiscard]] std::uint32_t nodes() const {
    return static_cast<std::uint32_t>(working_set_bytes / step_bytes);
  }

  /// Returns the byte offset of a node, as node_offset() in cl/latency.cl does.
  [[nodiscard]] std::uint64_t offset_of(std::uint32_t node) const {
    const std::uint64_t share =
        static_cast<std::uint32_t>(node * 2654435761U);  // in units of 2^-32 of a step
    const std::uint64_t lines = step_bytes / line_bytes;
    return node * step_bytes + ((share * lines) >> 32U) * line_bytes;
  }
};

// Words of --order: the nodes follow each other in address order or in random order.
inline constexpr std::string_view fixed_order = "fixed";
inline constexpr std::string_view random_order = "random";

/// Requested options. For options that are not set, the probe chooses values.
struct Options {
  Bytes max_memory{};
  Effort effort{Effort::normal};
  std::vector<std::string> series{};
  std::vector<SizeRange> sizes{};
  Bytes step{};
  std::uint64_t unroll{};
  bool is_in_order{false};  ///< --order fixed: address order gets all sizes of random order
  AddressForm address{AddressForm::automatic};

  explicit Options(const Request& request)
      : max_memory(request.max_memory),
        effort(request.effort),
        series(request.series),
        sizes(request.own.sizes("sizes")),
        step(request.own.size("step")),
        unroll(request.own.number("unroll").value_or(RingShape{}.unroll)),
        is_in_order(request.own.word("order") == fixed_order),
        address(
            value_in(address_table, request.own.word("address")).value_or(AddressForm::automatic)) {
  }

  /// Returns true if --series names the series or is not given.
  [[nodiscard]] bool wants(std::string_view name) const { return is_wanted(series, name); }
  [[nodiscard]] bool names(std::string_view name) const {
    return std::find(series.begin(), series.end(), name) != series.end();
  }
};

/// Memories that a chase can run through. The numbers are SPACE in cl/latency.cl.
enum class Space { global = 0, constant_argument = 1, constant_program = 2, local = 3, image = 4 };

/// Returns true for memories of buffers. Rings in these memories are parts of the store.
constexpr bool has_store(Space space) {
  return space != Space::local && space != Space::constant_program;
}

/// Returns true for memories that drivers may refuse to provide in the size that they report.
constexpr bool may_refuse(Space space) { return space != Space::global && space != Space::image; }

/// Ratio of neighbouring working sets: `fine` depends on the effort, `coarse` is 1.19, `sparse`
/// 1.42 and `few` 8 (2 in a thorough run). `few` suits series whose difference from another series
/// counts.
enum class Spacing { fine, coarse, sparse, few };

struct SeriesSpec {
  std::string_view name;
  std::string_view summary;
  std::string_view title;
  Space space{Space::global};
  bool is_scalar{false};  ///< uniform start: compilers emit scalar loads
  bool is_by_page{false};
  bool is_in_order{false};  ///< nodes follow each other in address order instead of random order
  bool is_looped{false};    ///< one load per iteration, even if --unroll is given
  bool is_on_host{false};   ///< rings are in host memory that the driver allocates
  Spacing spacing{Spacing::sparse};
  Bytes first{kibibytes(1)};  ///< smallest working set; at least two steps
  bool is_refined{false};     ///< gets more sizes around its knees
  bool is_shown{true};        ///< the report lists levels of this series
  bool is_special{false};     ///< omitted where not measured, unless --series names it
  bool is_on_request{false};  ///< measured only with --series or --thorough
};

/// Returns true if the rings of a series are parts of the store on the device.
inline bool is_cut_from_store(const SeriesSpec& series) {
  return has_store(series.space) && !series.is_on_host;
}

inline constexpr std::string_view global_series = "global";
inline constexpr std::string_view pages_series = "global-pages";
inline constexpr std::string_view in_order_series = "global-in-order";
inline constexpr std::string_view looped_series = "global-looped";
inline constexpr std::string_view host_series = "host";

/// Series of the probe, in the order of the findings.
inline constexpr std::array all_series{
    SeriesSpec{.name = global_series,
               .summary = "loads from global memory",
               .title = "{}",
               .spacing = Spacing::fine,
               .is_refined = true},
    SeriesSpec{.name = "global-scalar",
               .summary = "loads from global memory through AMD's scalar cache",
               .title = "{} through the scalar cache",
               .is_scalar = true,
               .spacing = Spacing::fine,
               .is_refined = true,
               .is_special = true},
    SeriesSpec{.name = pages_series,
               .summary = "loads from global memory, one node per page",
               .title = "{} with one node per page",
               .is_by_page = true,
               .spacing = Spacing::coarse,
               .is_shown = false},
    SeriesSpec{.name = in_order_series,
               .summary = "loads from global memory in address order",
               .title = "{} in address order",
               .is_in_order = true,
               .spacing = Spacing::few,
               .first = kibibytes(256),
               .is_shown = false,
               .is_special = true},
    SeriesSpec{.name = looped_series,
               .summary = "loads from global memory, one per loop iteration",
               .title = "{} with one load per loop iteration",
               .is_looped = true,
               .spacing = Spacing::few,
               .is_shown = false,
               .is_special = true,
               .is_on_request = true},
    SeriesSpec{.name = "constant-argument",
               .summary = "loads from a buffer passed as a constant argument",
               .title = "{} through a constant argument",
               .space = Space::constant_argument,
               .spacing = Spacing::coarse},
    SeriesSpec{.name = "constant-program",
               .summary = "loads from a constant table in the program's source",
               .title = "{} through a program-scope constant table",
               .space = Space::constant_program,
               // The first cache of constants can be as small as 2 KiB, and its plateau needs
               // three points.
               .first = Bytes{}},
    SeriesSpec{.name = "local",
               .summary = "loads from local memory",
               .title = "local memory",
               .space = Space::local},
    SeriesSpec{.name = "image",
               .summary = "loads from a 1D image created from a buffer",
               .title = "{} through an image",
               .space = Space::image},
    SeriesSpec{.name = host_series,
               .summary = "loads from host memory over the link",
               .title = "host {}",
               .is_on_host = true,
               .first = kibibytes(64),
               .is_special = true},
};

/// Returns the specification of a series. Throws std::out_of_range for an unknown name.
const SeriesSpec& series_named(std::string_view name);

/// Plan of a series on a device, or the reason why the series cannot be measured.
struct SeriesPlan {
  const SeriesSpec* spec;
  Bytes step;
  Bytes last;
  double ratio;
  Bytes sparse_from;  ///< sizes from here on are further apart; 0: none
  AddressForm address;
  std::string missing;  ///< reason why the series cannot be measured; empty if it can be
  Bytes first;          ///< smallest working set; at least two steps
  bool is_refined;      ///< gets more sizes around its knees

  /// Returns true if neighbouring sizes are further apart from `size` on.
  [[nodiscard]] bool is_sparse_at(double size) const {
    return sparse_from.count != 0 && size >= static_cast<double>(sparse_from.count);
  }
};

/// Returns the distance between nodes: the requested step, or a cache line (at least 64 bytes) if
/// none is requested. Series with one node per page use another distance.
Bytes line_of(const DeviceInfo& device, const Options& requested);

std::vector<SeriesPlan> plan_series(const DeviceInfo& device, const Options& requested);

// Ratio of neighbouring sizes that are added around knees.
inline constexpr double knee_ratio = 1.04;
// Ratio of neighbouring sizes in series where every size needs a build or where one plateau is
// expected.
inline constexpr double sparse_ratio = 1.42;

/// Returns the memory that the probe needs for rings in a store of size `store`.
Bytes memory_for(Bytes store);

/// Returns an error message if an option leaves no series with a working set of two steps. The
/// message names the option. Otherwise returns an empty string.
std::string mistake_in(const std::vector<SeriesPlan>& all, const Options& requested);

std::string build_options(const SeriesSpec& series, const RingShape& shape);

/// Returns the build options of the kernels that fill the store, lay out rings and age rings, in
/// global memory.
std::string layout_options(const RingShape& shape);

/// Source of a small table of program constants. If a compiler accepts this table but rejects a
/// larger one, the size is the reason.
inline constexpr std::string_view smallest_table = "constant uint table[4] = {0};";

/// Returns the source of the table of program constants (SPACE 2). `key` selects the order of the
/// nodes.
std::string table_text(const RingShape& shape, std::uint32_t key);

inline constexpr std::uint64_t chains_per_item = 16;  // CHAINS in cl/latency.cl

// A ring counts as completely aged if at most 1/32 of its nodes are not aged.
inline constexpr std::uint64_t long_ring = 32;

/// Returns the usual number of hops of a chase. The caches of one core or compute unit usually have
/// fewer lines, so that a chase displaces the lines of the previous chase.
std::uint64_t usual_hops(const DeviceInfo& device);

/// Returns the number of untimed iterations of a launch: one lap of a small ring, since some
/// devices invalidate L1 between launches; at most 4 for a large ring, which sweeps age.
std::uint64_t warm_iterations(const DeviceInfo& device, const RingShape& shape);

std::uint64_t max_timed(const DeviceInfo& device, const SeriesSpec& series, const RingShape& shape);

/// Returns the number of work-items of a sweep, if the driver allows as many.
std::uint64_t sweep_items(const DeviceInfo& device);

/// Returns the number of hops of each chain in a sweep over `nodes` nodes by `items` work-items.
std::uint64_t sweep_hops(std::uint64_t nodes, std::uint64_t items);

/// Returns true for a CPU that runs native code. The threads of such a CPU may move between cores.
bool is_native_cpu(const DeviceInfo& device);

/// Returns true if laying out the ring has aged its first `hops` nodes: the layout has displaced
/// these nodes from the caches. Chases over these nodes need no walk first.
bool is_aged_by_layout(const DeviceInfo& device, const RingShape& shape, std::uint64_t hops);

// Labels of the finding `host_memory`: where the driver keeps a buffer that the host can map.
inline constexpr std::string_view kept_on_host = "host";
inline constexpr std::string_view kept_on_device = "device";

/// Label of the finding `beside_global` if the curve equals that of global memory.
inline constexpr std::string_view alike_global = "as global";

extern const Probe probe;

/// Returns the findings of the probe. Method: docs/latency.md and docs/method.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);
std::optional<PointProblem> find_problem_of(const Point& point);

/// Sets the findings `added` and `beside_global` according to the latencies in `findings`.
void combine(std::vector<Finding>& findings);
Card card(const ProbeResult& result);

/// Returns a function that prepares rings. All rings share the stores and the small buffers.
Preparer open(Session& session);

/// Simulates the chase: `iterations` of `unroll` hops on a ring that was walked once before.
/// Throws Unsupported for memories that the simulator does not have.
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

// Functions that `Probe` points to.
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

}  // namespace clprobe::latency
