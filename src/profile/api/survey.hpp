// SPDX-License-Identifier: Apache-2.0
// The kernels that an OpenCL program launched, and the device time that they took. The loader layer
// counts them inside the program, and `clprobe profile` shows them. Pure.
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

/// The form from which a program object was made.
enum class ProgramKind { source, binary, intermediate, built_in, unknown };

/// A program is identified by the hash of its text and build options, since handles are reused.
struct Program {
  std::uint64_t hash{0};
  ProgramKind kind{ProgramKind::unknown};

  friend auto operator<=>(const Program&, const Program&) = default;
};

using Sizes = std::array<std::uint64_t, 3>;

/// Launches with equal signatures are counted together.
struct Signature {
  std::string kernel{};
  Program program{};
  std::string device{};
  std::uint32_t dimensions{0};  ///< 0: various sizes, since there were too many for a row each
  Sizes global{};               ///< work-items; 0 after the last dimension
  Sizes local{};                ///< 0: the driver chose

  friend auto operator<=>(const Signature&, const Signature&) = default;
};

/// Launches of one signature. Times are END - START of their events.
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
  /// Mean time of the timed and estimated launches; 0 without any.
  [[nodiscard]] double mean_ns() const {
    const auto count = static_cast<double>(timed) + static_cast<double>(estimated);
    return timed == 0 ? 0.0 : static_cast<double>(total_ns) / count;
  }
  /// Part of the device time of `all`, 0 to 1.
  [[nodiscard]] double share_of(const Sum& all) const {
    if (all.total_ns == 0) return 0.0;
    return static_cast<double>(total_ns) / static_cast<double>(all.total_ns);
  }
  friend bool operator==(const Sum&, const Sum&) = default;
};

struct TimedLaunch {
  std::uint64_t ordinal{0};  ///< among launches of its signature in a process, from 1
  std::uint64_t ns{0};

  friend bool operator==(const TimedLaunch&, const TimedLaunch&) = default;
};

struct Row {
  Signature signature{};
  Sum sum{};
  bool uses_svm{false};   ///< a pointer to shared virtual memory was an argument
  TimedLaunch typical{};  ///< the launch to capture for the row; ordinal 0: unknown

  friend bool operator==(const Row&, const Row&) = default;
};

/// Why a device time is unknown. Gaps up to `too_many_waiting` are launches that the rows count;
/// the others are not in the rows.
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
  std::string_view word;  ///< in files
  std::string_view noun;  ///< name of the counted things: "launch"
  std::string_view plural;
  std::string_view reason;  ///< follows the number and the noun
};

/// In the order of the enumerators.
std::span<const GapRow> all_gaps();
constexpr bool is_of_launches(Gap gap) { return gap <= Gap::too_many_waiting; }

std::string_view to_word(ProgramKind kind);
std::optional<ProgramKind> program_kind_from_word(std::string_view word);

struct Process {
  std::uint64_t id{0};
  std::string name{};

  friend bool operator==(const Process&, const Process&) = default;
};

/// Advance of a driver's event clock, and of the host's clock, between the enqueuing of two
/// launches. All 0: unknown.
struct ClockCheck {
  std::uint64_t host_min_ns{0};  ///< from the end of the first call to the start of the last
  std::uint64_t host_max_ns{0};  ///< from the start of the first call to the end of the last
  std::uint64_t event_ns{0};

  friend bool operator==(const ClockCheck&, const ClockCheck&) = default;
};

struct Survey {
  std::vector<Process> processes{};  ///< all that loaded OpenCL
  std::vector<Row> rows{};
  std::map<Gap, std::uint64_t> gaps{};
  ClockCheck clock{};  ///< the longest check of all processes

  [[nodiscard]] Sum total() const;
  friend bool operator==(const Survey&, const Survey&) = default;
};

/// Returns the longest of these launches if it takes most of their time, otherwise the first one
/// within a quarter of their mean, otherwise the one nearest to the mean. Returns the very first
/// launch, in which drivers compile, only if it is alone.
TimedLaunch typical_launch(std::span<const TimedLaunch> launches);

/// Adds up the surveys of several processes, with one row for each signature.
class Merged {
 public:
  void add(const Survey& other);
  [[nodiscard]] const Survey& survey() const { return survey_; }

 private:
  Survey survey_{};
  std::map<Signature, std::size_t> places_{};
};

/// Sorts the rows by device time, the longest first.
void sort_by_time(Survey& survey);

/// All launches of one kernel of one program on one device, of all sizes.
struct Kernel {
  std::vector<std::size_t> rows{};
  Sum sum{};
};

/// Returns the kernels of rows that are sorted by time, the longest first.
std::vector<Kernel> kernels_of(std::span<const Row> rows);

/// Number of kernels, the longest first, that take 80 % of the device time together; at most three.
std::size_t count_main_kernels(std::span<const Kernel> kernels);

struct KernelShare {
  double of_time{0.0};  ///< part of the device time of all rows, 0 to 1
  bool is_main{false};
};

/// Returns for each row the share of its kernel.
std::vector<KernelShare> kernel_shares(std::span<const Row> rows);

/// Returns the row to capture for a kernel of many sizes: one that takes most of the kernel's time,
/// otherwise the one nearest to the mean size of a launch, which does not vary between runs.
std::size_t typical_row(std::span<const Row> rows, const Kernel& kernel);

/// Returns host time divided by event time: 42 if events report a 42nd of the time. Returns 1 if
/// the clocks agree within 30 %, or if the check covers less than 5 ms.
double event_clock_factor(const ClockCheck& clock);

/// True if all launches are shorter than a kernel can be, since the driver counts something else
/// (rusticl of Mesa 22.3: 0, 1, 2, 3), or if its clock disagrees with the host's.
bool has_doubtful_times(const Survey& survey);

/// A launch that is to be captured, and the survey's sums of those like it.
struct Wanted {
  std::string kernel{};
  std::optional<Signature> signature{};  ///< nothing: any program and sizes
  std::uint64_t ordinal{1};              ///< among those launches in a process, from 1
  std::uint64_t launches{0};
  double share{0.0};  ///< part of the program's device time, 0 to 1
  double mean_ns{0.0};

  friend bool operator==(const Wanted&, const Wanted&) = default;
};

/// The text is no survey, or cut short. One line.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The file of one process, as JSON on one line.
std::string to_text(const Survey& survey);
/// Throws FormatError for anything but a whole file.
Survey from_text(std::string_view text);

/// The text as it comes back from such a file: bytes that are no UTF-8 become U+FFFD.
std::string to_utf8(std::string_view text);

/// The launches that the layer is to capture, at most 100, as JSON.
std::string wanted_to_text(std::span<const Wanted> wanted);
/// Throws FormatError.
std::vector<Wanted> wanted_from_text(std::string_view text);

}  // namespace clprobe::survey
