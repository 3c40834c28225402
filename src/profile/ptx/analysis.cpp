// SPDX-License-Identifier: Apache-2.0
#include "profile/ptx/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace clprobe::ptx {
namespace {

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
    throw PtxError("a memory access in the PTX text has no operand");
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
/// for other operands.
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

using Names = std::set<std::string, std::less<>>;

bool contains_any(const Names& names, const std::vector<std::string>& registers) {
  return std::any_of(registers.begin(), registers.end(),
                     [&names](const std::string& each) { return names.contains(each); });
}

bool can_branch(const Use& use) { return use.kind == Kind::branch || use.kind == Kind::end; }

}  // namespace

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

Analysis::Analysis(const Kernel& kernel, bool is_replayed, std::span<const std::size_t> objects)
    : kernel_(kernel), is_replayed_(is_replayed) {
  for (const Statement& each : kernel.body) uses_.push_back(use_of(each, kernel.registers));
  find_places(objects);
  find_decisions();
}

/// Returns the registers to which values flow from the results of the statements that `is_source`
/// selects: through registers, guards and memory.
Analysis::Names Analysis::flow_from(const std::function<bool(std::size_t)>& is_source) const {
  Names names;
  std::set<Space> written;  // memory with such values
  const auto is_written = [&written](Space space) {
    return written.contains(space) || written.contains(Space::generic) ||
           (space == Space::generic && !written.empty());
  };
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const Use& use = uses_[i];
      const bool is_store = use.kind == Kind::store || use.kind == Kind::atomic;
      if (is_store && contains_any(names, use.values)) {
        has_changed = written.insert(use.place.space).second || has_changed;
      }
      const bool reads = use.kind == Kind::load &&
                         (is_written(use.place.space) || contains_any(names, use.addresses));
      if (!reads && !contains_any(names, use.values) && !contains_any(names, use.guards) &&
          !is_source(i)) {
        continue;
      }
      for (const std::string& each : use.results) {
        has_changed = names.insert(each).second || has_changed;
      }
    }
  }
  return names;
}

/// Finds the registers, branches and addresses of private arrays to which values from memory flow.
void Analysis::find_decisions() {
  data_ = flow_from([this](std::size_t i) {
    const Use& use = uses_[i];
    if (use.kind != Kind::load) return use.kind == Kind::atomic || use.kind == Kind::fixed;
    return use.place.space == Space::global || use.place.space == Space::constant ||
           use.place.space == Space::generic;
  });
  for (Use& use : uses_) {
    // Accesses to a private array at an address from memory can be removed like other accesses.
    // Library functions use such arrays for large arguments.
    const bool is_access = use.kind == Kind::load || use.kind == Kind::store;
    if (is_access && use.place.space == Space::local && contains_any(data_, use.addresses)) {
      use.part = use.kind == Kind::load ? Part::loads : Part::stores;
      use.counted = use.part;
    }
    decisions_.push_back(can_branch(use) && contains_any(data_, use.guards));
  }
}

bool Analysis::are_data(const std::vector<std::string>& registers) const {
  return contains_any(data_, registers);
}

bool Analysis::is_steady() const {
  constexpr std::array timed{"%clock", "%globaltimer", "%smid", "%warpid", "%nsmid"};
  const Names unsteady = flow_from([&](std::size_t i) {
    const Statement& statement = kernel_.body[i];
    return uses_[i].kind == Kind::atomic || is_ordered(statement.opcode) ||
           std::any_of(timed.begin(), timed.end(), [&](std::string_view each) {
             return statement.text.find(each) != std::string::npos;
           });
  });
  return std::none_of(uses_.begin(), uses_.end(), [&](const Use& use) {
    return can_branch(use) && contains_any(unsteady, use.guards);
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

bool Analysis::holds_needed(const Place& place) const {
  return std::any_of(contents_.begin(), contents_.end(),
                     [&place](const Place& each) { return each.meets(place); });
}

void Analysis::visit(std::size_t index) {
  const Use& use = uses_[index];
  const bool decides = contains_any(needed_, use.results);
  const bool is_written =
      (use.kind == Kind::store || use.kind == Kind::atomic) && holds_needed(use.place);
  const bool is_kept_fence = use.kind == Kind::fence && keeps_store_;
  if (removed_[index] && (decides || is_written || is_kept_fence)) {
    removed_[index] = false;
    has_changed_ = true;
  }
  // Work-items that wait for a store that stays also need the fences.
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
    if (is_written) return "values exchanged across barriers determine addresses or branches";
  }
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    if (uses_[i].kind == Kind::barrier && !has_word(kernel_.body[i].opcode, ".sync")) {
      return "a barrier also exchanges values";
    }
  }
  return {};
}

}  // namespace clprobe::ptx
