// SPDX-License-Identifier: Apache-2.0
// Settings packed into a launch's offset (cl/prelude.clh reads the bits), the working-set
// reductions to measure, and the texts to put before a program.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "profile/api/prelude.hpp"
#include "profile/includes/scan.hpp"
#include "profile/prelude/lexer.hpp"
#include "text/api/embedded.hpp"

namespace clprobe::prelude {
namespace {

// Bit positions in the packed setting. Bits 0 to 30 are used: NVIDIA's drivers keep offsets in 32
// bits, and some of them treat bit 31 as a sign.
constexpr unsigned dimensions_bit = 0;
constexpr std::array<unsigned, 3> folding_bits{2, 7, 12};
constexpr unsigned barriers_bit = 27;
constexpr unsigned atomics_bit = 28;
constexpr unsigned lanes_bit = 29;
constexpr unsigned fences_bit = 30;

// Limit of the number of groups per dimension, because the masks of cl/prelude.clh have 31 bits.
constexpr std::uint64_t max_groups = (std::uint64_t{1} << no_folding) - 1;

constexpr const char* driver_chooses = "the driver chooses the work-group size";

std::uint64_t packed(unsigned bit, std::uint64_t value) { return value << bit; }

bool chooses_driver(const NdRange& launch) { return launch.local == NdRange{}.local; }

void check_offset(const NdRange& launch) {
  if (launch.offset[2] == 0) return;
  throw SettingError(
      "the launch's global offset in dimension 2 must be 0, because clprobe's instrumentation "
      "stores its settings there");
}

/// Throws SettingError for a reduction to more groups of full size than dimension `d` has. A
/// smaller last group does not count, because it has too few work-items to do the work of another
/// group.
void check_dimension(const NdRange& launch, const Setting& setting, std::size_t d) {
  const std::uint32_t exponent = setting.exponents.at(d);
  if (exponent == no_folding) return;
  if (chooses_driver(launch)) throw SettingError(driver_chooses);
  const std::uint64_t whole = launch.global.at(d) / launch.local.at(d);
  const std::uint64_t last = (std::uint64_t{1} << exponent) - 1;
  if (last >= whole) {
    throw SettingError(fmt::format(
        "dimension {} has {} full-size groups, but group {} was requested", d, whole, last));
  }
}

void check_setting(const NdRange& launch, const Setting& setting) {
  for (std::size_t d = 0; d < 3; ++d) {
    // If the driver chooses the group size, a group may be as small as one work-item.
    if (launch.global.at(d) / std::max<std::uint64_t>(launch.local.at(d), 1) >= max_groups) {
      throw SettingError(fmt::format("the launch has too many groups in dimension {}", d));
    }
    check_dimension(launch, setting, d);
  }
}

std::uint32_t floor_log2(std::uint64_t number) {
  return static_cast<std::uint32_t>(std::bit_width(number)) - 1U;
}

/// Returns macros that replace each special function by a multiplication. The arguments are still
/// computed, and the result has the type of the arguments.
std::string cheap_functions() {
  std::string text{"#define CLP_CHEAP(x) ((x)*0.5f)\n#define CLP_CHEAP_2(x, y) ((x)*0.5f + (y))\n"};
  for (std::size_t i = 0; i < special_functions.size(); ++i) {
    const bool is_of_two = i + functions_of_two >= special_functions.size();
    text += fmt::format("#undef {0}\n#define {0}({1}) CLP_CHEAP{2}({1})\n", special_functions.at(i),
                        is_of_two ? "x, y" : "x", is_of_two ? "_2" : "");
  }
  return text;
}

bool is_renamed(std::string_view name) {
  return std::find(renamed.begin(), renamed.end(), name) != renamed.end() ||
         std::find(renamed_by_entry.begin(), renamed_by_entry.end(), name) !=
             renamed_by_entry.end();
}

}  // namespace

std::array<std::uint64_t, 3> count_groups(const NdRange& launch) {
  if (chooses_driver(launch)) throw SettingError(driver_chooses);
  check_offset(launch);
  std::array<std::uint64_t, 3> groups{};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::uint64_t rest = launch.global.at(d) % launch.local.at(d) == 0 ? 0 : 1;
    groups.at(d) = launch.global.at(d) / launch.local.at(d) + rest;
  }
  return groups;
}

std::optional<LaneMasks> lane_masks(const NdRange& launch, std::uint64_t sub_group) {
  if (chooses_driver(launch) || !std::has_single_bit(sub_group)) return std::nullopt;
  constexpr std::uint32_t all = ~std::uint32_t{0};
  LaneMasks masks{all, all, all};
  std::uint64_t left = sub_group;
  for (std::size_t d = 0; d < 3 && left > 1; ++d) {
    const std::uint64_t size = launch.local.at(d);
    if (size % left == 0) {
      masks.at(d) = ~static_cast<std::uint32_t>(left - 1);
      left = 1;
    } else if (left % size == 0) {
      if (size > 1) masks.at(d) = 0;
      left /= size;
    } else {
      return std::nullopt;
    }
  }
  return masks;
}

std::uint64_t count_distinct_groups(const NdRange& launch, const Setting& setting) {
  const std::array<std::uint64_t, 3> groups = count_groups(launch);
  std::uint64_t distinct = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    distinct *= std::min(groups.at(d), std::uint64_t{1} << setting.exponents.at(d));
  }
  return distinct;
}

NdRange encode(const NdRange& launch, const Setting& setting) {
  check_offset(launch);
  check_setting(launch, setting);
  std::uint64_t word = packed(dimensions_bit, launch.dimensions);
  for (std::size_t d = 0; d < 3; ++d) {
    word |= packed(folding_bits.at(d), no_folding - setting.exponents.at(d));
  }
  word |= packed(barriers_bit, setting.without_barriers ? 1 : 0) |
          packed(atomics_bit, setting.without_atomics ? 1 : 0) |
          packed(lanes_bit, setting.without_lanes ? 1 : 0) |
          packed(fences_bit, setting.without_fences ? 1 : 0);
  NdRange launched = launch;
  launched.dimensions = 3;
  launched.offset[2] = word;
  return launched;
}

std::vector<Setting> fold_sweep(const NdRange& launch) {
  std::vector<Setting> sweep;
  Setting setting;
  for (std::size_t d = 0; d < 3; ++d) {
    if (launch.local.at(d) == 0) return sweep;
    const std::uint64_t whole = launch.global.at(d) / launch.local.at(d);
    // A dimension with a single group that is smaller than the group size cannot be reduced.
    if (whole > 0) setting.exponents.at(d) = std::min(no_folding - 1, floor_log2(whole));
  }
  sweep.emplace_back();
  std::uint64_t before = count_distinct_groups(launch, sweep.back());
  while (true) {
    // If the number of groups is a power of two, the first reduction would keep all groups, so it
    // is skipped.
    const std::uint64_t distinct = count_distinct_groups(launch, setting);
    if (distinct < before) sweep.push_back(setting);
    before = distinct;
    std::size_t largest = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::uint32_t exponent = setting.exponents.at(d);
      if (exponent == no_folding) continue;
      if (setting.exponents.at(largest) == no_folding ||
          exponent >= setting.exponents.at(largest)) {
        largest = d;
      }
    }
    std::uint32_t& exponent = setting.exponents.at(largest);
    if (exponent == 0 || exponent == no_folding) return sweep;
    --exponent;
  }
}

std::string prelude_text(const Switches& switches) {
  std::string lanes = "#define CLP_LANES 0\n";
  if (switches.lanes) {
    const LaneMasks& masks = *switches.lanes;
    lanes = fmt::format(
        "#define CLP_LANES 1\n#define CLP_LANES_0 {}u\n#define CLP_LANES_1 {}u\n"
        "#define CLP_LANES_2 {}u\n",
        masks[0], masks[1], masks[2]);
  }
  const int fences = !switches.fences ? 0 : switches.assembly ? 2 : 1;
  return fmt::format(
      "#define CLP_BARRIERS {:d}\n#define CLP_ATOMICS {:d}\n#define CLP_FENCES {}\n"
      "{}{}{}#line 1\n",
      switches.barriers, switches.atomics, fences, lanes, embedded_file("prelude.clh"),
      switches.without_functions ? cheap_functions() : "");
}

std::string without_functions_text() { return cheap_functions() + "#line 1\n"; }

std::uint64_t count_all_groups(const NdRange& launch) {
  const std::array<std::uint64_t, 3> groups = count_groups(launch);
  return groups[0] * groups[1] * groups[2];
}

std::string entry_text(const NdRange& launch) {
  const std::array<std::uint64_t, 3> groups = count_groups(launch);
  for (std::size_t d = 0; d < 3; ++d) {
    if (launch.global.at(d) % launch.local.at(d) == 0) continue;
    throw SettingError(fmt::format(
        "the launch's last groups in dimension {} are smaller than the other groups", d));
  }
  // Factors are compared one by one, because their product may exceed 64 bits.
  constexpr std::uint64_t max_count = std::numeric_limits<std::int32_t>::max();
  if (groups[0] > max_count || groups[1] > max_count / groups[0] ||
      groups[2] > max_count / (groups[0] * groups[1])) {
    throw SettingError("the launch has too many groups");
  }
  return fmt::format(
      "#define CLP_GROUPS_0 {}u\n#define CLP_GROUPS_1 {}u\n#define CLP_GROUPS_2 {}u\n"
      "{}#line 1\n",
      groups[0], groups[1], groups[2], embedded_file("entry.clh"));
}

std::string with_entry(std::string_view text, std::string_view kernel) {
  std::string entered;
  std::size_t begin = 0;
  const auto copy_up_to = [&](std::size_t end) {
    entered += text.substr(begin, end - begin);
    begin = end;
  };
  for (const KernelPosition& each : find_kernels(text, kernel)) {
    if (each.name != kernel) continue;
    copy_up_to(each.parameters_end);
    entered += " CLP_PARAMETERS";
    copy_up_to(each.body_begin);
    entered += " CLP_ENTER ";
  }
  copy_up_to(text.size());
  return entered;
}

NdRange range_of_groups(const NdRange& launch, std::uint64_t groups) {
  NdRange some = launch;
  some.global = launch.local;
  some.global[0] = groups * launch.local[0];
  return some;
}

std::string without_redefinitions(std::string_view text) {
  std::string kept;
  std::size_t begin = 0;
  for (const includes::Directive& each : includes::scan(text).directives) {
    if (each.name != "define" && each.name != "undef") continue;
    const std::string_view name = includes::first_word(each.rest);
    if (!is_renamed(name)) continue;
    kept += text.substr(begin, each.begin - begin);
    kept += "#error the program defines ";
    kept += name;
    kept += " itself";
    kept.append(each.last_line - each.first_line, '\n');
    begin = each.end;
  }
  kept += text.substr(begin);
  return kept;
}

}  // namespace clprobe::prelude
