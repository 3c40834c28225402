// SPDX-License-Identifier: Apache-2.0
#include "includes/directives.hpp"

#include "includes/letters.hpp"

namespace clprobe::includes {
namespace {

/// Goes through a text character by character, and over the ends of continued lines.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) { skip_continuations(); }

  [[nodiscard]] bool is_at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return text_[at_]; }
  [[nodiscard]] std::size_t place() const { return at_; }
  [[nodiscard]] std::size_t line() const { return line_; }

  [[nodiscard]] bool has(char first, char second) const {
    if (is_at_end() || peek() != first) return false;
    Reader next = *this;
    next.step();
    return !next.is_at_end() && next.peek() == second;
  }

  [[nodiscard]] bool is_open() const { return is_open_; }

  void step() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
    skip_continuations();
  }

  /// Over a comment; false where none begins.
  bool skip_comment() {
    if (has('/', '/')) {
      while (!is_at_end() && peek() != '\n') step();
      return true;
    }
    if (!has('/', '*')) return false;
    step();
    step();
    while (!is_at_end() && !has('*', '/')) step();
    is_open_ = is_at_end();
    for (int i = 0; i < 2 && !is_at_end(); ++i) step();
    return true;
  }

  /// Over something quoted, which ends with its line at the latest, into `out`.
  void take_quoted(std::string& out) {
    const char quote = peek();
    out += quote;
    step();
    while (!is_at_end() && peek() != '\n') {
      const char c = peek();
      out += c;
      step();
      if (c == quote) return;
      if (c == '\\' && !is_at_end() && peek() != '\n') {
        out += peek();
        step();
      }
    }
  }

 private:
  void skip_continuations() {
    while (at_ + 1 < text_.size() && text_[at_] == '\\') {
      const std::size_t end = text_.substr(at_ + 1, 2) == "\r\n" ? 3 : 2;
      if (end == 2 && text_[at_ + 1] != '\n') return;
      at_ += end;
      ++line_;
    }
  }

  std::string_view text_;
  std::size_t at_{0};
  std::size_t line_{1};
  bool is_open_{false};  // a comment
};

Directive read_directive(Reader& reader) {
  Directive found{.begin = reader.place(), .first_line = reader.line()};
  reader.step();
  std::string all;
  while (!reader.is_at_end() && reader.peek() != '\n') {
    if (reader.skip_comment()) {
      all += ' ';
    } else if (reader.peek() == '"' || reader.peek() == '\'') {
      reader.take_quoted(all);
    } else {
      all += reader.peek();
      reader.step();
    }
  }
  found.end = reader.place();
  found.last_line = reader.line();
  const std::string_view line = trimmed(all);
  std::size_t size = 0;
  while (size < line.size() && continues_word(line[size])) ++size;
  found.name = line.substr(0, size);
  found.rest = trimmed(line.substr(size));
  return found;
}

}  // namespace

Scanned scan(std::string_view text) {
  Scanned scanned;
  Reader reader(text);
  bool is_line_start = true;
  std::string ignored;
  while (!reader.is_at_end()) {
    const char c = reader.peek();
    if (is_space(c)) {
      is_line_start = is_line_start || c == '\n';
      reader.step();
      continue;
    }
    if (reader.skip_comment()) continue;
    if (c == '#' && is_line_start) {
      Directive found = read_directive(reader);
      found.follows_code = scanned.ends_with_code;
      scanned.ends_with_code = false;
      scanned.directives.push_back(std::move(found));
      continue;
    }
    is_line_start = false;
    scanned.ends_with_code = true;
    if (c == '"' || c == '\'') {
      ignored.clear();
      reader.take_quoted(ignored);
    } else {
      reader.step();
    }
  }
  scanned.is_open = reader.is_open() || text.ends_with('\\') || text.ends_with("\\\n") ||
                    text.ends_with("\\\r\n") || text.ends_with("\\\r");
  return scanned;
}

}  // namespace clprobe::includes
