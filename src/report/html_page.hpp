// SPDX-License-Identifier: Apache-2.0
// What every page is: one file with its styles, scripts and data, which asks nothing of anything.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace clprobe::report {

/// All of them are markup, but for `title`, and JSON.
struct HtmlPage {
  std::string title{};  ///< as text
  std::string heading{};
  std::string lead{};
  std::string navigation{};
  std::string main{};
  std::string without_scripts{};  ///< what is missing then
  std::string charts{};           ///< {"devices", "charts"}, deflated
  std::string runs{"[]"};         ///< the documents of the runs, each deflated
  std::string files{"[]"};        ///< what else can be downloaded: of data_file(), in brackets
};

std::string html_of(const HtmlPage& page);

/// {"label", "name", "type", "data"}: a file that a button of the page gives out.
std::string data_file(std::string_view label, std::string_view name, std::string_view type,
                      std::string_view content);

/// A link to the heading beside it.
std::string anchor(std::string_view id);

/// A table in a box of its own, which scrolls where the table is wider and which the keyboard can
/// reach. `caption` and `kind` are text, `table` is markup.
std::string boxed_table(std::string_view caption, std::string_view kind, std::string_view table);

}  // namespace clprobe::report
