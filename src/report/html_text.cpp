// SPDX-License-Identifier: Apache-2.0
#include "report/html_text.hpp"

#include <algorithm>
#include <stdexcept>

#include "text/text.hpp"

namespace clprobe::report {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// `code` in backquotes.
std::string inline_html(std::string_view text) {
  std::string html;
  bool is_code = false;
  while (true) {
    const std::size_t tick = text.find('`');
    html += html_text(text.substr(0, tick));
    if (tick == std::string_view::npos) break;
    html += is_code ? "</code>" : "<code>";
    is_code = !is_code;
    text.remove_prefix(tick + 1);
  }
  return is_code ? html + "</code>" : html;
}

// What a line begins; a line that begins nothing goes on with the block before it.
enum class Block { none, paragraph, item, term, description, code };

/// Reads a page line by line.
class Explanation {
 public:
  std::string convert(std::string_view page) {
    const std::vector<std::string_view> lines = lines_of(page);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string_view next = i + 1 < lines.size() ? lines[i + 1] : std::string_view();
      add(lines[i], next);
    }
    end_block();
    end_list();
    return html_;
  }

 private:
  void add(std::string_view line, std::string_view next) {
    if (line.empty()) {
      end_block();
    } else if (line.starts_with("#")) {
      heading(line);
    } else if (line.starts_with("    ")) {
      go_on(Block::code, line.substr(4), "\n");
    } else if (line.starts_with("- ")) {
      end_block();
      go_on(Block::item, line.substr(2), " ");
    } else if (line.starts_with("  ")) {
      go_on(block_ == Block::item ? Block::item : Block::description, line.substr(2), " ");
    } else if (next.starts_with("  ") && !next.starts_with("    ") && block_ == Block::none) {
      go_on(Block::term, line, " ");
    } else {
      go_on(Block::paragraph, line, " ");
    }
  }

  void heading(std::string_view line) {
    end_block();
    end_list();
    if (!line.starts_with("## ")) return;
    html_.append("<h4>").append(inline_html(line.substr(3))).append("</h4>\n");
  }

  void go_on(Block block, std::string_view line, std::string_view separator) {
    if (block != block_) end_block();
    block_ = block;
    if (!text_.empty()) text_ += separator;
    text_ += line;
  }

  static std::string_view list_of(Block block) {
    if (block == Block::item) return "ul";
    return block == Block::term || block == Block::description ? "dl" : "";
  }

  void end_block() {
    if (block_ == Block::none) return;
    if (list_of(block_) != list_) {
      end_list();
      list_ = list_of(block_);
      if (!list_.empty()) html_.append("<").append(list_).append(">\n");
    }
    switch (block_) {
      case Block::item:
        html_.append("<li>").append(inline_html(text_)).append("</li>\n");
        break;
      case Block::term:
        html_.append("<dt>").append(inline_html(text_)).append("</dt>\n");
        break;
      case Block::description:
        html_.append("<dd>").append(inline_html(text_)).append("</dd>\n");
        break;
      case Block::code:
        html_.append("<pre><code>").append(code_html()).append("</code></pre>\n");
        break;
      case Block::paragraph:
      case Block::none:
        html_.append("<p>").append(inline_html(text_)).append("</p>\n");
        break;
    }
    block_ = Block::none;
    text_.clear();
  }

  // `html_text` would make spaces of the line ends.
  [[nodiscard]] std::string code_html() const {
    std::string html;
    for (const std::string_view line : lines_of(text_)) {
      html.append(html.empty() ? "" : "\n").append(html_text(line));
    }
    return html;
  }

  void end_list() {
    if (!list_.empty()) html_.append("</").append(list_).append(">\n");
    list_ = {};
  }

  std::string html_{};
  std::string text_{};
  Block block_{Block::none};
  std::string_view list_{};
};

}  // namespace

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string script_json(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else if (c == '>') {
      safe += "\\u003e";
    } else if (c == '&') {
      safe += "\\u0026";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string html_of_explanation(std::string_view page) { return Explanation().convert(page); }

std::string question_of(std::string_view page) {
  std::string question;
  for (const std::string_view line : lines_of(page)) {
    if (line.starts_with("#")) continue;
    if (line.empty() && !question.empty()) break;
    if (!question.empty()) question += ' ';
    question += line;
  }
  return question;
}

std::string fill(std::string_view page,
                 const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string filled;
  while (true) {
    const std::size_t open = page.find("{{");
    filled += page.substr(0, open);
    if (open == std::string_view::npos) return filled;
    const std::size_t close = page.find("}}", open);
    const std::string_view name = page.substr(open + 2, close - open - 2);
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const auto& each) { return each.first == name; });
    if (close == std::string_view::npos || value == values.end()) {
      throw std::invalid_argument("no value for {{" + std::string(name) + "}}");
    }
    filled += value->second;
    page.remove_prefix(close + 2);
  }
}

}  // namespace clprobe::report
