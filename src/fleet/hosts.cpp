// SPDX-License-Identifier: Apache-2.0
// Host lists, as Slurm writes them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "fleet/api/fleet.hpp"
#include "text/api/text.hpp"

namespace clprobe::fleet {
namespace {

constexpr std::size_t max_hosts = 65'536;
constexpr std::string_view digits = "0123456789";

std::size_t parse_number(std::string_view text, std::string_view list) {
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    throw std::invalid_argument(
        fmt::format("{} is not a host list: write a[001-017,020]", quote(list)));
  }
  return number;
}

void add_host(std::vector<std::string>& hosts, std::string host) {
  if (host.empty()) return;
  if (hosts.size() >= max_hosts) {
    throw std::invalid_argument(fmt::format("a host list has at most {} nodes", max_hosts));
  }
  hosts.push_back(std::move(host));
}

/// Adds "PREFIX N SUFFIX" for each number of the ranges "001-017,020".
void add_ranges(std::vector<std::string>& hosts, std::string_view prefix, std::string_view ranges,
                std::string_view suffix) {
  while (true) {
    const std::string_view part = ranges.substr(0, ranges.find(','));
    const std::size_t dash = part.find('-');
    const std::string_view first = part.substr(0, dash);
    const std::size_t from = parse_number(first, ranges);
    const std::size_t to =
        dash == std::string_view::npos ? from : parse_number(part.substr(dash + 1), ranges);
    if (to < from || to - from >= max_hosts) parse_number("", ranges);
    for (std::size_t i = from; i <= to; ++i) {
      add_host(hosts, fmt::format("{}{:0{}}{}", prefix, i, first.size(), suffix));
    }
    if (part.size() == ranges.size()) return;
    ranges.remove_prefix(part.size() + 1);
  }
}

bool is_plain(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-';
  });
}

/// Returns a name's prefix, and the number at its end.
std::pair<std::string, std::string> split(const std::string& node) {
  const std::size_t end = node.find_last_not_of(digits);
  const std::size_t start = end == std::string::npos ? 0 : end + 1;
  return {node.substr(0, start), node.substr(start)};
}

/// Hosts with a common prefix and number of digits.
using Numbers = std::set<std::size_t>;

std::string ranges_text(const Numbers& numbers, std::size_t width) {
  std::string text;
  for (auto each = numbers.begin(); each != numbers.end();) {
    const std::size_t from = *each;
    std::size_t to = from;
    for (++each; each != numbers.end() && *each == to + 1; ++each) ++to;
    text += fmt::format("{}{:0{}}", text.empty() ? "" : ",", from, width);
    if (to > from) text += fmt::format("-{:0{}}", to, width);
  }
  return text;
}

}  // namespace

std::vector<std::string> expand_hosts(std::string_view list) {
  std::vector<std::string> hosts;
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const std::size_t comma = list.find(',', begin);
    const std::size_t open = list.find('[', begin);
    if (open == std::string_view::npos || comma < open) {
      const std::size_t end = std::min(comma, list.size());
      add_host(hosts, std::string(trimmed(list.substr(begin, end - begin))));
      begin = end + 1;
      continue;
    }
    const std::size_t close = list.find(']', open);
    if (close == std::string_view::npos) parse_number("", list);
    const std::size_t end = std::min(list.find(',', close), list.size());
    add_ranges(hosts, trimmed(list.substr(begin, open - begin)),
               list.substr(open + 1, close - open - 1),
               trimmed(list.substr(close + 1, end - close - 1)));
    begin = end + 1;
  }
  return hosts;
}

std::string compress_hosts(std::vector<std::string> nodes) {
  std::map<std::pair<std::string, std::size_t>, Numbers> groups;
  std::set<std::string> others;
  std::set<std::pair<std::string, std::size_t>> padded;
  for (const std::string& node : nodes) {
    const auto [prefix, number] = split(node);
    if (number.starts_with('0')) padded.emplace(prefix, number.size());
  }
  for (std::string& node : nodes) {
    if (!is_plain(node)) continue;
    const auto [prefix, number] = split(node);
    constexpr std::size_t max_digits = 9;
    if (number.empty() || number.size() > max_digits) {
      others.insert(std::move(node));
    } else {
      // Numbers share a group whatever their length, unless some have leading zeros.
      const bool is_padded = padded.contains({prefix, number.size()});
      groups[{prefix, is_padded ? number.size() : 1}].insert(parse_number(number, node));
    }
  }
  std::vector<std::string> parts(others.begin(), others.end());
  for (const auto& [key, numbers] : groups) {
    const std::string text = ranges_text(numbers, key.second);
    parts.push_back(numbers.size() == 1 ? key.first + text
                                        : fmt::format("{}[{}]", key.first, text));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string offending_hosts(const Report& report, bool with_suspects) {
  std::vector<std::string> nodes = report.missing;
  for (const Offender& each : report.offenders) {
    const Standing standing = each.worst.standing;
    const bool counts =
        standing == Standing::slow || (with_suspects && standing == Standing::suspect);
    if (counts) nodes.push_back(report.devices[each.device].node);
  }
  for (const BadFile& each : report.failed) nodes.push_back(each.node);
  return compress_hosts(std::move(nodes));
}

}  // namespace clprobe::fleet
