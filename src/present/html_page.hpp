// SPDX-License-Identifier: Apache-2.0
// The frame of every page: one file with its styles, scripts and data, which loads nothing else.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "present/svg.hpp"

namespace clprobe::report {

/// All of them are markup, but for `title`, and JSON.
struct HtmlPage {
  std::string title{};  ///< plain text
  std::string heading{};
  std::string lead{};
  std::string navigation{};
  std::string main{};
  std::string without_scripts{};  ///< hint for readers without scripts
  std::string runs{"[]"};         ///< the documents of the runs, each deflated
  std::string files{"[]"};        ///< further downloads: a list of data_file()
};

std::string html_of(const HtmlPage& page);

/// `{{name}}` replaced by the value of that name; what a value contains is not looked at again.
/// Throws std::invalid_argument for a name that has no value.
std::string fill(std::string_view page, const std::map<std::string_view, std::string>& values);

/// A zlib stream (RFC 1950) of the text, in base64 (RFC 4648). In a browser `atob` and then
/// `DecompressionStream("deflate")` give the text back.
std::string deflated(std::string_view text);

/// {"label", "name", "type", "data"}: a file that a button of the page gives out.
std::string data_file(std::string_view label, std::string_view name, std::string_view type,
                      std::string_view content);

/// The figures of a probe: the first ones are shown, the others when their titles are clicked.
std::string figures_html(std::span<const Figure> figures);

/// A dot in the colour of a run, as curves have it.
std::string swatch(std::size_t run);

/// A section whose heading can be linked to. `title`, `content` and `attributes` are markup.
std::string section_html(std::string_view id, std::string_view title, std::string_view content,
                         std::string_view attributes = "");

/// The card of a run, with the run's colour in its heading. `title` is text, `content` is markup.
std::string card_article(std::size_t run, std::string_view title, std::string_view content);
/// Cards next to each other.
std::string in_cards(std::string_view cards);

/// A table in a box of its own, which scrolls where the table is wider and which the keyboard can
/// reach. `caption` and `kind` are text, `table` is markup.
std::string boxed_table(std::string_view caption, std::string_view kind, std::string_view table);

}  // namespace clprobe::report
