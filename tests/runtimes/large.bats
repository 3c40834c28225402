#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # Bats and common.bash set the variables
# Rings beyond 4 GiB, where 32-bit offsets and indices end. PoCL offers at most a quarter of the
# memory in one buffer, so that tests/fault/fault.cpp makes it offer more: a CPU device's kernels
# reach all of the host's memory, whatever size the driver was told.
bats_require_minimum_version 1.5.0

setup() {
  load ../cli/common
  common_setup
  : "${CLPROBE_FAULT_LIBRARY:?names libclprobe_fault.so}"
  local free_kib
  free_kib=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
  ((free_kib > 7 * 1024 * 1024)) || skip "less than 7 GiB of memory are free"
}

@test "a ring of 4.5 GiB, by offset, index and pointer" {
  local form
  for form in offset index pointer; do
    # One hop in nine goes beyond 4 GiB, and where each chase ends is checked: an offset that lost
    # its upper half leads elsewhere.
    run --separate-stderr timeout 300 env LD_PRELOAD="$CLPROBE_FAULT_LIBRARY" \
      CLPROBE_FAULT=vast@clCreateBuffer "$CLPROBE" latency --sizes 4608MiB --step 4096 \
      --series global --address "$form" --quick --time-budget 60s --timeout 200s --json
    [ "$status" -eq 0 ]
    json_says ".results[0].points | length == 1 and .[0].parameters.address == \"$form\" and
      .[0].facts.buffer_bytes == 4831838208 and (.[0].samples | length) > 0"
  done
}
