// SPDX-License-Identifier: Apache-2.0
// What the layer counts, apart from OpenCL: handles are addresses here. Not for several threads at
// once; the layer has a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "clprobe/survey.hpp"

namespace clprobe::survey {

using Handle = const void*;

/// FNV-1a (Fowler, Noll, Vo): quick, and enough to tell the programs of one run apart.
std::uint64_t hash_text(std::string_view text, std::uint64_t before = 0xcbf29ce484222325U);

/// What a launch was asked for: as many sizes as there are dimensions. `local` is all 0 where the
/// driver chooses.
struct Shape {
  std::uint32_t dimensions{1};
  Sizes global{};
  Sizes local{};

  friend bool operator==(const Shape&, const Shape&) = default;
};

struct Limits {
  std::size_t shapes{10'000};      ///< signatures; further ones are "various sizes" of their kernel
  std::size_t kernels{10'000};     ///< of which there are more: counted as lost
  std::size_t name_bytes{1024};    ///< of a kernel's or a device's name
  std::size_t kept_times{10'000};  ///< of launches, to choose a typical one of
};

class Recorder {
 public:
  explicit Recorder(Limits limits = {}) : limits_(limits) {}

  /// A handle that was known before is another object from now on.
  void note_program(Handle program, Program what) { programs_[program] = what; }
  [[nodiscard]] Program program_of(Handle program) const;
  void note_kernel(Handle kernel, std::string_view name, Program program);
  [[nodiscard]] bool knows_kernel(Handle kernel) const { return kernels_.contains(kernel); }
  /// `copy` is the same kernel of the same program.
  void note_clone(Handle kernel, Handle copy);
  void note_svm(Handle kernel);

  /// A number that stands for the device.
  std::uint32_t number_device(std::string_view name);

  static constexpr std::size_t no_row = static_cast<std::size_t>(-1);
  /// Counts a launch of a kernel that is known. Returns its row, or no_row where there is none.
  std::size_t count_launch(Handle kernel, std::uint32_t device, const Shape& shape);
  /// What such a launch is told by; nothing of a kernel that is not known.
  [[nodiscard]] std::optional<Signature> signature_of(Handle kernel, std::uint32_t device,
                                                      const Shape& shape) const;
  /// Counts a launch whose time nobody will ask for, of a row that has `enough` launches already.
  /// Returns its row, or no_row where there is none of so many: then nothing is counted.
  std::size_t count_untimed(Handle kernel, std::uint32_t device, const Shape& shape,
                            std::uint64_t enough);
  /// Such a launch was none.
  void take_back(std::size_t row);
  /// Launches of a row so far: the ordinal of the last one.
  [[nodiscard]] std::uint64_t launches_of(std::size_t row) const { return rows_[row].sum.launches; }
  void add_time(std::size_t row, TimedLaunch launch);
  void add_gap(Gap gap, std::uint64_t count = 1) { gaps_[gap] += count; }

  /// Without processes. What was not timed on purpose is taken for as long as what was timed of its
  /// row, but for the first, in which drivers compile.
  [[nodiscard]] Survey survey() const;

 private:
  struct Key {
    std::uint32_t identity{0};
    std::uint32_t device{0};
    Shape shape{};

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
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
  std::unordered_map<Handle, Program> programs_{};
  std::unordered_map<Handle, Kernel> kernels_{};
  std::vector<Identity> identities_{};
  std::map<std::pair<std::string, Program>, std::uint32_t> identity_numbers_{};
  std::vector<std::string> devices_{};
  std::unordered_map<Key, std::size_t, KeyHash> places_{};
  std::vector<Row> rows_{};
  /// Of each row: launches that are not timed on purpose, and of the times the first.
  struct Untimed {
    std::uint64_t launches{0};
    std::uint64_t first_ns{0};
    std::vector<TimedLaunch> times{};  ///< of all rows together at most `kept_times`
  };
  std::vector<Untimed> untimed_{};
  std::size_t times_{0};
  /// Of the last launch that was not timed: an application makes many like it one after the other.
  struct Last {
    Handle kernel{nullptr};  ///< null: there is none
    std::uint32_t device{0};
    Shape shape{};
    std::size_t row{0};
  };
  Last last_{};
  std::map<Gap, std::uint64_t> gaps_{};
};

}  // namespace clprobe::survey
