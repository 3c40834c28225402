// SPDX-License-Identifier: Apache-2.0
// The plan of each series on a device, the builds of its kernels, and the lengths of their loops.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "probes/latency/latency.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/host_effects.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/permutation.hpp"

namespace clprobe::latency {

namespace {

constexpr Bytes largest = gibibytes(1);
// The host simulates a walk line by line, so that large rings take long.
constexpr Bytes largest_simulated = mebibytes(256);
// A larger table would need megabytes of program text. The series `constant-argument` covers
// larger constants, which are in ordinary memory.
constexpr Bytes largest_table = kibibytes(64);
constexpr Bytes largest_image = mebibytes(128);
// Size of the largest ring in host memory. The ring exceeds all caches on the way to the host. The
// ring is not larger, since each hop takes a round trip.
constexpr Bytes largest_host = mebibytes(64);

// A plateau needs three points. A ratio of 1.09 distinguishes caches whose capacities differ by a
// factor of 1.3.
constexpr double fine_ratio = 1.09;
constexpr double coarse_ratio = 1.19;
constexpr double few_ratio = 8.0;

// Memory for the results of chases and of walks.
constexpr Bytes small_buffers = kibibytes(16);

/// Returns the distance between nodes of `global-pages`, at most a page. The lines of all nodes
/// must fit a cache: with 16 KiB on a GPU, which has larger pages, 1 GiB has 8 MiB of lines.
Bytes page_step(const DeviceInfo& device) {
  return runs_items_in_turn(device) ? kibibytes(4) : kibibytes(16);
}

/// Limits that determine the largest working sets.
struct Basis {
  const DeviceInfo& device;
  Bytes store;  ///< size of the store on the device
  Bytes host;   ///< size of the store in host memory
};

/// Returns the possible contents of a node in a memory. Constants cannot hold pointers.
std::span<const AddressForm> forms_in(Space space) {
  static constexpr std::array forms{AddressForm::index, AddressForm::offset, AddressForm::pointer};
  switch (space) {
    case Space::constant_argument:
    case Space::constant_program:
      return std::span(forms).first(2);
    case Space::image:
      return std::span(forms).first(1);
    case Space::global:
    case Space::local:
      break;
  }
  return forms;
}

AddressForm address_of(Space space, const DeviceInfo& device, AddressForm requested) {
  const std::span<const AddressForm> forms = forms_in(space);
  if (std::find(forms.begin(), forms.end(), requested) != forms.end()) return requested;
  switch (space) {
    case Space::global:
      return device.pointers_stay_valid ? AddressForm::pointer : AddressForm::index;
    case Space::image:
      return AddressForm::index;
    case Space::constant_argument:
      // A load through an argument adds the offset or index to an address. NVIDIA GPUs add an
      // index faster: on an H200 a load takes 39.2 cycles with an index and 41.0 with an offset.
      return device.isa == "nvptx" ? AddressForm::index : AddressForm::offset;
    case Space::constant_program:
    case Space::local:
      break;
  }
  // An offset costs no instruction if the address of the table is a constant.
  return AddressForm::offset;
}

Bytes largest_set(const SeriesSpec& series, const Basis& basis) {
  const Bytes constants = std::min(basis.device.constant_buffer, basis.store);
  switch (series.space) {
    case Space::constant_argument:
      return constants;
    case Space::constant_program:
      return std::min(constants, largest_table);
    case Space::local:
      return basis.device.local_memory;
    case Space::image:
      return std::min({Bytes{static_cast<std::uint64_t>(basis.device.image_buffer_pixels) * 4},
                       basis.store, largest_image});
    case Space::global:
      break;
  }
  // The relative cost of a loop is highest in the first level.
  if (series.is_looped) return std::min(basis.store, kibibytes(8));
  return series.is_on_host ? basis.host : basis.store;
}

/// Returns the reason why there is no link to measure. Returns an empty string if there is a link.
std::string_view missing_link(const DeviceInfo& device) {
  if (is_simulated(device)) return "a simulated device has no host";
  return shares_memory_with_host(device) ? "host and device share one memory" : "";
}

/// Returns the reason why the device cannot measure the series. If the device can, returns an
/// empty string.
std::string_view missing_in(const SeriesSpec& series, const DeviceInfo& device, Bytes line) {
  if (series.is_on_host) return missing_link(device);
  if (series.is_by_page && page_step(device) <= line) {
    return "the step between nodes is already a page or more";
  }
  if (series.is_looped && is_simulated(device)) return "loops take no time on a simulated device";
  // AMD's compilers use the scalar cache for a uniform chase and the vector cache for a divergent
  // chase, so each chase has its own series.
  const bool has_scalar_loads =
      device.isa.starts_with("amdgcn") ||
      (device.platform == "rusticl" && device.vendor.find("AMD") != std::string::npos);
  if (series.is_scalar && !has_scalar_loads) {
    return "the device has no scalar loads, unlike AMD GPUs";
  }
  switch (series.space) {
    case Space::constant_argument:
    case Space::constant_program:
      return device.constant_buffer.count == 0 ? "the device has no constant memory" : "";
    case Space::local:
      return device.local_memory.count == 0 ? "the device has no local memory" : "";
    case Space::image:
      return device.image_buffer_pixels == 0
                 ? "the device does not support images created from buffers"
                 : "";
    case Space::global:
      break;
  }
  return {};
}

double ratio_of(Spacing spacing, Effort effort) {
  if (spacing == Spacing::coarse) return coarse_ratio;
  if (spacing == Spacing::sparse) return sparse_ratio;
  if (spacing == Spacing::few) return effort == Effort::thorough ? 2.0 : few_ratio;
  switch (effort) {
    case Effort::quick:
      return coarse_ratio;
    case Effort::thorough:
      return knee_ratio;
    case Effort::normal:
      break;
  }
  return fine_ratio;
}

/// Returns the largest size of a quick run. This size exceeds the last cache by enough to show
/// memory. On a shared CPU, times of memory vary by 10 %, so that a plateau must span three
/// octaves.
Bytes largest_quick(const DeviceInfo& device) {
  constexpr std::uint64_t caches = 4;
  const Bytes least = mebibytes(device.type == DeviceType::cpu ? 256 : 128);
  return std::clamp(reported_cache(device) * caches, least, mebibytes(512));
}

/// Returns the size from which a CPU has sparse sizes; 0 for none. A ring of 1 GiB takes seconds to
/// lay out: with more sizes no point would be visited twice. Virtual machines report no cache; few
/// caches exceed the minimum of 128 MiB. On a GPU all sizes are dense, since its driver may report
/// L1 as the last cache.
Bytes sparse_from(const DeviceInfo& device, Effort effort) {
  constexpr std::uint64_t caches = 2;
  if (device.type != DeviceType::cpu || effort == Effort::thorough) return {};
  return std::max(reported_cache(device) * caches, mebibytes(128));
}

/// Returns the size of the largest store that fits the device and the memory limit.
Bytes largest_store(const DeviceInfo& device, const Options& requested) {
  if (requested.max_memory.count != 0) {
    const Bytes rest = requested.max_memory - std::min(requested.max_memory, small_buffers);
    return std::min(rest, device.max_allocation);
  }
  // Requested sizes are limited only by the largest buffer.
  if (!requested.sizes.empty()) return device.max_allocation;
  const Bytes top = requested.effort == Effort::quick ? largest_quick(device)
                    : is_simulated(device)            ? largest_simulated
                                                      : largest;
  const Bytes most = std::min({top, device.max_allocation, device.global_memory / 4});
  // The store has whole MiB, so that series with different steps end at the same size.
  return most > mebibytes(1) ? mebibytes(1) * (most / mebibytes(1)) : most;
}

/// Returns the size of the store in host memory, at most 1/8 of the memory limit; 0 without one.
Bytes host_store(const DeviceInfo& device, const Options& requested) {
  constexpr std::uint64_t part = 8;
  if (!requested.wants(host_series) || !missing_link(device).empty()) return {};
  const Bytes most = std::min({largest_host, device.max_allocation, device.global_memory / part});
  if (requested.max_memory.count == 0) return most;
  const Bytes allowed = requested.max_memory / part;
  return allowed < small_buffers ? Bytes{} : std::min(most, allowed);
}

}  // namespace

const SeriesSpec& series_named(std::string_view name) {
  const auto* const found =
      std::find_if(all_series.begin(), all_series.end(),
                   [&](const SeriesSpec& series) { return series.name == name; });
  if (found == all_series.end()) throw std::out_of_range("no series " + std::string(name));
  return *found;
}

Bytes line_of(const DeviceInfo& device, const Options& requested) {
  if (requested.step.count != 0) return requested.step;
  return std::max(Bytes{64}, device.cache_line);
}

std::vector<SeriesPlan> plan_series(const DeviceInfo& device, const Options& requested) {
  const Bytes line = line_of(device, requested);
  const Bytes host = host_store(device, requested);
  Options without_host = requested;
  if (requested.max_memory.count != 0) without_host.max_memory = requested.max_memory - host;
  const Basis basis{device, largest_store(device, without_host), host};
  std::vector<SeriesPlan> plans;
  for (const SeriesSpec& spec : all_series) {
    if (!requested.wants(spec.name)) continue;
    const std::string_view missing = missing_in(spec, device, line);
    const bool is_close = spec.is_in_order && requested.is_in_order;
    const SeriesSpec& sizes = is_close ? series_named(global_series) : spec;
    // A quick run has no time for the series in address order. A simulated device does not
    // prefetch, so the series would show nothing.
    const bool is_brief = requested.effort == Effort::quick || is_simulated(device);
    const bool is_extra = !missing.empty() || (spec.is_in_order && is_brief) ||
                          (spec.is_on_request && requested.effort != Effort::thorough);
    if (is_extra && spec.is_special && !is_close && !requested.names(spec.name)) continue;
    plans.push_back({&spec, spec.is_by_page ? page_step(device) : line, largest_set(spec, basis),
                     ratio_of(sizes.spacing, requested.effort),
                     sparse_from(device, requested.effort),
                     address_of(spec.space, device, requested.address), std::string(missing),
                     sizes.first, sizes.is_refined});
  }
  return plans;
}

Bytes memory_for(Bytes store) { return store + small_buffers; }

std::string mistake_in(const std::vector<SeriesPlan>& all, const Options& requested) {
  Bytes most{};   // largest working set of all series
  Bytes least{};  // two steps of the series with the smallest step
  for (const SeriesPlan& series : all) {
    if (!series.missing.empty()) continue;
    most = std::max(most, series.last);
    least = least.count == 0 ? series.step * 2 : std::min(least, series.step * 2);
  }
  if (requested.step.count != 0 && most < requested.step * 2 && most.count >= 16) {
    const Bytes choice = Bytes{8} * (most / Bytes{16});
    return fmt::format("--step: no memory holds two steps of {}; choose at most {}",
                       format_bytes(requested.step), format_bytes(choice));
  }
  Bytes largest_requested{};
  for (const SizeRange& range : requested.sizes) {
    largest_requested = std::max(largest_requested, range.last);
  }
  if (largest_requested.count == 0 || largest_requested >= least) return {};
  return fmt::format("--sizes: {} is less than two steps of {}; choose at least {}{}",
                     format_bytes(largest_requested), format_bytes(least / 2), format_bytes(least),
                     requested.step.count == 0 ? "" : ", or a smaller --step");
}

std::string build_options(const SeriesSpec& series, const RingShape& shape) {
  // A 32-bit offset reaches 4 GiB; a 32-bit index of 4-byte elements reaches 16 GiB.
  const Bytes reach = shape.address == AddressForm::index ? gibibytes(16) : gibibytes(4);
  const std::string local_bytes =
      series.space == Space::local ? fmt::format(" -DLOCAL_BYTES={}", shape.buffer_bytes) : "";
  return fmt::format("-DSPACE={} -DADDRESS={} -DWIDE={} -DSCALAR={} -DUNROLL={}{}",
                     static_cast<int>(series.space), static_cast<int>(shape.address),
                     shape.buffer_bytes > reach.count ? 1 : 0, series.is_scalar ? 1 : 0,
                     shape.unroll, local_bytes);
}

std::string layout_options(const RingShape& shape) {
  return build_options(series_named(global_series), shape);
}

std::string table_text(const RingShape& shape, std::uint32_t key) {
  const std::uint64_t unit_bytes = shape.address == AddressForm::index ? sizeof(std::uint32_t) : 1;
  std::vector<std::uint64_t> words(shape.working_set_bytes / sizeof(std::uint32_t), 0);
  const Permutation order(shape.nodes(), key);
  for (std::uint32_t k = 0; k < shape.nodes(); ++k) {
    const std::uint64_t to = shape.offset_of(order((k + 1) % shape.nodes()));
    words[shape.offset_of(order(k)) / sizeof(std::uint32_t)] = to / unit_bytes;
  }
  return fmt::format("constant uint table[{}] = {{{}}};\n", words.size(), fmt::join(words, ","));
}

std::vector<KernelVariant> builds(const DeviceInfo& /*device*/, std::uint64_t seed,
                                  const Point& point) {
  const SeriesSpec& series = series_named(point.series);
  const auto shape = shape_of<RingShape>(point);
  std::vector<KernelVariant> all;
  if (has_store(series.space)) all.push_back({layout_options(shape), ""});
  std::string table;
  if (series.space == Space::constant_program) {
    table = table_text(shape, permutation_key(seed));
  }
  all.push_back({build_options(series, shape), std::move(table)});
  return all;
}

std::uint64_t usual_hops(const DeviceInfo& device) {
  return runs_items_in_turn(device) ? 16384 : 4096;
}

std::uint64_t warm_iterations(const DeviceInfo& device, const RingShape& shape) {
  const std::uint64_t lap = (shape.nodes() + shape.unroll - 1) / shape.unroll;
  // A lap must leave half of a launch's iterations to the chase, even with one hop per iteration.
  const bool fits = shape.nodes() <= usual_hops(device) && lap <= max_iterations / 2;
  return fits ? lap : std::min<std::uint64_t>(lap, 4);
}

std::uint64_t max_timed(const DeviceInfo& device, const SeriesSpec& series,
                        const RingShape& shape) {
  // Each launch lays out the ring in local memory by a loop over the nodes. The loop counts
  // towards max_iterations.
  const std::uint64_t layout = series.space == Space::local ? shape.nodes() : 0;
  const std::uint64_t before = warm_iterations(device, shape) + layout;
  return std::max(max_iterations, before + 1) - before;
}

std::uint64_t sweep_items(const DeviceInfo& device) {
  return std::min<std::uint64_t>(1024, max_group_of(device));
}

std::uint64_t sweep_hops(std::uint64_t nodes, std::uint64_t items) {
  const std::uint64_t chains = items * chains_per_item;
  return (nodes + chains - 1) / chains;
}

bool is_native_cpu(const DeviceInfo& device) {
  return runs_items_in_turn(device) && device.isa != "spir";
}

bool is_aged_by_layout(const DeviceInfo& device, const RingShape& shape, std::uint64_t hops) {
  // A CPU's thread writes nodes in the order of the chase. Later writes of the same thread
  // displace the first nodes from its caches. Writes of other threads may not, since other cores
  // have their own caches.
  if (is_native_cpu(device)) {
    return shape.nodes() / units_of(device) >= long_ring * hops;
  }
  // A GPU's work-items write the ring in parallel. L1 caches are empty when a kernel begins, and
  // the last cache holds the latest writes. The margin is 4, since the reported cache may be L1.
  constexpr std::uint64_t surely_beyond = 4;
  const Bytes enough = std::max(reported_cache(device) * surely_beyond, mebibytes(256));
  return is_gpu(device) && Bytes{shape.working_set_bytes} >= enough &&
         shape.nodes() >= long_ring * hops;
}

}  // namespace clprobe::latency
