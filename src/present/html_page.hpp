// SPDX-License-Identifier: Apache-2.0
// Frame of HTML pages. A page is a single file with styles, scripts and data, and loads no other
// files.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "present/svg.hpp"

namespace clprobe::report {

/// Parts of a page. `runs` and `files` are JSON, `title` is text, and all other members are HTML
/// markup.
struct HtmlPage {
  std::string title{};  ///< title in the browser, as text
  std::string heading{};
  std::string lead{};
  std::string navigation{};
  std::string main{};
  std::string without_scripts{};  ///< hint for readers without scripts
  std::string runs{"[]"};         ///< documents of the runs, each deflated
  std::string files{"[]"};        ///< other downloads: a JSON array of data_file() results
};

std::string html_of(const HtmlPage& page);

/// Returns `page` with each `{{name}}` replaced by the value of `name`; a `{{name}}` inside a value
/// is kept. Throws std::invalid_argument for a name without a value.
std::string fill(std::string_view page, const std::map<std::string_view, std::string>& values);

/// Returns the text as a zlib stream (RFC 1950) in base64 (RFC 4648). A browser decodes the result
/// with `atob` and `DecompressionStream("deflate")`.
std::string deflated(std::string_view text);

/// Returns a file for download as JSON: {"label", "name", "type", "data"}.
std::string data_file(std::string_view label, std::string_view name, std::string_view type,
                      std::string_view content);

/// Returns the figures of a probe as HTML. A folded figure appears when its title is clicked.
std::string figures_html(std::span<const Figure> figures);

/// Returns a dot in the colour of a run's curves as HTML.
std::string swatch(std::size_t run);

/// Returns a section whose heading has a link. `title`, `content` and `attributes` are markup.
std::string section_html(std::string_view id, std::string_view title, std::string_view content,
                         std::string_view attributes = "");

/// Returns the card of a run, with the run's colour in its heading. `title` is text, `content` is
/// markup.
std::string card_article(std::size_t run, std::string_view title, std::string_view content);
/// Returns the HTML of `cards` in a box that shows the cards side by side.
std::string in_cards(std::string_view cards);

/// Returns a table in a box that scrolls if the table is wider than the page. The keyboard can
/// reach the box. `caption` and `kind` are text, `table` is markup.
std::string boxed_table(std::string_view caption, std::string_view kind, std::string_view table);

}  // namespace clprobe::report
