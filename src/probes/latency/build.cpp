// SPDX-License-Identifier: Apache-2.0
#include "probes/latency/build.hpp"

#include <fmt/format.h>

#include "probes/shared/permutation.hpp"

namespace clprobe::latency {

std::string build_options(const SeriesSpec& series, const RingShape& shape) {
  // A 32-bit offset reaches 4 GiB, a 32-bit index of 4-byte elements 16 GiB.
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

std::vector<KernelVariant> variants() {
  std::vector<KernelVariant> all;
  for (const SeriesSpec& series : all_series()) {
    // They build as the series by line does.
    if (series.is_by_page || series.is_in_order || series.is_on_host) continue;
    for (const AddressForm form : series.forms) {
      RingShape shape;
      shape.address = form;
      if (series.is_looped) shape.unroll = 1;
      const std::string preamble(series.space == Space::constant_program ? smallest_table : "");
      // Local memory is small, and its size is an option.
      const Bytes small = series.space == Space::local ? kibibytes(4) : gibibytes(1);
      shape.buffer_bytes = small.count;
      all.push_back({build_options(series, shape), preamble});
      // Constants and images are cut from the buffer that global rings need.
      if (!has_store(series.space)) continue;
      shape.buffer_bytes = gibibytes(32).count;
      all.push_back({build_options(series, shape), preamble});
    }
  }
  return all;
}

}  // namespace clprobe::latency
