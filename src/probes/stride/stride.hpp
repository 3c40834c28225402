// SPDX-License-Identifier: Apache-2.0
// The probe `stride`: the elements of a point and their work-items, the expected results of a
// launch, and the verdict on a curve. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::stride {

/// Type of the words of an element. The numbers are TYPE in cl/stride.cl.
enum class ElementType { int32, float32, float64 };
inline constexpr Word<ElementType> type_words[]{
    {ElementType::int32, "int"}, {ElementType::float32, "float"}, {ElementType::float64, "double"}};

enum class Operation { read, write, copy, update };
inline constexpr Word<Operation> operation_words[]{{Operation::read, "read"},
                                                   {Operation::write, "write"},
                                                   {Operation::copy, "copy"},
                                                   {Operation::update, "update"}};

enum class BufferKind { device, host, svm };
inline constexpr Word<BufferKind> buffer_words[]{
    {BufferKind::device, "device"}, {BufferKind::host, "host"}, {BufferKind::svm, "svm"}};

inline constexpr std::array vector_widths{1, 2, 4, 8, 16};

/// Returns the size of a word in bytes.
std::uint64_t word_bytes_of(ElementType type);

bool reads_source(Operation operation);
bool writes_target(Operation operation);
/// Returns true if the operation reads one buffer and writes another.
bool uses_two_buffers(Operation operation);

/// Returns how often each byte is moved: 2 for copy and update, otherwise 1.
std::uint64_t directions_of(Operation operation);

/// Shape of a point: the elements of a launch, and their distribution to work-items.
struct Shape {
  std::uint64_t elements{1};  ///< in the buffer; a power of two, like grid to vector
  std::uint64_t grid{1};
  std::uint64_t work_group{1};
  std::uint64_t stride{1};  ///< distance of a work-item's elements, in elements; at most `grid`
  std::uint64_t vector{1};
  ElementType type{ElementType::int32};
  Operation operation{Operation::read};
  BufferKind buffer{BufferKind::device};
  Timer timer{Timer::host};
  /// "whole": each launch moves the whole buffer, regardless of the time.
  std::optional<std::string> per_launch{};
  /// Size of the buffer that all points of the plan share. Stored as a fact.
  std::uint64_t shared_buffer_bytes{0};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.derived("stride_bytes", stride * element_bytes());
    f.whole("stride_elements", stride, from_1);
    f.derived("pattern", pattern());
    f.word("operation", operation, operation_words);
    f.word("type", type, type_words);
    f.whole("vector", vector, {.min = 1, .max = 16});
    f.word("buffer", buffer, buffer_words);
    f.whole("elements", elements, from_1);
    f.derived("working_set_bytes", buffer_bytes() * (uses_two_buffers(operation) ? 2 : 1));
    f.whole("grid", grid, from_1);
    f.whole("work_group", work_group, count_from_1);
    f.word("timer", timer);
    f.text("per_launch", per_launch);
    f.fact("buffer_bytes", shared_buffer_bytes);
  }

  /// Returns the name of the series: "read int4", "copy double in host memory".
  [[nodiscard]] std::string name() const;
  /// Returns the name of the access pattern: "serial", "grid stride", ...
  [[nodiscard]] std::string_view pattern() const;
  [[nodiscard]] std::uint64_t word_bytes() const { return word_bytes_of(type); }
  [[nodiscard]] std::uint64_t element_bytes() const { return word_bytes() * vector; }
  [[nodiscard]] std::uint64_t buffer_bytes() const { return elements * element_bytes(); }
  [[nodiscard]] std::uint64_t words() const { return elements * vector; }
  /// Returns the number of elements per work-item.
  [[nodiscard]] std::uint64_t run() const { return elements / grid; }
  /// Returns the number of independent accesses in a batch of one work-item: 64 bytes together, but
  /// at least 2 accesses, and at most all elements of the work-item.
  [[nodiscard]] std::uint64_t unroll() const;
  /// Returns the number of batches in which a work-item moves all its elements.
  [[nodiscard]] std::uint64_t batches() const { return run() / unroll(); }
  /// Returns the index of a work-item's first element.
  [[nodiscard]] std::uint64_t first_of(std::uint64_t item) const;
};

std::uint32_t log2_of(std::uint64_t power);

/// Rule for data: word w is (square * w + line) * w + constant, modulo the word's range.
struct WordRule {
  std::uint64_t square{0};
  std::uint64_t line{0};
  std::uint64_t constant{0};

  [[nodiscard]] std::uint64_t at(std::uint64_t index) const {
    return (square * index + line) * index + constant;
  }
};

/// Rule of the source data. `square` and `line` are odd, so that all bits of a word except the
/// lowest, which is 0, depend on its index.
inline constexpr WordRule data_rule{0x9e3779b97f4a7c15U, 0xd1342543de82ef95U, 0};

/// Returns the sum of a work-item's elements first .. first + count - 1 in data by `data_rule`.
/// The sum is a rule: its argument is the index of the work-item's first element (first_of). The
/// sum wraps in 64 bits; for narrower words its lower bits are the sum.
WordRule sum_rule(const Shape& shape, std::uint64_t first, std::uint64_t count);

/// Maximum number of work-items whose sums the host checks after a read. All work-items also check
/// their own sums.
inline constexpr std::uint64_t max_samples = 4096;
/// Size of the buffer for the sums that the host checks, and for a word that marks a wrong sum of
/// any work-item.
inline constexpr std::uint64_t sums_bytes = (max_samples + 1) * sizeof(std::uint64_t);

/// Returns the maximum number of work-items that fill or check `words` words.
std::uint64_t max_walkers(std::uint64_t words, bool is_cpu);

/// Returns the build options of cl/stride.cl. With `is_wide`, indices have 64 bits.
std::string build_options(const Shape& shape, bool is_wide);

/// Returns true if indices need 64 bits.
bool needs_wide(const Shape& shape);

/// Words of a buffer: blocks at distances of `blocks_apart` words.
struct Region {
  std::uint64_t words;
  std::uint64_t first;
  std::uint64_t block;
  std::uint64_t blocks_apart;
};

Region whole(std::uint64_t bytes, std::uint64_t word_bytes);

/// Returns the region that a launch moves if its work-items move their elements first .. first +
/// count - 1. The region has one block per piece of the grid; such a piece is as long as the
/// stride.
Region moved(const Shape& shape, std::uint64_t first, std::uint64_t count);

/// Work-items that walk over a region. A work-item of a CPU visits a contiguous piece of a block.
/// On a GPU neighbouring work-items visit neighbouring words.
struct Walk {
  std::uint64_t x{1};  ///< work-items per block
  std::uint64_t y{1};  ///< work-items among which the blocks are divided
  // Arguments of the kernels that walk (see cl/stride.cl).
  std::uint64_t apart{1};
  std::uint64_t step{1};
  std::uint64_t each{1};
  std::uint64_t blocks_each{1};

  [[nodiscard]] static Walk over(const Region& region, bool is_cpu);
  [[nodiscard]] std::uint64_t walkers() const { return x * y; }
  [[nodiscard]] std::uint64_t turns() const { return blocks_each * (1 + each); }
};

std::uint64_t max_batches(const DeviceInfo& device, const Shape& shape);

/// Number of bytes per lane in a coalesced access.
inline constexpr double lane_bytes = 4.0;

/// Bandwidth at one stride: the median over its launches, with the quartiles.
struct CurvePoint {
  double stride_bytes{0.0};
  double bandwidth{0.0};  ///< bytes per second, positive
  double low{0.0};
  double high{0.0};
};

/// Class of a curve. `gpu_coalescing`: neighbouring work-items must access neighbouring elements.
/// `cpu_serial`: each work-item must access a contiguous run. `flat`: any stride is fast.
/// `unclear`: no other class fits.
enum class CurveClass { gpu_coalescing, cpu_serial, flat, unclear };
inline constexpr Word<CurveClass> class_words[]{{CurveClass::gpu_coalescing, "gpu-coalescing"},
                                                {CurveClass::cpu_serial, "cpu-serial"},
                                                {CurveClass::flat, "flat"},
                                                {CurveClass::unclear, "unclear"}};

/// Stride that is slower than both neighbouring strides (partition camping).
struct Dip {
  double stride_bytes{0.0};
  double share{0.0};  ///< share of the slower neighbour's bandwidth; less than 1
};

struct CurveVerdict {
  double best{0.0};        ///< median of the bandwidths close to the highest bandwidth
  std::size_t best_at{0};  ///< index of the stride with the highest bandwidth
  CurveClass kind{CurveClass::unclear};
  std::string unclear_reason{};
  std::optional<std::size_t> knee{};  ///< from here all strides but the last reach 0.9 of the best
  std::optional<std::size_t> sub_knee{};  ///< first stride with 0.6 of the best
  /// Index of the stride at which growth in proportion to the stride ends. This stride is a
  /// sector: the size of a fetch for one element.
  std::optional<std::size_t> sector{};
  std::string no_sector_reason{};
  /// Index of the largest growth after the sector. From this stride on, a whole sub-group accesses
  /// adjacent elements.
  std::optional<std::size_t> sub_group{};
  std::string no_sub_group_reason{};
  double last_share{1.0};  ///< share of the best at the largest stride
  /// True if `last_share` is below 0.93 and also at least four standard deviations of the best
  /// strides below 1.
  bool has_end_droop{false};
  std::vector<Dip> dips{};
};

/// Judges a curve over strides that double, in ascending order from a stride of one element. The
/// verdict has the sufficient stride, its cause, and the strides at which bandwidth falls again.
/// `sub_group` is the sub-group size by the driver, or 1 if unknown. With fewer than four points
/// or with gaps, the class is `unclear`, with a reason. The rules follow the curve of an R9 Nano
/// by clmempatterns, see docs/stride.md.
CurveVerdict judge_curve(std::span<const CurvePoint> points, double sub_group);

extern const Probe probe;

/// Returns the findings of each series: bandwidth and its stride, class, knee, sub-group, sector,
/// droop, dips and advice.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);
std::optional<PointProblem> find_problem_of(const Point& point);

/// Prepares points: allocates and fills buffers, launches, and checks the results. An iteration is
/// a batch of each work-item, or all if per_launch. Throws DeviceError, Unsupported and cl::Error.
Preparer open(Session& session);

/// Returns the simulated work of one compute unit: some batches of the work-groups that the
/// compute unit holds at once. The accesses are those of all compute units, which do equal work.
/// Throws Unsupported unless the buffer is in device memory.
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

// Functions that `Probe` points to.
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

}  // namespace clprobe::stride
