// SPDX-License-Identifier: Apache-2.0
// Statements of a kernel in PTX. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::ptx {

enum class StatementKind : std::uint8_t { label, directive, instruction, open, close };

struct Statement {
  StatementKind kind{StatementKind::instruction};
  std::string text{};   ///< without the final semicolon or colon
  std::string guard{};  ///< "@%p1", "@!%p1" or empty
  std::string opcode{};
  std::vector<std::string> operands{};
};

/// Widths of registers in bits, 1 for predicates. Registers of a family "%r<25>" have one entry,
/// "%r".
class Registers {
 public:
  /// Adds the registers of a directive `.reg`. Throws PtxError for unsupported types.
  void declare(std::string_view directive);
  /// Returns the width of a register; 0 if `name` is no register.
  [[nodiscard]] unsigned width(std::string_view name) const;
  /// Returns the registers in an operand, in order.
  [[nodiscard]] std::vector<std::string> in(std::string_view operand) const;

 private:
  std::map<std::string, unsigned, std::less<>> single_{};
  std::map<std::string, unsigned, std::less<>> families_{};
};

struct Kernel {
  std::string around{};  ///< the module's text without kernels
  std::string head{};    ///< ".visible .entry NAME"
  std::vector<std::string> parameters{};
  std::string limits{};  ///< directives between the parameters and the body
  std::vector<Statement> body{};
  Registers registers{};
};

/// Reads the kernel `name` of a module. Throws PtxError if the kernel is missing or malformed.
Kernel read_kernel(std::string_view module, std::string_view name);

/// Returns the statement as a line of PTX: with its guard, and its semicolon or colon.
std::string text_of(const Statement& statement);

/// Returns the parts of `text` between commas outside of brackets, without surrounding spaces.
std::vector<std::string> split_operands(std::string_view text);

}  // namespace clprobe::ptx
