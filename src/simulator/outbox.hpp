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

/// What whoever serves it has to know: half a line of the host's caches, since it may be another
/// core.
struct FarRequest {
  std::uint64_t cycle{0};    ///< in which it was sent
  std::uint64_t arrival{0};  ///< at the bank of its line
  std::uint64_t line{0};
  std::uint32_t sectors{0};
};

/// What the unit remembers of it, or of one for which all has been asked already.
struct Sent {
  std::uint64_t joined_ready{0};  ///< of one that joins others for its line: not before; else 0
  std::uint64_t line_ready{0};    ///< once it is taken: when all that came so far of its line is
  std::uint32_t sectors{0};       ///< 0: it has only joined
  std::uint32_t place{0};         ///< of its line in the pending table, if it has sectors
  std::uint32_t joined{0};        ///< the number of the last one that it has joined
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
  /// For one that was added with sectors.
  void ask(const FarRequest& request) { requests_.push_back(request); }
  [[nodiscard]] Sent& last() { return sent_.back(); }
  [[nodiscard]] const Sent& at(std::uint32_t number) const { return sent_[number - 1]; }

  /// When the first one was sent that is not served; `never` without any.
  [[nodiscard]] std::uint64_t next_cycle() const {
    return services_.size() == requests_.size() ? never : requests_[services_.size()].cycle;
  }
  /// The one that is to be served next, which there is.
  [[nodiscard]] const FarRequest& next() const { return requests_[services_.size()]; }
  void serve_next(const Service& service) { services_.push_back(service); }

  [[nodiscard]] bool has_served() const { return taken_services_ != services_.size(); }
  /// Calls `take(sent, number, service)` for what was served and not yet taken, and for what has
  /// joined that.
  template <typename Take>
  void take_served(Take take) {
    for (; taken_ != sent_.size(); ++taken_) {
      Sent& sent = sent_[taken_];
      if (sent.sectors != 0 && !has_served()) return;
      const Service service = sent.sectors == 0 ? Service{} : services_[taken_services_++];
      take(sent, static_cast<std::uint32_t>(taken_ + 1), service);
    }
    sent_.clear();
    requests_.clear();
    services_.clear();
    taken_ = 0;
    taken_services_ = 0;
  }
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

 private:
  std::vector<Sent> sent_{};
  std::vector<FarRequest> requests_{};  // of those with sectors
  std::vector<Service> services_{};     // of the first of these; written by who serves
  std::size_t taken_{0};
  std::size_t taken_services_{0};
};

}  // namespace clprobe::simulator
