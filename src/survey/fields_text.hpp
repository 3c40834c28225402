// SPDX-License-Identifier: Apache-2.0
// A line of text as fields between tabs, whatever is in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/survey.hpp"

namespace clprobe::survey {

using Fields = std::vector<std::string_view>;

/// Without tabs and line ends, in ASCII.
std::string escaped(std::string_view text);
/// Throws FormatError, as all of these do.
std::string unescaped(std::string_view text);
std::uint64_t read_number(std::string_view text, int base = 10);

Fields split(std::string_view line);
void check_count(const Fields& fields, std::size_t count);

/// All but the kernel's name, a tab before each.
std::string signature_fields(const Signature& of);
inline constexpr std::size_t signature_field_count = 10;
/// Those that begin at `next`, which is moved behind them.
Signature read_signature(const std::string& kernel, const Fields& fields, std::size_t& next);

}  // namespace clprobe::survey
