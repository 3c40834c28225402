// SPDX-License-Identifier: Apache-2.0
// Options of probes as data, and their values. The command line, help, man page and completion use
// the same table of options. Only the probe interprets the values, except paths of trace files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "clprobe/units.hpp"

namespace clprobe {

/// Working sets from `first` to `last`, each `ratio` times as large as the previous working set.
struct SizeRange {
  Bytes first{};
  Bytes last{};
  double ratio{0.0};  ///< 0: the default ratio of the probe

  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

/// List of working-set ranges, "1KiB-1GiB*1.2,64KiB". Its value is a vector of SizeRange.
struct Sizes {};
/// Number of bytes, "128" or "64KiB", that is a multiple of `multiple_of`.
struct Size {
  std::uint64_t multiple_of{1};
};
/// Whole number from `min` to `max`, both included.
struct Number {
  std::uint64_t min{0};
  std::uint64_t max{0};
};
/// Time in whole milliseconds, "5s", "500ms" or "500", from `min` to `max`, both included.
struct Milliseconds {
  std::uint64_t min{0};
  std::uint64_t max{0};
};
/// List of whole numbers and ranges without repetition, "1-4,8". Its value is a vector of int.
struct Numbers {
  std::uint64_t min{0};
  std::uint64_t max{0};
};
/// Whole number above 0: "65536", "64K" or "2^16".
struct Count {
  bool power_of_two{false};
};
/// One word of `words`.
struct Choice {
  std::span<const std::string_view> words{};
};
/// A comma-separated list of `words` without repetition. If `words` is empty, the option accepts
/// any words, and the probe checks the list.
struct Choices {
  std::span<const std::string_view> words{};
};
/// Path of a trace file (docs/trace.md). The trace is read before the probe plans its points.
struct TracePath {};
using ValueSpec =
    std::variant<Sizes, Size, Number, Milliseconds, Numbers, Count, Choice, Choices, TracePath>;

/// One option of a probe. Every option takes a value.
struct Option {
  std::string_view name{};        ///< name of the option without the dashes
  std::string_view value_name{};  ///< name of the value in the help: "LIST"
  std::string_view summary{};     ///< text for --help: no capital, no full stop
  std::string_view details{};     ///< text for the man page: sentences, `code` in backquotes
  ValueSpec value{};
};

/// Value of an option. A Number, Milliseconds or Count is stored as a number. A Choice or TracePath
/// is stored as one word, Choices as a list of words.
using OptionValue = std::variant<std::vector<SizeRange>, Bytes, std::uint64_t, std::vector<int>,
                                 std::vector<std::string>>;

/// Values of a probe's options by name. Options that the user did not set are absent. Reading an
/// option as another type than that of its OptionValue throws std::bad_variant_access.
class OptionValues {
 public:
  void set(std::string_view name, OptionValue value) {
    values_.insert_or_assign(std::string(name), std::move(value));
  }
  [[nodiscard]] bool has(std::string_view name) const { return values_.contains(name); }

  [[nodiscard]] std::vector<SizeRange> sizes(std::string_view name) const {
    return read<std::vector<SizeRange>>(name).value_or(std::vector<SizeRange>{});
  }
  [[nodiscard]] Bytes size(std::string_view name) const {
    return read<Bytes>(name).value_or(Bytes{});
  }
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name) const {
    return read<std::uint64_t>(name);
  }
  [[nodiscard]] std::vector<int> numbers(std::string_view name) const {
    return read<std::vector<int>>(name).value_or(std::vector<int>{});
  }
  [[nodiscard]] std::vector<std::string> words(std::string_view name) const {
    return read<std::vector<std::string>>(name).value_or(std::vector<std::string>{});
  }
  /// Returns the value of an option of kind Choice or TracePath; empty if the option is absent.
  [[nodiscard]] std::string word(std::string_view name) const {
    const std::vector<std::string> all = words(name);
    return all.empty() ? std::string() : all.front();
  }

  [[nodiscard]] auto begin() const { return values_.begin(); }
  [[nodiscard]] auto end() const { return values_.end(); }
  friend bool operator==(const OptionValues&, const OptionValues&) = default;

 private:
  template <typename T>
  [[nodiscard]] std::optional<T> read(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    return std::get<T>(found->second);
  }

  std::map<std::string, OptionValue, std::less<>> values_{};
};

}  // namespace clprobe
