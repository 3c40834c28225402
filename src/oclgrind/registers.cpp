// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>

#include "oclgrind/fold.hpp"

namespace clprobe::tracer {
namespace {

using simulator::Program;
using simulator::register_count;

/// The place of each value's last use, or of its making where nobody reads it.
std::vector<std::size_t> last_uses(const std::vector<Draft>& drafts) {
  std::vector<std::size_t> last{0};  // of no value
  for (std::size_t place = 0; place < drafts.size(); ++place) {
    for (const std::uint32_t value : drafts[place].reads) last[value] = place;
    if (drafts[place].result != 0) last.push_back(place);
  }
  return last;
}

struct Holder {
  std::uint32_t value{0};
  std::size_t written{0};  ///< one more than the place; 0: never
};

class Registers {
 public:
  explicit Registers(const std::vector<Draft>& drafts)
      : last_uses_(last_uses(drafts)), of_value_(last_uses_.size(), register_count) {}

  [[nodiscard]] std::uint64_t bits_of(const std::vector<std::uint32_t>& values) const {
    std::uint64_t bits = 0;
    for (const std::uint32_t value : values) {
      if (of_value_[value] < register_count) bits |= std::uint64_t{1} << of_value_[value];
    }
    return bits;
  }

  std::uint64_t take(std::uint32_t value, std::size_t place) {
    // Its last reader can be this instruction itself.
    const auto is_free = [&](const Holder& holder) { return last_uses_[holder.value] <= place; };
    Holder* chosen = nullptr;
    for (Holder& each : holders_) {
      if (!is_free(each)) continue;
      if (chosen == nullptr || each.written < chosen->written) chosen = &each;
    }
    if (chosen == nullptr) {
      chosen =
          std::min_element(holders_.begin(), holders_.end(),
                           [](const Holder& a, const Holder& b) { return a.written < b.written; });
      of_value_[chosen->value] = register_count;
    }
    *chosen = {value, place + 1};
    of_value_[value] = static_cast<std::uint8_t>(chosen - holders_.data());
    return std::uint64_t{1} << of_value_[value];
  }

 private:
  std::vector<std::size_t> last_uses_;
  std::vector<std::uint8_t> of_value_;  ///< register_count: none
  std::array<Holder, register_count> holders_{};
};

}  // namespace

Program give_registers(const std::vector<Draft>& drafts) {
  Registers registers(drafts);
  Program program;
  program.reserve(drafts.size());
  for (std::size_t place = 0; place < drafts.size(); ++place) {
    simulator::Instruction& instruction = program.emplace_back(drafts[place].instruction);
    instruction.reads = registers.bits_of(drafts[place].reads);
    if (drafts[place].result != 0) {
      instruction.writes = registers.take(drafts[place].result, place);
    }
  }
  return program;
}

}  // namespace clprobe::tracer
