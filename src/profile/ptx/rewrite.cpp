// SPDX-License-Identifier: Apache-2.0
// The text of a kernel without some of its instructions.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/api/prelude.hpp"
#include "profile/ptx/analysis.hpp"
#include "profile/ptx/read.hpp"

namespace clprobe::ptx {
namespace {

constexpr std::string_view zero_parameter{"clp_zero"};
constexpr std::string_view sink_parameter{"clp_sink"};
constexpr std::string_view bits_parameter{"clp_bits"};
constexpr std::string_view step_parameter{"clp_step"};
constexpr std::string_view words_parameter{"clp_words"};

/// Returns instructions that act only if `predicate` is true: they store the current word of
/// decisions, unless the work-item has used up its number of words, and begin the next word.
std::string record_word(std::string_view predicate) {
  return fmt::format(
      "or.b32 %clp_t, %clp_w, 0x80000000;\nld.param.u32 %clp_u, [{1}];\n"
      "setp.lt.and.u32 %clp_q, %clp_m, %clp_u, {0};\n@%clp_q st.global.u32 [%clp_b], %clp_t;\n"
      "@{0} add.s64 %clp_b, %clp_b, %clp_e;\n@{0} add.u32 %clp_m, %clp_m, 1;\n"
      "@{0} mov.u32 %clp_w, 0;\n@{0} mov.u32 %clp_n, 0;\n",
      predicate, words_parameter);
}

/// Writes a kernel without some of its statements.
class Writer {
 public:
  Writer(const Kernel& kernel, const Analysis& analysis, const std::vector<bool>& removed,
         Branches branches)
      : kernel_(kernel),
        analysis_(analysis),
        uses_(analysis.uses()),
        decisions_(analysis.decisions()),
        removed_(removed),
        branches_(branches) {
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const bool has_values = uses_[i].kind != Kind::barrier && uses_[i].kind != Kind::fence;
      const bool is_replayed = branches == Branches::replayed && decisions_[i];
      has_sink_ = has_sink_ || (removed[i] && has_values) || is_replayed;
    }
  }

  std::string write();

 private:
  /// True if the kernel returns at its end only.
  [[nodiscard]] bool has_end() const { return has_sink_ || branches_ == Branches::recorded; }
  /// Returns a branch without its guard. If `has_end`, a return becomes a branch to $clp_end.
  [[nodiscard]] std::string target_of(const Statement& of) const;
  void write_start();
  void write_end();
  void replace(std::size_t index);
  void add_value(const Statement& of, const std::string& name);
  void add_address(const Statement& of, const std::string& name);
  void add_line(const Statement& of, const std::string& instruction);
  void write_unknown(const Statement& of, const std::string& result);

  void write_decision(const Statement& of);

  const Kernel& kernel_;
  const Analysis& analysis_;
  const std::vector<Use>& uses_;
  const std::vector<bool>& decisions_;
  const std::vector<bool>& removed_;
  Branches branches_;
  bool has_sink_{false};
  std::string text_{};
  bool is_new_block_{true};
  std::size_t loads_{0};
};

void Writer::add_line(const Statement& of, const std::string& instruction) {
  text_ += of.guard.empty() ? "" : of.guard + " ";
  text_ += instruction + ";\n";
}

/// Adds a register's bits to the sum that is tested before the kernel returns.
void Writer::add_value(const Statement& of, const std::string& name) {
  const unsigned width = kernel_.registers.width(name);
  if (width == 64) {
    add_line(of, "mov.b64 {%clp_t, %clp_u}, " + name);
    add_line(of, "add.u32 %clp_s, %clp_s, %clp_u");
  } else {
    add_line(of, width == 32 ? "mov.b32 %clp_t, " + name
                             : fmt::format("mov.b32 %clp_t, {{{0}, {0}}}", name));
  }
  add_line(of, "add.u32 %clp_s, %clp_s, %clp_t");
}

/// Adds the lower half of an address to the sum that is tested before the kernel returns.
void Writer::add_address(const Statement& of, const std::string& name) {
  const bool is_wide = kernel_.registers.width(name) == 64;
  if (is_wide) add_line(of, "cvt.u32.u64 %clp_t, " + name);
  add_line(of, "add.u32 %clp_s, %clp_s, " + (is_wide ? "%clp_t" : name));
}

/// Gives `result` a value that the compiler cannot know and that usually differs from other loads'.
/// Floats are between 1 and 2, so that no function takes its slow path for special values.
void Writer::write_unknown(const Statement& of, const std::string& result) {
  constexpr std::uint64_t step = 2654435761;  // distributes the numbers of loads over all bits
  const std::uint64_t bits = ++loads_ * step;
  const std::string_view opcode = of.opcode;
  const bool is_small = opcode.ends_with("8") || opcode.ends_with("16");
  switch (kernel_.registers.width(result)) {
    case 64: {
      const bool is_whole = opcode.ends_with("64");
      const std::uint64_t base = is_whole ? std::uint64_t{0x3ff} << 52U : 0;
      add_line(of, "mov.b64 %clp_d, {%clp_c, %clp_c}");
      add_line(of, fmt::format("xor.b64 {}, %clp_d, 0x{:x}", result, base | (bits & 0xfffffU)));
      return;
    }
    case 32: {
      const std::uint64_t base = is_small ? 0 : 0x3f800000;
      const std::uint64_t mask = is_small ? 0x7f : 0x7fffff;
      add_line(of, fmt::format("xor.b32 {}, %clp_c, 0x{:x}", result, base | (bits & mask)));
      return;
    }
    default:
      add_line(of, "cvt.u16.u32 %clp_h, %clp_c");
      add_line(of, fmt::format("xor.b16 {}, %clp_h, 0x{:x}", result, bits & 0x7fU));
  }
}

void Writer::replace(std::size_t index) {
  const Statement& of = kernel_.body[index];
  const Use& use = uses_[index];
  if (use.kind == Kind::barrier || use.kind == Kind::fence) return;
  for (const std::string& each : use.values) add_value(of, each);
  // Addresses from data are added as well, because they may be all that is computed from the data.
  if (analysis_.are_data(use.addresses)) {
    for (const std::string& each : use.addresses) add_address(of, each);
  }
  if (use.results.empty()) return;
  if (is_new_block_) text_ += "add.u32 %clp_c, %clp_c, %clp_z;\n";
  is_new_block_ = false;
  for (const std::string& each : use.results) write_unknown(of, each);
}

std::string Writer::target_of(const Statement& of) const {
  if (kind_of(of) == Kind::end) return has_end() ? "bra $clp_end" : of.opcode;
  std::string text = of.opcode;
  for (std::size_t i = 0; i < of.operands.size(); ++i) {
    text += (i == 0 ? " " : ", ") + of.operands[i];
  }
  return text;
}

/// Writes a branch that values from memory decide. A word holds 31 decisions, the first in its
/// lowest bit, and bit 31 is set, so that a work-item has used up its word when the word is 1. A
/// replayed branch adds its own decision to the sum, so that the arithmetic that computes it stays.
void Writer::write_decision(const Statement& of) {
  const bool is_negated = of.guard.starts_with("@!");
  const std::string predicate = of.guard.substr(is_negated ? 2 : 1);
  if (branches_ == Branches::recorded) {
    text_ += fmt::format(
        "selp.u32 %clp_t, 1, 0, {};\nshl.b32 %clp_t, %clp_t, %clp_n;\n"
        "or.b32 %clp_w, %clp_w, %clp_t;\nadd.u32 %clp_n, %clp_n, 1;\n"
        "setp.eq.u32 %clp_p, %clp_n, 31;\n{}",
        predicate, record_word("%clp_p"));
    add_line(of, target_of(of));
    return;
  }
  text_ += fmt::format("selp.u32 %clp_t, 1, 0, {};\nadd.u32 %clp_s, %clp_s, %clp_t;\n", predicate);
  text_ +=
      "setp.eq.u32 %clp_p, %clp_w, 1;\n@%clp_p ld.global.u32 %clp_w, [%clp_b];\n"
      "@%clp_p add.s64 %clp_b, %clp_b, %clp_e;\nand.b32 %clp_t, %clp_w, 1;\n"
      "setp.ne.u32 %clp_p, %clp_t, 0;\nshr.u32 %clp_w, %clp_w, 1;\n";
  text_ += fmt::format("@{}%clp_p {};\n", is_negated ? "!" : "", target_of(of));
}

void Writer::write_start() {
  if (!has_sink_ && branches_ == Branches::own) return;
  text_ += fmt::format(
      ".reg .pred %clp_p, %clp_q;\n.reg .b16 %clp_h;\n"
      ".reg .b32 %clp_c, %clp_s, %clp_t, %clp_u, %clp_z, %clp_w, %clp_n, %clp_m;\n"
      ".reg .b64 %clp_b, %clp_d, %clp_e, %clp_k;\n"
      "ld.param.u32 %clp_z, [{}];\nmov.u32 %clp_c, %tid.x;\n"
      "mul.lo.u32 %clp_c, %clp_c, %clp_z;\nmov.u32 %clp_s, %clp_z;\n",
      zero_parameter);
  if (branches_ == Branches::own) return;
  // The number of the work-item in the launch, independent of the shape of work-groups: the
  // coordinates x, y, z count in a grid of Nx * Ny * Nz work-items.
  text_ += "mov.u32 %clp_t, 0;\n";
  for (const char axis : {'z', 'y', 'x'}) {
    text_ += fmt::format(
        "mov.u32 %clp_u, %nctaid.{0};\nmov.u32 %clp_n, %ntid.{0};\n"
        "mul.lo.u32 %clp_u, %clp_u, %clp_n;\nmul.lo.u32 %clp_t, %clp_t, %clp_u;\n"
        "mov.u32 %clp_u, %ctaid.{0};\nmad.lo.u32 %clp_t, %clp_u, %clp_n, %clp_t;\n"
        "mov.u32 %clp_u, %tid.{0};\nadd.u32 %clp_t, %clp_t, %clp_u;\n",
        axis);
  }
  text_ += fmt::format(
      "ld.param.u64 %clp_b, [{}];\nmul.wide.u32 %clp_d, %clp_t, 4;\n"
      "add.s64 %clp_b, %clp_b, %clp_d;\nld.param.u64 %clp_e, [{}];\n"
      "mov.u32 %clp_w, {};\nmov.u32 %clp_n, 0;\nmov.u32 %clp_m, 0;\n",
      bits_parameter, step_parameter, branches_ == Branches::recorded ? 0 : 1);
}

void Writer::write_end() {
  if (!has_sink_ && branches_ != Branches::recorded) return;
  text_ += "$clp_end:\n";
  if (branches_ == Branches::recorded) {
    text_ += fmt::format(
        "setp.ne.u32 %clp_p, %clp_n, 0;\n{}ld.param.u64 %clp_k, [{}];\n"
        "red.global.max.u32 [%clp_k+4], %clp_m;\nret;\n",
        record_word("%clp_p"), sink_parameter);
    return;
  }
  text_ += fmt::format(
      "setp.ne.u32 %clp_p, %clp_s, 0x9e3779b9;\n@%clp_p bra $clp_return;\n"
      "ld.param.u64 %clp_k, [{}];\nst.global.u32 [%clp_k], %clp_s;\n$clp_return:\nret;\n",
      sink_parameter);
}

std::string Writer::write() {
  text_ = kernel_.around + kernel_.head + "(\n";
  for (const std::string& each : kernel_.parameters) text_ += each + ",\n";
  constexpr std::string_view pointer{".param .u64 .ptr .global .align 4"};
  text_ +=
      fmt::format(".param .u32 {},\n{} {},\n{} {},\n.param .u64 {},\n.param .u32 {}\n)\n{}\n{{\n",
                  zero_parameter, pointer, sink_parameter, pointer, bits_parameter, step_parameter,
                  words_parameter, kernel_.limits);
  write_start();
  for (std::size_t i = 0; i < kernel_.body.size(); ++i) {
    const Statement& each = kernel_.body[i];
    const Use& use = uses_[i];
    if (removed_[i]) {
      replace(i);
    } else if (branches_ != Branches::own && decisions_[i]) {
      write_decision(each);
    } else if (use.kind == Kind::end && has_end()) {
      add_line(each, "bra $clp_end");
    } else {
      text_ += text_of(each);
    }
    const bool ends_block = each.kind == StatementKind::label || use.kind == Kind::branch;
    is_new_block_ = is_new_block_ || ends_block;
  }
  write_end();
  return text_ + "}\n";
}

}  // namespace

bool is_ptx(std::string_view text) {
  return text.find(".version") != std::string_view::npos &&
         text.find(".entry") != std::string_view::npos;
}

Rewritten rewrite(std::string_view text, std::string_view kernel, const Parts& parts,
                  Branches branches, std::span<const std::size_t> objects) {
  const Kernel read = read_kernel(text, kernel);
  Analysis analysis(read, branches == Branches::replayed, objects);
  Rewritten rewritten{.parameters = read.parameters.size()};
  rewritten.decisions = static_cast<std::size_t>(
      std::count(analysis.decisions().begin(), analysis.decisions().end(), true));
  rewritten.is_steady = analysis.is_steady();
  rewritten.barriers_reason = analysis.barriers_reason();
  Parts allowed = parts;
  if (!rewritten.barriers_reason.empty()) allowed.reset(index_of(Part::barriers));
  const std::vector<bool> removed = analysis.removed_by(allowed);
  for (std::size_t i = 0; i < removed.size(); ++i) {
    const std::optional<Part>& part = analysis.uses()[i].counted;
    if (!part) continue;
    Count& count = rewritten.counts.at(index_of(*part));
    ++count.all;
    if (removed[i]) ++count.removed;
  }
  rewritten.text = Writer(read, analysis, removed, branches).write();
  return rewritten;
}

}  // namespace clprobe::ptx
