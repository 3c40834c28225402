// SPDX-License-Identifier: Apache-2.0
#include "prelude/lexer.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace clprobe::prelude {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Bytes beyond ASCII are letters: names that a compiler would refuse are no business of ours.
bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool continues_word(char c) { return starts_word(c) || is_digit(c); }

/// A text whose continued lines are one, and where its parts were.
struct Spliced {
  std::string text{};
  /// From this place on (in `text`) so many bytes are missing before it, in order.
  std::vector<std::pair<std::size_t, std::size_t>> gaps{{0, 0}};

  [[nodiscard]] std::size_t original(std::size_t place) const {
    const auto behind =
        std::upper_bound(gaps.begin(), gaps.end(), place,
                         [](std::size_t at, const auto& gap) { return at < gap.first; });
    return place + std::prev(behind)->second;
  }
};

Spliced splice(std::string_view text) {
  Spliced spliced;
  spliced.text.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      const std::size_t end = text.substr(i + 1, 2) == "\r\n" ? 2 : 1;
      if (end == 2 || text.substr(i + 1, 1) == "\n") {
        i += end;
        const std::size_t missing = spliced.gaps.back().second + end + 1;
        spliced.gaps.emplace_back(spliced.text.size(), missing);
        continue;
      }
    }
    spliced.text += text[i];
  }
  return spliced;
}

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
  /// To the next token; false at the end. Says whether a line began on the way there.
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
    const std::string_view begin = text_.substr(at_, 2);
    if (begin == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (begin == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else {
      return false;
    }
    return true;
  }

  /// To the next token of this line; false at its end.
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
    if (first == '"' || first == '\'') return take(TokenKind::quoted, quoted_size());
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

  // 0x1.8p+3f and 1e-5: a sign may stand behind an exponent's letter.
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

  /// Up to the end of its line where nothing closes it.
  [[nodiscard]] std::size_t quoted_size() const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '\n') {
      if (text_[end] == text_[at_]) return end + 1 - at_;
      const bool is_escape = text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] != '\n';
      end += is_escape ? 2U : 1U;
    }
    return end - at_;
  }

  [[nodiscard]] std::size_t sign_size() const {
    // Longer ones first.
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
    } else if (line[0].is("include")) {
      read_include(line);
    } else if (line[0].is("pragma")) {
      // Extensions are named there, which says what a program can do.
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

  void read_include(const std::vector<Token>& line) {
    std::string_view name;
    if (line[1].kind == TokenKind::quoted && line[1].text.size() > 2) {
      name = line[1].text.substr(1, line[1].text.size() - 2);
    } else if (line[1].is("<") && line.back().is(">")) {
      const char* const begin = line[1].text.data() + 1;
      name = {begin, static_cast<std::size_t>(line.back().text.data() - begin)};
    }
    lexed_.includes.push_back(name);
  }

  const Spliced& spliced_;
  std::string_view text_;
  std::size_t at_{0};
  std::size_t conditions_{0};  // that are open
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
      // Where they do not match nobody knows what belongs to what.
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

/// The end of a word of a command line that begins at `at`: quotes keep spaces in.
std::size_t option_end(std::string_view options, std::size_t at) {
  char quote = 0;
  for (; at < options.size(); ++at) {
    const char c = options[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (is_space(c)) {
      break;
    }
  }
  return at;
}

}  // namespace

Lexed lex(std::string_view text) {
  Spliced spliced = splice(text);
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
  std::size_t at = 0;
  while (at < options.size()) {
    if (is_space(options[at])) {
      ++at;
      continue;
    }
    std::size_t end = option_end(options, at);
    std::string word(options.substr(at, end - at));
    if (word == "-D") {
      while (end < options.size() && is_space(options[end])) ++end;
      const std::size_t begin = end;
      end = option_end(options, begin);
      word += options.substr(begin, end - begin);
    }
    at = end;
    if (!word.starts_with("-D")) continue;
    std::erase_if(word, [](char c) { return c == '"' || c == '\'' || c == '\n' || c == '\\'; });
    const std::size_t equals = word.find('=');
    lines += "#define " + word.substr(2, equals == std::string::npos ? equals : equals - 2) + ' ' +
             (equals == std::string::npos ? "1" : word.substr(equals + 1)) + '\n';
  }
  return lines;
}

}  // namespace clprobe::prelude
