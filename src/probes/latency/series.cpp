// SPDX-License-Identifier: Apache-2.0
#include "probes/latency/series.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clprobe::latency {
namespace {

constexpr Bytes largest = gibibytes(1);
// Each line of a simulated walk takes the host as long as a miss of its own.
constexpr Bytes largest_simulated = mebibytes(256);
constexpr double coarse_ratio = 1.19;
// Where every size costs a build, or nothing but one plateau is expected.
constexpr double sparse_ratio = 1.42;

Bytes most_memory(const DeviceInfo& device, const Limits& limits) {
  if (limits.max_memory.count != 0) return std::min(limits.max_memory, device.max_allocation);
  // Sizes that were asked for are measured if a buffer can hold them.
  if (!limits.sizes.empty()) return device.max_allocation;
  const Bytes top = is_simulated(device) ? largest_simulated : largest;
  const Bytes most = std::min({top, device.max_allocation, device.global_memory / 4});
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
  return runs_items_in_turn(device) ? kibibytes(4) : kibibytes(16);
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

}  // namespace

Bytes line_of(const DeviceInfo& device, const Limits& limits) {
  if (limits.step.count != 0) return limits.step;
  return std::max(Bytes{64}, device.cache_line);
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
  if (page_step(device) <= line) plans[1].missing = "a step is a page or more";
  if (image.count == 0) plans[5].missing = "the device makes no images of buffers";
  if (device.constant_buffer.count == 0) {
    plans[2].missing = plans[3].missing = "the device has no constant memory";
  }
  if (device.local_memory.count == 0) plans[4].missing = "the device has no local memory";
  return plans;
}

std::string mistake_in(const std::vector<SeriesPlan>& all, const Limits& limits) {
  Bytes most{};   // what any of the memories holds
  Bytes least{};  // two of the smallest steps
  for (const SeriesPlan& series : all) {
    if (!series.missing.empty()) continue;
    most = std::max(most, series.last);
    least = least.count == 0 ? series.step * 2 : std::min(least, series.step * 2);
  }
  if (limits.step.count != 0 && most < limits.step * 2 && most.count >= 16) {
    const Bytes choice = Bytes{8} * (most / Bytes{16});
    return fmt::format("--step: two steps of {} fit into none of the memories: choose at most {}",
                       format_bytes(limits.step), format_bytes(choice));
  }
  Bytes asked{};
  for (const SizeRange& range : limits.sizes) asked = std::max(asked, range.last);
  if (asked.count == 0 || asked >= least) return {};
  return fmt::format("--sizes: {} is less than two steps of {}: choose at least {}{}",
                     format_bytes(asked), format_bytes(least / 2), format_bytes(least),
                     limits.step.count == 0 ? "" : ", or a smaller --step");
}

}  // namespace clprobe::latency
