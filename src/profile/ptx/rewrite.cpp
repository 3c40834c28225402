// SPDX-License-Identifier: Apache-2.0
// Which instructions of a kernel can be removed, and the text without them.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profile/api/prelude.hpp"
#include "profile/ptx/read.hpp"

namespace clprobe::ptx {
namespace {

enum class Space : std::uint8_t { none, global, shared, local, constant, parameter, generic };
enum class Kind : std::uint8_t { other, load, store, atomic, barrier, branch, end, fence, fixed };

bool has_word(std::string_view opcode, std::string_view word) {
  // Modifiers such as ".shared::cta" name a space in more detail.
  for (std::size_t at = opcode.find(word); at != std::string_view::npos;
       at = opcode.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (end == opcode.size() ||
        std::string_view(".: \t\n").find(opcode[end]) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

Space space_of(std::string_view opcode) {
  if (has_word(opcode, ".global")) return Space::global;
  if (has_word(opcode, ".shared")) return Space::shared;
  if (has_word(opcode, ".local")) return Space::local;
  if (has_word(opcode, ".const")) return Space::constant;
  if (has_word(opcode, ".param")) return Space::parameter;
  return Space::generic;
}

Kind kind_of(const Statement& statement) {
  if (statement.kind != StatementKind::instruction) return Kind::other;
  const std::string_view opcode = statement.opcode;
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  if (base == "ld" || base == "ldu") return Kind::load;
  if (base == "st") return Kind::store;
  if (base == "atom" || base == "red") return Kind::atomic;
  if (base == "barrier") return Kind::barrier;
  if (base == "bar") return has_word(opcode, ".warp") ? Kind::fixed : Kind::barrier;
  if (base == "bra" || base == "brx") return Kind::branch;
  if (base == "ret" || base == "exit") return Kind::end;
  if (base == "membar" || base == "fence") return Kind::fence;
  if (base == "call") {
    throw PtxError("the kernel calls a function that the compiler did not inline");
  }
  constexpr std::array fixed{
      "tex", "tld4",     "suld",      "sust",  "sured",    "prefetch", "trap",      "brkpt",
      "cp",  "mbarrier", "nanosleep", "wgmma", "ldmatrix", "stmatrix", "prefetchu", "discard"};
  return std::find(fixed.begin(), fixed.end(), base) == fixed.end() ? Kind::other : Kind::fixed;
}

/// Memory that an instruction may access.
struct Place {
  static constexpr std::size_t max_objects = 128;
  Space space{Space::none};
  std::bitset<max_objects> objects{};  ///< of global memory

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

/// True for accesses whose order or time other work-items may notice.
bool is_ordered(std::string_view opcode) {
  return has_word(opcode, ".volatile") || has_word(opcode, ".acquire") ||
         has_word(opcode, ".release") || has_word(opcode, ".acq_rel");
}

/// Returns the part in which an instruction counts. Images count as memory.
std::optional<Part> part_of(Kind kind, Space space, std::string_view opcode) {
  if (kind == Kind::barrier) return Part::barriers;
  if (kind == Kind::atomic) return Part::atomics;
  if (kind == Kind::fixed) {
    if (opcode.starts_with("tex") || opcode.starts_with("tld") || opcode.starts_with("suld")) {
      return Part::loads;
    }
    return opcode.starts_with("sust") ? std::optional(Part::stores) : std::nullopt;
  }
  const bool is_load = kind == Kind::load;
  if (!is_load && kind != Kind::store) return std::nullopt;
  if (space == Space::shared) return Part::local_memory;
  const bool is_memory =
      space == Space::global || space == Space::generic || (space == Space::constant && is_load);
  if (!is_memory) return std::nullopt;
  return is_load ? Part::loads : Part::stores;
}

Use use_of(const Statement& statement, const Registers& registers) {
  Use use{.kind = kind_of(statement)};
  if (statement.kind != StatementKind::instruction) return use;
  const bool has_address =
      std::any_of(statement.operands.begin(), statement.operands.end(),
                  [](const std::string& each) { return each.starts_with('['); });
  if (use.kind == Kind::other && has_address) use.kind = Kind::fixed;
  use.guards = registers.in(statement.guard);
  const bool has_result = use.kind == Kind::other || use.kind == Kind::load ||
                          (use.kind == Kind::fixed && statement.operands.size() > 1) ||
                          (use.kind == Kind::atomic && statement.opcode.starts_with("atom"));
  for (std::size_t i = 0; i < statement.operands.size(); ++i) {
    const std::string& operand = statement.operands[i];
    std::vector<std::string> found = registers.in(operand);
    std::vector<std::string>& to = i == 0 && has_result && !operand.starts_with('[') ? use.results
                                   : operand.starts_with('[')                        ? use.addresses
                                                                                     : use.values;
    to.insert(to.end(), found.begin(), found.end());
  }
  const bool is_access =
      use.kind == Kind::load || use.kind == Kind::store || use.kind == Kind::atomic;
  if (is_access && statement.operands.empty()) {
    throw PtxError("a memory access of the PTX text has no operand");
  }
  if (is_access) use.place.space = space_of(statement.opcode);
  use.counted = part_of(use.kind, use.place.space, statement.opcode);
  const bool stays =
      use.kind == Kind::fixed || use.place.space == Space::generic || is_ordered(statement.opcode);
  if (!stays) use.part = use.counted;
  // Instructions that this code does not know may read and write any memory.
  if (use.kind == Kind::fixed && !use.counted && !use.addresses.empty()) {
    use.place.space = Space::generic;
  }
  return use;
}

/// True if the parameter may be a pointer. Older compilers do not mark pointers.
bool is_pointer(std::string_view parameter) {
  return has_word(parameter, ".u64") || has_word(parameter, ".b64") || has_word(parameter, ".ptr");
}

/// Returns the index of the parameter that an operand such as "[kernel_param_3+8]" reads; nothing
/// if it is none.
std::optional<std::size_t> find_parameter(const Kernel& kernel, std::string_view operand) {
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::string_view name = kernel.parameters[i];
    name = name.substr(0, name.find('['));
    name = name.substr(name.find_last_of(" \t\n") + 1);
    if (!operand.starts_with('[') || !operand.substr(1).starts_with(name)) continue;
    const std::string_view rest = operand.substr(1 + name.size());
    if (rest.starts_with(']') || rest.starts_with('+')) return i;
  }
  return std::nullopt;
}

class Analysis {
 public:
  Analysis(const Kernel& kernel, bool is_replayed, std::span<const std::size_t> objects);

  /// Returns for each statement whether it is removed with `parts`.
  std::vector<bool> removed_by(const Parts& parts);
  /// Returns the reason why no barrier can be removed; empty if barriers can.
  std::string barriers_reason();

  [[nodiscard]] const std::vector<Use>& uses() const { return uses_; }
  /// Returns for each statement whether it is a branch that values from memory decide.
  [[nodiscard]] const std::vector<bool>& decisions() const { return decisions_; }
  [[nodiscard]] bool is_steady() const;

 private:
  using Objects = std::bitset<Place::max_objects>;

  void find_places(std::span<const std::size_t> objects);
  void find_decisions();
  [[nodiscard]] Objects origin_of(const std::vector<std::string>& registers) const;
  void need(const std::vector<std::string>& registers);
  void visit(std::size_t index);
  [[nodiscard]] bool is_needed(const std::vector<std::string>& registers) const;
  [[nodiscard]] bool holds_needed(const Place& place) const;

  const Kernel& kernel_;
  bool is_replayed_;
  std::vector<Use> uses_{};
  std::vector<bool> decisions_{};
  std::map<std::string, Objects, std::less<>> origins_{};
  // State of one search for the instructions that must stay.
  std::set<std::string, std::less<>> needed_{};
  std::vector<Place> contents_{};  // memory whose contents decide
  std::vector<bool> removed_{};
  bool keeps_store_{false};
  bool has_changed_{false};
};

Analysis::Analysis(const Kernel& kernel, bool is_replayed, std::span<const std::size_t> objects)
    : kernel_(kernel), is_replayed_(is_replayed) {
  for (const Statement& each : kernel.body) uses_.push_back(use_of(each, kernel.registers));
  find_places(objects);
  find_decisions();
}

/// Finds the branches to which values from memory flow, through registers, local memory and private
/// arrays.
void Analysis::find_decisions() {
  std::set<std::string, std::less<>> data;
  std::set<Space> written;
  const auto has_data = [&data](const std::vector<std::string>& registers) {
    return std::any_of(registers.begin(), registers.end(),
                       [&data](const std::string& each) { return data.contains(each); });
  };
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Use& use : uses_) {
      const bool is_store = use.kind == Kind::store || use.kind == Kind::atomic;
      if (is_store && has_data(use.values)) {
        has_changed = written.insert(use.place.space).second || has_changed;
      }
      bool is_data = has_data(use.values) || has_data(use.guards);
      if (use.kind == Kind::fixed) is_data = true;
      if (use.kind == Kind::load || use.kind == Kind::atomic) {
        const bool is_own = use.place.space == Space::shared || use.place.space == Space::local;
        is_data = use.place.space != Space::parameter &&
                  (!is_own || use.kind == Kind::atomic || written.contains(use.place.space) ||
                   has_data(use.addresses));
      }
      if (!is_data) continue;
      for (const std::string& each : use.results) {
        has_changed = data.insert(each).second || has_changed;
      }
    }
  }
  for (Use& use : uses_) {
    // A private array that data index can be removed like other memory. Library functions use such
    // arrays for large arguments.
    const bool is_access = use.kind == Kind::load || use.kind == Kind::store;
    if (is_access && use.place.space == Space::local && has_data(use.addresses)) {
      use.part = use.kind == Kind::load ? Part::loads : Part::stores;
      use.counted = use.part;
    }
    const bool can_branch = use.kind == Kind::branch || use.kind == Kind::end;
    decisions_.push_back(can_branch && has_data(use.guards));
  }
}

/// True if no branch depends on the order or the time in which work-items run, so that each launch
/// decides as another one did.
bool Analysis::is_steady() const {
  constexpr std::array timed{"%clock", "%globaltimer", "%smid", "%warpid", "%nsmid"};
  std::set<std::string, std::less<>> unsteady;
  const auto is_unsteady = [&unsteady](const std::vector<std::string>& registers) {
    return std::any_of(registers.begin(), registers.end(),
                       [&](const std::string& each) { return unsteady.contains(each); });
  };
  bool is_written = false;  // memory with such values
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const Use& use = uses_[i];
      const Statement& statement = kernel_.body[i];
      const bool is_store = use.kind == Kind::store || use.kind == Kind::atomic;
      if (is_store && is_unsteady(use.values) && !is_written) is_written = has_changed = true;
      const bool reads_time = std::any_of(timed.begin(), timed.end(), [&](std::string_view each) {
        return statement.text.find(each) != std::string::npos;
      });
      const bool is_own = use.kind == Kind::atomic || is_ordered(statement.opcode) || reads_time ||
                          (use.kind == Kind::load && is_written);
      if (!is_own && !is_unsteady(use.values) && !is_unsteady(use.guards)) continue;
      for (const std::string& each : use.results) {
        has_changed = unsteady.insert(each).second || has_changed;
      }
    }
  }
  return std::none_of(uses_.begin(), uses_.end(), [&](const Use& use) {
    return (use.kind == Kind::branch || use.kind == Kind::end) && is_unsteady(use.guards);
  });
}

Analysis::Objects Analysis::origin_of(const std::vector<std::string>& registers) const {
  Objects origin;
  for (const std::string& each : registers) {
    const auto found = origins_.find(each);
    if (found != origins_.end()) origin |= found->second;
  }
  return origin;
}

/// Finds the buffers to which each access of global memory may point: those whose addresses flow
/// into its address. An address that comes from elsewhere may point to any buffer.
void Analysis::find_places(std::span<const std::size_t> objects) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const Use& use = uses_[i];
      Objects origin = origin_of(use.values);
      if (use.kind == Kind::load || use.kind == Kind::atomic) origin.reset();
      if (use.place.space == Space::parameter) {
        const auto parameter = find_parameter(kernel_, kernel_.body[i].operands.back());
        if (!parameter) origin.set();
        if (parameter && is_pointer(kernel_.parameters[*parameter])) {
          const bool is_given = *parameter < objects.size();
          origin.set((is_given ? objects[*parameter] : *parameter) % Place::max_objects);
        }
      }
      for (const std::string& each : use.results) {
        Objects& known = origins_[each];
        if ((known | origin) == known) continue;
        known |= origin;
        has_changed = true;
      }
    }
  }
  for (Use& use : uses_) {
    if (use.place.space != Space::global) continue;
    use.place.objects = origin_of(use.addresses);
    if (use.place.objects.none()) use.place.objects.set();
  }
}

void Analysis::need(const std::vector<std::string>& registers) {
  for (const std::string& each : registers) {
    has_changed_ = needed_.insert(each).second || has_changed_;
  }
}

bool Analysis::is_needed(const std::vector<std::string>& registers) const {
  return std::any_of(registers.begin(), registers.end(),
                     [this](const std::string& each) { return needed_.contains(each); });
}

bool Analysis::holds_needed(const Place& place) const {
  return std::any_of(contents_.begin(), contents_.end(),
                     [&place](const Place& each) { return each.meets(place); });
}

void Analysis::visit(std::size_t index) {
  const Use& use = uses_[index];
  const bool decides = is_needed(use.results);
  const bool is_written =
      (use.kind == Kind::store || use.kind == Kind::atomic) && holds_needed(use.place);
  const bool is_kept_fence = use.kind == Kind::fence && keeps_store_;
  if (removed_[index] && (decides || is_written || is_kept_fence)) {
    removed_[index] = false;
    has_changed_ = true;
  }
  // Work-items that wait for such a store also need the fences.
  if (is_written && !keeps_store_) keeps_store_ = has_changed_ = true;
  if (removed_[index]) return;
  const bool is_access =
      use.kind == Kind::load || use.kind == Kind::store || use.kind == Kind::atomic;
  const bool has_effect = use.kind != Kind::other && use.kind != Kind::load;
  const bool is_taken = is_replayed_ && decisions_[index];
  if ((has_effect || is_access || decides) && !is_taken) need(use.guards);
  if (is_access) need(use.addresses);
  const bool needs_values = use.kind == Kind::branch || use.kind == Kind::barrier ||
                            use.kind == Kind::fixed || decides || is_written;
  if (needs_values) {
    need(use.values);
    need(use.addresses);
  }
  const bool reads = use.kind == Kind::load || use.kind == Kind::atomic || use.kind == Kind::fixed;
  const bool is_memory = use.place.space != Space::none && use.place.space != Space::constant &&
                         use.place.space != Space::parameter;
  if (decides && reads && is_memory) {
    const auto covers = [&use](const Place& each) {
      return each.space == use.place.space && (each.objects | use.place.objects) == each.objects;
    };
    if (std::any_of(contents_.begin(), contents_.end(), covers)) return;
    contents_.push_back(use.place);
    has_changed_ = true;
  }
}

std::vector<bool> Analysis::removed_by(const Parts& parts) {
  needed_.clear();
  contents_.clear();
  keeps_store_ = false;
  removed_.assign(uses_.size(), false);
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    const std::optional<Part>& part = uses_[i].part;
    removed_[i] = part && parts.test(index_of(*part));
    // A fence waits for stores, so it goes together with them.
    if (uses_[i].kind == Kind::fence) removed_[i] = parts.test(index_of(Part::stores));
  }
  do {
    has_changed_ = false;
    for (std::size_t i = uses_.size(); i-- > 0;) visit(i);
  } while (has_changed_);
  return removed_;
}

std::string Analysis::barriers_reason() {
  const auto is_barrier = [](const Use& use) { return use.kind == Kind::barrier; };
  if (std::none_of(uses_.begin(), uses_.end(), is_barrier)) return {};
  removed_by({});
  for (const Place& each : contents_) {
    if (each.space == Space::local) continue;
    const bool is_written = std::any_of(uses_.begin(), uses_.end(), [&each](const Use& use) {
      return (use.kind == Kind::store || use.kind == Kind::atomic) && use.place.meets(each);
    });
    if (is_written) return "values that pass a barrier decide on addresses or branches";
  }
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    if (uses_[i].kind == Kind::barrier && !has_word(kernel_.body[i].opcode, ".sync")) {
      return "a barrier also exchanges values";
    }
  }
  return {};
}

constexpr std::string_view zero_parameter{"clp_zero"};
constexpr std::string_view sink_parameter{"clp_sink"};
constexpr std::string_view bits_parameter{"clp_bits"};
constexpr std::string_view step_parameter{"clp_step"};
constexpr std::string_view words_parameter{"clp_words"};

/// Returns instructions that store the recorded word if `predicate` is true and the word has a
/// place, and begin the next word.
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
        uses_(analysis.uses()),
        decisions_(analysis.decisions()),
        removed_(removed),
        branches_(branches) {
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const bool has_values = uses_[i].kind != Kind::barrier && uses_[i].kind != Kind::fence;
      has_sink_ = has_sink_ || (removed[i] && has_values);
    }
  }

  std::string write();

 private:
  /// True if the kernel returns at its end only.
  [[nodiscard]] bool has_end() const { return has_sink_ || branches_ == Branches::recorded; }
  /// Returns a branch without its guard. A return becomes a branch to the kernel's end.
  [[nodiscard]] std::string target_of(const Statement& of) const;
  void write_start();
  void write_end();
  void replace(std::size_t index);
  void add_value(const Statement& of, const std::string& name);
  void add_line(const Statement& of, const std::string& instruction);
  void write_unknown(const Statement& of, const std::string& result);

  void write_decision(const Statement& of);

  const Kernel& kernel_;
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
/// lowest bit, and bit 31 is set, so that a work-item has used up its word when only 1 is left.
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
