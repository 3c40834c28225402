// SPDX-License-Identifier: Apache-2.0
// Which kernels an OpenCL program launched, and how long the device took for them: what the loader
// layer counts inside the program, and `clprobe profile` shows. Pure.
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

/// What a program object was made from.
enum class ProgramKind { source, binary, intermediate, built_in, unknown };

/// A program is told from others by the hash of its text and build options: handles are reused.
struct Program {
  std::uint64_t hash{0};
  ProgramKind kind{ProgramKind::unknown};

  friend auto operator<=>(const Program&, const Program&) = default;
};

using Sizes = std::array<std::uint64_t, 3>;

/// What makes launches alike.
struct Signature {
  std::string kernel{};
  Program program{};
  std::string device{};
  std::uint32_t dimensions{0};  ///< 0: of various sizes, because there are too many to tell apart
  Sizes global{};               ///< work-items; 0 behind the last dimension
  Sizes local{};                ///< 0: the driver chose

  friend auto operator<=>(const Signature&, const Signature&) = default;
};

/// Launches of one signature. Times are END - START of their events.
struct Sum {
  std::uint64_t launches{0};  ///< that the driver took
  std::uint64_t timed{0};     ///< of these
  std::uint64_t total_ns{0};
  std::uint64_t min_ns{0};
  std::uint64_t max_ns{0};
  /// Of the launches that were not timed, those that are in `total_ns` for as long as others.
  std::uint64_t estimated{0};

  void add_time(std::uint64_t ns);
  void add(const Sum& other);
  /// Of a launch that was timed or estimated; 0 where none was.
  [[nodiscard]] double mean_ns() const {
    const auto count = static_cast<double>(timed) + static_cast<double>(estimated);
    return timed == 0 ? 0.0 : static_cast<double>(total_ns) / count;
  }
  /// Of the device time of `all`, 0 to 1.
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
  TimedLaunch typical{};  ///< the launch that stands for the row; ordinal 0: unknown

  friend bool operator==(const Row&, const Row&) = default;
};

/// Why the device time of something is not known. Up to `too_many_waiting` it is of launches that
/// are counted in the rows; what follows is not in them.
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
  std::string_view noun;  ///< what is counted: "launch"
  std::string_view plural;
  std::string_view reason;  ///< what comes behind the number and the noun
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

/// How far a driver's event clock advanced between the enqueuing of two launches, and how far the
/// host's clock did. All 0: unknown.
struct ClockCheck {
  std::uint64_t host_min_ns{0};  ///< from the end of the first call to the start of the last
  std::uint64_t host_max_ns{0};  ///< from the start of the first call to the end of the last
  std::uint64_t event_ns{0};

  friend bool operator==(const ClockCheck&, const ClockCheck&) = default;
};

struct Survey {
  std::vector<Process> processes{};  ///< that loaded OpenCL
  std::vector<Row> rows{};
  std::map<Gap, std::uint64_t> gaps{};
  ClockCheck clock{};  ///< of the process in which it is longest

  [[nodiscard]] Sum total() const;
  friend bool operator==(const Survey&, const Survey&) = default;
};

/// The longest of these launches if it takes most of their time, otherwise the first one within a
/// quarter of their mean, otherwise the one nearest to the mean. The first launch of all, in which
/// drivers compile, only if there is no other.
TimedLaunch typical_launch(std::span<const TimedLaunch> launches);

/// Adds up the surveys of several processes; rows of one signature become one.
class Merged {
 public:
  void add(const Survey& other);
  [[nodiscard]] const Survey& survey() const { return survey_; }

 private:
  Survey survey_{};
  std::map<Signature, std::size_t> places_{};
};

/// Rows by device time, the longest first.
void sort_by_time(Survey& survey);

/// All launches of one kernel of one program on one device, of whatever sizes.
struct Kernel {
  std::vector<std::size_t> rows{};
  Sum sum{};
};

/// The kernels of rows that are sorted by time; by device time, the longest first.
std::vector<Kernel> kernels_of(std::span<const Row> rows);

/// Number of kernels, the longest first, that take 80 % of the device time together; at most three.
std::size_t count_main_kernels(std::span<const Kernel> kernels);

struct KernelShare {
  double of_time{0.0};  ///< of the device time of all rows, 0 to 1
  bool is_main{false};
};

/// What the kernel of each row takes.
std::vector<KernelShare> kernel_shares(std::span<const Row> rows);

/// The row that stands for a kernel of many sizes: one that takes most of the kernel's time,
/// otherwise that of the size nearest to the mean size of a launch, which is the same in each run.
std::size_t typical_row(std::span<const Row> rows, const Kernel& kernel);

/// Host time per time of the driver's event clock: 42 where events report a 42nd of the time. 1
/// where the clocks agree within 30 %, or less than 5 ms of both are known.
double event_clock_factor(const ClockCheck& clock);

/// Whether no launch took longer than no kernel can: the driver counts something else (rusticl of
/// Mesa 22.3: 0, 1, 2, 3). Or its clock disagrees with the host's.
bool has_doubtful_times(const Survey& survey);

/// A launch that is to be captured, and what was surveyed of those like it.
struct Wanted {
  std::string kernel{};
  std::optional<Signature> signature{};  ///< nothing: whatever its program and sizes
  std::uint64_t ordinal{1};              ///< among those launches in a process, from 1
  std::uint64_t launches{0};
  double share{0.0};  ///< of the program's device time
  double mean_ns{0.0};

  friend bool operator==(const Wanted&, const Wanted&) = default;
};

/// Not a survey, or cut short. One line.
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
