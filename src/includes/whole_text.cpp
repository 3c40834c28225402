// SPDX-License-Identifier: Apache-2.0
// A text with its headers in it.
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "clprobe/includes.hpp"
#include "includes/directives.hpp"
#include "includes/guards.hpp"
#include "includes/letters.hpp"
#include "includes/options.hpp"

namespace clprobe::includes {
namespace {

/// The branches of conditions that a place in the text is in, from the outermost one.
using Branches = std::vector<std::uint64_t>;

bool is_within(const Branches& inner, const Branches& outer) {
  return inner.size() >= outer.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

struct TooLong {};

// Of conditions in conditions; and of places that a header is remembered at. Of what people write
// neither is ever reached.
constexpr std::size_t max_branches = 256;
constexpr std::size_t max_places = 16;

class Inlining {
 public:
  Inlining(std::string_view text, std::string_view options, const Gathered& gathered)
      : text_{text, &gathered.includes, scan(text), {}, {}} {
    Definers definers;
    for (const std::string& each : read_options(options).definitions) {
      definers.add_name(first_word(each));
    }
    definers.add(text_.scanned);
    for (const Header& each : gathered.headers) {
      headers_.push_back({each.text, &each.includes, scan(each.text), {}, {}});
      definers.add(headers_.back().scanned);
    }
    for (Part& each : headers_) {
      each.guard = find_guard(each.scanned);
      if (!definers.is_trusted(each.guard.macro)) each.guard.macro.clear();
    }
  }

  /// Throws TooLong.
  Whole run() {
    append(text_, 0);
    return std::move(whole_);
  }

 private:
  struct Part {
    std::string_view text{};
    const std::vector<Include>* includes{nullptr};
    Scanned scanned{};
    Guard guard{};
    std::vector<Branches> read_in{};  // where it was put in before
    bool is_open{false};              // it is being put in
  };

  void add(std::string_view text) {
    if (whole_.text.size() + text.size() > max_whole_bytes) throw TooLong{};
    whole_.text += text;
  }

  void append(const Part& part, std::size_t depth) {
    std::size_t done = 0;
    for (const Directive& each : part.scanned.directives) {
      const bool is_guard =
          !part.guard.macro.empty() &&
          (&each == &part.scanned.directives.front() || &each == &part.scanned.directives.back());
      // Inside the guard of a header is where the header is.
      if (!is_guard) follow_condition(each);
      const bool is_once = each.name == "pragma" && each.rest == "once";
      const bool is_include =
          each.name == "include" || each.name == "include_next" || each.name == "import";
      if (!is_once && !is_include) continue;
      add(part.text.substr(done, each.begin - done));
      done = each.end;
      // No line of its own: the text may be the main one, of which compilers do not like to read
      // it.
      if (is_include) {
        append_header(part, each, depth);
      } else {
        add(std::string(each.last_line - each.first_line, '\n'));
      }
    }
    add(part.text.substr(done));
  }

  void follow_condition(const Directive& directive) {
    if (is_if(directive)) {
      if (branches_.size() == max_branches) throw TooLong{};
      branches_.push_back(++last_branch_);
    } else if (directive.name.starts_with("el") && !branches_.empty()) {
      branches_.back() = ++last_branch_;
    } else if (directive.name == "endif" && !branches_.empty()) {
      branches_.pop_back();
    }
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
    const std::optional<std::size_t> place = find(part, directive);
    Part* const header = place ? &headers_.at(*place) : nullptr;
    const std::string lines(directive.last_line - directive.first_line, '\n');
    if (header != nullptr && header->guard.is_any() && is_read(*header)) {
      add(lines);
      return;
    }
    if (header == nullptr || header->is_open || header->scanned.is_open || depth == max_depth) {
      append_error(directive);
      add(lines);
      return;
    }
    if (header->read_in.size() < max_places) header->read_in.push_back(branches_);
    header->is_open = true;
    const Branches before = branches_;
    // Where a compiler would not do without: whether an earlier place was read only it knows.
    const std::string macro = "CLPROBE_ONCE_" + std::to_string(*place);
    if (header->guard.is_once) add("\n#ifndef " + macro + "\n#define " + macro);
    add("\n#line 1\n");
    append(*header, depth + 1);
    if (header->guard.is_once) add("\n#endif");
    add("\n#line " + std::to_string(directive.last_line + 1));
    branches_ = before;
    header->is_open = false;
  }

  /// Whether it is certain that the header has been read wherever this place is.
  [[nodiscard]] bool is_read(const Part& header) const {
    return header.is_open ||
           std::any_of(header.read_in.begin(), header.read_in.end(),
                       [&](const Branches& each) { return is_within(branches_, each); });
  }

  void append_error(const Directive& directive) {
    std::string name = directive.rest;
    std::vector<std::string>& missing = whole_.missing;
    if (std::find(missing.begin(), missing.end(), name) == missing.end()) missing.push_back(name);
    // Quotes in an #error have to close.
    for (char& c : name) {
      const bool is_plain = continues_word(c) && static_cast<unsigned char>(c) < 0x80;
      if (!is_plain && std::string_view("./-+<>() ").find(c) == std::string_view::npos) c = ' ';
    }
    add("#error not at hand: " + std::string(trimmed(name)));
  }

  Part text_;
  std::vector<Part> headers_{};
  Branches branches_{};
  std::uint64_t last_branch_{0};
  Whole whole_{};
};

}  // namespace

std::optional<Whole> whole_text(std::string_view text, std::string_view options,
                                const Gathered& gathered) {
  try {
    return Inlining(text, options, gathered).run();
  } catch (const TooLong&) {
    return std::nullopt;
  }
}

}  // namespace clprobe::includes
