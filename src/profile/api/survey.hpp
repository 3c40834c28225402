// SPDX-License-Identifier: Apache-2.0
// Survey: the kernels that an OpenCL program launched, with their device time. The loader layer
// counts launches inside the program, and `clprobe profile` prints the survey. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::survey {

/// Form from which a program object was created.
enum class ProgramKind { source, binary, intermediate, built_in, unknown };

/// Identity of a program: a hash of its text and build options. Handles do not identify a program,
/// because drivers reuse handles.
struct Program {
  std::uint64_t hash{0};
  ProgramKind kind{ProgramKind::unknown};

  friend auto operator<=>(const Program&, const Program&) = default;
};

using Sizes = std::array<std::uint64_t, 3>;

/// Signature of a launch. A survey has one row for all launches with equal signatures.
struct Signature {
  std::string kernel{};
  Program program{};
  std::string device{};
  /// Number of dimensions; 0: various sizes, for launches beyond the maximum number of rows.
  std::uint32_t dimensions{0};
  Sizes global{};  ///< number of work-items; 0 for unused dimensions
  Sizes local{};   ///< group size; 0 if the driver chose the group size

  friend auto operator<=>(const Signature&, const Signature&) = default;
};

/// Sums over the launches with one signature. Times are END - START of the launches' events.
struct Sum {
  std::uint64_t launches{0};  ///< launches that the driver accepted
  std::uint64_t timed{0};     ///< launches whose time is known
  std::uint64_t total_ns{0};
  std::uint64_t min_ns{0};
  std::uint64_t max_ns{0};
  /// Number of untimed launches that `total_ns` includes with the mean time of timed launches.
  std::uint64_t estimated{0};

  void add_time(std::uint64_t ns);
  void add(const Sum& other);
  /// Returns the mean time of timed and estimated launches in ns; 0 if no launch was timed.
  [[nodiscard]] double mean_ns() const {
    const auto count = static_cast<double>(timed) + static_cast<double>(estimated);
    return timed == 0 ? 0.0 : static_cast<double>(total_ns) / count;
  }
  /// Returns this sum's share of the device time of `all`, 0 to 1.
  [[nodiscard]] double share_of(const Sum& all) const {
    if (all.total_ns == 0) return 0.0;
    return static_cast<double>(total_ns) / static_cast<double>(all.total_ns);
  }
  friend bool operator==(const Sum&, const Sum&) = default;
};

struct TimedLaunch {
  /// Number of the launch among those with its signature in a process, from 1.
  std::uint64_t ordinal{0};
  std::uint64_t ns{0};

  friend bool operator==(const TimedLaunch&, const TimedLaunch&) = default;
};

struct Row {
  Signature signature{};
  Sum sum{};
  bool uses_svm{false};   ///< true if an argument pointed to shared virtual memory
  TimedLaunch typical{};  ///< launch to capture for this row; ordinal 0 if unknown

  friend bool operator==(const Row&, const Row&) = default;
};

/// Reason for an unknown device time. The rows include launches with gaps up to `too_many_waiting`
/// (inclusive), but not launches with later gaps.
enum class Gap {
  no_profiling,
  bad_times,
  failed,
  unfinished,
  too_few_times,
  too_many_waiting,
  lost,
  refused,
  unnamed,
  host_function,
  device_queue,
  extension,
};

struct GapRow {
  Gap gap;
  std::string_view word;  ///< word for the gap in files
  std::string_view noun;  ///< noun for the counted things, such as "launch"
  std::string_view plural;
  std::string_view reason;  ///< text that follows the number and the noun
};

/// Returns the descriptions of all gaps, in the order of the enumerators.
std::span<const GapRow> all_gaps();
constexpr bool is_of_launches(Gap gap) { return gap <= Gap::too_many_waiting; }

std::string_view to_word(ProgramKind kind);
std::optional<ProgramKind> program_kind_from_word(std::string_view word);

struct Process {
  std::uint64_t id{0};
  std::string name{};

  friend bool operator==(const Process&, const Process&) = default;
};

/// Times that a driver's event clock and the host's clock measured between the enqueuing of the
/// same two launches. All times are 0 if unknown.
struct ClockCheck {
  /// Time from the end of the first enqueue call to the start of the last.
  std::uint64_t host_min_ns{0};
  /// Time from the start of the first enqueue call to the end of the last.
  std::uint64_t host_max_ns{0};
  std::uint64_t event_ns{0};

  friend bool operator==(const ClockCheck&, const ClockCheck&) = default;
};

struct Survey {
  std::vector<Process> processes{};  ///< processes that loaded OpenCL
  std::vector<Row> rows{};
  std::map<Gap, std::uint64_t> gaps{};
  ClockCheck clock{};  ///< check over the longest time among all processes

  [[nodiscard]] Sum total() const;
  friend bool operator==(const Survey&, const Survey&) = default;
};

/// Returns the launch that represents `launches`: the longest launch, if it takes more than half of
/// the time and more than twice the mean. Otherwise returns the first launch within a factor of
/// 1.25 of the mean, or the launch nearest to the mean. The launch with ordinal 1 is chosen only if
/// no other launch has a time above 0, because drivers compile during the first launch.
TimedLaunch typical_launch(std::span<const TimedLaunch> launches);

/// Sum of the surveys of several processes, with one row for each signature.
class Merged {
 public:
  void add(const Survey& other);
  [[nodiscard]] const Survey& survey() const { return survey_; }

 private:
  Survey survey_{};
  std::map<Signature, std::size_t> indices_{};
};

/// Sorts the rows by device time, longest first.
void sort_by_time(Survey& survey);

/// All launches of one kernel of one program on one device, of any size.
struct Kernel {
  std::vector<std::size_t> rows{};
  Sum sum{};
};

/// Returns the kernels of the rows, sorted by device time, longest first.
std::vector<Kernel> kernels_of(std::span<const Row> rows);

/// Returns how many of the longest kernels together take at least 80 % of the device time; at most
/// three.
std::size_t count_main_kernels(std::span<const Kernel> kernels);

struct KernelShare {
  double of_time{0.0};  ///< kernel's share of the device time of all rows, 0 to 1
  bool is_main{false};
};

/// Returns for each row the share of the row's kernel.
std::vector<KernelShare> kernel_shares(std::span<const Row> rows);

/// Returns the index of the row to capture for a kernel: a row that takes more than half of the
/// kernel's time. Otherwise returns the row nearest to the mean number of work-items of a launch,
/// because this number does not vary between runs.
std::size_t typical_row(std::span<const Row> rows, const Kernel& kernel);

/// Returns the ratio host time / event time; for example 42 if events report 1/42 of the time.
/// Returns 1 if the clocks agree within 30 %, or if the check covers less than 5 ms.
double event_clock_factor(const ClockCheck& clock);

/// True if event times cannot be times of kernels: all are below 10 ns, or the driver's event clock
/// disagrees with the host's clock. The driver rusticl of Mesa 22.3 reports 0, 1, 2, 3 ns, because
/// it counts something else.
bool has_doubtful_times(const Survey& survey);

/// Launch to capture, with the survey's sums over all launches of its signature.
struct Wanted {
  std::string kernel{};
  /// Signature of the launch; nothing: any program and any size.
  std::optional<Signature> signature{};
  std::uint64_t ordinal{1};  ///< number among the launches with this signature in a process, from 1
  std::uint64_t launches{0};
  double share{0.0};  ///< share of the program's device time, 0 to 1
  double mean_ns{0.0};

  friend bool operator==(const Wanted&, const Wanted&) = default;
};

/// Error for text that is truncated, or is no survey or list of launches. The message is one line.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the contents of the survey file of a process: JSON on one line.
std::string to_text(const Survey& survey);
/// Returns the survey in the file of a process. Throws FormatError unless the file is complete.
Survey from_text(std::string_view text);

/// Returns the text with bytes that are not valid UTF-8 replaced by U+FFFD, as in a survey file.
std::string to_utf8(std::string_view text);

/// Returns a JSON list of the launches to capture. The reader refuses more than 100 launches.
std::string wanted_to_text(std::span<const Wanted> wanted);
/// Returns the launches in a list that `wanted_to_text` wrote. Throws FormatError.
std::vector<Wanted> wanted_from_text(std::string_view text);

}  // namespace clprobe::survey
