// SPDX-License-Identifier: Apache-2.0
// Kernels that are built to wait for one thing, each with a little of others so that there is
// something to tell apart: what they do, which causes can be taken away from each, and what they
// must compute. Pure but for `prepare`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/shared/bounds.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/case.hpp"
#include "probes/stalls/cases/structural.hpp"
#include "probes/stalls/twin.hpp"

namespace clprobe::stalls::wait_for_one {

/// One iteration of a work-item, in units of four operations or loads (cl/stalls_mixed.clh), and
/// the work-items that do it.
struct Mix {
  std::string_view name{};
  Cause built_for{Cause::main_memory};
  std::uint32_t groups_per_unit{1};        ///< of a GPU; no more than it holds at once
  std::uint32_t noisy_groups_per_unit{1};  ///< where half of a group's work-items make noise
  std::uint32_t crowd{2};        ///< times as many groups leave no unit idle, and are there at once
  std::uint32_t work_items{32};  ///< of a group, at most
  std::uint32_t far_loads{0};    ///< of eight, or of four where it is a chase
  bool is_chase{false};
  std::uint32_t near_loads{0};
  std::uint32_t tile_loads{1};
  std::uint32_t tile_stride{2};
  std::uint32_t chain_steps{1};
  std::uint32_t turn_steps{0};
  bool has_barrier{false};
  bool is_divergent{false};  ///< lanes take turns, and not sub-groups
  structural::Mix
      structural{};  ///< where it is used, loads of the second cache alone are beside it
  NoiseUnits noise_units{};
};

// The numbers put the large cause at some times the rest on a GPU whose compute unit runs 4
// sub-groups at once, loads from main memory in 700 cycles and from its second cache in 280.

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

/// What a point says.
struct Shape {
  std::string name{};  ///< of the case
  std::string timer{};
  std::string built_for{};  ///< in GSI's words
  Ablated ablated{};
  std::uint32_t lanes{1};
  std::uint32_t groups{1};
  std::uint32_t work_items{1};  ///< of a group, those that only make noise among them
  std::uint32_t workers{1};
  std::optional<std::uint32_t> crowd{};  ///< of groups, so many for each that the kernel has
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

  /// Of a group: a stamp each.
  [[nodiscard]] std::uint32_t parts_of_group() const;
  /// Of 32 work-items, all groups together.
  [[nodiscard]] std::uint32_t rows() const;
};

/// What the kernel is given.
struct Arguments {
  std::uint32_t groups{1};
  std::uint32_t work_items{1};
  std::uint32_t workers{1};
  std::uint32_t far_loads{0};
  std::uint32_t far_mask{0};
  bool is_chase{false};
  std::uint32_t near_loads{0};
  std::uint32_t near_mask{0};
  std::uint32_t tile_loads{0};
  std::uint32_t tile_stride{0};
  std::uint32_t chain_steps{0};
  bool is_chain{false};
  std::uint32_t turn_steps{0};
  std::uint32_t turn_shift{0};
  std::uint32_t turn_mask{0};
  bool has_barrier{false};
  structural::Arguments structural{};
  Noise noise{};

  /// Throws std::out_of_range for a point without the parameters.
  static Arguments of(const Mix& mix, const Point& point);
};

/// All sets of causes, the crowd, phases by clocks, then noise of each kind.
std::vector<Point> points_of(const Mix& mix, const DeviceInfo& device, const Options& requested);
Memory memory_of(const Mix& mix, const Point& point);
/// What a work-item stores when it ends.
std::uint32_t result_of(const Arguments& arguments, std::uint32_t launch, std::uint32_t iterations,
                        std::uint32_t group, std::uint32_t item);
/// The most iterations of a launch.
std::uint64_t most_iterations(const Mix& mix, const DeviceInfo& device, const Point& point);
/// How the kernel is built.
std::string options_of(const Mix& mix, const DeviceInfo& device, const Point& point);
/// Sees OpenCL.
Work prepare(const Mix& mix, Shared& shared, const Point& point);
/// What removing causes saves; barriers and the tail by clocks.
void analyse(std::string_view bar, const Points& points, const DeviceInfo& device,
             std::vector<Finding>& findings);

template <const Mix& mix>
constexpr Case case_of(std::string_view formerly, std::string_view what) {
  return {.name = mix.name,
          .formerly = formerly,
          .what = what,
          .is_on_request = mix.structural.is_used(),
          .points = [](const DeviceInfo& device,
                       const Options& requested) { return points_of(mix, device, requested); },
          .memory = [](const Point& point) { return memory_of(mix, point); },
          .options = [](const DeviceInfo& device,
                        const Point& point) { return options_of(mix, device, point); },
          .prepare = [](Shared& shared,
                        const Point& point) { return wait_for_one::prepare(mix, shared, point); },
          .analyse = analyse};
}

// The numbers put the large cause at some times the rest on a GPU whose load/store unit takes a
// line a cycle, which stores 16 bytes a cycle for each compute unit to main memory, acknowledges a
// store in 700 cycles, and has 16 special functions a cycle where it has 128 multiplications.

inline constexpr Mix uncoalesced_loads{
    .name = "uncoalesced-loads",
    .built_for = Cause::serial_requests,
    .groups_per_unit = 2,
    .noisy_groups_per_unit = 4,
    .work_items = 256,
    .near_loads = 1,
    .tile_loads = 0,
    .chain_steps = 0,
    .structural = {.loads = 8, .is_scattered = true},
    .noise_units = {.arithmetic = 128, .local_memory = 64, .cache = 32, .memory = 4}};

inline constexpr Mix uncoalesced_stores{
    .name = "uncoalesced-stores",
    .built_for = Cause::serial_requests,
    .crowd = 4,
    .work_items = 128,
    .near_loads = 1,
    .tile_loads = 0,
    .chain_steps = 0,
    .structural = {.stores = 8, .is_scattered = true},
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
    .structural = {.stores = 8, .stores_go_far = true},
    .noise_units = {.arithmetic = 64, .local_memory = 32, .cache = 32, .memory = 4}};

inline constexpr Mix release{
    .name = "release",
    .built_for = Cause::release,
    .crowd = 4,
    .work_items = 128,
    .tile_loads = 0,
    .chain_steps = 0,
    .structural = {.stores = 1, .has_fence = true},
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
    .structural = {.functions = 8},
    .noise_units = {.arithmetic = 96, .local_memory = 48, .cache = 32, .memory = 4}};

}  // namespace clprobe::stalls::wait_for_one
