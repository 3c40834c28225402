// SPDX-License-Identifier: Apache-2.0
#include "probes/latency/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "probes/shared/one_memory.hpp"
#include "probes/shared/wanted_series.hpp"

namespace clprobe::latency {
namespace {

constexpr Bytes largest = gibibytes(1);
// Each line of a simulated walk takes the host as long as a miss of its own.
constexpr Bytes largest_simulated = mebibytes(256);
// Beyond this the table is a program text of megabytes and, wherever constants are that large,
// ordinary memory, which `constant-argument` shows.
constexpr Bytes largest_table = kibibytes(64);
constexpr Bytes largest_image = mebibytes(128);
// Each node is a way to the host and back. Beyond any cache that may lie on it.
constexpr Bytes largest_host = mebibytes(64);

// The segmentation needs three points on a plateau; 9 % resolves caches that are 1.3 times apart.
constexpr double fine_ratio = 1.09;
constexpr double coarse_ratio = 1.19;
constexpr double few_ratio = 8.0;

// Results, and what walks return.
constexpr Bytes small_buffers = kibibytes(16);

constexpr std::array every_form{AddressForm::pointer, AddressForm::index, AddressForm::offset};
// Constants hold no pointers.
constexpr std::array number_forms{AddressForm::index, AddressForm::offset};
constexpr std::array texel_forms{AddressForm::index};

AddressForm global_form(const DeviceInfo& device) {
  return device.pointers_stay_valid ? AddressForm::pointer : AddressForm::index;
}

/// An offset costs no instruction where the table's address is a constant.
AddressForm offset_form(const DeviceInfo&) { return AddressForm::offset; }

/// To an argument an offset must be added, and NVIDIA adds an index faster (39.2 cycles against
/// 41.0 on an H200).
AddressForm argument_form(const DeviceInfo& device) {
  return device.isa == "nvptx" ? AddressForm::index : AddressForm::offset;
}

AddressForm texel_form(const DeviceInfo&) { return AddressForm::index; }

/// A page that a translation covers is at least this large. One line of each of them must fit into
/// a cache: on GPUs, whose pages are larger, 16 KiB leaves 8 MiB of lines in 1 GiB.
Bytes page_step(const DeviceInfo& device) {
  return runs_items_in_turn(device) ? kibibytes(4) : kibibytes(16);
}

Bytes whole_store(const Basis& basis) { return basis.store; }

/// In the nearest level of any device, where a loop shows most.
Bytes nearest_store(const Basis& basis) { return std::min(basis.store, kibibytes(8)); }

Bytes constant_buffer(const Basis& basis) {
  return std::min(basis.device.constant_buffer, basis.store);
}

Bytes program_table(const Basis& basis) { return std::min(constant_buffer(basis), largest_table); }

Bytes local_memory(const Basis& basis) { return basis.device.local_memory; }

Bytes image_of_buffer(const Basis& basis) {
  const Bytes texels{static_cast<std::uint64_t>(basis.device.image_buffer_pixels) * 4};
  return std::min({texels, basis.store, largest_image});
}

Bytes host_memory(const Basis& basis) { return basis.host; }

std::string_view nothing_missing(const Basis&) { return {}; }

/// AMD's compilers send a uniform chase through the scalar cache, a divergent one through the
/// vector cache: two answers to one question.
std::string_view scalar_loads_missing(const Basis& basis) {
  const DeviceInfo& device = basis.device;
  const bool has_them =
      device.isa.starts_with("amdgcn") ||
      (device.platform == "rusticl" && device.vendor.find("AMD") != std::string::npos);
  return has_them ? "" : "the device has no scalar loads, unlike AMD GPUs";
}

std::string_view small_step_missing(const Basis& basis) {
  return page_step(basis.device) <= basis.line ? "the step between nodes is already a page or more"
                                               : "";
}

std::string_view loops_missing(const Basis& basis) {
  return is_simulated(basis.device) ? "loops take no time on a simulated device" : "";
}

std::string_view constants_missing(const Basis& basis) {
  return basis.device.constant_buffer.count == 0 ? "the device has no constant memory" : "";
}

std::string_view local_missing(const Basis& basis) {
  return basis.device.local_memory.count == 0 ? "the device has no local memory" : "";
}

std::string_view images_missing(const Basis& basis) {
  return basis.device.image_buffer_pixels == 0
             ? "the device does not support images created from buffers"
             : "";
}

std::string_view link_missing(const Basis& basis) {
  if (is_simulated(basis.device)) return "a simulated device has no host";
  return shares_memory_with_host(basis.device) ? "host and device share one memory" : "";
}

// In the order of the findings.
constexpr std::array<SeriesSpec, series_count> table{
    SeriesSpec{.name = global_series,
               .summary = "global memory",
               .title = "{}",
               .spacing = Spacing::fine,
               .is_refined = true,
               .forms = every_form,
               .automatic = global_form,
               .last = whole_store,
               .missing = nothing_missing},
    SeriesSpec{.name = "global-scalar",
               .summary = "global memory through AMD's scalar cache",
               .title = "{} through the scalar cache",
               .is_scalar = true,
               .spacing = Spacing::fine,
               .is_refined = true,
               .is_special = true,
               .forms = every_form,
               .automatic = global_form,
               .last = whole_store,
               .missing = scalar_loads_missing},
    SeriesSpec{.name = pages_series,
               .summary = "one node per page of global memory",
               .title = "{} with one node per page",
               .is_by_page = true,
               .spacing = Spacing::coarse,
               .is_shown = false,
               .forms = every_form,
               .automatic = global_form,
               .last = whole_store,
               .missing = small_step_missing},
    SeriesSpec{.name = in_order_series,
               .summary = "global memory in address order",
               .title = "{} in address order",
               .is_in_order = true,
               .spacing = Spacing::few,
               .first = kibibytes(256),
               .is_shown = false,
               .is_special = true,
               .forms = every_form,
               .automatic = global_form,
               .last = whole_store,
               .missing = nothing_missing},
    SeriesSpec{.name = looped_series,
               .summary = "global memory with one load per loop iteration",
               .title = "{} with one load per loop iteration",
               .is_looped = true,
               .spacing = Spacing::few,
               .is_shown = false,
               .is_special = true,
               .is_on_request = true,
               .forms = every_form,
               .automatic = global_form,
               .last = nearest_store,
               .missing = loops_missing},
    SeriesSpec{.name = "constant-argument",
               .summary = "a buffer passed as a constant argument",
               .title = "{} through a constant argument",
               .space = Space::constant_argument,
               .spacing = Spacing::coarse,
               .forms = number_forms,
               .automatic = argument_form,
               .last = constant_buffer,
               .missing = constants_missing},
    SeriesSpec{.name = "constant-program",
               .summary = "a constant table in the program's source",
               .title = "{} through a program-scope constant array",
               .space = Space::constant_program,
               // Its nearest level can be as small as 2 KiB, and needs three points.
               .first = Bytes{},
               .forms = number_forms,
               .automatic = offset_form,
               .last = program_table,
               .missing = constants_missing},
    SeriesSpec{.name = "local",
               .summary = "local memory",
               .title = "local memory",
               .space = Space::local,
               .forms = every_form,
               .automatic = offset_form,
               .last = local_memory,
               .missing = local_missing},
    SeriesSpec{.name = "image",
               .summary = "a 1D image created from a buffer",
               .title = "{} through an image",
               .space = Space::image,
               .forms = texel_forms,
               .automatic = texel_form,
               .last = image_of_buffer,
               .missing = images_missing},
    SeriesSpec{.name = host_series,
               .summary = "host memory, over the link",
               .title = "host {}",
               .is_on_host = true,
               .first = kibibytes(64),
               .is_special = true,
               .forms = every_form,
               .automatic = global_form,
               .last = host_memory,
               .missing = link_missing},
};

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

/// Far enough beyond the last cache for memory to be seen: a first look does not wait for more. On
/// a shared CPU sizes of memory differ by a tenth, and a plateau is only seen where they go on for
/// three octaves.
Bytes largest_quick(const DeviceInfo& device) {
  constexpr std::uint64_t caches = 4;
  const Bytes least = mebibytes(device.type == DeviceType::cpu ? 256 : 128);
  return std::clamp(reported_cache(device) * caches, least, mebibytes(512));
}

/// On a CPU, where a gigabyte takes seconds to lay out, sizes of memory alone are few: else most of
/// the time goes there, and no point is visited twice. Virtual machines report no cache, and few
/// are larger than this. What a GPU reports may be its nearest cache.
Bytes sparse_from(const DeviceInfo& device, Effort effort) {
  constexpr std::uint64_t caches = 2;
  if (device.type != DeviceType::cpu || effort == Effort::thorough) return {};
  return std::max(reported_cache(device) * caches, mebibytes(128));
}

/// The largest store that the device has and that is allowed with all that belongs to it.
Bytes largest_store(const DeviceInfo& device, const Asked& asked) {
  if (asked.max_memory.count != 0) {
    const Bytes rest = asked.max_memory - std::min(asked.max_memory, small_buffers);
    return std::min(rest, device.max_allocation);
  }
  // Sizes that were asked for are measured if a buffer can hold them.
  if (!asked.sizes.empty()) return device.max_allocation;
  const Bytes top = asked.effort == Effort::quick ? largest_quick(device)
                    : is_simulated(device)        ? largest_simulated
                                                  : largest;
  const Bytes most = std::min({top, device.max_allocation, device.global_memory / 4});
  // Whole MiB, so that series of different steps end at the same size.
  return most > mebibytes(1) ? mebibytes(1) * (most / mebibytes(1)) : most;
}

/// What rings in the host's memory may take: of a limit a small part, since they need less.
Bytes host_store(const DeviceInfo& device, const Asked& asked) {
  constexpr std::uint64_t part = 8;
  const Basis basis{device, {}, {}, {}};
  if (!asked.wants(host_series) || !link_missing(basis).empty()) return {};
  const Bytes most = std::min({largest_host, device.max_allocation, device.global_memory / part});
  if (asked.max_memory.count == 0) return most;
  const Bytes allowed = asked.max_memory / part;
  return allowed < small_buffers ? Bytes{} : std::min(most, allowed);
}

AddressForm address_of(const SeriesSpec& spec, const DeviceInfo& device, AddressForm asked) {
  const bool is_possible =
      std::find(spec.forms.begin(), spec.forms.end(), asked) != spec.forms.end();
  return is_possible ? asked : spec.automatic(device);
}

}  // namespace

std::span<const SeriesSpec> all_series() { return table; }

constexpr std::array<Series, series_count> declared_series = declare_series(table);

const SeriesSpec& series_named(std::string_view name) {
  const auto* const found = std::find_if(
      table.begin(), table.end(), [&](const SeriesSpec& series) { return series.name == name; });
  if (found == table.end()) throw std::out_of_range("no series " + std::string(name));
  return *found;
}

Bytes line_of(const DeviceInfo& device, const Asked& asked) {
  if (asked.step.count != 0) return asked.step;
  return std::max(Bytes{64}, device.cache_line);
}

std::vector<SeriesPlan> plan_series(const DeviceInfo& device, const Asked& asked) {
  const Bytes line = line_of(device, asked);
  const Bytes host = host_store(device, asked);
  Asked without_host = asked;
  if (asked.max_memory.count != 0) without_host.max_memory = asked.max_memory - host;
  const Basis basis{device, line, largest_store(device, without_host), host};
  std::vector<SeriesPlan> plans;
  for (const SeriesSpec& spec : table) {
    if (!asked.wants(spec.name)) continue;
    const std::string_view missing = spec.missing(basis);
    const bool is_close = spec.is_in_order && asked.is_in_order;
    const SeriesSpec& sizes = is_close ? series_named(global_series) : spec;
    // A first look has no time for what only says how a device fetches, and a simulated one does
    // not prefetch.
    const bool is_brief = asked.effort == Effort::quick || is_simulated(device);
    const bool is_extra = !missing.empty() || (spec.is_in_order && is_brief) ||
                          (spec.is_on_request && asked.effort != Effort::thorough);
    if (is_extra && spec.is_special && !is_close && !asked.names(spec.name)) continue;
    plans.push_back({&spec, spec.is_by_page ? page_step(device) : line, spec.last(basis),
                     ratio_of(sizes.spacing, asked.effort), sparse_from(device, asked.effort),
                     address_of(spec, device, asked.address), std::string(missing), sizes.first,
                     sizes.is_refined});
  }
  return plans;
}

Bytes memory_for(Bytes store) { return store + small_buffers; }

std::string mistake_in(const std::vector<SeriesPlan>& all, const Asked& asked) {
  Bytes most{};   // what any of the memories holds
  Bytes least{};  // two of the smallest steps
  for (const SeriesPlan& series : all) {
    if (!series.missing.empty()) continue;
    most = std::max(most, series.last);
    least = least.count == 0 ? series.step * 2 : std::min(least, series.step * 2);
  }
  if (asked.step.count != 0 && most < asked.step * 2 && most.count >= 16) {
    const Bytes choice = Bytes{8} * (most / Bytes{16});
    return fmt::format("--step: no memory holds two steps of {}; choose at most {}",
                       format_bytes(asked.step), format_bytes(choice));
  }
  Bytes largest_asked{};
  for (const SizeRange& range : asked.sizes) largest_asked = std::max(largest_asked, range.last);
  if (largest_asked.count == 0 || largest_asked >= least) return {};
  return fmt::format("--sizes: {} is less than two steps of {}; choose at least {}{}",
                     format_bytes(largest_asked), format_bytes(least / 2), format_bytes(least),
                     asked.step.count == 0 ? "" : ", or a smaller --step");
}

}  // namespace clprobe::latency
