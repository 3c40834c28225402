// SPDX-License-Identifier: Apache-2.0
#include "present/html_page.hpp"

#include <fmt/format.h>
#include <nettle/base64.h>
#include <zlib.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "present/safe_text.hpp"
#include "text/api/embedded.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

std::string base64(const std::vector<Bytef>& bytes) {
  std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  base64_encode_raw(text.data(), bytes.size(), bytes.data());
  return text;
}

/// A link to the heading next to it.
std::string anchor(std::string_view id) {
  return fmt::format(R"(<a class="anchor" href="#{}" aria-label="Link to this section">#</a>)", id);
}

}  // namespace

std::string deflated(std::string_view text) {
  // Views of chars are what zlib calls bytes.
  const auto* const bytes = reinterpret_cast<const Bytef*>(text.data());
  const auto size = static_cast<uLong>(text.size());
  uLongf used = compressBound(size);
  std::vector<Bytef> stream(used);
  // The only possible failure is a lack of memory: the buffer is large enough, the level valid.
  if (compress2(stream.data(), &used, bytes, size, Z_BEST_COMPRESSION) != Z_OK) {
    throw std::bad_alloc();
  }
  stream.resize(used);
  return base64(stream);
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

std::string html_of(const HtmlPage& page) {
  return fill(embedded_file("page.html"),
              {{"title", html_text(cut_to_width(printable(page.title), 120, "…"))},
               {"heading", page.heading},
               {"lead", page.lead},
               {"navigation", page.navigation},
               {"without scripts", page.without_scripts},
               {"main", page.main},
               {"runs", page.runs},
               {"files", page.files},
               {"script", std::string(embedded_file("report.js"))},
               {"script hash", std::string(content_hash("report.js"))},
               {"style", std::string(embedded_file("report.css"))},
               {"style hash", std::string(content_hash("report.css"))}});
}

std::string data_file(std::string_view label, std::string_view name, std::string_view type,
                      std::string_view content) {
  return nlohmann::ordered_json{
      {"label", label}, {"name", name}, {"type", type}, {"data", deflated(content)}}
      .dump();
}

std::string figures_html(std::span<const Figure> figures) {
  std::string html;
  for (const auto& [title, svg, is_folded] : figures) {
    const std::string figure = fmt::format("<figure class=\"picture\">\n{}</figure>\n", svg);
    const std::string name = html_text(title);
    if (is_folded) {
      html += fmt::format("<details><summary>{}</summary>\n{}</details>\n", name, figure);
    } else {
      html += (name.empty() ? name : fmt::format("<h3>{}</h3>\n", name)) + figure;
    }
  }
  return html;
}

std::string swatch(std::size_t run) {
  constexpr std::size_t colours = 8;
  return fmt::format(R"(<span class="swatch c{}" aria-hidden="true"></span>)", run % colours);
}

std::string section_html(std::string_view id, std::string_view title, std::string_view content,
                         std::string_view attributes) {
  return fmt::format(
      "<section id=\"{0}\"{4} aria-labelledby=\"{0}-title\">\n<h2 "
      "id=\"{0}-title\">{1}{2}</h2>\n{3}</section>\n",
      id, title, anchor(id), content, attributes);
}

std::string card_article(std::size_t run, std::string_view title, std::string_view content) {
  return fmt::format("<article class=\"card\">\n<h3>{}{}</h3>\n{}</article>\n", swatch(run),
                     html_text(title), content);
}

std::string in_cards(std::string_view cards) {
  return fmt::format("<div class=\"cards\">\n{}</div>\n", cards);
}

std::string boxed_table(std::string_view caption, std::string_view kind, std::string_view table) {
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\n<table "
      "class=\"{1}\">\n<caption>{0}</caption>\n{2}</table>\n</div>\n",
      html_text(caption), kind, table);
}

}  // namespace clprobe::report
