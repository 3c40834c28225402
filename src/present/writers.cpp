// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "present/api/report.hpp"

namespace clprobe {

namespace {

constexpr std::array all{
#define FORMAT(name) &formats::name,
#include "present/formats.def"
#undef FORMAT
};

}  // namespace

std::span<const Writer* const> writers() { return all; }

const Writer* find_writer(std::string_view name) {
  const auto* const found = std::ranges::find(all, name, &Writer::name);
  return found == all.end() ? nullptr : *found;
}

}  // namespace clprobe
