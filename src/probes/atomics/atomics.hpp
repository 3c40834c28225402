// SPDX-License-Identifier: Apache-2.0
// The probe `atomics`: series, points, and the functions that `Probe` points to. Pure, except
// `open`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::atomics {

/// Work-items of a point: one with a chain, one work-group on words of local memory, or work-groups
/// on all compute units.
enum class Scope { chain, unit, device };
inline constexpr Word<Scope> scope_words[]{
    {Scope::chain, "chain"}, {Scope::unit, "unit"}, {Scope::device, "device"}};

/// Bytes between words that lie in different lines.
inline constexpr std::uint64_t line_bytes = 128;

/// A series and the operation of its points.
struct SeriesSpec {
  std::string_view name{};
  std::string_view summary{};
  Scope scope{Scope::device};
  std::string_view macro{"OP_ADD"};  ///< name in cl/atomics.cl
  bool uses_result{true};
  bool is_local{false};
  std::uint64_t word_bytes{4};
  std::uint64_t spacing_bytes{4};  ///< distance of neighbouring words
  bool is_curve{false};            ///< true for points at many numbers of addresses
};

/// All series, in the order of the report.
inline constexpr std::array all_series{
    SeriesSpec{.name = "latency",
               .summary = "dependent additions in a 4 KiB block of global memory",
               .scope = Scope::chain},
    SeriesSpec{.name = "local-latency",
               .summary = "dependent additions in local memory",
               .scope = Scope::chain,
               .is_local = true},
    SeriesSpec{.name = "add",
               .summary = "additions to neighbouring words of global memory",
               .is_curve = true},
    SeriesSpec{.name = "add-lines",
               .summary = "additions to words in separate cache lines",
               .spacing_bytes = line_bytes,
               .is_curve = true},
    SeriesSpec{.name = "add-unused",
               .summary = "additions to neighbouring words, results unused",
               .uses_result = false,
               .is_curve = true},
    SeriesSpec{.name = "add-lines-unused",
               .summary = "additions to words in separate cache lines, results unused",
               .uses_result = false,
               .spacing_bytes = line_bytes,
               .is_curve = true},
    SeriesSpec{.name = "max",
               .summary = "maximum operations on neighbouring words of global memory",
               .macro = "OP_MAX"},
    SeriesSpec{.name = "cmpxchg",
               .summary = "compare-and-exchange of neighbouring words of global memory",
               .macro = "OP_CMPXCHG"},
    SeriesSpec{.name = "long-add",
               .summary = "additions to neighbouring 64-bit words",
               .word_bytes = 8,
               .spacing_bytes = 8},
    SeriesSpec{.name = "local-add",
               .summary = "additions in local memory by one compute unit",
               .scope = Scope::unit,
               .is_local = true},
    SeriesSpec{.name = "local-add-unused",
               .summary = "additions in local memory, results unused",
               .scope = Scope::unit,
               .uses_result = false,
               .is_local = true},
};

/// Returns the series of this name. Throws std::out_of_range for an unknown name.
const SeriesSpec& series_named(std::string_view name);

inline constexpr std::uint64_t max_addresses = std::uint64_t{1} << 24U;

struct Shape {
  Scope scope{Scope::chain};
  std::uint64_t buffer_bytes{0};   ///< size of the buffer with all blocks; `chain` only
  std::uint64_t offset_bytes{0};   ///< start of the block in the buffer; `chain` only
  std::uint64_t addresses{1};      ///< number of different words, a power of two; not for `chain`
  std::uint64_t spacing_bytes{4};  ///< distance of neighbouring words; not for `chain`
  std::uint64_t work_items{1};     ///< a multiple of `addresses`; not for `chain`
  Timer timer{Timer::event};       ///< `device` only

  template <typename Visitor>
  void visit(Visitor& f) {
    f.word("scope", scope, scope_words);
    if (scope == Scope::chain) {
      f.whole("buffer_bytes", buffer_bytes);
      f.whole("offset_bytes", offset_bytes);
      return;
    }
    const Bounds bounds{.min = 1, .max = static_cast<std::int64_t>(max_addresses)};
    // The chart, whose x axis is "addresses", shows the rates of the device.
    f.whole(scope == Scope::unit ? "words" : "addresses", addresses, bounds);
    f.whole("spacing_bytes", spacing_bytes, {.min = 4, .max = 4096});
    f.whole("work_items", work_items, bounds);
    if (scope == Scope::device) f.word("timer", timer);
  }

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Size of a block of global memory with one chain.
inline constexpr std::uint64_t block_bytes = 4096;
/// Number of blocks whose latency is measured.
inline constexpr std::uint64_t blocks = 32;
/// Number of words of a chain's ring.
inline constexpr std::uint64_t chain_nodes = 32;
/// Number of operations per iteration of a chain.
inline constexpr std::uint64_t hops_per_iteration = 32;
/// Number of operations per iteration of a work-item of a rate.
inline constexpr std::uint64_t steps_per_iteration = 8;

/// Returns the start of a block in a buffer of `span` bytes. Each of the 32 equal parts of the
/// buffer has one block, at a random position.
std::uint64_t block_offset(std::uint64_t block, std::uint64_t span);

/// Returns the number of 4-byte words in a cache line.
std::uint64_t words_of_line(const DeviceInfo& device);

/// Returns the number of work-items and the work-group size of a point's launch.
LaunchSize launch_size(const DeviceInfo& device, const Shape& shape);

/// Returns the build options of a point's kernels.
std::string build_options(const SeriesSpec& series, const Shape& shape);

/// Returns the number of untimed operations before the timed ones of a chain: at least a lap of the
/// ring, so that the chain never ends where it starts.
std::uint64_t warm_hops(std::uint64_t iterations);
/// Returns the number of the word at which a chain ends.
std::uint64_t end_of_chain(std::uint64_t iterations);
/// Returns the last value of each word, modulo 2^32 unless words have 64 bits.
std::uint64_t last_value(const SeriesSpec& series, const Shape& shape, std::uint64_t iterations);
/// Returns the checksum: the sum of all results modulo 2^32, plus 2^32 for each word.
std::uint64_t expected_witness(const SeriesSpec& series, const Shape& shape,
                               std::uint64_t iterations);

/// Latencies of blocks of global memory, sorted and split into near and far ones.
struct Modes {
  std::vector<double> near{};
  std::vector<double> far{};
};
/// Returns the two modes of the blocks' latencies; nothing if the blocks have one mode. The split
/// is at the largest gap between neighbouring values that leaves at least a tenth of the blocks on
/// each side. The gap must exceed 10 % and three times the standard deviation of each side.
std::optional<Modes> find_modes(std::vector<double> latencies);

/// Returns the findings of the probe. Method: docs/atomics.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);
Card card(const ProbeResult& result);

extern const Probe probe;

// Functions that `Probe` points to (launch.cpp).
Preparer open(Session& session);
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

}  // namespace clprobe::atomics
