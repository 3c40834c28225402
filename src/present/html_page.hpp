// SPDX-License-Identifier: Apache-2.0
// Frame of HTML pages: one file with styles, scripts and data that loads nothing else.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "present/svg.hpp"

namespace clprobe::report {

/// Parts of a page. `runs` and `files` are JSON, `title` is text, all others are markup.
struct HtmlPage {
  std::string title{};  ///< title, as text
  std::string heading{};
  std::string lead{};
  std::string navigation{};
  std::string main{};
  std::string without_scripts{};  ///< hint for readers without scripts
  std::string runs{"[]"};         ///< documents of the runs, each deflated
  std::string files{"[]"};        ///< other downloads: a list of data_file()
};

std::string html_of(const HtmlPage& page);

/// Returns the page with `{{name}}` replaced by the value of that name; values are not searched
/// again. Throws std::invalid_argument for a name without a value.
std::string fill(std::string_view page, const std::map<std::string_view, std::string>& values);

/// Returns a zlib stream (RFC 1950) of the text in base64 (RFC 4648). Browsers decode it by `atob`
/// and `DecompressionStream("deflate")`.
std::string deflated(std::string_view text);

/// Returns a file for download as JSON: {"label", "name", "type", "data"}.
std::string data_file(std::string_view label, std::string_view name, std::string_view type,
                      std::string_view content);

/// Returns the figures of a probe. Folded figures appear when their titles are clicked.
std::string figures_html(std::span<const Figure> figures);

/// Returns a dot in the colour of a run's curves.
std::string swatch(std::size_t run);

/// Returns a section whose heading has a link. `title`, `content` and `attributes` are markup.
std::string section_html(std::string_view id, std::string_view title, std::string_view content,
                         std::string_view attributes = "");

/// Returns the card of a run, with the run's colour in its heading. `title` is text, `content` is
/// markup.
std::string card_article(std::size_t run, std::string_view title, std::string_view content);
/// Returns cards side by side.
std::string in_cards(std::string_view cards);

/// Returns a table in a box that scrolls if the table is wider and that is reachable by keyboard.
/// `caption` and `kind` are text, `table` is markup.
std::string boxed_table(std::string_view caption, std::string_view kind, std::string_view table);

}  // namespace clprobe::report
