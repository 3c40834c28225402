// SPDX-License-Identifier: Apache-2.0
#include "report/result_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "clprobe/report.hpp"
#include "clprobe/units.hpp"
#include "report/card.hpp"
#include "report/device_text.hpp"
#include "report/findings.hpp"
#include "report/plots.hpp"
#include "report/stacks.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

/// "24 points, 2 failed".
std::string points_text(const ProbeResult& result) {
  const auto failed = std::count_if(result.points.begin(), result.points.end(),
                                    [](const Point& point) { return !point.failure.empty(); });
  if (result.points.empty()) return format_count(result.findings.size(), "finding");
  const std::string text = format_count(result.points.size(), "point");
  return failed == 0 ? text : fmt::format("{}, {} failed", text, failed);
}

/// As much as fits into two lines: a driver's message can be a page.
std::string beginning_of(const std::string& text, int width, std::string_view mark) {
  constexpr std::size_t max_lines = 2;
  const std::vector<std::string> lines = wrap(text, width);
  if (lines.size() <= max_lines) return text;
  return fmt::format("{} {} {}", lines[0],
                     cut_to_width(lines[1], width - display_width(mark) - 1, ""), mark);
}

/// "by working set, global memory" behind the name of `latency`: no word stands twice.
std::string title_of(const Pictures& pictures, const std::string& probe) {
  if (!pictures.stacks.empty()) return view_title(pictures.stacks.front().front().view);
  if (!pictures.maps.empty()) return pictures.maps.front().title;
  if (pictures.chart.series.empty()) return {};
  std::string title = title_of(pictures.chart);
  title.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(title.front())));
  const std::string name = words(probe) + " ";
  return title.starts_with(name) ? title.substr(name.size()) : title;
}

/// A block in parts, each of whole lines, before it is known which of them have room.
struct Block {
  std::string name{};
  std::string heading{};
  std::string picture{};
  std::vector<std::string> rows{};
  std::size_t shown_rows{0};
  bool has_picture{false};

  /// A heading that nothing follows is left out, but of one that says why nothing does.
  [[nodiscard]] bool is_shown() const {
    return has_picture || shown_rows > 0 || (picture.empty() && rows.empty());
  }
};

std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::size_t lines_of(const Block& block) {
  if (!block.is_shown()) return 0;
  std::size_t lines = lines_in(block.heading);
  if (block.has_picture) lines += lines_in(block.picture);
  for (std::size_t i = 0; i < block.shown_rows; ++i) lines += lines_in(block.rows[i]);
  return lines;
}

std::size_t lines_of(const std::vector<Block>& blocks) {
  std::size_t lines = 0;
  for (const Block& each : blocks) lines += lines_of(each);
  return lines;
}

std::vector<std::string> short_row_texts(const ProbeResult& result, const TableStyle& style) {
  const Page ruler(style);
  const std::vector<CardLine> rows = short_rows(result);
  int width = 0;
  for (const CardLine& row : rows) width = std::max(width, display_width(ruler.show(row.topic)));
  width = std::min(width, ruler.width() / 3);
  std::vector<std::string> texts;
  for (const CardLine& row : rows) {
    Page page(style);
    const std::string topic = cut_to_width(page.show(row.topic), width, page.show("…"));
    page.prose(" " + pad_right(topic, width) + "  ", row.text, Ink::plain);
    texts.push_back(page.text());
  }
  return texts;
}

Block block_of(const ProbeResult& result, const DeviceInfo& device, const TableStyle& style) {
  const Pictures pictures = pictures_of(result, device);
  Page heading(style);
  add_result_heading(heading, result, title_of(pictures, result.probe), Form::brief);
  Page picture(style);
  draw_stacks(picture, result.findings, Form::brief);
  if (!pictures.maps.empty()) draw_heat_map(picture, pictures.maps.front(), Form::brief);
  if (!pictures.chart.series.empty()) draw_low_chart(picture, pictures.chart);
  return {.name = heading.show(result.probe),
          .heading = heading.text(),
          .picture = picture.text(),
          .rows = short_row_texts(result, style)};
}

/// Shows all that has room: first some rows of each, then pictures in the order of the probes, then
/// the other rows.
void choose(std::vector<Block>& blocks, std::size_t room) {
  constexpr std::size_t usual_rows = 3;
  for (Block& each : blocks) each.has_picture = false;
  for (std::size_t most = usual_rows; most > 0; --most) {
    for (Block& each : blocks) each.shown_rows = std::min(most, each.rows.size());
    if (lines_of(blocks) <= room) break;
  }
  for (Block& each : blocks) {
    each.has_picture = !each.picture.empty();
    if (lines_of(blocks) > room) each.has_picture = false;
  }
  for (Block& each : blocks) {
    const std::size_t some = each.shown_rows;
    each.shown_rows = each.rows.size();
    if (lines_of(blocks) > room) each.shown_rows = some;
  }
}

/// "stalls; charts of banks, inflight; rows of transfer".
std::string left_out(const std::vector<Block>& blocks, std::size_t hidden_levels) {
  std::vector<std::string> whole;
  std::vector<std::string> pictures;
  std::vector<std::string> rows;
  for (const Block& each : blocks) {
    if (!each.is_shown()) {
      whole.push_back(each.name);
      continue;
    }
    if (!each.has_picture && !each.picture.empty()) pictures.push_back(each.name);
    if (each.shown_rows < each.rows.size()) rows.push_back(each.name);
  }
  std::vector<std::string> parts;
  if (hidden_levels > 0) parts.push_back(format_count(hidden_levels, "level"));
  if (!whole.empty()) parts.push_back(fmt::format("{}", fmt::join(whole, ", ")));
  if (!pictures.empty()) parts.push_back(fmt::format("charts of {}", fmt::join(pictures, ", ")));
  if (!rows.empty()) parts.push_back(fmt::format("rows of {}", fmt::join(rows, ", ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

bool is_all_shown(const Block& block) {
  return block.has_picture == !block.picture.empty() && block.shown_rows == block.rows.size();
}

void fit(std::vector<Block>& blocks, std::size_t room) {
  for (Block& each : blocks) {
    each.has_picture = !each.picture.empty();
    each.shown_rows = each.rows.size();
  }
  if (lines_of(blocks) <= room) return;
  constexpr std::size_t hint_lines = 3;
  choose(blocks, room > hint_lines ? room - hint_lines : 0);
}

}  // namespace

Pictures pictures_of(const ProbeResult& result, const DeviceInfo& device) {
  Pictures pictures{.stacks = views_of(result.findings)};
  // A probe of stacks has no curve; one of curves may have stacks besides.
  if (!pictures.stacks.empty() && result.view.kind != ViewKind::curve) return pictures;
  pictures.maps = heat_maps_of(result, device);
  if (pictures.maps.empty()) pictures.chart = chart_without_map(result, device);
  return pictures;
}

void add_result_heading(Page& page, const ProbeResult& result, std::string_view what, Form form) {
  std::vector<Span> spans{{page.show(result.probe) + " ", Ink::heading}};
  const bool is_short = form == Form::brief && result.status == Status::ok;
  const std::string text = page.show(is_short ? points_text(result) : result_text(result));
  int rule = page.width() - display_width(spans[0].text) - display_width(text) - 1;
  if (result.status != Status::ok || rule < 3) {
    page.line(spans);
    const std::string shown =
        form == Form::brief ? beginning_of(text, page.width() - 4, page.show("…")) : text;
    page.prose("    ", shown, result.status == Status::ok ? Ink::faint : Ink::failure);
    return;
  }
  const std::string drawn = page.show(what) + " ";
  constexpr int min_rule = 2;
  if (!what.empty() && display_width(drawn) + min_rule <= rule) {
    spans.push_back({drawn});
    rule -= display_width(drawn);
  }
  std::string dashes;
  for (int i = 0; i < rule; ++i) dashes += page.is_unicode() ? "─" : "-";
  spans.push_back({dashes + " " + text, Ink::faint});
  page.line(spans);
}

void add_brief_blocks(Page& page, const Run& run, const TableStyle& style,
                      std::size_t hidden_levels) {
  constexpr std::size_t max_lines = 60;
  constexpr int usual_width = 80;
  const std::size_t most = page.width() < usual_width ? 2 * max_lines : max_lines;
  std::vector<Block> blocks;
  for (const ProbeResult& each : run.results) blocks.push_back(block_of(each, run.device, style));
  page.blank();
  const std::size_t used = lines_in(page.text());
  fit(blocks, most > used ? most - used : 0);
  for (const Block& each : blocks) {
    if (!each.is_shown()) continue;
    page.append(each.heading);
    if (each.has_picture) page.append(each.picture);
    for (std::size_t i = 0; i < each.shown_rows; ++i) page.append(each.rows[i]);
  }
  if (hidden_levels == 0 && std::all_of(blocks.begin(), blocks.end(), is_all_shown)) return;
  page.prose("not shown here: ", left_out(blocks, hidden_levels) + " (`clprobe report FILE PROBE`)",
             Ink::faint);
}

}  // namespace clprobe::report
