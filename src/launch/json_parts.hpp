// SPDX-License-Identifier: Apache-2.0
// Parts of launch.json that many of its members have. Each throws RunFormatError.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "clprobe/launch.hpp"
#include "run/cursor.hpp"

namespace clprobe::bundle {

inline constexpr std::size_t max_options_bytes = std::size_t{64} << 10U;

/// Without zeros.
std::string text_of(const json::Cursor& cursor, std::size_t max_bytes = max_name_bytes);

std::string hash_in(const json::Cursor& cursor);

/// `read` of each element. The message says how many there may be.
template <typename Read>
auto read_each(const json::Cursor& cursor, std::size_t max_count, Read read) {
  std::vector<decltype(read(cursor))> values;
  cursor.for_each_element([&](const json::Cursor& each) {
    if (values.size() == max_count) {
      each.refuse("at most " + std::to_string(max_count) + " elements");
    }
    values.push_back(read(each));
  });
  return values;
}

/// The texts that a program was made from; of one that is not described, a unit without a hash.
Program read_program(const json::Cursor& cursor);

}  // namespace clprobe::bundle
