// SPDX-License-Identifier: Apache-2.0
// Requests that have left a compute unit which has run ahead of others: they are served when it is
// clear that nobody sends an earlier one, and the unit takes the answers before they can matter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/far_memory.hpp"
#include "simulator/pending_table.hpp"

namespace clprobe::simulator {

struct Sent {
  std::uint64_t cycle{0};    ///< in which it was sent
  std::uint64_t arrival{0};  ///< at the bank of its line
  std::uint64_t line{0};
  std::uint64_t joined_ready{0};  ///< of one that joins others for its line: not before; else 0
  std::uint64_t line_ready{0};    ///< once it is taken: when all that came so far of its line is
  Service service{};
  std::uint32_t sectors{0};  ///< 0: all that it needs has been asked for
  std::uint32_t place{0};    ///< of its line in the pending table, if it has sectors
  std::uint32_t joined{0};   ///< the number of the last one that it has joined, if it has none
  Fills fills{Fills::nothing};
  bool is_last{false};  ///< of its load
};

/// In the order in which they were sent.
class Outbox {
 public:
  [[nodiscard]] bool is_empty() const { return taken_ == sent_.size(); }
  /// Returns its number, which is not 0.
  std::uint32_t add(const Sent& sent) {
    sent_.push_back(sent);
    return static_cast<std::uint32_t>(sent_.size());
  }
  [[nodiscard]] const Sent& at(std::uint32_t number) const { return sent_[number - 1]; }
  [[nodiscard]] Sent& last() { return sent_.back(); }

  /// When the first one was sent that is not served; `never` without any.
  [[nodiscard]] std::uint64_t next_cycle() const {
    return served_ == sent_.size() ? never : sent_[served_].cycle;
  }
  /// The one that is to be served next, which there is. With it go those that need no more than it.
  Sent& serve_next() {
    Sent& sent = sent_[served_++];
    while (served_ != sent_.size() && sent_[served_].sectors == 0) ++served_;
    return sent;
  }

  [[nodiscard]] bool has_served() const { return taken_ != served_; }
  /// When the first is ready of those that have joined one that was taken, and are behind others
  /// that are not served; `never` without any.
  [[nodiscard]] std::uint64_t first_joined_ready() const {
    std::uint64_t first = never;
    for (std::size_t i = taken_; i != sent_.size(); ++i) {
      const Sent& sent = sent_[i];
      if (sent.sectors != 0 || sent.joined > taken_) continue;
      first = std::min(first, std::max(sent.joined_ready, at(sent.joined).line_ready));
    }
    return first;
  }
  /// Calls `take(sent, number)` for what was served and not yet taken.
  template <typename Take>
  void take_served(Take take) {
    for (; taken_ != served_; ++taken_) {
      take(sent_[taken_], static_cast<std::uint32_t>(taken_ + 1));
    }
    if (!is_empty()) return;
    sent_.clear();
    served_ = 0;
    taken_ = 0;
  }

 private:
  std::vector<Sent> sent_{};
  std::size_t served_{0};
  std::size_t taken_{0};
};

}  // namespace clprobe::simulator
