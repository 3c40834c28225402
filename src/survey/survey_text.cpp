// SPDX-License-Identifier: Apache-2.0
// The file that a surveyed process leaves. It is written in somebody else's process, so that
// nothing is taken for granted when it is read.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

#include "clprobe/survey.hpp"

namespace clprobe::survey {
namespace {

constexpr std::string_view first_line = "clprobe-survey\t1";
constexpr std::string_view last_line = "end";
// What the layer writes has at most 20,000 rows and a few kB in each.
constexpr std::size_t max_rows = 100'000;
constexpr std::size_t max_fields = 18;

constexpr bool is_plain(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte >= 0x20 && byte < 0x7f && letter != '\\';
}

std::string escaped(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string safe;
  for (const char letter : text) {
    if (is_plain(letter)) {
      safe += letter;
      continue;
    }
    const auto byte = static_cast<unsigned char>(letter);
    safe += "\\x";
    safe += digits[byte >> 4U];
    safe += digits[byte & 0xfU];
  }
  return safe;
}

std::uint64_t read_number(std::string_view text, int base = 10) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc{} || rest != end) throw FormatError("a survey has no number in its place");
  return number;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      plain += text[i];
      continue;
    }
    if (text.substr(i, 2) != "\\x" || i + 4 > text.size()) {
      throw FormatError("a survey has a backslash without a code");
    }
    plain += static_cast<char>(read_number(text.substr(i + 2, 2), 16));
    i += 3;
  }
  return plain;
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 16> digits{};
  char* const begin = digits.data();
  return {begin, std::to_chars(begin, begin + digits.size(), number, 16).ptr};
}

using Fields = std::vector<std::string_view>;

Fields split(std::string_view line) {
  Fields fields;
  while (fields.size() < max_fields) {
    const std::size_t tab = line.find('\t');
    fields.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) break;
    line.remove_prefix(tab + 1);
  }
  return fields;
}

void check_count(const Fields& fields, std::size_t count) {
  if (fields.size() != count) throw FormatError("a survey has a line of another length");
}

std::string line_of(const Row& row) {
  const Signature& of = row.signature;
  std::string line = "row\t" + escaped(of.kernel) + '\t' + hexadecimal(of.program.hash) + '\t' +
                     std::string(to_word(of.program.kind)) + '\t' + escaped(of.device) + '\t' +
                     std::to_string(of.dimensions);
  for (const Sizes& sizes : {of.global, of.local}) {
    for (const std::uint64_t size : sizes) line += '\t' + std::to_string(size);
  }
  const Sum& sum = row.sum;
  for (const std::uint64_t number : {sum.launches, sum.timed, sum.total_ns, sum.min_ns, sum.max_ns,
                                     std::uint64_t{row.uses_svm ? 1U : 0U}}) {
    line += '\t' + std::to_string(number);
  }
  return line + '\n';
}

ProgramKind read_kind(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(ProgramKind::unknown); ++i) {
    if (to_word(static_cast<ProgramKind>(i)) == word) return static_cast<ProgramKind>(i);
  }
  throw FormatError("a survey has an unknown kind of program");
}

Row read_row(const Fields& fields) {
  check_count(fields, max_fields);
  std::size_t next = 1;
  const auto number = [&] { return read_number(fields[next++]); };
  Row row;
  row.signature.kernel = unescaped(fields[next++]);
  row.signature.program.hash = read_number(fields[next++], 16);
  row.signature.program.kind = read_kind(fields[next++]);
  row.signature.device = unescaped(fields[next++]);
  const std::uint64_t dimensions = number();
  if (dimensions > 3) throw FormatError("a survey has a launch of more than three dimensions");
  row.signature.dimensions = static_cast<std::uint32_t>(dimensions);
  for (std::uint64_t& size : row.signature.global) size = number();
  for (std::uint64_t& size : row.signature.local) size = number();
  row.sum = {number(), number(), number(), number(), number()};
  if (row.sum.timed > row.sum.launches) {
    throw FormatError("a survey has more times than launches");
  }
  row.uses_svm = number() != 0;
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
    if (is_first != (line == first_line)) throw FormatError("a file is no survey");
    if (line == last_line && text.empty()) return survey;
    if (!is_first) read_line(split(line), survey);
    is_first = false;
  }
  throw FormatError("a survey is cut short");
}

}  // namespace clprobe::survey
