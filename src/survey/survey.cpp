// SPDX-License-Identifier: Apache-2.0
#include "clprobe/survey.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace clprobe::survey {
namespace {

constexpr std::array gap_rows{
    GapRow{Gap::no_profiling, "no-profiling", "launch", "launches", "in queues without profiling"},
    GapRow{Gap::bad_times, "bad-times", "launch", "launches",
           "whose times the driver gave backwards or not"},
    GapRow{Gap::failed, "failed", "launch", "launches", "that failed on the device"},
    GapRow{Gap::unfinished, "unfinished", "launch", "launches",
           "that had not ended when the app did"},
    GapRow{Gap::too_few_times, "too-few-times", "launch", "launches",
           "that were not timed, beside fewer than two that were"},
    GapRow{Gap::too_many_waiting, "too-many-waiting", "launch", "launches",
           "behind too many that waited"},
    GapRow{Gap::lost, "lost", "launch", "launches", "for which there was no memory"},
    GapRow{Gap::refused, "refused", "launch", "launches", "that the driver refused"},
    GapRow{Gap::unnamed, "unnamed", "launch", "launches", "of kernels beyond the first 10,000"},
    GapRow{Gap::host_function, "host-function", "function", "functions",
           "of the host (clEnqueueNativeKernel)"},
    GapRow{Gap::device_queue, "device-queue", "queue", "queues",
           "on the device, and what kernels launch there"},
    GapRow{Gap::extension, "extension", "function", "functions",
           "of extensions that launch, and what they launched"},
};

constexpr std::array<std::string_view, 5> kind_words{"source", "binary", "il", "built-in",
                                                     "unknown"};

/// A driver may give any number as a time.
std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return b > most - a ? most : a + b;
}

}  // namespace

std::span<const GapRow> all_gaps() { return gap_rows; }

std::string_view to_word(ProgramKind kind) { return kind_words.at(static_cast<std::size_t>(kind)); }

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

void merge(Survey& into, const Survey& other) {
  into.processes.insert(into.processes.end(), other.processes.begin(), other.processes.end());
  std::map<Signature, std::size_t> places;
  for (std::size_t i = 0; i < into.rows.size(); ++i) places.emplace(into.rows[i].signature, i);
  for (const Row& row : other.rows) {
    const auto [found, is_new] = places.emplace(row.signature, into.rows.size());
    if (is_new) into.rows.push_back({.signature = row.signature});
    Row& same = into.rows[found->second];
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
    return a.signature < b.signature;  // the same run gives the same table
  });
}

std::size_t count_main_rows(std::span<const Row> rows) {
  constexpr double main_share = 0.8;
  constexpr std::size_t max_main_rows = 3;
  double total_ns = 0.0;
  for (const Row& row : rows) total_ns += static_cast<double>(row.sum.total_ns);
  double so_far_ns = 0.0;
  std::size_t count = 0;
  while (count < std::min(rows.size(), max_main_rows) && so_far_ns < main_share * total_ns) {
    so_far_ns += static_cast<double>(rows[count].sum.total_ns);
    ++count;
  }
  return count;
}

bool has_doubtful_times(const Survey& survey) {
  // To start a work-group takes longer on any device.
  constexpr std::uint64_t shortest_kernel_ns = 10;
  const Sum total = survey.total();
  return total.timed > 0 && total.max_ns < shortest_kernel_ns;
}

}  // namespace clprobe::survey
