// SPDX-License-Identifier: Apache-2.0
// Kernels that mostly wait for one cause, and little for other causes: their work, their removable
// causes, and their expected results. Pure except `prepare`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/shared/fields.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls::wait_for_one {

/// Work per iteration for noise of amount 1, by kind of noise, in units of four operations or
/// loads.
struct NoiseUnits {
  std::uint32_t arithmetic{1};
  std::uint32_t local_memory{1};
  std::uint32_t cache{1};
  std::uint32_t memory{1};

  [[nodiscard]] std::uint32_t of(std::uint32_t kind) const {
    return std::array{arithmetic, local_memory, cache, memory}.at(kind);
  }
};

/// Noise that a work-item makes (MAKE_NOISE in cl/stalls_noise.clh).
struct Noise {
  std::uint32_t kind{0};    ///< index in all_noise
  std::uint32_t amount{0};  ///< units of work per iteration
  std::uint32_t mask{0};    ///< bits of the numbers of lines that noise loads
};

/// Work of a work-item in one iteration (cl/stalls_mixed.clh), in units of four operations or
/// loads, and the sizes of groups and launches.
struct Mix {
  std::string_view name{};
  Cause built_for{Cause::main_memory};
  std::uint32_t groups_per_unit{1};  ///< groups that run at once on a compute unit of a GPU
  /// Groups that run at once on a compute unit if half of the work-items make noise.
  std::uint32_t noisy_groups_per_unit{1};
  std::uint32_t crowd{2};        ///< factor of the number of groups at which no unit is idle
  std::uint32_t work_items{32};  ///< maximum size of a group
  std::uint32_t far_loads{0};    ///< units of eight loads, or of four loads in a chase
  bool is_chase{false};
  std::uint32_t near_loads{0};
  std::uint32_t tile_loads{1};
  std::uint32_t tile_stride{2};
  std::uint32_t chain_steps{1};
  std::uint32_t turn_steps{0};
  bool has_barrier{false};
  bool is_divergent{false};  ///< one lane in eight is active at a time, instead of one sub-group
  // Work that waits for a unit (cl/stalls_structural.clh). A kernel with such work has no other
  // work except loads from L2.
  std::uint32_t block_loads{0};  ///< units of four loads of a block; at most eight units
  std::uint32_t stores{0};       ///< units of four stores to a block; at most eight units
  bool is_scattered{false};      ///< true if the lanes access different lines
  bool stores_go_far{false};
  bool has_fence{false};
  std::uint32_t functions{0};  ///< units of four chains, each of six special functions
  NoiseUnits noise_units{};

  [[nodiscard]] constexpr bool is_structural() const {
    return block_loads + stores + functions != 0;
  }
};

/// Number of words in a block. A block has as many lines as a line has words. 32 lanes cover a
/// block in 32 accesses, whether each access covers one line or 32 lines.
inline constexpr std::uint32_t block_words = line_words * line_words;

// Amounts of work for which the main cause takes most of the time. The amounts assume a GPU that
// runs 4 sub-groups at once on a compute unit. A load takes 700 cycles from main memory, and 280
// cycles from the second-level cache.

inline constexpr Mix memory_bound{
    .name = "memory-bound",
    .built_for = Cause::main_memory,
    .groups_per_unit = 2,
    .noisy_groups_per_unit = 4,
    .work_items = 256,
    .far_loads = 4,
    .noise_units = {.arithmetic = 64, .local_memory = 32, .cache = 32, .memory = 4}};

inline constexpr Mix latency_bound{
    .name = "latency-bound",
    .built_for = Cause::main_memory,
    .crowd = 16,
    .far_loads = 4,
    .is_chase = true,
    .noise_units = {.arithmetic = 128, .local_memory = 32, .cache = 32, .memory = 8}};

inline constexpr Mix bank_conflicts{
    .name = "bank-conflicts",
    .built_for = Cause::bank_conflict,
    .groups_per_unit = 2,
    .noisy_groups_per_unit = 4,
    .work_items = 256,
    .near_loads = 1,
    .tile_loads = 4,
    .tile_stride = 32,
    .has_barrier = true,
    .noise_units = {.arithmetic = 64, .local_memory = 16, .cache = 8, .memory = 1}};

inline constexpr Mix barrier{
    .name = "barrier",
    .built_for = Cause::barrier,
    .noisy_groups_per_unit = 2,
    .crowd = 4,
    .work_items = 256,
    .near_loads = 1,
    .turn_steps = 512,
    .has_barrier = true,
    .noise_units = {.arithmetic = 96, .local_memory = 24, .cache = 24, .memory = 3}};

inline constexpr Mix dependency_chain{
    .name = "dependency-chain",
    .built_for = Cause::chain,
    .groups_per_unit = 4,
    .noisy_groups_per_unit = 4,
    .crowd = 4,
    .near_loads = 1,
    .chain_steps = 256,
    .has_barrier = true,
    .noise_units = {.arithmetic = 128, .local_memory = 32, .cache = 32, .memory = 4}};

inline constexpr Mix divergence{
    .name = "divergence",
    .built_for = Cause::divergence,
    .groups_per_unit = 2,
    .noisy_groups_per_unit = 4,
    .work_items = 256,
    .near_loads = 1,
    .turn_steps = 256,
    .is_divergent = true,
    .noise_units = {.arithmetic = 64, .local_memory = 32, .cache = 32, .memory = 4}};

struct Shape {
  std::string name{};  ///< name of the case
  std::string timer{};
  std::string built_for{};  ///< main cause in GSI's words
  Ablated ablated{};
  std::uint32_t lanes{1};
  std::uint32_t groups{1};
  std::uint32_t work_items{1};  ///< size of a group, including the work-items that make noise
  std::uint32_t workers{1};
  std::optional<std::uint32_t> crowd{};  ///< number of launched groups per group of the kernel
  std::uint64_t far_bytes{0};
  std::uint64_t near_bytes{0};
  std::uint64_t first_bytes{0};

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("case", name);
    fields.text("timer", timer);
    fields.text("built_for", built_for);
    ablated.visit(fields);
    fields.whole("lanes", lanes, count_from_1);
    fields.whole("groups", groups, count_from_1);
    fields.whole("work_items", work_items, count_from_1);
    fields.whole("workers", workers, count_from_1);
    fields.whole(crowd_name, crowd, count_from_1);
    fields.whole("far_bytes", far_bytes);
    fields.whole("near_bytes", near_bytes);
    fields.whole("first_bytes", first_bytes);
  }

  /// Returns the number of stamps that a group stores.
  [[nodiscard]] std::uint32_t parts_of_group() const;
  /// Returns the number of rows of 32 work-items in all groups.
  [[nodiscard]] std::uint32_t rows() const;
};

struct Arguments {
  Mix mix{};  ///< work without the removed bank conflicts, barriers and fences
  Shape shape{};
  std::uint32_t far_mask{0};
  std::uint32_t near_mask{0};
  bool is_chain{false};
  std::uint32_t turn_shift{0};
  std::uint32_t turn_mask{0};
  std::uint32_t load_mask{0};     ///< bits of the number of a loaded block
  std::uint32_t lane_stride{1};   ///< distance in words between neighbouring lanes
  std::uint32_t turn_stride{32};  ///< distance in words between successive accesses of a lane
  std::uint32_t row_blocks{1};    ///< blocks that 32 work-items store to, one after another
  std::uint32_t store_mask{0};    ///< bits of the number of a stored block
  std::uint32_t gate{0};          ///< all ones if the kernel must not store
  bool is_special{false};
  Noise noise{};

  /// Throws std::out_of_range for a point without the parameters.
  static Arguments of(const Mix& mix, const Point& point);

  /// Returns the size in bytes of the buffer that stores go to; 0 without stores.
  [[nodiscard]] std::uint64_t stored_bytes() const;
  /// Returns the factor that scales the result of 24 operations to a small number. The operations
  /// are special functions, or the multiplications that replace them.
  [[nodiscard]] float function_scale() const { return is_special ? 0x1p1F : 0x1p-57F; }
};

/// Factor of the multiplication that replaces each special function.
inline constexpr float halving = 0.5F;

struct Store {
  std::uint32_t row{0};
  std::uint32_t lane{0};
  std::uint32_t iteration{0};
  std::uint32_t turn{0};
};
/// Returns the index of the word that a store writes to.
std::uint32_t index_of(const Arguments& arguments, const Store& store);
/// Returns the word that a launch stores at an index. All work-items store equal words there.
std::uint32_t stored_word(std::uint32_t index, std::uint32_t launch);
/// Returns the addend to a work-item's sum from work that waits for a unit, and advances `near`,
/// the state of the work-item's generator.
std::uint32_t structural_work(const Arguments& arguments, std::uint32_t lane, std::uint32_t& near);

/// Returns why the device's version of OpenCL has no fence that makes stores visible to the whole
/// device. Returns an empty text if the version has such a fence, or may have it.
std::string find_fence_problem(const DeviceInfo& device);

/// Returns the points of a kernel: all sets of causes, additional groups, phases by clocks, and
/// noise of each kind.
std::vector<Point> points_of(const Mix& mix, const DeviceInfo& device, const Options& requested);
Memory memory_of(const Mix& mix, const Point& point);
std::uint32_t result_of(const Arguments& arguments, std::uint32_t launch, std::uint32_t iterations,
                        std::uint32_t group, std::uint32_t item);
std::uint64_t most_iterations(const DeviceInfo& device, const Arguments& arguments);
std::string options_of(const Mix& mix, const DeviceInfo& device, const Point& point);
Work prepare(const Mix& mix, Shared& shared, const Point& point);
/// Adds the savings of removed causes, and the time of barriers and of the tail by clocks.
void analyse(std::string_view bar, const Points& points, const DeviceInfo& device,
             std::vector<Finding>& findings);

template <const Mix& mix>
constexpr Case case_of(std::string_view what) {
  return {.name = mix.name,
          .what = what,
          .is_on_request = mix.is_structural(),
          .points = [](const DeviceInfo& device,
                       const Options& requested) { return points_of(mix, device, requested); },
          .memory = [](const Point& point) { return memory_of(mix, point); },
          .options = [](const DeviceInfo& device,
                        const Point& point) { return options_of(mix, device, point); },
          .prepare = [](Shared& shared,
                        const Point& point) { return wait_for_one::prepare(mix, shared, point); },
          .analyse = analyse};
}

// Amounts of work for which the main cause takes most of the time. The amounts assume a GPU whose
// load/store unit takes one line per cycle. A compute unit stores 16 bytes per cycle to main
// memory, which acknowledges a store after 700 cycles. A compute unit performs 16 special functions
// or 128 multiplications per cycle.

inline constexpr Mix uncoalesced_loads{
    .name = "uncoalesced-loads",
    .built_for = Cause::serial_requests,
    .groups_per_unit = 2,
    .noisy_groups_per_unit = 4,
    .work_items = 256,
    .near_loads = 1,
    .tile_loads = 0,
    .chain_steps = 0,
    .block_loads = 8,
    .is_scattered = true,
    .noise_units = {.arithmetic = 128, .local_memory = 64, .cache = 32, .memory = 4}};

inline constexpr Mix uncoalesced_stores{
    .name = "uncoalesced-stores",
    .built_for = Cause::serial_requests,
    .crowd = 4,
    .work_items = 128,
    .near_loads = 1,
    .tile_loads = 0,
    .chain_steps = 0,
    .stores = 8,
    .is_scattered = true,
    .noise_units = {.arithmetic = 128, .local_memory = 64, .cache = 32, .memory = 4}};

inline constexpr Mix store_bound{
    .name = "store-bound",
    .built_for = Cause::store_buffer,
    .groups_per_unit = 2,
    .noisy_groups_per_unit = 4,
    .work_items = 256,
    .near_loads = 1,
    .tile_loads = 0,
    .chain_steps = 0,
    .stores = 8,
    .stores_go_far = true,
    .noise_units = {.arithmetic = 64, .local_memory = 32, .cache = 32, .memory = 4}};

inline constexpr Mix release{
    .name = "release",
    .built_for = Cause::release,
    .crowd = 4,
    .work_items = 128,
    .tile_loads = 0,
    .chain_steps = 0,
    .stores = 1,
    .has_fence = true,
    .noise_units = {.arithmetic = 64, .local_memory = 32, .cache = 16, .memory = 2}};

inline constexpr Mix function_unit{
    .name = "function-unit",
    .built_for = Cause::function_unit,
    .groups_per_unit = 2,
    .noisy_groups_per_unit = 4,
    .work_items = 256,
    .near_loads = 1,
    .tile_loads = 0,
    .chain_steps = 0,
    .functions = 8,
    .noise_units = {.arithmetic = 96, .local_memory = 48, .cache = 32, .memory = 4}};

}  // namespace clprobe::stalls::wait_for_one
