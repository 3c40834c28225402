// SPDX-License-Identifier: Apache-2.0
// How long one dependent load takes, by working set and memory. Method: docs/latency.md.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/levels.hpp"
#include "clprobe/probe.hpp"
#include "probes/chase.hpp"
#include "probes/latency_findings.hpp"

namespace clprobe {

extern const Probe latency;

namespace {

constexpr Bytes smallest = kibibytes(1);
constexpr Bytes largest = gibibytes(1);
// The segmentation needs three points on a plateau; 9 % resolves caches that are 1.3 times apart.
constexpr double fine_ratio = 1.09;
constexpr double knee_ratio = 1.04;
constexpr double coarse_ratio = 1.19;
// Where every size costs a build, or nothing but one plateau is expected.
constexpr double sparse_ratio = 1.42;

/// What a series measures on a device, or why it cannot.
struct SeriesPlan {
  std::string_view name;
  Bytes last;
  double ratio;
  Bytes step;
  std::string address;
  std::string missing{};  ///< why the device cannot; empty when it can
};

Bytes line_of(const DeviceInfo& device, const Limits& limits) {
  if (limits.step.count != 0) return limits.step;
  return std::max(Bytes{64}, device.cache_line);
}

Bytes most_memory(const DeviceInfo& device, const Limits& limits) {
  if (limits.max_memory.count != 0) return std::min(limits.max_memory, device.max_allocation);
  // Sizes that were asked for are measured if a buffer can hold them.
  if (!limits.sizes.empty()) return device.max_allocation;
  const Bytes most = std::min({largest, device.max_allocation, device.global_memory / 4});
  // Whole MiB, so that series of different steps end at the same size and share one buffer.
  return most > mebibytes(1) ? mebibytes(1) * (most / mebibytes(1)) : most;
}

std::string address_word(AddressForm form, const char* automatic) {
  switch (form) {
    case AddressForm::pointer:
      return "pointer";
    case AddressForm::index:
      return "index";
    case AddressForm::offset:
      return "offset";
    case AddressForm::automatic:
      break;
  }
  return automatic;
}

/// AMD's compilers send a uniform chase through the scalar cache, a divergent one through the
/// vector cache: two answers to one question.
bool has_scalar_loads(const DeviceInfo& device) {
  return device.isa.starts_with("amdgcn") ||
         (device.platform == "rusticl" && device.vendor.find("AMD") != std::string::npos);
}

/// A page that a translation covers is at least this large. One line of each of them must fit into
/// a cache: on GPUs, whose pages are larger, 16 KiB leaves 8 MiB of lines in 1 GiB.
Bytes page_step(const DeviceInfo& device) {
  return device.type == "cpu" ? kibibytes(4) : kibibytes(16);
}

double ratio_for(Effort effort) {
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

std::vector<SeriesPlan> series_plans(const DeviceInfo& device, const Limits& limits) {
  const Bytes line = line_of(device, limits);
  const Bytes memory = most_memory(device, limits);
  const std::string global_form =
      address_word(limits.address, device.pointers_stay_valid ? "pointer" : "index");
  // An offset costs no instruction where the table's address is a constant. To an argument it must
  // be added, and NVIDIA adds an index faster (39.2 cycles against 41.0 on an H200).
  const bool is_nvidia = device.isa == "nvptx";
  const auto constant_form = [&](const char* automatic) -> std::string {
    return limits.address == AddressForm::pointer ? automatic
                                                  : address_word(limits.address, automatic);
  };
  const double fine = ratio_for(limits.effort);
  const Bytes constant = std::min(device.constant_buffer, memory);
  // Beyond 64 KiB the table is a program text of megabytes and, wherever constants are that large,
  // ordinary memory, which `constant-argument` shows.
  const Bytes program = std::min(constant, kibibytes(64));
  const Bytes image{std::min<std::uint64_t>(
      static_cast<std::uint64_t>(device.image_buffer_pixels) * 4, memory.count)};

  std::vector<SeriesPlan> plans{
      {"global", memory, fine, line, global_form},
      {"global-pages", memory, coarse_ratio, page_step(device), global_form},
      {"constant-argument", constant, coarse_ratio, line,
       constant_form(is_nvidia ? "index" : "offset")},
      {"constant-program", program, sparse_ratio, line, constant_form("offset")},
      {"local", device.local_memory, sparse_ratio, line, address_word(limits.address, "offset")},
      {"image", std::min(image, mebibytes(128)), sparse_ratio, line, "index"},
  };
  if (has_scalar_loads(device)) plans.push_back({"global-scalar", memory, fine, line, global_form});
  if (image.count == 0) plans[5].missing = "the device makes no images of buffers";
  if (device.constant_buffer.count == 0) {
    plans[2].missing = plans[3].missing = "the device has no constant memory";
  }
  if (device.local_memory.count == 0) plans[4].missing = "the device has no local memory";
  return plans;
}

/// The nearest level of constant memory can be as small as 2 KiB, and needs three points.
Bytes first_of(const SeriesPlan& series) {
  if (series.name == "constant-program") return series.step * 2;
  return std::max(smallest, series.step * 2);
}

/// Working sets of a series, whole numbers of steps, at least two nodes each, none twice.
std::vector<Bytes> working_sets(const SeriesPlan& series, const Limits& limits) {
  std::vector<SizeRange> ranges = limits.sizes;
  if (ranges.empty()) ranges.push_back({first_of(series), series.last, 0.0});
  std::vector<Bytes> sizes;
  for (const SizeRange& range : ranges) {
    const double ratio = range.ratio > 1.0 ? range.ratio : series.ratio;
    const Bytes last = std::min(range.last, series.last);
    auto size = static_cast<double>(range.first.count);
    while (size < static_cast<double>(last.count)) {
      sizes.push_back({static_cast<std::uint64_t>(size)});
      size *= ratio;
    }
    // The last bytes too; some drivers refuse those of constant memory, so that the line before
    // them is tried as well.
    if (range.first <= last) sizes.push_back(last);
    if (limits.sizes.empty() && series.name != "image" && !series.name.starts_with("global") &&
        last > series.step) {
      sizes.push_back(last - series.step);
    }
  }
  for (Bytes& size : sizes) size = series.step * (size / series.step);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::erase_if(sizes, [&](Bytes size) { return size < series.step * 2; });
  return sizes;
}

Point point_of(const SeriesPlan& series, Bytes working_set, Bytes buffer, Bytes line,
               const Limits& limits) {
  const auto integer = [](Bytes size) { return static_cast<std::int64_t>(size.count); };
  Point point;
  point.series = series.name;
  point.parameters = {{"working_set_bytes", integer(working_set)},
                      {"step_bytes", integer(series.step)},
                      {"line_bytes", integer(line)},
                      {"buffer_bytes", integer(buffer)},
                      {"address", series.address},
                      {"unroll", std::int64_t{limits.unroll}}};
  return point;
}

bool is_wanted(const SeriesPlan& series, const Limits& limits) {
  return limits.series.empty() ||
         std::find(limits.series.begin(), limits.series.end(), series.name) != limits.series.end();
}

/// Series of one step are cut from one buffer, so that they share its pages and its cycle. Local
/// memory and program tables are no buffers.
Bytes buffer_of(const SeriesPlan& series, const std::vector<SeriesPlan>& all,
                const std::vector<std::vector<Bytes>>& sizes) {
  const bool is_alone = series.name == "local" || series.name == "constant-program";
  Bytes largest_set{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool counts = is_alone ? all[i].name == series.name : all[i].step == series.step;
    if (counts && !sizes[i].empty()) {
      largest_set = std::max(largest_set, sizes[i].back());
    }
  }
  return largest_set;
}

Plan plan(const DeviceInfo& device, const Limits& limits) {
  Plan result;
  std::vector<SeriesPlan> all = series_plans(device, limits);
  std::erase_if(all, [&](const SeriesPlan& series) { return !is_wanted(series, limits); });
  std::vector<std::vector<Bytes>> sizes;
  sizes.reserve(all.size());
  for (const SeriesPlan& series : all) {
    sizes.push_back(series.missing.empty() ? working_sets(series, limits) : std::vector<Bytes>{});
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const SeriesPlan& series = all[i];
    if (!series.missing.empty()) {
      result.findings.push_back(not_measured(series.name, series.missing));
    } else if (sizes[i].empty()) {
      result.findings.push_back(not_measured(
          series.name, fmt::format("no working set between two steps ({}) and {}",
                                   format_bytes(series.step * 2), format_bytes(series.last))));
    }
    const Bytes buffer = buffer_of(series, all, sizes);
    for (const Bytes size : sizes[i]) {
      result.points.push_back(point_of(series, size, buffer, line_of(device, limits), limits));
    }
  }
  return result;
}

std::vector<Point> refine(const DeviceInfo& device, const Limits& limits,
                          std::span<const Point> points) {
  std::vector<Point> more;
  // Sizes that were asked for are the sizes that are measured.
  if (!limits.sizes.empty() || limits.effort == Effort::quick) return more;
  for (const SeriesPlan& series : series_plans(device, limits)) {
    if (series.ratio != fine_ratio) continue;
    const auto model = std::find_if(points.begin(), points.end(), [&](const Point& point) {
      return point.series == series.name;
    });
    if (model == points.end()) continue;
    const auto curve = latency_curve(points, series.name, device);
    for (const double size : sizes_around_knees(curve, knee_ratio)) {
      const Bytes whole = series.step * (Bytes{static_cast<std::uint64_t>(size)} / series.step);
      const auto same_size = [&](const Point& point) {
        return point.series == series.name && point.parameters.integer("working_set_bytes") ==
                                                  static_cast<std::int64_t>(whole.count);
      };
      if (whole < series.step * 2 || std::any_of(points.begin(), points.end(), same_size) ||
          std::any_of(more.begin(), more.end(), same_size)) {
        continue;
      }
      Point added = *model;
      added.samples.clear();
      added.failure.clear();
      added.parameters.set("working_set_bytes", static_cast<std::int64_t>(whole.count));
      more.push_back(std::move(added));
    }
  }
  return more;
}

}  // namespace

const Probe latency{
    .id = "latency",
    .title = "Memory latency",
    .question = "How long does one dependent load take, by working set and memory?",
    .quantity = Quantity::seconds_per_access,
    .plan = plan,
    .refine = refine,
    .prepare = prepare_chase,
    .variants = chase_variants,
    .analyse = latency_findings,
};

}  // namespace clprobe
