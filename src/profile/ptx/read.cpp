// SPDX-License-Identifier: Apache-2.0
#include "profile/ptx/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <optional>

#include "profile/api/prelude.hpp"

namespace clprobe::ptx {
namespace {

bool is_space(char each) { return std::isspace(static_cast<unsigned char>(each)) != 0; }

bool is_of_name(char each) {
  return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '_' || each == '$' ||
         each == '%';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Returns the text without comments, and without lines that only debuggers need.
std::string without_comments(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    std::size_t skipped = 0;
    if (rest.starts_with("//")) skipped = std::min(rest.find('\n'), rest.size());
    if (rest.starts_with("/*")) skipped = std::min(rest.find("*/", 2), rest.size() - 2) + 2;
    const bool begins_line = kept.empty() || kept.back() == '\n';
    if (begins_line) {
      const std::string_view line = trimmed(rest.substr(0, rest.find('\n')));
      if (line.starts_with(".loc\t") || line.starts_with(".loc ") || line.starts_with(".file")) {
        skipped = rest.find('\n');
      }
    }
    if (skipped == 0) kept += text[i];
    if (skipped == std::string_view::npos) break;
    i += std::max<std::size_t>(skipped, 1);
  }
  return kept;
}

/// Returns the index after the bracket that closes the bracket at `open`.
std::size_t end_of_bracket(std::string_view text, std::size_t open, char opening, char closing) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == opening) ++depth;
    if (text[i] == closing && --depth == 0) return i + 1;
  }
  throw PtxError("a bracket of the PTX text is not closed");
}

/// A kernel's place in the text of a module.
struct Entry {
  std::size_t begin{0};  ///< at ".visible", ".weak" or ".entry"
  std::string_view name{};
  std::size_t name_end{0};
  std::size_t body{0};  ///< at "{"
  std::size_t end{0};
};

std::optional<Entry> find_entry(std::string_view text, std::size_t from) {
  constexpr std::string_view word{".entry"};
  const std::size_t at = text.find(word, from);
  if (at == std::string_view::npos) return std::nullopt;
  Entry entry{.begin = at};
  for (const std::string_view linkage : {".visible", ".weak"}) {
    const std::string_view before = trimmed(text.substr(from, at - from));
    if (before.ends_with(linkage)) entry.begin = text.rfind(linkage, at);
  }
  std::size_t name = at + word.size();
  while (name < text.size() && is_space(text[name])) ++name;
  entry.name_end = name;
  while (entry.name_end < text.size() && is_of_name(text[entry.name_end])) ++entry.name_end;
  entry.name = text.substr(name, entry.name_end - name);
  entry.body = text.find('{', entry.name_end);
  if (entry.body == std::string_view::npos) throw PtxError("a kernel of the PTX text has no body");
  entry.end = end_of_bracket(text, entry.body, '{', '}');
  return entry;
}

/// Returns the length of the label at the start of `text`, with its colon; 0 if there is none.
std::size_t label_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_of_name(text[length])) ++length;
  const std::string_view rest = text.substr(length);
  return length > 0 && rest.starts_with(':') && !rest.starts_with("::") ? length + 1 : 0;
}

Statement read_statement(std::string_view text) {
  Statement statement{.text = std::string(text)};
  if (text.starts_with('.')) {
    statement.kind = StatementKind::directive;
    return statement;
  }
  const auto first_word = [&text] {
    // Operands may follow without a space: "st.global.u32[%rd2], %r1".
    std::size_t length = 0;
    while (length < text.size() && !is_space(text[length]) && text[length] != '[' &&
           text[length] != '{') {
      ++length;
    }
    std::string word(text.substr(0, length));
    text = trimmed(text.substr(length));
    return word;
  };
  if (text.starts_with('@')) {
    statement.guard = first_word();
    // PTX allows a space between "@" and the predicate.
    if (statement.guard == "@" || statement.guard == "@!") statement.guard += first_word();
  }
  statement.opcode = first_word();
  statement.operands = split_operands(text);
  return statement;
}

std::vector<Statement> read_body(std::string_view text) {
  std::vector<Statement> body;
  while (true) {
    text = trimmed(text);
    if (text.empty()) return body;
    if (text.front() == '{' || text.front() == '}') {
      const bool is_open = text.front() == '{';
      body.push_back({.kind = is_open ? StatementKind::open : StatementKind::close,
                      .text = std::string(text.substr(0, 1))});
      text.remove_prefix(1);
      continue;
    }
    if (const std::size_t length = label_length(text); length > 0) {
      body.push_back(
          {.kind = StatementKind::label, .text = std::string(text.substr(0, length - 1))});
      text.remove_prefix(length);
      continue;
    }
    const std::size_t end = text.find(';');
    if (end == std::string_view::npos) throw PtxError("a statement of the PTX text has no end");
    body.push_back(read_statement(trimmed(text.substr(0, end))));
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<std::string> split_operands(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  const auto add = [&] {
    const std::string_view word = trimmed(part);
    if (!word.empty()) parts.emplace_back(word);
    part.clear();
  };
  for (const char each : text) {
    if (each == '[' || each == '{' || each == '(') ++depth;
    if (each == ']' || each == '}' || each == ')') --depth;
    if (each == ',' && depth == 0) {
      add();
    } else {
      part += each;
    }
  }
  add();
  return parts;
}

void Registers::declare(std::string_view directive) {
  // ".reg .b32 %r<25>" or ".reg .pred %p, %q"
  constexpr std::string_view word{".reg"};
  std::string_view rest = trimmed(directive.substr(word.size()));
  std::size_t length = 0;
  while (length < rest.size() && !is_space(rest[length])) ++length;
  const std::string_view type = rest.substr(0, length);
  unsigned width = 1;
  if (type != ".pred") {
    const std::string_view digits =
        type.substr(std::min(type.find_first_of("0123456789"), type.size()));
    width = 0;
    for (const char each : digits.substr(0, std::min<std::size_t>(digits.find('x'), 3))) {
      width = 10 * width + static_cast<unsigned>(each - '0');
    }
    if (digits.ends_with("x2")) width *= 2;  // two halves in a register
  }
  if (type.starts_with(".v") || width == 0 || width > 64) {
    throw PtxError(fmt::format("registers of type {} are not supported", type));
  }
  for (const std::string& name : split_operands(rest.substr(length))) {
    const std::size_t family = name.find('<');
    const bool is_single = family == std::string::npos;
    const std::string key(is_single ? name : trimmed(name.substr(0, family)));
    const auto [known, is_new] = (is_single ? single_ : families_).try_emplace(key, width);
    if (!is_new && known->second != width) {
      throw PtxError(fmt::format("registers {} are declared with different types", key));
    }
  }
}

unsigned Registers::width(std::string_view name) const {
  const auto single = single_.find(name);
  if (single != single_.end()) return single->second;
  std::size_t digits = 0;
  while (digits < name.size() && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9') {
    ++digits;
  }
  if (digits == 0) return 0;
  const auto family = families_.find(name.substr(0, name.size() - digits));
  return family == families_.end() ? 0 : family->second;
}

std::vector<std::string> Registers::in(std::string_view operand) const {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < operand.size();) {
    std::size_t length = 0;
    while (i + length < operand.size() && is_of_name(operand[i + length])) ++length;
    const std::string_view word = operand.substr(i, length);
    if (length > 0 && width(word) > 0) found.emplace_back(word);
    i += std::max<std::size_t>(length, 1);
  }
  return found;
}

Kernel read_kernel(std::string_view module, std::string_view name) {
  const std::string text = without_comments(module);
  Kernel kernel;
  std::size_t from = 0;
  while (const std::optional<Entry> entry = find_entry(text, from)) {
    const std::string_view all(text);
    kernel.around += all.substr(from, entry->begin - from);
    from = entry->end;
    if (entry->name != name) continue;
    kernel.head = all.substr(entry->begin, entry->name_end - entry->begin);
    const std::string_view between = all.substr(entry->name_end, entry->body - entry->name_end);
    const std::size_t open = between.find('(');
    std::size_t limits = 0;
    if (open != std::string_view::npos) {
      limits = end_of_bracket(between, open, '(', ')');
      kernel.parameters = split_operands(between.substr(open + 1, limits - open - 2));
    }
    kernel.limits = trimmed(between.substr(limits));
    kernel.body = read_body(all.substr(entry->body + 1, entry->end - entry->body - 2));
  }
  kernel.around += std::string_view(text).substr(from);
  // The section lists attributes of all kernels, and the driver refuses a list of missing kernels.
  const std::size_t metadata = kernel.around.find(".metadata_section");
  if (metadata != std::string::npos) {
    const std::size_t open = kernel.around.find('{', metadata);
    const std::size_t end = end_of_bracket(kernel.around, open, '{', '}');
    kernel.around.erase(metadata, end - metadata);
  }
  if (kernel.head.empty()) throw PtxError(fmt::format("the PTX text has no kernel {}", name));
  for (const Statement& each : kernel.body) {
    if (each.text.starts_with(".reg")) kernel.registers.declare(each.text);
  }
  return kernel;
}

std::string text_of(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::label:
      return statement.text + ":\n";
    case StatementKind::open:
    case StatementKind::close:
      return statement.text + "\n";
    case StatementKind::directive:
    case StatementKind::instruction:
      break;
  }
  return statement.text + ";\n";
}

}  // namespace clprobe::ptx
