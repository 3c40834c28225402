// SPDX-License-Identifier: Apache-2.0
// The series of a chase and how each is built. Pure; the launches are in chase.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "probes/latency/chase.hpp"

namespace clprobe::latency {
namespace {

constexpr std::array all_series{
    ChaseSeries{"global", Space::global, false},
    ChaseSeries{"global-scalar", Space::global, true},
    ChaseSeries{"global-pages", Space::global, false},
    ChaseSeries{"constant-argument", Space::constant_argument, false},
    ChaseSeries{"constant-program", Space::constant_program, false},
    ChaseSeries{"local", Space::local, false},
    ChaseSeries{"image", Space::image, false},
};

constexpr std::array forms{"pointer", "index", "offset"};  // ADDRESS in cl/latency.cl

}  // namespace

const ChaseSeries& chase_series(std::string_view name) {
  const auto* const found =
      std::find_if(all_series.begin(), all_series.end(),
                   [&](const ChaseSeries& series) { return series.name == name; });
  if (found == all_series.end()) throw std::out_of_range("no series " + std::string(name));
  return *found;
}

std::string chase_options(const Point& point) {
  const ChaseSeries& series = chase_series(point.series);
  const std::string& address = point.parameters.text("address");
  const auto form = std::find(forms.begin(), forms.end(), address) - forms.begin();
  // A 32-bit offset reaches 4 GiB, a 32-bit index of 4-byte elements 16 GiB.
  const std::uint64_t reach = address == "index" ? gibibytes(16).count : gibibytes(4).count;
  const auto buffer_bytes = static_cast<std::uint64_t>(point.facts.integer("buffer_bytes"));
  const std::string local_bytes =
      series.space == Space::local ? fmt::format(" -DLOCAL_BYTES={}", buffer_bytes) : "";
  return fmt::format("-DSPACE={} -DADDRESS={} -DWIDE={} -DSCALAR={} -DUNROLL={}{}",
                     static_cast<int>(series.space), form, buffer_bytes > reach ? 1 : 0,
                     series.scalar ? 1 : 0, point.parameters.integer("unroll"), local_bytes);
}

std::vector<KernelVariant> chase_variants() {
  std::vector<KernelVariant> variants;
  for (const ChaseSeries& series : all_series) {
    if (series.name == "global-pages") continue;  // builds as `global` does
    for (const char* const form : forms) {
      const bool has_pointers = series.space == Space::global || series.space == Space::local;
      if (form == forms.front() && !has_pointers) continue;
      for (const Bytes buffer : {gibibytes(1), gibibytes(32)}) {
        // Constants and images are cut from the buffer that global rings need.
        const bool can_be_wide =
            series.space != Space::local && series.space != Space::constant_program;
        if (buffer > gibibytes(1) && !can_be_wide) continue;
        Point point;
        point.series = series.name;
        // Local memory is small, and its size is an option.
        const Bytes bytes = series.space == Space::local ? kibibytes(4) : buffer;
        point.parameters = {{"address", std::string(form)}, {"unroll", std::int64_t{16}}};
        point.facts = {{"buffer_bytes", static_cast<std::int64_t>(bytes.count)}};
        const bool has_table = series.space == Space::constant_program;
        variants.push_back({chase_options(point), has_table ? std::string(smallest_table) : ""});
      }
    }
  }
  return variants;
}

}  // namespace clprobe::latency
