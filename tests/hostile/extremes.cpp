// SPDX-License-Identifier: Apache-2.0
#include "hostile/extremes.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace clprobe::hostile {

std::vector<json::Json> extreme_numbers() {
  constexpr std::int64_t bit_31 = std::int64_t{1} << 31U;
  constexpr std::int64_t bit_53 = std::int64_t{1} << 53U;
  return {0,
          -1,
          1,
          bit_31 - 1,
          bit_31,
          -bit_31,
          bit_53,
          std::numeric_limits<std::int64_t>::max(),
          std::numeric_limits<std::int64_t>::min(),
          std::numeric_limits<std::uint64_t>::max(),
          0.5,
          -0.5,
          1e30,
          1e-30,
          1e308,
          -1e308,
          1e-308,
          std::numeric_limits<double>::denorm_min(),
          std::string("1"),
          nullptr,
          json::Json::array()};
}

std::vector<json::Json> extreme_texts() {
  return {std::string(),
          std::string("\u202e desrever"),  // U+202E turns the rest round
          std::string("a\x1b[31mb"),
          std::string("<script>alert(1)</script>"),
          std::string("=1+1"),
          std::string(300, 'w'),
          std::string("seconds"),
          std::string("latency"),
          std::string("chains"),
          0,
          nullptr};
}

}  // namespace clprobe::hostile
