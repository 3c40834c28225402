// SPDX-License-Identifier: Apache-2.0
// Survey: the kernels that an OpenCL program launched, and their device time. The loader layer
// counts launches inside the program, and `clprobe profile` shows them. Pure.
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

/// Form from which a program object was made.
enum class ProgramKind { source, binary, intermediate, built_in, unknown };

/// Identity of a program: the hash of its text and build options, since handles are reused.
struct Program {
  std::uint64_t hash{0};
  ProgramKind kind{ProgramKind::unknown};

  friend auto operator<=>(const Program&, const Program&) = default;
};

using Sizes = std::array<std::uint64_t, 3>;

/// Signature of a launch. Launches with equal signatures are counted together.
struct Signature {
  std::string kernel{};
  Program program{};
  std::string device{};
  std::uint32_t dimensions{0};  ///< 0: various sizes, which were too many for a row each
  Sizes global{};               ///< work-items; 0 after the last dimension
  Sizes local{};                ///< group size; 0: the driver chose

  friend auto operator<=>(const Signature&, const Signature&) = default;
};

/// Sums over launches of one signature. Times are END - START of their events.
struct Sum {
  std::uint64_t launches{0};  ///< launches that the driver accepted
  std::uint64_t timed{0};     ///< launches whose time is known
  std::uint64_t total_ns{0};
  std::uint64_t min_ns{0};
  std::uint64_t max_ns{0};
  /// Number of untimed launches that `total_ns` counts with the mean of the timed ones.
  std::uint64_t estimated{0};

  void add_time(std::uint64_t ns);
  void add(const Sum& other);
  /// Returns the mean time of timed and estimated launches; 0 without any.
  [[nodiscard]] double mean_ns() const {
    const auto count = static_cast<double>(timed) + static_cast<double>(estimated);
    return timed == 0 ? 0.0 : static_cast<double>(total_ns) / count;
  }
  /// Returns the share of the device time of `all`, 0 to 1.
  [[nodiscard]] double share_of(const Sum& all) const {
    if (all.total_ns == 0) return 0.0;
    return static_cast<double>(total_ns) / static_cast<double>(all.total_ns);
  }
  friend bool operator==(const Sum&, const Sum&) = default;
};

struct TimedLaunch {
  std::uint64_t ordinal{0};  ///< number among launches of its signature in a process, from 1
  std::uint64_t ns{0};

  friend bool operator==(const TimedLaunch&, const TimedLaunch&) = default;
};

struct Row {
  Signature signature{};
  Sum sum{};
  bool uses_svm{false};   ///< true if an argument pointed to shared virtual memory
  TimedLaunch typical{};  ///< launch to capture for the row; ordinal 0: unknown

  friend bool operator==(const Row&, const Row&) = default;
};

/// Reason for an unknown device time. Rows count the launches of gaps up to `too_many_waiting`, but
/// not of later gaps.
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
  std::string_view word;  ///< word in files
  std::string_view noun;  ///< name of the counted things: "launch"
  std::string_view plural;
  std::string_view reason;  ///< text after the number and the noun
};

/// Returns the rows in the order of the enumerators.
std::span<const GapRow> all_gaps();
constexpr bool is_of_launches(Gap gap) { return gap <= Gap::too_many_waiting; }

std::string_view to_word(ProgramKind kind);
std::optional<ProgramKind> program_kind_from_word(std::string_view word);

struct Process {
  std::uint64_t id{0};
  std::string name{};

  friend bool operator==(const Process&, const Process&) = default;
};

/// Advance of a driver's event clock and of the host's clock between the enqueuing of two launches.
/// All 0: unknown.
struct ClockCheck {
  std::uint64_t host_min_ns{0};  ///< time from the end of the first call to the start of the last
  std::uint64_t host_max_ns{0};  ///< time from the start of the first call to the end of the last
  std::uint64_t event_ns{0};

  friend bool operator==(const ClockCheck&, const ClockCheck&) = default;
};

struct Survey {
  std::vector<Process> processes{};  ///< processes that loaded OpenCL
  std::vector<Row> rows{};
  std::map<Gap, std::uint64_t> gaps{};
  ClockCheck clock{};  ///< longest check of all processes

  [[nodiscard]] Sum total() const;
  friend bool operator==(const Survey&, const Survey&) = default;
};

/// Returns the longest launch if it takes most of the time. Otherwise returns the first launch
/// within a quarter of the mean, or the launch nearest to the mean. Returns the first launch of the
/// program, in which drivers compile, only if there is no other.
TimedLaunch typical_launch(std::span<const TimedLaunch> launches);

/// Adds up the surveys of several processes, with one row for each signature.
class Merged {
 public:
  void add(const Survey& other);
  [[nodiscard]] const Survey& survey() const { return survey_; }

 private:
  Survey survey_{};
  std::map<Signature, std::size_t> indices_{};
};

/// Sorts the rows by device time, the longest first.
void sort_by_time(Survey& survey);

/// Launches of one kernel of one program on one device, of all sizes.
struct Kernel {
  std::vector<std::size_t> rows{};
  Sum sum{};
};

/// Returns the kernels of rows that are sorted by time, the longest first.
std::vector<Kernel> kernels_of(std::span<const Row> rows);

/// Returns the number of kernels, longest first, that take 80 % of the device time together; at
/// most three.
std::size_t count_main_kernels(std::span<const Kernel> kernels);

struct KernelShare {
  double of_time{0.0};  ///< share of the device time of all rows, 0 to 1
  bool is_main{false};
};

/// Returns the share of its kernel for each row.
std::vector<KernelShare> kernel_shares(std::span<const Row> rows);

/// Returns the row to capture for a kernel of many sizes. It is a row that takes most of the
/// kernel's time, otherwise the row nearest to the mean size of a launch. The mean size does not
/// vary between runs.
std::size_t typical_row(std::span<const Row> rows, const Kernel& kernel);

/// Returns host time / event time: 42 if events report a 42nd of the time. Returns 1 if the clocks
/// agree within 30 %, or if the check covers less than 5 ms.
double event_clock_factor(const ClockCheck& clock);

/// True if all launches are shorter than any kernel, because the driver counts something else
/// (rusticl of Mesa 22.3: 0, 1, 2, 3). Also true if the driver's clock disagrees with the host's.
bool has_doubtful_times(const Survey& survey);

/// Launch to capture, and the survey's sums of launches with its signature.
struct Wanted {
  std::string kernel{};
  std::optional<Signature> signature{};  ///< signature; nothing: any program and sizes
  std::uint64_t ordinal{1};              ///< number among these launches in a process, from 1
  std::uint64_t launches{0};
  double share{0.0};  ///< share of the program's device time, 0 to 1
  double mean_ns{0.0};

  friend bool operator==(const Wanted&, const Wanted&) = default;
};

/// Error for text that is no survey, or is truncated. One line.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the file of a process: JSON on one line.
std::string to_text(const Survey& survey);
/// Reads the file of a process. Throws FormatError for anything except a complete file.
Survey from_text(std::string_view text);

/// Returns the text as read back from such a file: bytes that are not UTF-8 become U+FFFD.
std::string to_utf8(std::string_view text);

/// Returns the launches that the layer is to capture, at most 100, as JSON.
std::string wanted_to_text(std::span<const Wanted> wanted);
/// Reads the launches to capture. Throws FormatError.
std::vector<Wanted> wanted_from_text(std::string_view text);

}  // namespace clprobe::survey
