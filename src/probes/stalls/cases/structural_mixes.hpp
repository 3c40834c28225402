// SPDX-License-Identifier: Apache-2.0
// Kernels of `wait_for_one` that are built for a unit that takes nothing more.
#pragma once

#include "probes/stalls/cases/wait_for_one.hpp"

namespace clprobe::stalls::wait_for_one {

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
