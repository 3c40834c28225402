// SPDX-License-Identifier: Apache-2.0
#include "simulation/oclgrind/fold.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>

namespace clprobe::tracer {
namespace {

using simulator::Instruction;
using simulator::Lanes;
using simulator::Operation;
using simulator::Program;
using simulator::register_count;

/// Values that a lane's value comes from, numbered as in `Draft`, in ascending order.
using Values = std::vector<std::uint32_t>;

void add(Values& values, const Values& more) {
  if (more.empty()) return;
  Values both;
  std::set_union(values.begin(), values.end(), more.begin(), more.end(), std::back_inserter(both));
  values = std::move(both);
}

/// The state of a work-item, and the warp's values from which its own values come.
struct Lane {
  const Steps* steps{nullptr};
  std::size_t at{0};
  std::unordered_map<Value, Values> values{};
  std::unordered_map<Value, Values> older{};     ///< values before their last renaming
  std::map<std::uint64_t, Values> own_memory{};  ///< values in private memory, by address

  [[nodiscard]] bool is_done() const { return at == steps->size(); }
  [[nodiscard]] const Step& step() const { return (*steps)[at]; }
  void read(Value value, bool takes_older, Values& into) const {
    const auto& known = takes_older ? older : values;
    if (const auto found = known.find(value); found != known.end()) add(into, found->second);
  }
};

class Folding {
 public:
  Folding(const std::vector<Site>& sites, const Spots& spots, std::span<const Steps> lanes,
          bool is_first)
      : sites_(sites), spots_(spots), is_first_(is_first) {
    for (const Steps& each : lanes) lanes_.push_back({.steps = &each});
  }

  FoldedWarp fold() {
    for (;;) {
      choose();
      if (active_.empty()) break;
      execute(sites_[lanes_[active_.front()].step().site]);
      for (const std::size_t each : active_) ++lanes_[each].at;
    }
    return {give_registers(drafts_), std::move(tables_)};
  }

 private:
  /// Selects the lanes that are at the earliest position and at the same instruction.
  void choose() {
    active_.clear();
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (lanes_[i].is_done()) continue;
      const Step& step = lanes_[i].step();
      if (!active_.empty()) {
        const Step& chosen = lanes_[active_.front()].step();
        const bool is_same_spot = step.spot == chosen.spot;
        if (is_same_spot && step.site == chosen.site) {
          active_.push_back(i);
          continue;
        }
        const bool is_behind =
            is_same_spot ? step.site < chosen.site : spots_.is_before(step.spot, chosen.spot);
        if (!is_behind) continue;
        active_.clear();
      }
      active_.push_back(i);
    }
  }

  void execute(const Site& site) {
    switch (site.kind) {
      case Kind::renaming:
        for (const std::size_t each : active_) {
          Lane& lane = lanes_[each];
          lane.older[site.result] =
              std::exchange(lane.values[site.result], operands_of(lane, site));
        }
        return;
      case Kind::operation:
        return compute(site, Operation::alu);
      case Kind::special:
        return compute(site, Operation::special);
      case Kind::branch:
        emit({.operation = Operation::branch}, operands_of_all(site));
        return;
      case Kind::barrier:
        emit({.operation = Operation::barrier}, {});
        return;
      case Kind::memory:
        return access_memory(site);
      case Kind::copy:
        return begin_copy();
      case Kind::copy_wait:
        return wait_for_copies();
    }
  }

  void begin_copy() {
    if (!is_first_) return;
    for (const MemoryAccess& each : lanes_[active_.front()].step().accesses) {
      const bool goes_in = each.access == Access::copy_in;
      const bool has_pieces = each.pieces > 1;
      const auto begin = static_cast<std::uint32_t>(drafts_.size());
      emit({.operation = goes_in ? Operation::copy_in : Operation::copy_out,
            .lanes = {.base = each.address, .turn_step = has_pieces ? each.distance : 0},
            .id = each.copy,
            .count = each.bytes},
           {});
      if (!has_pieces) continue;
      emit({.operation = Operation::repeat, .count = each.pieces, .target = begin}, {});
    }
  }

  /// Makes the first warp wait for the copies. All other warps wait for the first warp at a
  /// barrier.
  void wait_for_copies() {
    if (is_first_) {
      for (const MemoryAccess& each : lanes_[active_.front()].step().accesses) {
        emit({.operation = Operation::copy_wait, .id = each.copy}, {});
      }
    }
    emit({.operation = Operation::barrier}, {});
  }

  static Values operands_of(const Lane& lane, const Site& site) {
    Values values;
    const Step& step = lane.step();
    if (step.chosen != 0) {
      lane.read(step.chosen, step.takes_older, values);
      return values;
    }
    for (const Value operand : site.operands) lane.read(operand, false, values);
    return values;
  }

  [[nodiscard]] Values operands_of_all(const Site& site) const {
    Values values;
    for (const std::size_t each : active_) add(values, operands_of(lanes_[each], site));
    return values;
  }

  void compute(const Site& site, Operation operation) {
    const Values reads = operands_of_all(site);
    Values results;
    for (std::uint32_t i = 0; i < site.operations; ++i) {
      results.push_back(emit_result({.operation = operation}, reads));
    }
    define(site, results);
  }

  void access_memory(const Site& site) {
    const Values reads = operands_of_all(site);
    Values results;
    std::size_t most = 0;
    for (const std::size_t each : active_) {
      most = std::max(most, lanes_[each].step().accesses.size());
    }
    for (const std::size_t each : active_) keep_own(lanes_[each], site);
    for (std::size_t k = 0; k < most; ++k) access_together(k, reads, results);
    for (const std::size_t each : active_) {
      if (site.result == 0) continue;
      Values& values = lanes_[each].values[site.result];
      if (!results.empty() || lanes_[each].step().accesses.empty()) values = results;
    }
  }

  /// Stores to and loads from private memory become renamings.
  static void keep_own(Lane& lane, const Site& site) {
    for (const MemoryAccess& each : lane.step().accesses) {
      if (each.space != Space::own) continue;
      if (each.access == Access::load) {
        lane.values[site.result] = lane.own_memory[each.address];
      } else {
        lane.own_memory[each.address] = operands_of(lane, site);
      }
    }
  }

  /// Issues the k-th access of each lane, one instruction for each kind of access and each 64
  /// bytes. Accesses to private memory are left out.
  void access_together(std::size_t k, const Values& reads, Values& results) {
    std::map<std::pair<Space, Access>, std::vector<std::size_t>> alike;
    for (const std::size_t each : active_) {
      const auto& accesses = lanes_[each].step().accesses;
      if (k >= accesses.size() || accesses[k].space == Space::own) continue;
      alike[{accesses[k].space, accesses[k].access}].push_back(each);
    }
    for (const auto& [kind, lanes] : alike) {
      constexpr std::uint32_t widest = 64;  // widest access that the simulator accepts
      const std::uint32_t bytes = lanes_[lanes.front()].step().accesses[k].bytes;
      for (std::uint32_t part = 0; part < bytes; part += widest) {
        const Lanes places = places_of(k, lanes, part, std::min(widest, bytes - part));
        issue(kind.first, kind.second, places, reads, results);
      }
    }
  }

  void issue(Space space, Access access, const Lanes& places, const Values& reads,
             Values& results) {
    const bool is_local = space == Space::local;
    const auto emit_load = [&](Operation operation) {
      results.push_back(emit_result({.operation = operation, .lanes = places}, reads));
    };
    if (access == Access::load) {
      return emit_load(is_local ? Operation::local_load : Operation::load);
    }
    if (access == Access::atomic && !is_local) return emit_load(Operation::atomic);
    Values needed = reads;
    if (access == Access::atomic) {
      // The simulator has no atomics on local memory, so they become a load and a dependent store.
      emit_load(Operation::local_load);
      needed.push_back(results.back());
    }
    emit({.operation = is_local ? Operation::local_store : Operation::store, .lanes = places},
         needed);
  }

  /// Returns the addresses in steps if the accessing lanes are the warp's first lanes and the
  /// distances between their addresses are equal. Otherwise returns the addresses as a table.
  Lanes places_of(std::size_t k, const std::vector<std::size_t>& lanes, std::uint32_t part,
                  std::uint32_t bytes) {
    std::vector<std::uint64_t> addresses;
    addresses.reserve(lanes.size());
    for (const std::size_t each : lanes) {
      addresses.push_back(lanes_[each].step().accesses[k].address + part);
    }
    Lanes places{.base = addresses.front(), .bytes = bytes};
    const std::uint64_t step = addresses.size() > 1 ? addresses[1] - addresses[0] : 0;
    bool is_even = lanes.back() == lanes.size() - 1;
    for (std::size_t i = 1; i < addresses.size(); ++i) {
      is_even = is_even && addresses[i] - addresses[i - 1] == step;
    }
    if (is_even) {
      places.lane_step = static_cast<std::int64_t>(step);
      places.active = lanes.size() == lanes_.size() ? 0 : static_cast<std::uint32_t>(lanes.size());
      return places;
    }
    places.base = 0;
    places.active = static_cast<std::uint32_t>(lanes.size());
    places.table = static_cast<std::uint32_t>(tables_.size());
    places.table_lane = 1;
    tables_.push_back(std::move(addresses));
    return places;
  }

  void define(const Site& site, const Values& values) {
    if (site.result == 0) return;
    for (const std::size_t each : active_) lanes_[each].values[site.result] = values;
  }

  void emit(const Instruction& instruction, const Values& reads) {
    drafts_.push_back({instruction, reads, 0});
  }
  std::uint32_t emit_result(const Instruction& instruction, const Values& reads) {
    drafts_.push_back({instruction, reads, ++last_value_});
    return last_value_;
  }

  const std::vector<Site>& sites_;
  const Spots& spots_;
  bool is_first_;
  std::vector<Lane> lanes_{};
  std::vector<std::size_t> active_{};  ///< active lanes in ascending order
  std::vector<Draft> drafts_{};
  std::vector<std::vector<std::uint64_t>> tables_{};
  std::uint32_t last_value_{0};
};

/// Returns the index of each value's last use. For an unused value, returns the index of its
/// definition.
std::vector<std::size_t> last_uses(const std::vector<Draft>& drafts) {
  std::vector<std::size_t> last{0};  // no value has the number 0
  for (std::size_t place = 0; place < drafts.size(); ++place) {
    for (const std::uint32_t value : drafts[place].reads) last[value] = place;
    if (drafts[place].result != 0) last.push_back(place);
  }
  return last;
}

struct Holder {
  std::uint32_t value{0};
  std::size_t written{0};  ///< index of the definition + 1; 0: no value
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
    // A register is free if no later instruction reads its value.
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
  std::vector<std::uint8_t> of_value_;  ///< register of each value; register_count: no register
  std::array<Holder, register_count> holders_{};
};

}  // namespace

FoldedWarp fold_warp(const std::vector<Site>& sites, const Spots& spots,
                     std::span<const Steps> lanes, bool is_first) {
  return Folding(sites, spots, lanes, is_first).fold();
}

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
