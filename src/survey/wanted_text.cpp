// SPDX-License-Identifier: Apache-2.0
// What the layer is asked to capture, in the folder that CLPROBE_CAPTURE names.
#include <cmath>

#include "clprobe/survey.hpp"
#include "survey/fields_text.hpp"

namespace clprobe::survey {
namespace {

constexpr std::string_view first_line = "clprobe-wanted\t1";
constexpr std::size_t max_wanted = 100;
constexpr std::size_t plain_fields = 6;
constexpr double parts_per_million = 1e6;

Wanted read_wanted(const Fields& fields) {
  if (fields[0] != "wanted") throw FormatError("a list of launches has a line of an unknown kind");
  const bool has_signature = fields.size() > plain_fields;
  check_count(fields, plain_fields + (has_signature ? signature_field_count : 0));
  Wanted wanted;
  wanted.kernel = unescaped(fields[1]);
  wanted.ordinal = read_number(fields[2]);
  wanted.launches = read_number(fields[3]);
  wanted.share = static_cast<double>(read_number(fields[4])) / parts_per_million;
  wanted.mean_ns = static_cast<double>(read_number(fields[5]));
  std::size_t next = plain_fields;
  if (has_signature) wanted.signature = read_signature(wanted.kernel, fields, next);
  return wanted;
}

}  // namespace

std::string wanted_to_text(std::span<const Wanted> wanted) {
  std::string text = std::string(first_line) + '\n';
  for (const Wanted& each : wanted) {
    text += "wanted\t" + escaped(each.kernel) + '\t' + std::to_string(each.ordinal) + '\t' +
            std::to_string(each.launches) + '\t' +
            std::to_string(std::llround(each.share * parts_per_million)) + '\t' +
            std::to_string(std::llround(each.mean_ns));
    if (each.signature) text += signature_fields(*each.signature);
    text += '\n';
  }
  return text;
}

std::vector<Wanted> wanted_from_text(std::string_view text) {
  std::vector<Wanted> all;
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (end == std::string_view::npos || is_first != (line == first_line)) {
      throw FormatError(
          "the list of launches to capture is damaged: its header is missing or repeated, or its "
          "last line is incomplete");
    }
    text.remove_prefix(end + 1);
    if (all.size() == max_wanted) throw FormatError("a list of launches is too long");
    if (!is_first) all.push_back(read_wanted(split(line)));
    is_first = false;
  }
  if (is_first) throw FormatError("the list of launches to capture is empty");
  return all;
}

}  // namespace clprobe::survey
