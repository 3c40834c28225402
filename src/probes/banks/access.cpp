// SPDX-License-Identifier: Apache-2.0
// The series of `banks` and how each is built. Pure; the launches are in bank_access.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "probes/banks/access.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::banks {
namespace {

constexpr std::array series_rows{
    BankSeries{"load-latency", false, true, false},
    BankSeries{"load-throughput", false, false, false},
    BankSeries{"store-throughput", true, false, false},
    BankSeries{"load-model", false, false, true},
    BankSeries{"store-model", true, false, true},
};

std::string options_of(const BankSeries& series, int word_bytes, int chains,
                       std::uint64_t local_bytes) {
  return fmt::format("-DWORD={} -DSTORE={} -DCHAINS={} -DSTEPS={} -DLOCAL_BYTES={}{}", word_bytes,
                     series.is_store ? 1 : 0, series.is_chain ? 1 : chains,
                     series.is_chain ? chain_steps : 1, local_bytes,
                     series.is_single ? " -DONCE=1" : "");
}

}  // namespace

std::span<const BankSeries> all_bank_series() { return series_rows; }

const BankSeries& bank_series(std::string_view name) {
  const auto* const found =
      std::find_if(series_rows.begin(), series_rows.end(),
                   [&](const BankSeries& series) { return series.name == name; });
  if (found == series_rows.end()) throw std::out_of_range("no series " + std::string(name));
  return *found;
}

BankPattern pattern_of(const Point& point) {
  const auto kind = pattern_kind(point.parameters.text_or("pattern", ""));
  if (!kind) throw std::out_of_range("a point without a pattern");
  const auto integer = [&](std::string_view name, std::int64_t fallback) {
    return point.parameters.integer_or(name, fallback);
  };
  BankPattern pattern{.kind = *kind};
  const char* const number = *kind == PatternKind::stride       ? "stride_words"
                             : *kind == PatternKind::congestion ? "ways"
                                                                : "rows";
  pattern.number = static_cast<int>(integer(number, 1));
  pattern.span_bytes = static_cast<std::uint32_t>(integer("span_bytes", all_banks_bytes));
  pattern.banks = static_cast<int>(integer("banks", 1));
  return pattern;
}

std::string bank_options(const Point& point) {
  return options_of(bank_series(point.series),
                    static_cast<int>(point.parameters.integer("word_bytes")),
                    static_cast<int>(point.parameters.integer("instructions")),
                    static_cast<std::uint64_t>(point.parameters.integer("local_bytes")));
}

std::vector<KernelVariant> bank_variants() {
  std::vector<KernelVariant> variants;
  constexpr std::uint64_t footprint = 4 * std::uint64_t{pattern_block_bytes};
  for (const BankSeries& series : all_bank_series()) {
    for (const int word : {4, 8, 16}) {
      // 3 stands for any number that is no power of two.
      for (const int chains : {1, 3, 16, most_instructions}) {
        if (series.is_single && chains == 16) continue;
        const std::string options =
            options_of(series, word, chains, footprint + behind_footprint_bytes);
        const bool is_known = std::any_of(variants.begin(), variants.end(), [&](const auto& each) {
          return each.options == options;
        });
        if (!is_known) variants.push_back({options, ""});
      }
    }
  }
  // Of these, each changes one line of any.
  variants.push_back({variants.front().options + large_group(1024), ""});
  variants.push_back({variants.front().options + std::string(clock_without_asm), ""});
  return variants;
}

}  // namespace clprobe::banks
