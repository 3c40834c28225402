// SPDX-License-Identifier: Apache-2.0
#include "includes/macros.hpp"

#include <algorithm>
#include <utility>

#include "includes/letters.hpp"

namespace clprobe::includes {
namespace {

using Pieces = std::vector<Piece>;

/// Why there is no name; nobody sees it.
struct Uncertain {};

std::size_t quoted_size(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && text[size] != text.front()) size += text[size] == '\\' ? 2U : 1U;
  return std::min(size + 1, text.size());
}

Pieces pieces_in(std::string_view text) {
  Pieces pieces;
  bool follows_space = false;
  while (!text.empty()) {
    const char c = text.front();
    if (is_space(c)) {
      follows_space = true;
      text.remove_prefix(1);
      continue;
    }
    Piece piece{.follows_space = follows_space};
    std::size_t size = 1;
    if (starts_word(c)) {
      piece.kind = Piece::Kind::word;
      size = first_word(text).size();
    } else if (is_digit(c)) {
      piece.kind = Piece::Kind::number;
      while (size < text.size() && (continues_word(text[size]) || text[size] == '.')) ++size;
    } else if (c == '"' || c == '\'') {
      piece.kind = Piece::Kind::quoted;
      size = quoted_size(text);
    } else if (text.substr(0, 2) == "##") {
      size = 2;
    }
    piece.text = text.substr(0, size);
    text.remove_prefix(size);
    follows_space = false;
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

/// Their text, with a space where at least one was, but none at the ends.
std::string joined(const Pieces& pieces) {
  std::string text;
  for (const Piece& each : pieces) {
    if (each.follows_space && !text.empty()) text += ' ';
    text += each.text;
  }
  return text;
}

/// The # of a macro. What would have to be escaped is no name of a file.
Piece stringized(const Pieces& argument, bool follows_space) {
  const std::string text = joined(argument);
  if (text.find_first_of("\"\\") != std::string::npos) throw Uncertain{};
  return {Piece::Kind::quoted, '"' + text + '"', follows_space};
}

class Expansion {
 public:
  using Table = std::map<std::string, Macro, std::less<>>;
  using Names = std::set<std::string, std::less<>>;
  Expansion(const Table& macros, const Names& uncertain) : macros_(macros), uncertain_(uncertain) {}

  /// Throws Uncertain.
  Pieces expand(const Pieces& pieces, const Names& hidden) {
    // Of what people write no name needs a hundred; the rest is a text that means to take long.
    constexpr std::size_t max_steps = 4096;
    Pieces out;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (++steps_ > max_steps) throw Uncertain{};
      const Macro* const macro = find(pieces[i], hidden);
      if (macro == nullptr) {
        out.push_back(pieces[i]);
        continue;
      }
      Names inner = hidden;
      inner.insert(pieces[i].text);
      Pieces body = macro->body;
      const bool follows_space = pieces[i].follows_space;
      if (macro->takes_arguments) body = substitute(*macro, take_arguments(pieces, i), hidden);
      if (!body.empty()) body.front().follows_space = follows_space;
      const Pieces more = expand(body, inner);
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }

 private:
  const Macro* find(const Piece& piece, const Names& hidden) const {
    if (piece.kind != Piece::Kind::word || hidden.contains(piece.text)) return nullptr;
    if (uncertain_.contains(piece.text)) throw Uncertain{};
    const auto found = macros_.find(piece.text);
    return found == macros_.end() ? nullptr : &found->second;
  }

  /// Those of the macro at `i`, which moves to the closing parenthesis.
  static std::vector<Pieces> take_arguments(const Pieces& pieces, std::size_t& i) {
    ++i;
    if (i == pieces.size() || pieces[i].text != "(") throw Uncertain{};
    std::vector<Pieces> arguments(1);
    std::size_t depth = 1;
    for (++i; i < pieces.size(); ++i) {
      const Piece& piece = pieces[i];
      if (piece.text == "(") ++depth;
      if (piece.text == ")" && --depth == 0) return arguments;
      if (piece.text == "," && depth == 1) {
        arguments.emplace_back();
      } else {
        arguments.back().push_back(piece);
      }
    }
    throw Uncertain{};
  }

  Pieces substitute(const Macro& macro, const std::vector<Pieces>& arguments, const Names& hidden) {
    if (arguments.size() != macro.parameters.size()) throw Uncertain{};
    const auto argument_of = [&](const Piece& piece) -> const Pieces* {
      const auto found = std::find(macro.parameters.begin(), macro.parameters.end(), piece.text);
      if (piece.kind != Piece::Kind::word || found == macro.parameters.end()) return nullptr;
      return &arguments.at(static_cast<std::size_t>(found - macro.parameters.begin()));
    };
    Pieces out;
    for (std::size_t i = 0; i < macro.body.size(); ++i) {
      const Piece& piece = macro.body[i];
      if (piece.text == "##") throw Uncertain{};
      if (piece.text == "#" && i + 1 < macro.body.size()) {
        const Pieces* const argument = argument_of(macro.body[++i]);
        if (argument == nullptr) throw Uncertain{};
        out.push_back(stringized(*argument, piece.follows_space));
      } else if (const Pieces* const argument = argument_of(piece)) {
        Pieces expanded = expand(*argument, hidden);
        if (!expanded.empty()) expanded.front().follows_space = piece.follows_space;
        out.insert(out.end(), expanded.begin(), expanded.end());
      } else {
        out.push_back(piece);
      }
    }
    return out;
  }

  const Table& macros_;
  const Names& uncertain_;
  std::size_t steps_{0};
};

bool is_in_brackets(std::string_view text) {
  return text.size() > 2 && text.front() == '<' && text.find('>') == text.size() - 1;
}

bool is_in_quotes(std::string_view text) {
  return text.size() > 2 && text.front() == '"' && text.find('"', 1) == text.size() - 1;
}

}  // namespace

void Macros::define(std::string_view text) {
  const std::string name(first_word(text));
  if (name.empty()) return;
  text.remove_prefix(name.size());
  Macro macro;
  if (!text.empty() && text.front() == '(') {
    macro.takes_arguments = true;
    const std::size_t end = text.find(')');
    for (const Piece& piece : pieces_in(text.substr(0, end))) {
      if (piece.kind == Piece::Kind::word) macro.parameters.push_back(piece.text);
      // Of any number of arguments.
      if (piece.text == ".") uncertain_.insert(name);
    }
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  macro.body = pieces_in(text);
  if (!macro.body.empty()) macro.body.front().follows_space = false;
  const auto [known, is_new] = macros_.try_emplace(name, macro);
  if (!is_new && known->second != macro) uncertain_.insert(name);
}

void Macros::undefine(std::string_view name) { uncertain_.insert(std::string(first_word(name))); }

std::optional<std::string> Macros::header_name(std::string_view operand) const {
  if (is_in_quotes(operand) || is_in_brackets(operand)) return std::string(operand);
  try {
    const Pieces pieces = Expansion(macros_, uncertain_).expand(pieces_in(operand), {});
    std::string name = joined(pieces);
    const bool is_one = pieces.size() == 1 && is_in_quotes(name);
    if (is_one || is_in_brackets(name)) return name;
  } catch (const Uncertain&) {
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace clprobe::includes
