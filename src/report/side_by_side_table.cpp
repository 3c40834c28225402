// SPDX-License-Identifier: Apache-2.0
// Devices side by side: findings are rows, devices are columns.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/stacks.hpp"
#include "report/device_text.hpp"
#include "report/page.hpp"
#include "report/side_by_side.hpp"
#include "report/stacks.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

constexpr int indent = 1;
constexpr int gap = 2;
constexpr int max_name_width = 14;  // of a device's column, where its cells need no more
constexpr std::string_view nothing = "·";

/// A finding of every device; of a heading, which has no cells, the probe.
struct SharedLine {
  std::string title{};
  std::vector<std::string> cells{};  // by run
};

bool has_time(const std::vector<const Finding*>& cells) {
  return std::any_of(cells.begin(), cells.end(), [](const Finding* each) {
    return each != nullptr && each->unit == "seconds" && each->value;
  });
}

/// Which findings are worth a line: the headlines that have a number somewhere, but not the cycles
/// beside a time; or, with all that is known, each but remarks.
bool is_shown(const SharedRow& row, std::size_t name, Form form) {
  return std::any_of(row.cells.begin(), row.cells.end(), [&](const auto& cells) {
    const Finding* const finding = cells[name];
    if (finding == nullptr || finding->role == Role::remark) return false;
    if (form == Form::whole) return true;
    const bool is_repeated = finding->unit == "cycles" && has_time(cells);
    return finding->role == Role::headline && (finding->value || is_open(*finding)) && !is_repeated;
  });
}

/// The bars of a result in its first view.
std::vector<Stack> first_view(const Run& run, const std::string& probe) {
  const ProbeResult* const result = find_result(run, probe);
  if (result == nullptr) return {};
  std::vector<std::vector<Stack>> views = views_of(result->findings);
  return views.empty() ? std::vector<Stack>{} : std::move(views.front());
}

const StackPart* largest_cause(const Stack& stack) {
  const StackPart* largest = nullptr;
  for (const StackPart& part : stack.parts) {
    const bool is_cause = part.label != stack_remainder && part.is_resolved;
    if (is_cause && (largest == nullptr || part.share > largest->share)) largest = &part;
  }
  return largest;
}

/// A bar, and the labels that are its largest cause on any device.
struct Bar {
  std::string name{};
  std::vector<std::string> labels{};
};

std::vector<Bar> bars_of(const std::vector<std::vector<Stack>>& stacks) {
  std::vector<Bar> bars;
  for (const std::vector<Stack>& of_run : stacks) {
    for (const Stack& stack : of_run) {
      const StackPart* const largest = largest_cause(stack);
      if (largest == nullptr) continue;
      auto bar = std::find_if(bars.begin(), bars.end(),
                              [&](const Bar& each) { return each.name == stack.bar; });
      if (bar == bars.end()) bar = bars.insert(bars.end(), Bar{stack.bar, {}});
      const bool is_new =
          std::find(bar->labels.begin(), bar->labels.end(), largest->label) == bar->labels.end();
      if (is_new) bar->labels.push_back(largest->label);
    }
  }
  return bars;
}

void add_shares(const Page& page, std::span<const Run> runs, const std::string& probe,
                std::vector<SharedLine>& lines) {
  std::vector<std::vector<Stack>> stacks;
  for (const Run& run : runs) stacks.push_back(first_view(run, probe));
  for (const Bar& bar : bars_of(stacks)) {
    for (const std::string& label : bar.labels) {
      constexpr std::string_view between = ": ";
      const std::size_t at = label.find(between);
      const std::string cause = at == std::string::npos ? label : label.substr(at + between.size());
      SharedLine line{page.show(fmt::format(" {}: {}", bar.name, cause)), {}};
      for (const std::vector<Stack>& of_run : stacks) {
        const auto stack = std::find_if(of_run.begin(), of_run.end(),
                                        [&](const Stack& each) { return each.bar == bar.name; });
        const StackPart* const part = stack == of_run.end() ? nullptr : part_of(*stack, label);
        line.cells.push_back(page.show(part == nullptr ? std::string(nothing)
                                                       : quantity_text(part->share, "share")));
      }
      lines.push_back(std::move(line));
    }
  }
}

std::vector<SharedLine> lines_of(const Page& page, std::span<const Run> runs, Form form) {
  std::vector<SharedLine> lines;
  for (const SharedGrid& grid : compare_findings(runs)) {
    const std::size_t heading = lines.size();
    lines.push_back({page.show(grid.probe), {}});
    for (const SharedRow& row : grid.rows) {
      for (std::size_t name = 0; name < grid.names.size(); ++name) {
        if (!is_shown(row, name, form)) continue;
        const std::string level = row.level ? fmt::format(" {}", *row.level) : "";
        SharedLine line{
            page.show(fmt::format(" {}{} {}", row.series, level, words(grid.names[name]))), {}};
        for (const auto& cells : row.cells) {
          line.cells.push_back(page.show(shared_text(cells[name], nothing)));
        }
        lines.push_back(std::move(line));
      }
    }
    add_shares(page, runs, grid.probe, lines);
    if (lines.size() == heading + 1) lines.pop_back();
  }
  return lines;
}

/// A device's column: its name in lines, and how wide it is.
struct Head {
  std::vector<std::string> lines{};
  int width{0};
};

std::vector<Head> heads_of(const Page& page, std::span<const Run> runs,
                           const std::vector<SharedLine>& lines) {
  std::vector<Head> heads;
  const std::vector<std::vector<std::string>> names = run_names(runs);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    Head head;
    for (const SharedLine& line : lines) {
      if (!line.cells.empty()) head.width = std::max(head.width, display_width(line.cells[run]));
    }
    for (const std::string& part : names[run]) {
      for (std::string& each : wrap(page.show(part), std::max(head.width, max_name_width))) {
        head.lines.push_back(std::move(each));
      }
    }
    for (const std::string& each : head.lines) {
      head.width = std::max(head.width, display_width(each));
    }
    heads.push_back(std::move(head));
  }
  return heads;
}

/// The names above their columns, the last lines of all directly above the cells.
void add_heads(Page& page, std::span<const Head> heads, int title_width) {
  std::size_t height = 0;
  for (const Head& head : heads) height = std::max(height, head.lines.size());
  for (std::size_t i = 0; i < height; ++i) {
    std::string text = pad_right("", indent + title_width);
    for (const Head& head : heads) {
      const std::size_t missing = height - head.lines.size();
      const std::string part = i < missing ? std::string() : head.lines[i - missing];
      text += pad_left(part, head.width + gap);
    }
    page.line({{text, Ink::heading}});
  }
}

/// The lines of the devices from `first` on. What none of them has is no line.
void add_lines(Page& page, const std::vector<SharedLine>& lines, std::span<const Head> heads,
               std::size_t first, int title_width) {
  const std::string dot = page.show(nothing);
  const std::string_view mark = page.is_unicode() ? "…" : "...";
  std::string heading;
  for (const SharedLine& line : lines) {
    if (line.cells.empty()) {
      heading = line.title;
      continue;
    }
    const std::span cells = std::span(line.cells).subspan(first, heads.size());
    const bool has_any = std::any_of(cells.begin(), cells.end(),
                                     [&](const std::string& each) { return each != dot; });
    if (!has_any) continue;
    if (!heading.empty()) page.line({{" " + heading, Ink::heading}});
    heading.clear();
    std::string text = " " + pad_right(cut_to_width(line.title, title_width, mark), title_width);
    for (std::size_t i = 0; i < cells.size(); ++i) text += pad_left(cells[i], heads[i].width + gap);
    page.line({{text}});
  }
}

}  // namespace

void add_side_by_side(Page& page, std::span<const Run> runs, Form form) {
  const std::vector<SharedLine> lines = lines_of(page, runs, form);
  if (lines.empty()) return;
  const std::vector<Head> heads = heads_of(page, runs, lines);
  int widest = 0;
  for (const Head& head : heads) widest = std::max(widest, head.width);
  int title_width = 0;
  for (const SharedLine& line : lines) {
    title_width = std::max(title_width, display_width(line.title));
  }
  // A column has its room, and titles what is left.
  title_width = std::max(1, std::min(title_width, page.width() - indent - widest - gap));
  for (std::size_t first = 0; first < runs.size();) {
    int used = indent + title_width + heads[first].width + gap;
    std::size_t last = first + 1;
    while (last < runs.size() && used + heads[last].width + gap <= page.width()) {
      used += heads[last++].width + gap;
    }
    if (first > 0) page.blank();
    const std::span shown = std::span<const Head>(heads).subspan(first, last - first);
    add_heads(page, shown, title_width);
    add_lines(page, lines, shown, first, title_width);
    first = last;
  }
}

}  // namespace clprobe::report
