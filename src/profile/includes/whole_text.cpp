// SPDX-License-Identifier: Apache-2.0
// Insertion of headers into the text that includes them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/api/prelude.hpp"
#include "profile/includes/scan.hpp"

namespace clprobe::includes {
namespace {

bool is_if(const Directive& directive) { return directive.name.starts_with("if"); }

/// Returns the macro A of `#ifndef A`, `#if !defined A` and `#if !defined(A)`; empty for other
/// conditions.
std::string unless_defined(const Directive& directive) {
  std::string condition = directive.rest;
  if (directive.name == "if") {
    constexpr std::string_view question = "!defined";
    std::erase_if(condition, [](char c) { return is_space(c) || c == '(' || c == ')'; });
    if (!condition.starts_with(question)) return {};
    condition.erase(0, question.size());
  } else if (directive.name != "ifndef") {
    return {};
  }
  return first_word(condition) == condition ? condition : std::string();
}

/// True if the first condition ends at the last directive and has no #else or #elif.
bool is_around_all(const std::vector<Directive>& directives) {
  std::size_t depth = 0;
  for (const Directive& each : directives) {
    if (is_if(each)) ++depth;
    if (each.name.starts_with("el") && depth == 1) return false;
    if (each.name == "endif" && depth > 0 && --depth == 0) return &each == &directives.back();
  }
  return false;
}

/// Returns the macro of an include guard around the whole header; empty if there is no guard.
std::string guard_of(const Scanned& header) {
  const std::vector<Directive>& all = header.directives;
  if (all.size() < 3 || header.ends_with_code || all[0].follows_code || all[1].follows_code) {
    return {};
  }
  std::string macro = unless_defined(all[0]);
  const bool is_defined_at_once = all[1].name == "define" && first_word(all[1].rest) == macro;
  return is_defined_at_once && is_around_all(all) ? macro : std::string();
}

/// True if the header has a #pragma once outside all conditions.
bool is_once(const Scanned& header) {
  std::size_t depth = 0;
  for (const Directive& each : header.directives) {
    if (is_if(each)) ++depth;
    if (each.name == "endif" && depth > 0) --depth;
    if (depth == 0 && each.name == "pragma" && each.rest == "once") return true;
  }
  return false;
}

constexpr std::string_view trigraph_backslash = "\?\?/";

/// Returns the position after all line ends at `at` that a backslash, or its trigraph, removes.
std::size_t skip_splices(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    std::size_t end = at;
    if (text[at] == '\\') end = at + 1;
    if (text.substr(at).starts_with(trigraph_backslash)) end = at + trigraph_backslash.size();
    if (end == at) break;
    // Compilers accept spaces between the backslash and the line end.
    while (end < text.size() && text[end] != '\n' && text[end] != '\r' && is_space(text[end])) {
      ++end;
    }
    if (end == text.size() || !is_space(text[end])) break;
    at = end + 1;
    if (at < text.size() && text[end] == '\r' && text[at] == '\n') ++at;
  }
  return at;
}

bool begins_with(std::string_view text, std::size_t at, std::string_view word) {
  for (const char letter : word) {
    at = skip_splices(text, at);
    if (at == text.size() || text[at] != letter) return false;
    ++at;
  }
  return true;
}

/// Returns the text before `at`, without spaces and continued line ends at its end.
std::string_view before(std::string_view text, std::size_t at) {
  text = text.substr(0, at);
  while (!text.empty()) {
    const std::size_t size = text.ends_with(trigraph_backslash) ? trigraph_backslash.size() : 1;
    const char last = text.back();
    if (size == 1 && !is_space(last) && last != '\0' && last != '\\') break;
    text.remove_suffix(size);
  }
  return text;
}

/// True if the name of a directive may begin at `at`. The name may follow a # in any spelling, or a
/// comment that may follow a #.
bool may_follow_hash(std::string_view text, std::size_t at) {
  const std::string_view rest = before(text, at);
  if (rest.ends_with('/')) return before(rest, rest.size() - 1).ends_with('*');
  if (rest.ends_with(':')) return before(rest, rest.size() - 1).ends_with('%');
  return rest.ends_with('#') || rest.ends_with("\?\?=");
}

/// Misspells the name of each directive that would include a file, and each operator that searches
/// for a file. Names in comments and strings are also misspelled, because compilers differ in what
/// a comment, a line end or a # is. Trigraphs, digraphs, single carriage returns and byte order
/// marks hide a directive from some compilers. The time is linear in the size of `text`.
void disarm_includes(std::string& text) {
  constexpr std::array<std::string_view, 4> directives{"include", "import", "embed",
                                                       "__include_macros"};
  constexpr std::array<std::string_view, 2> operators{"__has_include", "__has_embed"};
  for (std::size_t at = text.find_first_of("ie_"); at != std::string::npos;
       at = text.find_first_of("ie_", at + 1)) {
    const auto begins = [&](std::string_view word) { return begins_with(text, at, word); };
    const bool is_armed =
        std::any_of(operators.begin(), operators.end(), begins) ||
        (std::any_of(directives.begin(), directives.end(), begins) && may_follow_hash(text, at));
    if (is_armed) text[at] = 'x';
  }
}

/// Numbers of the branches of #if around a position in the text, outermost branch first.
using Branches = std::vector<std::uint64_t>;

bool is_within(const Branches& inner, const Branches& outer) {
  return inner.size() >= outer.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

// Limits on the recorded insertions of a header: nesting of #if, and number. A header inserted
// beyond a limit may be inserted again. Real programs are far below these limits.
constexpr std::size_t max_branches = 256;
constexpr std::size_t max_places = 16;

/// Error for a text that would exceed `max_whole_bytes`.
struct TooLarge {};

class Inlining {
 public:
  Inlining(std::string_view text, std::string_view options, const Gathered& gathered)
      : text_{text, &gathered.includes, scan(text)} {
    for (const std::string& each : read_options(options).definitions) {
      ++mentions_[std::string(first_word(each))];
    }
    count_mentions(text_);
    for (const Header& each : gathered.headers) {
      Part header{each.text, &each.includes, scan(each.text)};
      header.guard = guard_of(header.scanned);
      header.is_once = is_once(header.scanned);
      count_mentions(header);
      headers_.push_back(std::move(header));
    }
    // If a guard is defined or undefined in other texts as well, the guard does not prove that its
    // header was read.
    for (Part& each : headers_) {
      if (mentions_[each.guard] != 1) each.guard.clear();
    }
  }

  Whole run() {
    append(text_, 0);
    disarm_includes(whole_.text);
    return std::move(whole_);
  }

 private:
  struct Part {
    std::string_view text{};
    const std::vector<Include>* includes{nullptr};
    Scanned scanned{};
    std::string guard{};              // macro of the include guard; empty if there is none
    bool is_once{false};              // true if the header has #pragma once
    std::vector<Branches> read_in{};  // branches around each earlier insertion of the header
    bool is_put_in{false};            // true while the header is being inserted
  };

  /// Counts for each macro the texts that define it and the #undef directives.
  void count_mentions(const Part& part) {
    std::set<std::string_view> defined;
    for (const Directive& each : part.scanned.directives) {
      const std::string_view name = first_word(each.rest);
      const bool is_first = each.name == "define" && defined.insert(name).second;
      if (is_first || each.name == "undef") ++mentions_[std::string(name)];
    }
  }

  void add(std::string_view text) {
    if (whole_.text.size() + text.size() > max_whole_bytes) throw TooLarge{};
    whole_.text += text;
  }

  void append(const Part& part, std::size_t depth) {
    std::size_t done = 0;
    const std::vector<Directive>& all = part.scanned.directives;
    for (const Directive& each : all) {
      // The header's own guard does not count as a condition, because the guard holds wherever the
      // header is inserted.
      const bool is_guard = !part.guard.empty() && (&each == &all.front() || &each == &all.back());
      if (!is_guard) follow_condition(each);
      const bool is_pragma_once = each.name == "pragma" && each.rest == "once";
      const bool is_include =
          each.name == "include" || each.name == "include_next" || each.name == "import";
      if (!is_pragma_once && !is_include) continue;
      add(part.text.substr(done, each.begin - done));
      done = each.end;
      if (is_include) {
        append_header(part, each, depth);
      } else {
        // The #pragma once is left out, because compilers warn about it in a main text.
        add(std::string(each.last_line - each.first_line, '\n'));
      }
    }
    add(part.text.substr(done));
  }

  void follow_condition(const Directive& directive) {
    if (is_if(directive)) {
      branches_.push_back(++last_branch_);
    } else if (directive.name.starts_with("el") && !branches_.empty()) {
      branches_.back() = ++last_branch_;
    } else if (directive.name == "endif" && !branches_.empty()) {
      branches_.pop_back();
    }
  }

  /// True if the compiler has certainly read the header before the current position.
  [[nodiscard]] bool is_read(const Part& header) const {
    return header.is_put_in ||
           std::any_of(header.read_in.begin(), header.read_in.end(),
                       [&](const Branches& each) { return is_within(branches_, each); });
  }

  [[nodiscard]] static std::optional<std::size_t> find(const Part& part,
                                                       const Directive& directive) {
    if (directive.name != "include") return std::nullopt;
    const auto found =
        std::find_if(part.includes->begin(), part.includes->end(),
                     [&](const Include& each) { return each.written == directive.rest; });
    if (found == part.includes->end()) return std::nullopt;
    return found->header;
  }

  void append_header(const Part& part, const Directive& directive, std::size_t depth) {
    const std::optional<std::size_t> index = find(part, directive);
    Part* const header = index ? &headers_.at(*index) : nullptr;
    const bool is_guarded = header != nullptr && (header->is_once || !header->guard.empty());
    const bool is_left_out = is_guarded && is_read(*header);
    if (is_left_out || header == nullptr || header->is_put_in || header->scanned.is_open ||
        depth == max_depth) {
      if (!is_left_out) append_error(directive);
      add(std::string(directive.last_line - directive.first_line, '\n'));
      return;
    }
    if (header->read_in.size() < max_places && branches_.size() <= max_branches) {
      header->read_in.push_back(branches_);
    }
    header->is_put_in = true;
    const Branches before = branches_;
    // A header with #pragma once gets a guard macro, because only the compiler knows whether it
    // read an earlier insertion under a condition.
    const std::string macro = "CLPROBE_ONCE_" + std::to_string(*index);
    if (header->is_once) add("\n#ifndef " + macro + "\n#define " + macro);
    add("\n#line 1\n");
    append(*header, depth + 1);
    if (header->is_once) add("\n#endif");
    add("\n#line " + std::to_string(directive.last_line + 1));
    branches_ = before;
    header->is_put_in = false;
  }

  void append_error(const Directive& directive) {
    std::string name = directive.rest;
    if (missing_.insert(name).second) whole_.missing.push_back(name);
    // The operand is reduced to plain characters, because an open quote is invalid in an #error.
    for (char& c : name) {
      const bool is_plain = continues_word(c) && static_cast<unsigned char>(c) < 0x80;
      if (!is_plain && std::string_view("./-+<>() ").find(c) == std::string_view::npos) c = ' ';
    }
    add("#error missing header: " + std::string(trimmed(name)));
  }

  Part text_;
  std::vector<Part> headers_{};
  // Counts of definitions and #undef for each macro.
  std::map<std::string, std::size_t, std::less<>> mentions_{};
  Branches branches_{};
  std::uint64_t last_branch_{0};
  Whole whole_{};
  std::set<std::string> missing_{};
};

}  // namespace

Whole whole_text(std::string_view text, std::string_view options, const Gathered& gathered) {
  try {
    return Inlining(text, options, gathered).run();
  } catch (const TooLarge&) {
    return {.refusal =
                "has more than " + std::to_string(max_whole_bytes) + " bytes with its headers"};
  }
}

}  // namespace clprobe::includes
