// SPDX-License-Identifier: Apache-2.0
// Sums of launches, the choice of typical launches, and the JSON between the layer and clprobe: the
// survey of a process, and the launches to capture. The reader checks all values, because another
// program's process writes the survey.
#include "profile/api/survey.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "clprobe/words.hpp"

namespace clprobe::survey {

using Json = nlohmann::json;

// Conversions of types; nlohmann looks for them in the namespace of each type.
void to_json(Json& json, ProgramKind kind);
void from_json(const Json& json, ProgramKind& kind);
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Process, id, name)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClockCheck, host_min_ns, host_max_ns, event_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Program, hash, kind)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Signature, kernel, program, device, dimensions, global, local)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Sum, launches, timed, total_ns, min_ns, max_ns, estimated)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimedLaunch, ordinal, ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Row, signature, sum, uses_svm, typical)

void to_json(Json& json, ProgramKind kind) { json = to_word(kind); }

void from_json(const Json& json, ProgramKind& kind) {
  const std::optional<ProgramKind> known = program_kind_from_word(json.get<std::string>());
  if (!known) throw FormatError("a survey has an unknown kind of program");
  kind = *known;
}

namespace {

constexpr std::array gap_rows{
    GapRow{Gap::no_profiling, "no-profiling", "launch", "launches", "in queues without profiling"},
    GapRow{Gap::bad_times, "bad-times", "launch", "launches",
           "whose event times were missing or reversed"},
    GapRow{Gap::failed, "failed", "launch", "launches", "that failed on the device"},
    GapRow{Gap::unfinished, "unfinished", "launch", "launches",
           "unfinished when the program ended"},
    GapRow{Gap::too_few_times, "too-few-times", "launch", "launches",
           "in rows with fewer than two timed launches"},
    GapRow{Gap::too_many_waiting, "too-many-waiting", "launch", "launches",
           "after too many unfinished launches"},
    GapRow{Gap::lost, "lost", "launch", "launches", "that clprobe had no memory to record"},
    GapRow{Gap::refused, "refused", "launch", "launches", "that the driver refused"},
    GapRow{Gap::unnamed, "unnamed", "launch", "launches", "of kernels beyond the first 10,000"},
    GapRow{Gap::host_function, "host-function", "function", "functions",
           "of the host (clEnqueueNativeKernel)"},
    GapRow{Gap::device_queue, "device-queue", "queue", "queues",
           "on the device, and the launches that kernels make there"},
    GapRow{Gap::extension, "extension", "extension function", "extension functions",
           "for kernel launches, and all launches made this way"},
};

constexpr std::array kind_words{
    Word{ProgramKind::source, "source"}, Word{ProgramKind::binary, "binary"},
    Word{ProgramKind::intermediate, "il"}, Word{ProgramKind::built_in, "built-in"},
    Word{ProgramKind::unknown, "unknown"}};

/// Returns the sum of `a` and `b`, or the maximum number on overflow, because a driver may report
/// any number as a time.
std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return b > most - a ? most : a + b;
}

// Limits of the reader (inclusive), above those of the layer. The layer writes at most 20,000 rows
// of a few kB each.
constexpr std::size_t max_rows = 100'000;
constexpr std::size_t max_wanted = 100;

/// Returns the document on one line, in ASCII. Bytes that are not valid UTF-8 become U+FFFD.
std::string one_line(const Json& document) {
  return document.dump(-1, ' ', true, Json::error_handler_t::replace);
}

/// Parses a text and returns the result of `read` for the document. Errors of nlohmann are thrown
/// as FormatError.
template <typename Read>
auto read_document(std::string_view text, const Json::parser_callback_t& check, const Read& read) {
  try {
    return read(Json::parse(text, check));
  } catch (const Json::parse_error&) {
    throw FormatError("a survey is truncated, or is not JSON");
  } catch (const Json::exception&) {
    throw FormatError("a survey lacks a value, or has a value of the wrong type");
  }
}

/// Throws FormatError for negative and fractional numbers and for numbers beyond 64 bits, because
/// nlohmann would convert them.
bool expect_counts(int /*depth*/, Json::parse_event_t /*event*/, const Json& value) {
  if (value.is_number() && !value.is_number_unsigned()) {
    throw FormatError("a survey has a number that is not a count");
  }
  return true;
}

void expect_sound(const Row& row) {
  if (row.signature.dimensions > 3) {
    throw FormatError("a survey has a launch of more than three dimensions");
  }
  if (row.sum.timed > row.sum.launches) {
    throw FormatError("a survey has more times than launches");
  }
  if (row.sum.estimated > row.sum.launches - row.sum.timed) {
    throw FormatError("a survey has more times and estimates than launches");
  }
}

Gap gap_from_word(std::string_view word) {
  const std::span<const GapRow> gaps = all_gaps();
  const auto found =
      std::find_if(gaps.begin(), gaps.end(), [&](const GapRow& each) { return each.word == word; });
  if (found == gaps.end()) throw FormatError("a survey has an unknown reason");
  return found->gap;
}

}  // namespace

std::span<const GapRow> all_gaps() { return gap_rows; }

std::string_view to_word(ProgramKind kind) { return word_in(kind_words, kind); }

std::optional<ProgramKind> program_kind_from_word(std::string_view word) {
  return value_in(kind_words, word);
}

void Sum::add_time(std::uint64_t ns) { add({0, 1, ns, ns, ns}); }

void Sum::add(const Sum& other) {
  launches = saturating_sum(launches, other.launches);
  if (other.timed == 0) return;
  min_ns = timed == 0 ? other.min_ns : std::min(min_ns, other.min_ns);
  max_ns = std::max(max_ns, other.max_ns);
  timed = saturating_sum(timed, other.timed);
  estimated = saturating_sum(estimated, other.estimated);
  total_ns = saturating_sum(total_ns, other.total_ns);
}

Sum Survey::total() const {
  Sum sum;
  for (const Row& row : rows) sum.add(row.sum);
  return sum;
}

TimedLaunch typical_launch(std::span<const TimedLaunch> launches) {
  constexpr double near = 1.25;
  TimedLaunch typical = launches.empty() ? TimedLaunch{} : launches.front();
  TimedLaunch longest{};
  double total_ns = 0.0;
  double count = 0.0;
  for (const TimedLaunch& each : launches) {
    if (each.ordinal == 1 && launches.size() > 1) continue;
    if (each.ns > longest.ns) longest = each;
    total_ns += static_cast<double>(each.ns);
    ++count;
  }
  // Distance from the mean as a factor. All times within a factor of 1.25 have equal distances.
  const auto distance = [&](const TimedLaunch& launch) {
    const double ratio = std::max(1.0, static_cast<double>(launch.ns)) * count / total_ns;
    return std::max({ratio, 1.0 / ratio, near});
  };
  if (total_ns <= 0.0) return typical;
  // One of two or three launches often takes most of the time, so the longest launch must also
  // exceed twice the mean.
  const auto longest_ns = static_cast<double>(longest.ns);
  if (longest_ns > total_ns / 2.0 && longest_ns * count > 2.0 * total_ns) return longest;
  std::pair best{std::numeric_limits<double>::infinity(), std::uint64_t{0}};
  for (const TimedLaunch& each : launches) {
    const std::pair rank{distance(each), each.ordinal};
    if ((each.ordinal == 1 && launches.size() > 1) || rank >= best) continue;
    best = rank;
    typical = each;
  }
  return typical;
}

void Merged::add(const Survey& other) {
  Survey& into = survey_;
  if (other.clock.host_min_ns > into.clock.host_min_ns) into.clock = other.clock;
  into.processes.insert(into.processes.end(), other.processes.begin(), other.processes.end());
  for (const Row& row : other.rows) {
    const auto [found, is_new] = indices_.emplace(row.signature, into.rows.size());
    if (is_new) into.rows.push_back({.signature = row.signature});
    Row& same = into.rows[found->second];
    if (row.sum.total_ns > same.sum.total_ns) same.typical = row.typical;
    same.sum.add(row.sum);
    same.uses_svm = same.uses_svm || row.uses_svm;
  }
  for (const auto& [gap, count] : other.gaps) {
    into.gaps[gap] = saturating_sum(into.gaps[gap], count);
  }
}

void sort_by_time(Survey& survey) {
  std::sort(survey.rows.begin(), survey.rows.end(), [](const Row& a, const Row& b) {
    if (a.sum.total_ns != b.sum.total_ns) return a.sum.total_ns > b.sum.total_ns;
    if (a.sum.launches != b.sum.launches) return a.sum.launches > b.sum.launches;
    // The order of equal times is fixed, so that equal runs give equal tables.
    return a.signature < b.signature;
  });
}

std::vector<Kernel> kernels_of(std::span<const Row> rows) {
  std::map<std::tuple<std::string, Program, std::string>, std::size_t> indices;
  std::vector<Kernel> kernels;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Signature& of = rows[i].signature;
    const auto [found, is_new] =
        indices.emplace(std::tuple{of.kernel, of.program, of.device}, kernels.size());
    if (is_new) kernels.emplace_back();
    kernels[found->second].rows.push_back(i);
    kernels[found->second].sum.add(rows[i].sum);
  }
  std::stable_sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) {
    return a.sum.total_ns > b.sum.total_ns;
  });
  return kernels;
}

std::size_t count_main_kernels(std::span<const Kernel> kernels) {
  constexpr double main_share = 0.8;
  constexpr std::size_t max_main_kernels = 3;
  double total_ns = 0.0;
  for (const Kernel& each : kernels) total_ns += static_cast<double>(each.sum.total_ns);
  double so_far_ns = 0.0;
  std::size_t count = 0;
  while (count < std::min(kernels.size(), max_main_kernels) && so_far_ns < main_share * total_ns) {
    so_far_ns += static_cast<double>(kernels[count].sum.total_ns);
    ++count;
  }
  return count;
}

std::vector<KernelShare> kernel_shares(std::span<const Row> rows) {
  std::vector<KernelShare> shares(rows.size());
  const std::vector<Kernel> kernels = kernels_of(rows);
  Sum total;
  for (const Kernel& each : kernels) total.add(each.sum);
  const std::size_t main_kernels = count_main_kernels(kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const KernelShare share{kernels[i].sum.share_of(total), i < main_kernels};
    for (const std::size_t row : kernels[i].rows) shares[row] = share;
  }
  return shares;
}

std::size_t typical_row(std::span<const Row> rows, const Kernel& kernel) {
  const auto items_of = [](const Signature& of) {
    double items = 1.0;
    for (std::uint32_t i = 0; i < of.dimensions; ++i) items *= static_cast<double>(of.global.at(i));
    return items;
  };
  double items = 0.0;
  double launches = 0.0;
  for (const std::size_t index : kernel.rows) {
    const Row& row = rows[index];
    if (row.signature.dimensions == 0) continue;
    if (row.sum.total_ns > kernel.sum.total_ns / 2) return index;
    items += items_of(row.signature) * static_cast<double>(row.sum.launches);
    launches += static_cast<double>(row.sum.launches);
  }
  const auto order = [&](std::size_t index) {
    const Signature& of = rows[index].signature;
    return std::tuple{of.dimensions == 0, std::abs(items_of(of) - items / launches), of};
  };
  return *std::min_element(kernel.rows.begin(), kernel.rows.end(),
                           [&](std::size_t a, std::size_t b) { return order(a) < order(b); });
}

double event_clock_factor(const ClockCheck& clock) {
  constexpr std::uint64_t min_host_ns = 5'000'000;
  constexpr double tolerance = 1.3;
  if (clock.host_min_ns < min_host_ns || clock.host_max_ns < clock.host_min_ns) return 1.0;
  const double event_ns = std::max(1.0, static_cast<double>(clock.event_ns));
  const double min_factor = static_cast<double>(clock.host_min_ns) / event_ns;
  const double max_factor = static_cast<double>(clock.host_max_ns) / event_ns;
  if (min_factor > tolerance) return min_factor;
  return max_factor * tolerance < 1.0 ? max_factor : 1.0;
}

bool has_doubtful_times(const Survey& survey) {
  // Minimum time of a kernel in ns, because starting a work-group takes longer on any device.
  constexpr std::uint64_t shortest_kernel_ns = 10;
  const Sum total = survey.total();
  return total.timed > 0 &&
         (total.max_ns < shortest_kernel_ns || event_clock_factor(survey.clock) != 1.0);
}

std::string to_text(const Survey& survey) {
  Json gaps = Json::object();
  for (const auto& [gap, count] : survey.gaps) {
    gaps[std::string(all_gaps()[static_cast<std::size_t>(gap)].word)] = count;
  }
  return one_line({{"processes", survey.processes},
                   {"clock", survey.clock},
                   {"rows", survey.rows},
                   {"gaps", std::move(gaps)}});
}

Survey from_text(std::string_view text) {
  return read_document(text, expect_counts, [](const Json& document) {
    if (document.at("rows").size() > max_rows) throw FormatError("a survey has too many rows");
    Survey survey{.processes = document.at("processes"),
                  .rows = document.at("rows"),
                  .clock = document.at("clock")};
    for (const Row& each : survey.rows) expect_sound(each);
    for (const auto& [word, count] : document.at("gaps").items()) {
      survey.gaps[gap_from_word(word)] = count.get<std::uint64_t>();
    }
    return survey;
  });
}

std::string to_utf8(std::string_view text) { return Json::parse(one_line(text)); }

std::string wanted_to_text(std::span<const Wanted> wanted) {
  Json list = Json::array();
  for (const Wanted& each : wanted) {
    list.push_back({{"kernel", each.kernel},
                    {"ordinal", each.ordinal},
                    {"launches", each.launches},
                    {"share", each.share},
                    {"mean_ns", each.mean_ns}});
    if (each.signature) list.back()["signature"] = *each.signature;
  }
  return one_line(list);
}

std::vector<Wanted> wanted_from_text(std::string_view text) {
  return read_document(text, nullptr, [](const Json& list) {
    if (!list.is_array()) throw FormatError("the text is not a list of launches");
    if (list.size() > max_wanted) throw FormatError("a list of launches is too long");
    std::vector<Wanted> all;
    all.reserve(list.size());
    for (const Json& each : list) {
      Wanted wanted{.kernel = each.at("kernel"),
                    .ordinal = each.at("ordinal"),
                    .launches = each.at("launches"),
                    .share = each.at("share"),
                    .mean_ns = each.at("mean_ns")};
      if (each.contains("signature")) wanted.signature = each.at("signature").get<Signature>();
      all.push_back(std::move(wanted));
    }
    return all;
  });
}

}  // namespace clprobe::survey
