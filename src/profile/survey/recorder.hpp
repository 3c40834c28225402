// SPDX-License-Identifier: Apache-2.0
// Counter of a program's launches. The counter does not use OpenCL: handles are plain addresses.
// Not thread-safe, because the layer calls it under a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/api/survey.hpp"

namespace clprobe::survey {

using Handle = const void*;

/// Returns the FNV-1a hash (Fowler, Noll, Vo) of `text`, continued from the hash `before`. FNV-1a
/// is fast and sufficient to distinguish the programs of one run.
std::uint64_t hash_text(std::string_view text, std::uint64_t before = 0xcbf29ce484222325U);

/// Numbers of work-items of a launch. `local` is all 0 if the driver chooses the group size.
struct Shape {
  std::uint32_t dimensions{1};
  Sizes global{};
  Sizes local{};

  friend auto operator<=>(const Shape&, const Shape&) = default;
};

struct Limits {
  /// Maximum number of signatures. Launches with further signatures count as "various sizes" of
  /// their kernel.
  std::size_t shapes{10'000};
  /// Maximum number of kernels. Launches of further kernels count as unnamed.
  std::size_t kernels{10'000};
  std::size_t name_bytes{1024};  ///< maximum size of the name of a kernel or a device
  /// Maximum number of timed launches kept in all rows for the choice of typical launches.
  std::size_t kept_times{10'000};
};

class Recorder {
 public:
  explicit Recorder(Limits limits = {}) : limits_(limits) {}

  /// Records a kernel. If the handle is already known, it denotes the new kernel from now on.
  void note_kernel(Handle kernel, std::string_view name, Program program);
  [[nodiscard]] bool knows_kernel(Handle kernel) const { return kernels_.contains(kernel); }
  void note_clone(Handle kernel, Handle copy);
  void note_svm(Handle kernel);

  std::uint32_t number_device(std::string_view name);

  static constexpr std::size_t no_row = static_cast<std::size_t>(-1);
  /// Counts a launch of a known kernel. Returns the launch's row, or `no_row` if the kernel is
  /// beyond the limit of kernels.
  std::size_t count_launch(Handle kernel, std::uint32_t device, const Shape& shape);
  /// Returns the signature of a launch; nothing if the kernel is unknown or beyond the limit.
  [[nodiscard]] std::optional<Signature> signature_of(Handle kernel, std::uint32_t device,
                                                      const Shape& shape) const;
  /// Counts a launch without a time and returns its row, if the row already has `enough` launches
  /// and the kernel uses no shared virtual memory. Otherwise counts nothing and returns `no_row`.
  std::size_t count_untimed(Handle kernel, std::uint32_t device, const Shape& shape,
                            std::uint64_t enough);
  /// Undoes `count_untimed` for one launch of `row`.
  void take_back(std::size_t row);
  /// Returns the number of launches of a row so far. The number is also the ordinal of the row's
  /// last launch.
  [[nodiscard]] std::uint64_t launches_of(std::size_t row) const { return rows_[row].sum.launches; }
  void add_time(std::size_t row, TimedLaunch launch);
  void add_gap(Gap gap, std::uint64_t count = 1) { gaps_[gap] += count; }

  /// Returns the survey without processes and clock check. Deliberately untimed launches count with
  /// the mean time of their row, or as a gap if the row has fewer than two times. The mean excludes
  /// the first recorded time, because drivers compile during the first launch.
  [[nodiscard]] Survey survey() const;

 private:
  struct Key {
    std::uint32_t identity{0};
    std::uint32_t device{0};
    Shape shape{};

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Identity {
    std::string name;
    Program program;
  };
  struct Kernel {
    std::uint32_t identity{0};
    bool uses_svm{false};
  };
  static constexpr std::uint32_t no_identity = static_cast<std::uint32_t>(-1);

  std::size_t row_of(const Key& key);
  [[nodiscard]] Signature signature_of(const Key& key) const;

  Limits limits_;
  std::unordered_map<Handle, Kernel> kernels_{};
  std::vector<Identity> identities_{};
  std::map<std::pair<std::string, Program>, std::uint32_t> identity_numbers_{};
  std::vector<std::string> devices_{};
  std::map<Key, std::size_t> indices_{};
  std::vector<Row> rows_{};
  /// Deliberately untimed launches of a row, and the row's recorded times.
  struct Untimed {
    std::uint64_t launches{0};
    std::uint64_t first_ns{0};  ///< first recorded time of the row
    /// Recorded times of the row. All rows together keep at most `kept_times` times.
    std::vector<TimedLaunch> times{};
  };
  std::vector<Untimed> untimed_{};
  std::size_t times_{0};
  std::map<Gap, std::uint64_t> gaps_{};
};

}  // namespace clprobe::survey
