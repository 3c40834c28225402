// SPDX-License-Identifier: Apache-2.0
// Judgement of a kernel's text: which causes can be removed, and the reasons against removing other
// causes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/prelude/flow.hpp"
#include "profile/prelude/lexer.hpp"
#include "profile/prelude/reach.hpp"

namespace clprobe::prelude {
namespace {

enum class AtomicKind : std::uint8_t {
  update,  ///< updates (add, inc and others) whose returned value may be unused
  /// Updates of OpenCL 2.0, such as fetch_add and fetch_or. The instrumentation does not replace
  /// typed updates, because their types vary.
  typed_update,
  exchange,  ///< xchg, cmpxchg, and loads and stores of OpenCL 2.0, from which locks are built
  fence,
  unknown,  ///< atomic functions of extensions
};

struct AtomicCall {
  std::string_view name{};
  AtomicKind kind{AtomicKind::unknown};
  std::string_view target{};  ///< name of the memory; empty if the name is unclear
  /// True if a statement uses the value that the call returns. Always true for calls in macros.
  bool is_result_used{true};
};

constexpr std::array<std::string_view, 9> updates{"add", "sub", "inc", "dec", "and",
                                                  "or",  "xor", "min", "max"};

// Updates of OpenCL 2.0, named without "atomic_" and "_explicit".
constexpr std::array<std::string_view, 7> typed_updates{
    "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor", "fetch_min", "fetch_max"};
// Operations with which groups may wait for each other, for example by storing and loading a flag.
constexpr std::array<std::string_view, 10> exchanges{
    "xchg", "cmpxchg", "exchange", "compare_exchange_strong", "compare_exchange_weak",
    "load", "store",   "init",     "flag_test_and_set",       "flag_clear"};

template <typename Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

AtomicKind kind_of(std::string_view name) {
  constexpr std::string_view with_order = "_explicit";
  std::string_view operation = name.substr(name.find('_') + 1);
  if (is_among(updates, operation)) return AtomicKind::update;
  if (operation.ends_with(with_order)) operation.remove_suffix(with_order.size());
  if (is_among(typed_updates, operation)) return AtomicKind::typed_update;
  if (is_among(exchanges, operation)) return AtomicKind::exchange;
  return operation == "work_item_fence" ? AtomicKind::fence : AtomicKind::unknown;
}

/// True if the call from `name` to `close` is a whole statement, so that the returned value is
/// unused.
bool is_statement(Tokens body, std::size_t name, std::size_t close) {
  if (close + 1 >= body.size() || !body[close + 1].is(";") || name == 0) return false;
  const Token& before = body[name - 1];
  if (before.is(";") || before.is("{") || before.is("}") || before.is("else") || before.is("do")) {
    return true;
  }
  if (!before.is(")") || before.to_partner == 0) return false;
  // The parenthesis before the call ends if (...), while (...), for (...), or the cast (void).
  const std::size_t open = name - 1 - static_cast<std::size_t>(-before.to_partner);
  if (open >= name) return false;
  if (open + 3 == name && body[open + 1].is("void")) return true;
  return open > 0 && has_condition(body[open - 1]);
}

AtomicCall call_at(const Part& part, std::size_t i) {
  const Tokens body = part.body;
  AtomicCall call{.name = body[i].text, .kind = kind_of(body[i].text)};
  if (i + 1 >= body.size() || !body[i + 1].is("(")) return call;
  const std::size_t close = closing_bracket(body, i + 1);
  if (close == body.size()) return call;
  const std::vector<Tokens> arguments = split_arguments(body.subspan(i + 2, close - i - 2));
  if (!arguments.empty()) call.target = find_root(arguments[0]);
  // A call at the beginning of a function's body has no token before it.
  const bool is_first = i == 0 && !part.is_macro;
  const bool ends = close + 1 < body.size() && body[close + 1].is(";");
  call.is_result_used = !(is_first && ends) && !is_statement(body, i, close);
  return call;
}

/// Returns the calls of built-in atomic functions in all reached functions and macros.
std::vector<AtomicCall> find_atomics(const Reach& reach) {
  std::vector<AtomicCall> calls;
  for (const Part& part : reach.parts()) {
    for (std::size_t i = 0; i < part.body.size(); ++i) {
      const Token& token = part.body[i];
      if (token.kind != TokenKind::word) continue;
      if (!is_atomic(token.text)) continue;
      const bool is_called = i + 1 < part.body.size() && part.body[i + 1].is("(");
      const bool is_built_in = kind_of(token.text) != AtomicKind::unknown;
      // Functions that the program defines are judged by their bodies. A name without a call, such
      // as the type atomic_int, is skipped.
      if (is_built_in || (is_called && !reach.defines(token.text))) {
        calls.push_back(call_at(part, i));
      }
    }
  }
  return calls;
}

constexpr std::array<std::string_view, 4> fence_names{"mem_fence", "read_mem_fence",
                                                      "write_mem_fence", "atomic_work_item_fence"};
constexpr std::array<std::string_view, 2> barrier_names{"barrier", "work_group_barrier"};
// The instrumentation replaces these work-item functions when it removes lanes: every lane of a
// sub-group then uses the local id of the first lane.
constexpr std::array<std::string_view, 2> renamed_without_lanes{"get_local_id",
                                                                "get_local_linear_id"};
// Functions through which groups pass work to other groups or to the device.
constexpr std::array<std::string_view, 7> handing{"enqueue_kernel",
                                                  "get_default_queue",
                                                  "read_pipe",
                                                  "write_pipe",
                                                  "reserve_read_pipe",
                                                  "reserve_write_pipe",
                                                  "work_group_reserve_read_pipe"};

/// True if a quoted text consists of a single PTX fence: "membar.gl;".
bool is_fence(std::string_view quoted) {
  if (quoted.size() < 2) return false;
  quoted = quoted.substr(1, quoted.size() - 2);
  const std::size_t begin = quoted.find_first_not_of(' ');
  if (begin == std::string_view::npos) return false;
  quoted.remove_prefix(begin);
  const bool is_named = quoted.starts_with("membar.") || quoted.starts_with("fence.");
  return is_named && quoted.find(';') >= quoted.size() - 1;
}

constexpr std::array<std::string_view, 3> assembly_words{"asm", "__asm", "__asm__"};

/// True if the inline assembly at `i` is a single fence without other instructions.
bool is_fence_at(Tokens body, std::size_t i) {
  const auto is_qualifier = [](const Token& token) {
    return token.is("volatile") || token.is("__volatile__") || token.is("__volatile");
  };
  std::size_t open = i + 1;
  while (open < body.size() && is_qualifier(body[open])) ++open;
  if (open + 2 >= body.size() || !body[open].is("(")) return false;
  // A string that follows is a continuation of the text, so the assembly is more than a single
  // fence.
  return body[open + 1].kind == TokenKind::quoted && is_fence(body[open + 1].text) &&
         body[open + 2].kind != TokenKind::quoted;
}

struct FencesInAssembly {
  bool is_any{false};  ///< true if at least one inline assembly is a single PTX fence
  bool are_all{true};  ///< true if each inline assembly is a single PTX fence
};
FencesInAssembly find_fences_in_assembly(const Reach& reach) {
  FencesInAssembly found;
  for (const Part& part : reach.parts()) {
    for (std::size_t i = 0; i < part.body.size(); ++i) {
      if (part.body[i].kind != TokenKind::word || !is_among(assembly_words, part.body[i].text)) {
        continue;
      }
      const bool is_one = is_fence_at(part.body, i);
      found.is_any = found.is_any || is_one;
      found.are_all = found.are_all && is_one;
    }
  }
  return found;
}

Verdict refused(std::string reason) { return {Possibility::refused, std::move(reason)}; }

/// Returns a refusal if `control` describes a wrong value that would determine an address or a
/// loop. `without`: the removal that makes the values wrong.
Verdict unless_decisive(std::string_view without, const std::optional<std::string>& control) {
  return control ? refused(fmt::format("{}, {}", without, *control)) : Verdict{};
}

template <typename Test>
const Token* find_word(const Reach& reach, Test test) {
  for (const Part& part : reach.parts()) {
    const auto found = std::find_if(part.body.begin(), part.body.end(), [&](const Token& token) {
      return token.kind == TokenKind::word && test(token.text);
    });
    if (found != part.body.end()) return &*found;
  }
  return nullptr;
}

template <typename Names>
const Token* find_one_of(const Reach& reach, const Names& names) {
  return find_word(reach, [&](std::string_view word) { return is_among(names, word); });
}

/// Returns the reason that forbids replacing `names`: the program defines one of the names. Returns
/// nothing if the program defines none. If `is_always` is true, only definitions outside #if count.
/// Definitions inside #if need no check, because `without_redefinitions` makes the build fail if
/// the compiler reads them.
template <typename Names>
std::optional<std::string> find_definition(const Reach& reach, const Names& names,
                                           bool is_always = false) {
  for (const std::string_view name : names) {
    const bool is_defined = is_always ? reach.defines_always(name) : reach.defines(name);
    if (is_defined) return fmt::format("the program defines {} itself", name);
  }
  return std::nullopt;
}

constexpr const char* hidden_call =
    "the kernel calls a work-item function in a form that macros cannot replace";

/// True if the text has a call such as (get_global_id)(0), in which the compiler does not expand
/// the macro.
template <typename Names>
bool is_hidden_call(const Reach& reach, const Names& names) {
  for (const Part& part : reach.parts()) {
    for (std::size_t i = 1; i + 1 < part.body.size(); ++i) {
      const bool is_named = is_among(names, part.body[i].text);
      if (is_named && part.body[i - 1].is("(") && part.body[i + 1].is(")")) return true;
    }
  }
  return false;
}

bool has_our_names(const Reach& reach) {
  const auto is_ours = [](std::string_view word) {
    return word.starts_with("clp_") || word.starts_with("CLP_");
  };
  return std::any_of(reach.texts().begin(), reach.texts().end(), [&](const Lexed& lexed) {
    return std::any_of(lexed.code.begin(), lexed.code.end(),
                       [&](const Token& token) { return is_ours(token.text); }) ||
           std::any_of(lexed.macros.begin(), lexed.macros.end(),
                       [&](const Macro& macro) { return is_ours(macro.name); });
  });
}

/// True if `text` contains `beginning` at its start or after a character other than a lower-case
/// letter. Thus `global_atomic_add` contains `atom`, but `membar.gl` does not contain `bar.`, and
/// `ld.shared.u32` does not contain `red.`.
bool has_word(std::string_view text, std::string_view beginning) {
  for (std::size_t at = text.find(beginning); at != std::string_view::npos;
       at = text.find(beginning, at + 1)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    if (before < 'a' || before > 'z') return true;
  }
  return false;
}

/// True if the kernel has inline assembly that contains a word beginning with one of the names.
bool has_assembly(const Reach& reach, std::initializer_list<std::string_view> names) {
  if (find_one_of(reach, assembly_words) == nullptr) return false;
  return std::any_of(reach.parts().begin(), reach.parts().end(), [&](const Part& part) {
    return std::any_of(part.body.begin(), part.body.end(), [&](const Token& token) {
      return token.kind == TokenKind::quoted &&
             std::any_of(names.begin(), names.end(),
                         [&](std::string_view name) { return has_word(token.text, name); });
    });
  });
}

/// Returns the reason why the kernel's text is unknown; nothing if the text is known. A kernel with
/// unknown text may still be built with instrumentation that removes nothing. The results must then
/// equal those of the plain kernel.
std::optional<std::string> find_unseen(const Reach& reach, std::string_view kernel) {
  if (!reach.parts().empty()) return std::nullopt;
  return fmt::format(
      "the program's text has no kernel {}: a macro forms the name, or the brackets in a branch of "
      "#if do not match",
      kernel);
}

std::string find_unknown_work(const Reach& reach) {
  const Token* const word = find_one_of(reach, handing);
  return word == nullptr ? std::string() : fmt::format("the kernel calls {}", word->text);
}

Verdict judge_renaming(const Reach& reach) {
  if (const auto again = find_definition(reach, renamed, true)) return refused(*again);
  if (has_our_names(reach)) return refused("the program uses names that clprobe reserves (clp_*)");
  if (is_hidden_call(reach, renamed)) return refused(hidden_call);
  if (const std::string work = find_unknown_work(reach); !work.empty()) return refused(work);
  return {};
}

Verdict judge_folding(const Reach& reach, const MemoryNames& names) {
  for (const AtomicCall& call : find_atomics(reach)) {
    if (call.kind == AtomicKind::fence) continue;
    const bool is_local = names.local.contains(call.target);
    if (call.kind == AtomicKind::unknown || call.kind == AtomicKind::exchange) {
      return refused(
          fmt::format("the kernel calls {}, so groups can wait for each other", call.name));
    }
    if (call.is_result_used && !is_local) {
      return refused(fmt::format(
          "the kernel uses the result of {}, so groups can take work from a counter", call.name));
    }
  }
  if (const auto name = find_volatile_access(reach, names)) {
    return refused(
        fmt::format("{} is volatile global memory, so groups can wait for each other", *name));
  }
  if (has_assembly(reach, {"ctaid", "atom", "s_getreg"})) {
    return refused("the inline assembly depends on the work-group or contains atomics");
  }
  return {};
}

/// Returns the verdict on entry code. Entry code replaces work-item functions, so the program must
/// not define them itself.
Verdict judge_entry(const Reach& reach) {
  if (const auto again = find_definition(reach, renamed_by_entry, true)) return refused(*again);
  if (is_hidden_call(reach, renamed_by_entry)) return refused(hidden_call);
  if (reach.parts().front().parameters.empty() || reach.parts().front().parameters[0] == "void") {
    return refused("clprobe cannot add arguments to a kernel without arguments");
  }
  return {};
}

Verdict judge_barriers(const Reach& reach, const MemoryNames& names) {
  const bool is_in_assembly = has_assembly(reach, {"bar.", "barrier.", "s_barrier"});
  if (is_in_assembly) return refused("the barriers are in inline assembly");
  if (find_one_of(reach, barrier_names) == nullptr) {
    return {Possibility::not_present, "no barrier in the text"};
  }
  if (const auto again = find_definition(reach, barrier_names)) return refused(*again);
  std::set<std::string_view> racy = names.local;
  // A barrier for global memory also orders the kernel's stores to global memory.
  const auto is_global_fence = [](std::string_view word) {
    return word == "CLK_GLOBAL_MEM_FENCE" || word == "CLK_IMAGE_MEM_FENCE";
  };
  if (find_word(reach, is_global_fence) != nullptr) {
    const std::set<std::string_view> written = find_written(reach);
    racy.insert(written.begin(), written.end());
  }
  return unless_decisive("without barriers", find_control(reach, racy));
}

/// True if atom_ functions may operate on 64-bit words. The 64-bit functions have the same names as
/// the 32-bit functions.
bool has_wide_atomics(const Reach& reach) {
  return std::any_of(reach.texts().begin(), reach.texts().end(), [](const Lexed& lexed) {
    return std::any_of(lexed.pragmas.begin(), lexed.pragmas.end(),
                       [](const Token& token) { return token.text.starts_with("cl_khr_int64_"); });
  });
}

Verdict judge_atomics(const Reach& reach) {
  std::set<std::string_view> racy;
  bool is_any = false;
  for (const AtomicCall& call : find_atomics(reach)) {
    if (call.kind == AtomicKind::fence) continue;
    is_any = true;
    if (call.kind != AtomicKind::update) {
      return refused(fmt::format("the kernel calls {}", call.name));
    }
    if (reach.defines(call.name)) {
      return refused(fmt::format("the program defines {} itself", call.name));
    }
    if (call.is_result_used) return refused(fmt::format("the result of {} is used", call.name));
    if (call.name.starts_with("atom_") && has_wide_atomics(reach)) {
      return refused(fmt::format(
          "the program enables 64-bit atomics, so {} can operate on 64-bit words", call.name));
    }
    if (call.target.empty()) return refused("the word that an atomic updates is unknown");
    racy.insert(call.target);
  }
  if (has_assembly(reach, {"atom", "red."})) return refused("the atomics are in inline assembly");
  if (!is_any) return {Possibility::not_present, "no atomic in the text"};
  return unless_decisive("with lost updates", find_control(reach, racy));
}

/// Returns the verdict on the removal of lanes. Without lanes, all lanes of a sub-group store the
/// values of the first lane to the first lane's addresses.
Verdict judge_lanes(const Reach& reach, const MemoryNames& names) {
  if (const auto again = find_definition(reach, renamed_without_lanes)) return refused(*again);
  if (is_hidden_call(reach, renamed_without_lanes)) return refused(hidden_call);
  const auto is_of_lanes = [](std::string_view word) {
    return word.find("sub_group") != std::string_view::npos;
  };
  if (const Token* const word = find_word(reach, is_of_lanes)) {
    return refused(
        fmt::format("the kernel uses {}, so the lanes of a sub-group can cooperate", word->text));
  }
  if (has_assembly(reach, {"tid", "lane", "shfl", "vote"})) {
    return refused("the inline assembly depends on the lane");
  }
  for (const AtomicCall& call : find_atomics(reach)) {
    if (call.kind == AtomicKind::fence) continue;
    return refused(fmt::format("the kernel calls {}, so lanes can share a word", call.name));
  }
  std::set<std::string_view> left_out = find_written(reach);
  left_out.insert(names.local.begin(), names.local.end());
  return unless_decisive("without the stores of other lanes", find_control(reach, left_out));
}

/// Returns the verdict on the removal of fences. Without fences, other work-items may observe
/// stores late.
Verdict judge_fences(const Reach& reach, const MemoryNames& names,
                     const FencesInAssembly& assembly) {
  if (find_one_of(reach, fence_names) == nullptr && !assembly.is_any) {
    return {Possibility::not_present, "no fence in the text"};
  }
  if (const auto again = find_definition(reach, fence_names)) return refused(*again);
  if (assembly.is_any && !assembly.are_all) {
    return refused("the inline assembly contains instructions other than fences");
  }
  std::set<std::string_view> racy = find_written(reach);
  racy.insert(names.local.begin(), names.local.end());
  return unless_decisive("without fences", find_control(reach, racy));
}

/// Returns the verdict on the replacement of special functions, which then return wrong values.
Verdict judge_functions(const Reach& reach) {
  if (find_one_of(reach, special_functions) == nullptr) {
    return {Possibility::not_present, "no special function in the text"};
  }
  if (const auto again = find_definition(reach, special_functions)) return refused(*again);
  return unless_decisive(
      "with a substitute function",
      find_control(reach, {}, {special_functions.begin(), special_functions.end()}));
}

Judgement all_judged(const Verdict& verdict) {
  return {.renaming = verdict,
          .folding = verdict,
          .barriers = verdict,
          .atomics = verdict,
          .lanes = verdict,
          .fences = verdict,
          .functions = verdict,
          .entry = verdict};
}

}  // namespace

Judgement all_refused(const std::string& reason) { return all_judged(refused(reason)); }

Judgement judge(const Program& program, std::string_view kernel) {
  const Reach reach(program, kernel);
  const Verdict renaming = judge_renaming(reach);
  if (renaming.possibility != Possibility::usable) {
    Judgement judged = all_judged(renaming);
    judged.unknown_work = find_unknown_work(reach);
    return judged;
  }
  if (const auto unseen = find_unseen(reach, kernel)) {
    Judgement judged = all_judged(refused(*unseen));
    judged.renaming = renaming;
    return judged;
  }
  const MemoryNames names = find_memory_names(reach);
  const Verdict folding = judge_folding(reach, names);
  const FencesInAssembly assembly = find_fences_in_assembly(reach);
  // If groups depend on each other, removing lanes or fences is unsafe, and so is running only some
  // groups.
  const bool is_folded = folding.possibility == Possibility::usable;
  return {.renaming = renaming,
          .folding = folding,
          .barriers = judge_barriers(reach, names),
          .atomics = judge_atomics(reach),
          .lanes = is_folded ? judge_lanes(reach, names) : folding,
          .fences = is_folded ? judge_fences(reach, names, assembly) : folding,
          .functions = judge_functions(reach),
          .entry = is_folded ? judge_entry(reach) : folding,
          .has_fence_assembly = assembly.is_any};
}

}  // namespace clprobe::prelude
