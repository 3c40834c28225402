// SPDX-License-Identifier: Apache-2.0
#include "report/html_page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "clprobe/embedded.hpp"
#include "report/deflated.hpp"
#include "report/html_text.hpp"
#include "text/text.hpp"

namespace clprobe::report {

std::string html_of(const HtmlPage& page) {
  const bool has_library = !embedded_file("chart.js").empty();
  return fill(
      embedded_file("page.html"),
      {{"title", html_text(cut_to_width(printable(page.title), 120, "…"))},
       {"heading", page.heading},
       {"lead", page.lead},
       {"navigation", page.navigation},
       {"without scripts", page.without_scripts},
       {"main", page.main},
       {"footer", has_library ? "Charts by Chart.js (MIT licence, its notice is in the page)."
                              : "Built without Chart.js: the charts are pictures."},
       {"charts", page.charts},
       {"runs", page.runs},
       {"files", page.files},
       {"library", std::string(embedded_file("chart.js"))},
       {"library hash", std::string(content_hash("chart.js"))},
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

std::string anchor(std::string_view id) {
  return fmt::format(R"(<a class="anchor" href="#{}" aria-label="Link to this section">#</a>)", id);
}

std::string boxed_table(std::string_view caption, std::string_view kind, std::string_view table) {
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\n<table "
      "class=\"{1}\">\n<caption>{0}</caption>\n{2}</table>\n</div>\n",
      html_text(caption), kind, table);
}

}  // namespace clprobe::report
