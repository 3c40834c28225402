// SPDX-License-Identifier: Apache-2.0
// Text between the layer and clprobe: the survey that a process leaves, and what it is to capture.
// A record is a line of fields between tabs. Surveys are written in somebody else's process, so
// that nothing is taken for granted when they are read.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "clprobe/survey.hpp"

namespace clprobe::survey {
namespace {

constexpr std::string_view first_of_survey = "clprobe-survey\t1";
constexpr std::string_view first_of_wanted = "clprobe-wanted\t1";
constexpr std::string_view last_line = "end";
// What the layer writes has at most 20,000 rows and a few kB in each.
constexpr std::size_t max_rows = 100'000;
constexpr std::size_t max_wanted = 100;
constexpr double parts_per_million = 1e6;

constexpr bool is_plain(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte >= 0x20 && byte < 0x7f && letter != '\\';
}

/// A line that is being written.
class Line {
 public:
  explicit Line(std::string_view kind) : text_(kind) {}

  /// Without tabs and line ends, in ASCII.
  Line& add(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    text_ += '\t';
    for (const char letter : text) {
      if (is_plain(letter)) {
        text_ += letter;
        continue;
      }
      const auto byte = static_cast<unsigned char>(letter);
      text_ += "\\x";
      text_ += digits[byte >> 4U];
      text_ += digits[byte & 0xfU];
    }
    return *this;
  }

  Line& add(std::uint64_t number) {
    text_ += '\t' + std::to_string(number);
    return *this;
  }

  /// All but the kernel's name.
  Line& add(const Signature& of) {
    add(of.program.hash).add(to_word(of.program.kind)).add(of.device).add(of.dimensions);
    for (const Sizes& sizes : {of.global, of.local}) {
      for (const std::uint64_t size : sizes) add(size);
    }
    return *this;
  }

  [[nodiscard]] std::string text() const { return text_ + '\n'; }

 private:
  std::string text_;
};

std::uint64_t to_number(std::string_view text, int base) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc{} || rest != end) throw FormatError("a survey lacks a number");
  return number;
}

/// The fields of a line, read in their order. Throws FormatError, where there is none left, too.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  [[nodiscard]] bool is_at_end() const { return is_at_end_; }

  std::string_view word() {
    if (is_at_end_) throw FormatError("a survey has a line of the wrong length");
    const std::size_t tab = rest_.find('\t');
    const std::string_view field = rest_.substr(0, tab);
    is_at_end_ = tab == std::string_view::npos;
    if (!is_at_end_) rest_.remove_prefix(tab + 1);
    return field;
  }

  std::uint64_t number() { return to_number(word(), 10); }

  std::string text() {
    const std::string_view field = word();
    std::string plain;
    for (std::size_t i = 0; i < field.size(); ++i) {
      if (field[i] != '\\') {
        plain += field[i];
        continue;
      }
      if (field.substr(i, 2) != "\\x" || i + 4 > field.size()) {
        throw FormatError("a survey has a backslash without a code");
      }
      plain += static_cast<char>(to_number(field.substr(i + 2, 2), 16));
      i += 3;
    }
    return plain;
  }

  Signature signature(const std::string& kernel) {
    Signature of{.kernel = kernel};
    of.program.hash = number();
    of.program.kind = kind();
    of.device = text();
    const std::uint64_t dimensions = number();
    if (dimensions > 3) throw FormatError("a survey has a launch of more than three dimensions");
    of.dimensions = static_cast<std::uint32_t>(dimensions);
    for (Sizes* const sizes : {&of.global, &of.local}) {
      for (std::uint64_t& size : *sizes) size = number();
    }
    return of;
  }

 private:
  ProgramKind kind() {
    const std::string_view word = this->word();
    for (int i = 0; i <= static_cast<int>(ProgramKind::unknown); ++i) {
      if (to_word(static_cast<ProgramKind>(i)) == word) return static_cast<ProgramKind>(i);
    }
    throw FormatError("a survey has an unknown kind of program");
  }

  std::string_view rest_;
  bool is_at_end_{false};
};

/// Calls `read` with the fields of each line after the first one.
template <typename Read>
void for_each_line(std::string_view text, std::string_view first_line, const Read& read) {
  bool is_first = true;
  do {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (end == std::string_view::npos) throw FormatError("a survey is truncated");
    if (is_first != (line == first_line)) throw FormatError("a file is not a survey");
    text.remove_prefix(end + 1);
    if (!is_first) {
      Fields fields(line);
      read(fields);
      if (!fields.is_at_end()) throw FormatError("a survey has a line of the wrong length");
    }
    is_first = false;
  } while (!text.empty());
}

Row read_row(Fields& fields) {
  Row row;
  const std::string kernel = fields.text();
  row.signature = fields.signature(kernel);
  Sum& sum = row.sum;
  for (std::uint64_t* const number :
       {&sum.launches, &sum.timed, &sum.total_ns, &sum.min_ns, &sum.max_ns, &sum.estimated}) {
    *number = fields.number();
  }
  if (row.sum.timed > row.sum.launches) {
    throw FormatError("a survey has more times than launches");
  }
  if (row.sum.estimated > row.sum.launches - row.sum.timed) {
    throw FormatError("a survey has more times and estimates than launches");
  }
  row.uses_svm = fields.number() != 0;
  row.typical.ordinal = fields.number();
  row.typical.ns = fields.number();
  return row;
}

Gap read_gap(Fields& fields) {
  const std::string_view word = fields.word();
  const std::span<const GapRow> gaps = all_gaps();
  const auto found =
      std::find_if(gaps.begin(), gaps.end(), [&](const GapRow& each) { return each.word == word; });
  if (found == gaps.end()) throw FormatError("a survey has an unknown reason");
  return found->gap;
}

void read_record(std::string_view kind, Fields& fields, Survey& survey) {
  if (kind == "row") {
    if (survey.rows.size() == max_rows) throw FormatError("a survey has too many rows");
    survey.rows.push_back(read_row(fields));
  } else if (kind == "gap") {
    const Gap gap = read_gap(fields);
    survey.gaps[gap] = fields.number();
  } else if (kind == "clock") {
    ClockCheck& clock = survey.clock;
    for (std::uint64_t* const ns : {&clock.host_min_ns, &clock.host_max_ns, &clock.event_ns}) {
      *ns = fields.number();
    }
  } else if (kind == "process") {
    const std::uint64_t id = fields.number();
    survey.processes.push_back({id, fields.text()});
  } else {
    throw FormatError("a survey has a line of an unknown kind");
  }
}

}  // namespace

std::string to_text(const Survey& survey) {
  std::string text = std::string(first_of_survey) + '\n';
  for (const Process& process : survey.processes) {
    text += Line("process").add(process.id).add(process.name).text();
  }
  if (const ClockCheck& clock = survey.clock; clock != ClockCheck{}) {
    text += Line("clock").add(clock.host_min_ns).add(clock.host_max_ns).add(clock.event_ns).text();
  }
  for (const Row& row : survey.rows) {
    Line line("row");
    line.add(row.signature.kernel).add(row.signature);
    const Sum& sum = row.sum;
    for (const std::uint64_t number :
         {sum.launches, sum.timed, sum.total_ns, sum.min_ns, sum.max_ns, sum.estimated,
          std::uint64_t{row.uses_svm ? 1U : 0U}, row.typical.ordinal, row.typical.ns}) {
      line.add(number);
    }
    text += line.text();
  }
  for (const auto& [gap, count] : survey.gaps) {
    text += Line("gap").add(all_gaps()[static_cast<std::size_t>(gap)].word).add(count).text();
  }
  return text + std::string(last_line) + '\n';
}

Survey from_text(std::string_view text) {
  Survey survey;
  bool is_whole = false;
  for_each_line(text, first_of_survey, [&](Fields& fields) {
    const std::string_view kind = fields.word();
    if (is_whole) throw FormatError("a survey goes on after its end");
    is_whole = kind == last_line;
    if (!is_whole) read_record(kind, fields, survey);
  });
  if (!is_whole) throw FormatError("a survey is truncated");
  return survey;
}

std::string wanted_to_text(std::span<const Wanted> wanted) {
  std::string text = std::string(first_of_wanted) + '\n';
  for (const Wanted& each : wanted) {
    Line line("wanted");
    line.add(each.kernel).add(each.ordinal).add(each.launches);
    line.add(static_cast<std::uint64_t>(std::llround(each.share * parts_per_million)));
    line.add(static_cast<std::uint64_t>(std::llround(each.mean_ns)));
    if (each.signature) line.add(*each.signature);
    text += line.text();
  }
  return text;
}

std::vector<Wanted> wanted_from_text(std::string_view text) {
  std::vector<Wanted> all;
  for_each_line(text, first_of_wanted, [&](Fields& fields) {
    if (all.size() == max_wanted) throw FormatError("a list of launches is too long");
    if (fields.word() != "wanted") throw FormatError("a list has a line of an unknown kind");
    Wanted wanted{.kernel = fields.text()};
    wanted.ordinal = fields.number();
    wanted.launches = fields.number();
    wanted.share = static_cast<double>(fields.number()) / parts_per_million;
    wanted.mean_ns = static_cast<double>(fields.number());
    if (!fields.is_at_end()) wanted.signature = fields.signature(wanted.kernel);
    all.push_back(std::move(wanted));
  });
  return all;
}

}  // namespace clprobe::survey
