// SPDX-License-Identifier: Apache-2.0
#include "profile/prelude/lexer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "profile/includes/scan.hpp"

namespace clprobe::prelude {
namespace {

using includes::continues_word;
using includes::is_digit;
using includes::is_space;
using includes::Spliced;
using includes::starts_word;

class Lexer {
 public:
  explicit Lexer(const Spliced& spliced, std::string_view text) : spliced_(spliced), text_(text) {}

  Lexed run() {
    bool is_line_start = true;
    while (skip_space(is_line_start)) {
      if (is_line_start && text_[at_] == '#') {
        ++at_;
        read_directive();
      } else {
        lexed_.code.push_back(next());
      }
      is_line_start = false;
    }
    return std::move(lexed_);
  }

 private:
  /// Moves to the next token; returns false at the end of the text. Sets `began_line` to true if a
  /// new line begins before the token.
  bool skip_space(bool& began_line) {
    while (at_ < text_.size()) {
      if (is_space(text_[at_])) {
        began_line = began_line || text_[at_] == '\n';
        ++at_;
      } else if (!skip_comment()) {
        return true;
      }
    }
    return false;
  }

  bool skip_comment() {
    const std::size_t begin = at_;
    at_ = std::min(includes::comment_end(text_, at_), text_.size());
    return at_ != begin;
  }

  /// Moves to the next token of the line; returns false at the end of the line.
  bool skip_space_in_line() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (is_space(text_[at_])) {
        ++at_;
      } else if (!skip_comment()) {
        return true;
      }
    }
    return false;
  }

  Token next() {
    const char first = text_[at_];
    if (starts_word(first)) return take(TokenKind::word, word_size());
    const bool is_number =
        is_digit(first) || (first == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]));
    if (is_number) return take(TokenKind::number, number_size());
    if (first == '"' || first == '\'') {
      return take(TokenKind::quoted, includes::quoted_end(text_, at_) - at_);
    }
    return take(TokenKind::sign, sign_size());
  }

  Token take(TokenKind kind, std::size_t size) {
    const std::size_t begin = at_;
    at_ += size;
    return {.kind = kind,
            .text = text_.substr(begin, size),
            .begin = spliced_.original(begin),
            .end = spliced_.original(at_ - 1) + 1,
            .is_conditional = conditions_ > 0};
  }

  [[nodiscard]] std::size_t word_size() const {
    std::size_t end = at_;
    while (end < text_.size() && continues_word(text_[end])) ++end;
    return end - at_;
  }

  // Returns the size of the number at the current position. A number may contain a sign after the
  // letter of an exponent: 0x1.8p+3f, 1e-5.
  [[nodiscard]] std::size_t number_size() const {
    std::size_t end = at_ + 1;
    while (end < text_.size()) {
      const bool is_sign = text_[end] == '+' || text_[end] == '-';
      const char before = static_cast<char>(text_[end - 1] | 0x20);
      const bool is_hexadecimal = (text_.substr(at_, 2) == "0x" || text_.substr(at_, 2) == "0X");
      const bool follows_exponent = before == 'p' || (before == 'e' && !is_hexadecimal);
      if (!continues_word(text_[end]) && text_[end] != '.' && !(is_sign && follows_exponent)) break;
      ++end;
    }
    return end - at_;
  }

  [[nodiscard]] std::size_t sign_size() const {
    // Signs of more than one character, the longest first, so that `<<=` is not read as `<<`.
    static constexpr std::array<std::string_view, 22> signs{
        "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
        "!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="};
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view sign : signs) {
      if (rest.starts_with(sign)) return sign.size();
    }
    return rest.starts_with("##") ? 2 : 1;
  }

  void read_directive() {
    std::vector<Token> line;
    while (skip_space_in_line()) line.push_back(next());
    if (!line.empty() && line[0].text.starts_with("if")) ++conditions_;
    if (!line.empty() && line[0].is("endif") && conditions_ > 0) --conditions_;
    if (line.size() < 2) return;
    if (line[0].is("define")) {
      read_macro(line);
    } else if (line[0].is("pragma")) {
      // The tokens of pragmas are kept, because they name extensions that the program uses.
      lexed_.pragmas.insert(lexed_.pragmas.end(), line.begin() + 1, line.end());
    }
  }

  void read_macro(const std::vector<Token>& line) {
    Macro macro{.name = line[1].text, .is_conditional = conditions_ > 0};
    std::size_t body = 2;
    if (line.size() > 2 && line[2].is("(") && line[2].begin == line[1].end) {
      macro.takes_arguments = true;
      for (; body < line.size() && !line[body].is(")"); ++body) {
        if (line[body].kind == TokenKind::word) macro.parameters.push_back(line[body].text);
        if (line[body].is("...")) macro.parameters.emplace_back("__VA_ARGS__");
      }
      ++body;
    }
    if (body < line.size()) {
      macro.body.assign(line.begin() + static_cast<std::ptrdiff_t>(body), line.end());
    }
    lexed_.macros.push_back(std::move(macro));
  }

  const Spliced& spliced_;
  std::string_view text_;
  std::size_t at_{0};
  std::size_t conditions_{0};  // number of #if without their #endif so far
  Lexed lexed_{};
};

char partner(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

void pair_brackets(std::vector<Token>& tokens) {
  constexpr std::size_t max_depth = 200;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::sign || tokens[i].text.size() != 1) continue;
    const char sign = tokens[i].text.front();
    if (sign == '(' || sign == '[' || sign == '{') {
      open.push_back(i);
    } else if (sign == ')' || sign == ']' || sign == '}') {
      // After mismatched brackets, the brackets that are still open get no partner.
      if (open.empty() || partner(tokens[open.back()].text.front()) != sign) {
        open.clear();
        continue;
      }
      const auto distance = static_cast<std::ptrdiff_t>(i - open.back());
      if (open.size() <= max_depth) {
        tokens[open.back()].to_partner = distance;
        tokens[i].to_partner = -distance;
      }
      open.pop_back();
    }
  }
}

}  // namespace

Lexed lex(std::string_view text) {
  Spliced spliced = includes::splice(text);
  const auto held = std::make_shared<const std::string>(std::move(spliced.text));
  Lexed lexed = Lexer(spliced, *held).run();
  pair_brackets(lexed.code);
  for (Macro& macro : lexed.macros) pair_brackets(macro.body);
  lexed.text = held;
  return lexed;
}

std::size_t closing_bracket(Tokens tokens, std::size_t open) {
  const std::ptrdiff_t distance = tokens[open].to_partner;
  if (distance <= 0) return tokens.size();
  return std::min(open + static_cast<std::size_t>(distance), tokens.size());
}

std::string definitions_in(std::string_view options) {
  std::string lines;
  for (const std::string& each : includes::read_options(options).definitions) {
    lines += "#define " + each + '\n';
  }
  return lines;
}

bool is_keyword(std::string_view word) {
  static constexpr std::array<std::string_view, 38> words{
      "global",     "__global",  "local",    "__local",  "constant", "__constant", "private",
      "__private",  "const",     "volatile", "restrict", "unsigned", "signed",     "struct",
      "union",      "void",      "bool",     "size_t",   "static",   "inline",     "return",
      "else",       "do",        "if",       "while",    "for",      "switch",     "case",
      "__restrict", "sizeof",    "goto",     "break",    "continue", "ptrdiff_t",  "uintptr_t",
      "generic",    "__generic", "enum"};
  if (std::find(words.begin(), words.end(), word) != words.end()) return true;
  static constexpr std::array<std::string_view, 11> scalars{"char", "uchar", "short", "ushort",
                                                            "int",  "uint",  "long",  "ulong",
                                                            "half", "float", "double"};
  return std::any_of(scalars.begin(), scalars.end(), [&](std::string_view scalar) {
    if (!word.starts_with(scalar)) return false;
    const std::string_view width = word.substr(scalar.size());
    return std::all_of(width.begin(), width.end(), [](char c) { return c >= '0' && c <= '9'; });
  });
}

std::string_view find_root(Tokens expression) {
  for (const Token& token : expression) {
    if (token.kind == TokenKind::word && !is_keyword(token.text)) return token.text;
  }
  return {};
}

bool is_atomic(std::string_view word) {
  return word.starts_with("atomic_") || word.starts_with("atom_");
}

bool has_condition(const Token& token) {
  return token.is("if") || token.is("while") || token.is("for");
}

bool has_any(Tokens tokens, std::initializer_list<std::string_view> words) {
  return std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return token.is(word); });
  });
}

}  // namespace clprobe::prelude
