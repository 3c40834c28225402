// SPDX-License-Identifier: Apache-2.0
// Roles of the operands of a kernel's instructions, and the instructions that must stay. Pure.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "profile/api/prelude.hpp"
#include "profile/ptx/read.hpp"

namespace clprobe::ptx {

enum class Space : std::uint8_t { none, global, shared, local, constant, parameter, generic };
enum class Kind : std::uint8_t { other, load, store, atomic, barrier, branch, end, fence, fixed };

/// Memory that an instruction may access.
struct Place {
  static constexpr std::size_t max_objects = 128;
  Space space{Space::none};
  std::bitset<max_objects> objects{};  ///< numbers of the buffers, if in global memory

  [[nodiscard]] bool meets(const Place& other) const {
    if (space == Space::none || other.space == Space::none) return false;
    const bool is_known = space != Space::generic && other.space != Space::generic;
    if (!is_known) return true;
    return space == other.space && (space != Space::global || (objects & other.objects).any());
  }
};

/// Instruction with its operands by role.
struct Use {
  Kind kind{Kind::other};
  std::vector<std::string> guards{};
  std::vector<std::string> results{};
  std::vector<std::string> addresses{};
  std::vector<std::string> values{};
  Place place{};
  std::optional<Part> part{};     ///< part with which the instruction is removed
  std::optional<Part> counted{};  ///< part in which the instruction counts
};

/// Returns the kind of a statement. Throws PtxError if the statement is a PTX call.
Kind kind_of(const Statement& statement);

class Analysis {
 public:
  Analysis(const Kernel& kernel, bool is_replayed, std::span<const std::size_t> objects);

  /// Returns for each statement whether it is removed with `parts`.
  std::vector<bool> removed_by(const Parts& parts);
  /// Returns why no barrier can be removed; empty if barriers can, or if the kernel has none.
  std::string barriers_reason();

  [[nodiscard]] const std::vector<Use>& uses() const { return uses_; }
  /// Returns for each statement whether it is a branch that values from memory decide.
  [[nodiscard]] const std::vector<bool>& decisions() const { return decisions_; }
  /// True if values from memory flow into at least one of the registers.
  [[nodiscard]] bool are_data(const std::vector<std::string>& registers) const;
  /// True if no branch depends on the order or the time in which work-items run, so that all
  /// launches with equal memory contents take the same branches.
  [[nodiscard]] bool is_steady() const;

 private:
  using Objects = std::bitset<Place::max_objects>;
  using Names = std::set<std::string, std::less<>>;

  void find_places(std::span<const std::size_t> objects);
  [[nodiscard]] Names flow_from(const std::function<bool(std::size_t)>& is_source) const;
  void find_decisions();
  [[nodiscard]] Objects origin_of(const std::vector<std::string>& registers) const;
  void need(const std::vector<std::string>& registers);
  void visit(std::size_t index);
  [[nodiscard]] bool holds_needed(const Place& place) const;

  const Kernel& kernel_;
  bool is_replayed_;
  std::vector<Use> uses_{};
  std::vector<bool> decisions_{};
  Names data_{};  // registers to which values from memory flow
  std::map<std::string, Objects, std::less<>> origins_{};
  // State of one search for the instructions that must stay.
  Names needed_{};
  std::vector<Place> contents_{};  // memory whose contents must stay correct
  std::vector<bool> removed_{};
  bool keeps_store_{false};
  bool has_changed_{false};
};

}  // namespace clprobe::ptx
