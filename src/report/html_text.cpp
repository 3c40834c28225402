// SPDX-License-Identifier: Apache-2.0
#include "report/html_text.hpp"

#include <algorithm>
#include <stdexcept>

#include "text/text.hpp"

namespace clprobe::report {
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
