// SPDX-License-Identifier: Apache-2.0
// The file that a surveyed process leaves. It is written in somebody else's process, so that
// nothing is taken for granted when it is read.
#include <algorithm>
#include <iterator>
#include <string>

#include "clprobe/survey.hpp"
#include "survey/fields_text.hpp"

namespace clprobe::survey {
namespace {

constexpr std::string_view first_line = "clprobe-survey\t1";
constexpr std::string_view last_line = "end";
// What the layer writes has at most 20,000 rows and a few kB in each.
constexpr std::size_t max_rows = 100'000;
constexpr std::size_t row_fields = 21;

std::string line_of(const Row& row) {
  std::string line = "row\t" + escaped(row.signature.kernel) + signature_fields(row.signature);
  const Sum& sum = row.sum;
  for (const std::uint64_t number :
       {sum.launches, sum.timed, sum.total_ns, sum.min_ns, sum.max_ns, sum.estimated,
        std::uint64_t{row.uses_svm ? 1U : 0U}, row.typical.ordinal, row.typical.ns}) {
    line += '\t' + std::to_string(number);
  }
  return line + '\n';
}

Row read_row(const Fields& fields) {
  check_count(fields, row_fields);
  std::size_t next = 1;
  const auto number = [&] { return read_number(fields[next++]); };
  Row row;
  const std::string kernel = unescaped(fields[next++]);
  row.signature = read_signature(kernel, fields, next);
  row.sum = {number(), number(), number(), number(), number(), number()};
  if (row.sum.timed > row.sum.launches) {
    throw FormatError("a survey has more times than launches");
  }
  if (row.sum.estimated > row.sum.launches - row.sum.timed) {
    throw FormatError("a survey has more times and estimates than launches");
  }
  row.uses_svm = number() != 0;
  row.typical = {number(), number()};
  return row;
}

void read_gap(const Fields& fields, Survey& survey) {
  check_count(fields, 3);
  const std::span<const GapRow> gaps = all_gaps();
  const auto found = std::find_if(gaps.begin(), gaps.end(),
                                  [&](const GapRow& each) { return each.word == fields[1]; });
  if (found == gaps.end()) throw FormatError("a survey has an unknown reason");
  survey.gaps[found->gap] = read_number(fields[2]);
}

void read_line(const Fields& fields, Survey& survey) {
  if (fields[0] == "row") {
    if (survey.rows.size() == max_rows) throw FormatError("a survey has too many rows");
    survey.rows.push_back(read_row(fields));
  } else if (fields[0] == "gap") {
    read_gap(fields, survey);
  } else if (fields[0] == "clock") {
    check_count(fields, 4);
    survey.clock = {read_number(fields[1]), read_number(fields[2]), read_number(fields[3])};
  } else if (fields[0] == "process") {
    check_count(fields, 3);
    survey.processes.push_back({read_number(fields[1]), unescaped(fields[2])});
  } else {
    throw FormatError("a survey has a line of an unknown kind");
  }
}

}  // namespace

std::string to_text(const Survey& survey) {
  std::string text = std::string(first_line) + '\n';
  for (const Process& process : survey.processes) {
    text += "process\t" + std::to_string(process.id) + '\t' + escaped(process.name) + '\n';
  }
  if (survey.clock != ClockCheck{}) {
    text += "clock\t" + std::to_string(survey.clock.host_min_ns) + '\t' +
            std::to_string(survey.clock.host_max_ns) + '\t' +
            std::to_string(survey.clock.event_ns) + '\n';
  }
  for (const Row& row : survey.rows) text += line_of(row);
  for (const auto& [gap, count] : survey.gaps) {
    const std::string_view word = all_gaps()[static_cast<std::size_t>(gap)].word;
    text += "gap\t" + std::string(word) + '\t' + std::to_string(count) + '\n';
  }
  return text + std::string(last_line) + '\n';
}

Survey from_text(std::string_view text) {
  Survey survey;
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (is_first != (line == first_line)) throw FormatError("a file is not a survey");
    if (line == last_line && text.empty()) return survey;
    if (!is_first) read_line(split(line), survey);
    is_first = false;
  }
  throw FormatError("a survey is truncated");
}

}  // namespace clprobe::survey
