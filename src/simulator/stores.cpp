// SPDX-License-Identifier: Apache-2.0
#include "simulator/stores.hpp"

#include <algorithm>

namespace clprobe::simulator {

bool Stores::is_kept(const LineRequest& request, const Instruction& instruction) {
  if (!owns_lines_ || instruction.is_written_elsewhere) return false;
  if (instruction.is_mapped) return stash_.owns(request.line);
  CacheLine* const line = l1_.find(request.line);
  if (line == nullptr || !line->is_owned) return false;
  line->sectors |= request.sectors;
  return true;
}

std::optional<std::uint64_t> Stores::take(std::uint64_t now, const LineRequest& request,
                                          const Instruction& instruction) {
  if (instruction.is_mapped) stash_.add(request.line, request.sectors);
  if (is_kept(request, instruction)) return std::nullopt;
  const auto same = std::find_if(written_.begin(), written_.end(),
                                 [&](const Written& each) { return each.line == request.line; });
  if (same != written_.end()) {
    same->sectors |= request.sectors;
    return std::nullopt;
  }
  std::erase_if(acknowledged_, [&](std::uint64_t cycle) { return cycle <= now; });
  if (entries_ != 0 && written_.size() + acknowledged_.size() >= entries_) {
    if (!written_.empty()) flush(now);
    return *std::min_element(acknowledged_.begin(), acknowledged_.end());
  }
  written_.push_back({.line = request.line,
                      .sectors = request.sectors,
                      .is_remote = instruction.is_written_elsewhere,
                      .is_mapped = instruction.is_mapped});
  return std::nullopt;
}

std::uint64_t Stores::flush(std::uint64_t now) {
  for (const Written& each : written_) {
    std::uint64_t arrival = 0;
    if (owns_lines_) {
      arrival = far_.take_ownership(now, each.line, each.is_remote);
      keep_owned(now, each);
    } else {
      arrival = far_.write(now, each.line, each.sectors);
    }
    acknowledged_.push_back(arrival);
    last_write_ = std::max(last_write_, arrival);
  }
  lines_written_ += written_.size();
  written_.clear();
  return std::max(now, last_write_);
}

void Stores::write_back_owned(std::uint64_t now, const CacheLine& evicted) {
  last_write_ = std::max(last_write_, far_.write_back(now, evicted.line, evicted.sectors));
}

void Stores::keep_owned(std::uint64_t now, const Written& written) {
  if (written.is_mapped) {
    stash_.own(written.line);
    return;
  }
  CacheLine* found = l1_.find(written.line);
  if (found == nullptr) {
    CacheLine evicted;
    found = l1_.insert(written.line, evicted);
    write_back(now, evicted);
  }
  found->sectors |= written.sectors;
  found->is_owned = true;
}

}  // namespace clprobe::simulator
