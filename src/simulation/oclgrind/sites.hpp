// SPDX-License-Identifier: Apache-2.0
// Conversion of LLVM's instructions to sites.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulation/oclgrind/fold.hpp"

namespace llvm {
class Function;
class Instruction;
class Value;
}  // namespace llvm

namespace clprobe::tracer {

class Sites {
 public:
  /// Returns the number of an instruction's site. `has_accessed`: true if the instruction accessed
  /// memory; an instruction has different sites with and without an access.
  std::uint32_t find(const llvm::Instruction& instruction, bool has_accessed);
  /// Returns the number of the site at which value `from` gets the name `to`. `to`: an argument or
  /// the result of a call, or a phi.
  std::uint32_t find_renaming(const llvm::Instruction& at, const llvm::Value& to,
                              const llvm::Value* from);
  /// Returns the number of a value; 0 for constants.
  Value value(const llvm::Value* value);
  std::uint32_t place(const llvm::Instruction& instruction);

  [[nodiscard]] const std::vector<Site>& all() const { return sites_; }

 private:
  std::uint32_t add(Site site);
  Site make(const llvm::Instruction& instruction, bool has_accessed);

  std::vector<Site> sites_{};
  std::unordered_map<const llvm::Instruction*, std::uint32_t> plain_{};
  std::unordered_map<const llvm::Instruction*, std::uint32_t> accessing_{};
  std::map<std::pair<const llvm::Instruction*, const llvm::Value*>, std::uint32_t> renamings_{};
  std::unordered_map<const llvm::Value*, Value> values_{};
  std::unordered_map<const llvm::Function*,
                     std::unordered_map<const llvm::Instruction*, std::uint32_t>>
      places_{};
};

}  // namespace clprobe::tracer
