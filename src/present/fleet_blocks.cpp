// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "present/findings.hpp"
#include "present/fleet.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

using fleet::Deviation;
using fleet::Device;
using fleet::Distribution;
using fleet::Offender;
using fleet::Report;
using fleet::Standing;

// Rows of a table on a screen.
constexpr std::size_t usual_rows = 20;

Cell word(std::string text, Ink ink = Ink::plain) {
  return {.text = std::move(text), .is_number = false, .ink = ink};
}

Prose paragraph(std::string text, Ink ink = Ink::plain) {
  return {.text = std::move(text), .ink = ink, .is_paragraph = true};
}

Table offenders_table(const Report& report, std::span<const Offender> offenders) {
  Table table{.title = "Slow devices, worst first",
              .head = {"", "device", "number", "value", "fleet", "by", "how sure", "likely cause"},
              .names = 2};
  for (const Offender& each : offenders) {
    const Deviation& worst = each.worst;
    const Ink ink = worst.standing == Standing::slow ? Ink::failure : Ink::caution;
    table.rows.push_back({word(std::string(to_word(worst.standing)), ink),
                          word(place_text(report.devices[each.device])),
                          word(worst.name),
                          {.text = quantity_text(worst.value, worst.unit)},
                          {.text = quantity_text(worst.centre, worst.unit)},
                          {.text = loss_text(worst.loss)},
                          word(std::string(certainty_text(worst))),
                          word(each.cause)});
  }
  return table;
}

/// Returns a histogram from the smallest to the largest value.
std::string histogram(const Distribution& of) {
  constexpr std::size_t bins = 12;
  static constexpr std::array<std::string_view, 9> bars{" ", "▁", "▂", "▃", "▄",
                                                        "▅", "▆", "▇", "█"};
  const auto [least, most] = std::ranges::minmax(of.values);
  if (!(most > least)) return {};
  std::array<std::size_t, bins> counts{};
  for (const double value : of.values) {
    const double share = (value - least) / (most - least);
    ++counts[std::min(bins - 1, static_cast<std::size_t>(share * bins))];
  }
  const std::size_t highest = *std::ranges::max_element(counts);
  std::string text;
  for (const std::size_t count : counts) {
    text += bars[(count * (bars.size() - 1) + highest - 1) / highest];
  }
  return text;
}

/// Returns a row per number. "finds": the loss that would be found with 90 % probability.
Table distributions_table(const Report& report, bool is_whole) {
  Table table{.title = "The fleet", .head = {"number", "median", "5 %", "95 %", "finds"}};
  if (is_whole) table.head.insert(table.head.end(), {"worst", "devices", ""});
  const bool has_kinds = report.kinds.size() > 1;
  for (const Distribution& each : report.distributions) {
    const auto text = [&](double value) { return Cell{.text = quantity_text(value, each.unit)}; };
    std::string name = has_kinds ? fmt::format("{}, {}", each.kind, each.name) : each.name;
    const std::string found =
        each.detectable > 0.0 ? fmt::format("{:.1f} %", 100.0 * std::expm1(each.detectable)) : "";
    std::vector<Cell> row{word(std::move(name)), text(each.median), text(each.low), text(each.high),
                          Cell{.text = found}};
    if (is_whole) {
      row.push_back(text(each.worst));
      row.push_back({.text = fmt::format("{}", each.values.size())});
      row.push_back(word(histogram(each)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_lists(const Report& report, std::vector<Block>& blocks) {
  if (!report.missing.empty()) {
    blocks.emplace_back(Prose{.lead = "missing nodes",
                              .text = fleet::compress_hosts(report.missing),
                              .ink = Ink::failure});
  }
  if (report.missing_devices > 0) {
    blocks.emplace_back(Prose{.lead = "missing",
                              .text = format_count(report.missing_devices, "device"),
                              .ink = Ink::failure});
  }
  for (const fleet::BadFile& each : report.failed) {
    blocks.emplace_back(Prose{.lead = "failed",
                              .text = fmt::format("{}: {}", each.file, each.reason),
                              .ink = Ink::failure});
  }
  for (const fleet::Remark& each : report.remarks) {
    blocks.emplace_back(Prose{.lead = each.about, .text = each.text, .ink = Ink::caution});
  }
  for (const fleet::Kind& each : report.kinds) {
    if (each.note.empty()) continue;
    blocks.emplace_back(Prose{.lead = format_count(each.devices.size(), "device"),
                              .text = fmt::format("{}: {}", each.name, each.note)});
  }
}

}  // namespace

std::string fleet_summary(const Report& report) {
  const std::size_t missing = report.missing.size() + report.missing_devices;
  std::string text = fmt::format("{} of {}, {} missing, {} failed, {} slow, {} suspect",
                                 format_count(report.devices.size(), "device"),
                                 format_count(report.nodes, "node"), missing, report.failed.size(),
                                 report.count(Standing::slow), report.count(Standing::suspect));
  if (const std::size_t fast = report.count(Standing::fast); fast > 0) {
    text += fmt::format(", {} fast", fast);
  }
  return report.campaign.empty() ? text : fmt::format("{}: {}", report.campaign, text);
}

std::string place_text(const Device& device) {
  if (device.node.empty()) return device.uuid.empty() ? device.file : device.uuid;
  const std::string& slot = device.slot.empty() ? device.pci : device.slot;
  return slot.empty() ? device.node : fmt::format("{} slot {}", device.node, slot);
}

std::string loss_text(double loss) {
  return fmt::format("{:.1f} % {}", 100.0 * std::expm1(std::fabs(loss)),
                     loss > 0.0 ? "worse" : "better");
}

std::string_view certainty_text(const Deviation& deviation) {
  if (deviation.standing == Standing::unsure) return "may be noise";
  return deviation.is_sure ? "sure: two runs agree" : "measure again";
}

std::vector<Block> fleet_blocks(const Report& report, bool is_whole) {
  std::vector<Block> blocks;
  blocks.emplace_back(paragraph(fleet_summary(report), Ink::heading));
  const std::span<const Offender> all = report.offenders;
  const std::size_t shown = is_whole ? all.size() : std::min(usual_rows, all.size());
  if (shown > 0) {
    blocks.emplace_back(Heading{});
    blocks.emplace_back(offenders_table(report, all.first(shown)));
    if (shown < all.size()) {
      blocks.emplace_back(paragraph(
          fmt::format("-v also shows {}", format_count(all.size() - shown, "device")), Ink::faint));
    }
  }
  blocks.emplace_back(Heading{});
  add_lists(report, blocks);
  if (!report.distributions.empty()) {
    blocks.emplace_back(Heading{});
    blocks.emplace_back(distributions_table(report, is_whole));
  }
  const std::string hosts = fleet::offending_hosts(report, false);
  blocks.emplace_back(Heading{});
  blocks.emplace_back(paragraph(hosts.empty() ? "no offending nodes" : hosts));
  return blocks;
}

std::string fleet_table(const Report& report, const TableStyle& style) {
  Page page(style);
  add_blocks(page, fleet_blocks(report, style.all_points), Form::usual);
  return page.text();
}

std::string fleet_markdown(const Report& report, const TableStyle& /*style*/) {
  return to_markdown(fleet_blocks(report, true));
}

}  // namespace clprobe::report
