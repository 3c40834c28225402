// SPDX-License-Identifier: Apache-2.0
// Lines of global memory that are mapped to local memory, which has them from the first access on.
// Source: Alsop, GSI, 2016, section 6.2.1, after Komuravelli et al., Stash, 2015. Whoever maps sees
// to it that there is room, as for local memory.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace clprobe::simulator {

class Stash {
 public:
  /// Which of a line's sectors are there.
  [[nodiscard]] std::uint32_t sectors_of(std::uint64_t line) const {
    const auto found = lines_.find(line);
    return found == lines_.end() ? 0 : found->second.sectors;
  }
  [[nodiscard]] bool owns(std::uint64_t line) const {
    const auto found = lines_.find(line);
    return found != lines_.end() && found->second.is_owned;
  }
  void add(std::uint64_t line, std::uint32_t sectors) { lines_[line].sectors |= sectors; }
  void own(std::uint64_t line) { lines_[line].is_owned = true; }

 private:
  struct Line {
    std::uint32_t sectors{0};
    bool is_owned{false};
  };

  std::unordered_map<std::uint64_t, Line> lines_{};
};

}  // namespace clprobe::simulator
