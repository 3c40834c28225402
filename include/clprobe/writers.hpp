// SPDX-License-Identifier: Apache-2.0
// The formats of results. The command line, its help and the reports read this one table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/report.hpp"

namespace clprobe {

struct Comparison;
struct RunDigest;
struct SurveyedApp;

/// A format. A null function: it has no form of that kind of result.
struct Writer {
  std::string_view name{};    ///< the word of --format
  std::string_view ending{};  ///< ending of file names; the longest one that fits counts
  std::string (*runs)(std::span<const Run>, const TableStyle&){nullptr};
  std::string (*comparison)(const Comparison&, std::span<const RunDigest>,
                            const TableStyle&){nullptr};
  std::string (*survey)(const SurveyedApp&, const TableStyle&){nullptr};
  bool is_of_one_probe{false};  ///< shows `TableStyle::probe` alone
};

/// All formats; the first one is that of stdout where none is chosen.
std::span<const Writer> writers();

/// The format of that name; null where there is none.
const Writer* find_writer(std::string_view name);

/// The names of the formats for which `has` is true, in the order of the table.
template <typename Has>
std::vector<std::string_view> format_names(Has has) {
  std::vector<std::string_view> names;
  for (const Writer& each : writers()) {
    if (has(each)) names.push_back(each.name);
  }
  return names;
}

}  // namespace clprobe
