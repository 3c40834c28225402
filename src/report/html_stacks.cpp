// SPDX-License-Identifier: Apache-2.0
#include "report/html_stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/findings.hpp"
#include "report/html_text.hpp"
#include "report/page_axes.hpp"
#include "report/side_by_side.hpp"
#include "report/stacks.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

using Json = nlohmann::ordered_json;

std::string row_of(const std::vector<std::string>& cells, bool is_head) {
  std::string html = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (is_head || i == 0) {
      html += fmt::format("<th scope=\"{}\">{}</th>", is_head ? "col" : "row", html_text(cells[i]));
    } else {
      html += fmt::format("<td>{}</td>", html_text(cells[i]));
    }
  }
  return html + "</tr>\n";
}

template <typename Text>
std::size_t place_in(std::vector<std::string>& words, const Text& word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  words.emplace_back(word);
  return words.size() - 1;
}

struct DeviceStack {
  std::size_t device{0};
  Stack stack{};
};

std::vector<DeviceStack> all_stacks(std::span<const Run> runs, std::string_view probe) {
  std::vector<DeviceStack> all;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const ProbeResult* const result = find_result(runs[run], probe);
    if (result == nullptr) continue;
    for (Stack& stack : drawn_stacks(stacks_in(result->findings))) {
      all.push_back({run, std::move(stack)});
    }
  }
  return all;
}

/// To a thousandth of a per cent, which no picture shows.
double to_thousandths(double share) { return std::round(share * 1e5) / 1e5; }

/// "saves at most 31 % of the app's device time": nothing of what is left when all causes are gone.
/// Accounts of cycles say where time goes, and not what is saved.
std::string app_text(const Stack& stack, const StackPart& part) {
  const bool is_cause = stack.view == stack_view_shapley && part.label != stack_remainder &&
                        part.label != stack_not_resolved && part.share > 0.0;
  if (!stack.app_share || !is_cause) return {};
  const std::string_view bound = part.reason.starts_with("at least") ? "at least" : "at most";
  return fmt::format("saves {} {} of the app's device time", bound,
                     quantity_text(part.share * *stack.app_share, "share"));
}

Json points_of(const Stack& stack, std::vector<std::string>& labels) {
  Json points = Json::array();
  if (!stack.is_whole) return points;
  for (const StackPart& part : stack.parts) {
    Json point{{"label", place_in(labels, part.label)},
               {"share", to_thousandths(part.share)},
               {"text", quantity_text(part.share, "share")}};
    if (part.low && part.high && *part.high > *part.low) {
      point["lowText"] = quantity_text(*part.low, "share");
      point["highText"] = quantity_text(*part.high, "share");
    }
    if (stack.time && *stack.time > 0.0) {
      point["timeText"] =
          printable(time_text({.time = part.share * *stack.time, .time_unit = stack.time_unit}));
    }
    if (std::string app = app_text(stack, part); !app.empty()) point["appText"] = std::move(app);
    points.push_back(std::move(point));
  }
  return points;
}

Json bar_of(const DeviceStack& each, std::vector<std::string>& labels,
            std::vector<std::string>& views) {
  const Stack& stack = each.stack;
  Json bar{{"device", each.device},
           {"series", printable(stack.bar) + (stack.is_whole ? "" : fmt::format(" ({})", no_bar))},
           {"view", place_in(views, stack.view)},
           {"time", printable(time_text(stack))},
           {"points", points_of(stack, labels)}};
  if (stack.time && *stack.time > 0.0 && stack.is_whole) bar["duration"] = *stack.time;
  return bar;
}

/// Which of the kernels, and which part of it.
void add_kernel(const DeviceStack& each, Json& bar, Json& kernels) {
  const BarOfPart name = split_bar(each.stack.bar);
  const Json kernel{{"device", each.device}, {"series", printable(name.kernel)}};
  const auto found = std::find(kernels.begin(), kernels.end(), kernel);
  bar["kernel"] = found - kernels.begin();
  bar["part"] = printable(name.part);
  if (found == kernels.end()) kernels.push_back(kernel);
}

}  // namespace

std::string stacks_html(std::span<const Finding> findings, std::string_view title) {
  std::string html;
  for (const ShareTable& table : share_tables(findings)) {
    const std::string caption = html_text(fmt::format("{}: {}", title, table.title));
    std::string rows;
    for (const auto& row : table.rows) rows += row_of(row, false);
    html += fmt::format("<h4>{}</h4>\n", html_text(table.title));
    html += fmt::format(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\n<table "
        "class=\"findings shares\">\n<caption>{0}</caption>\n<thead>\n{1}</thead>\n<tbody>\n{2}"
        "</tbody>\n</table>\n</div>\n",
        caption, row_of(table.head, true), rows);
    for (const std::string& remark : table.remarks) {
      html += fmt::format("<p class=\"quiet\">{}</p>\n", html_text(remark));
    }
  }
  return html;
}

Json stacks_chart(std::span<const Run> runs, std::string_view probe) {
  const std::vector<DeviceStack> all = all_stacks(runs, probe);
  if (all.empty()) return nullptr;
  std::vector<Stack> stacks;
  stacks.reserve(all.size());
  for (const DeviceStack& each : all) stacks.push_back(each.stack);
  std::vector<std::string> labels = stack_labels(stacks);
  std::vector<std::string> views;
  const std::vector<std::string> names = category_names(labels);
  const std::vector<std::size_t> numbers = category_numbers(names);
  Json categories = Json::array();
  Json shown_labels = Json::array();
  for (const std::string& label : labels) {
    const auto name = std::find(names.begin(), names.end(), stack_category(label));
    categories.push_back(numbers[static_cast<std::size_t>(name - names.begin())]);
    shown_labels.push_back(printable(label));
  }
  Json bars = Json::array();
  Json kernels = Json::array();
  for (const DeviceStack& each : all) {
    bars.push_back(bar_of(each, labels, views));
    if (is_of_parts(each.stack.view)) add_kernel(each, bars.back(), kernels);
  }
  double max_below = 0.0;
  double max_above = 1.0;
  for (const Stack& stack : stacks) {
    double below = 0.0;
    double above = 0.0;
    if (!stack.is_whole) continue;
    for (const StackPart& part : stack.parts) (part.share < 0.0 ? below : above) += part.share;
    max_below = std::min(max_below, below);
    max_above = std::max(max_above, above);
  }
  Json titles = Json::array();
  Json parts = Json::array();
  for (const std::string& view : views) {
    titles.push_back(printable(view_title(view)));
    parts.push_back(is_of_parts(view) ? view : "");
  }
  return {{"probe", printable(probe)}, {"view", "stack"}, {"labels", shown_labels},
          {"categories", categories},  {"views", titles}, {"parts", parts},
          {"kernels", kernels},        {"stacks", bars},  {"x", share_axis(max_below, max_above)}};
}

}  // namespace clprobe::report
