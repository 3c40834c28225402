#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; bash -c expands its own
# Drivers that crash, hang, lie or lose the device, played by tests/fault/fault.cpp.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  : "${CLPROBE_FAULT_LIBRARY:?names libclprobe_fault.so}"
}

# with_fault FAULT ARGUMENT...: runs clprobe over a driver that misbehaves.
with_fault() {
  local fault=$1
  shift
  # env, so that neither timeout nor bats has the library.
  run --separate-stderr timeout 180 env LD_PRELOAD="$CLPROBE_FAULT_LIBRARY" \
    CLPROBE_FAULT="$fault" "$CLPROBE" "$@"
}

# Some points were measured and some were not, and the file says why.
partly_measured() {
  json_says '[.results[].points[] | select((.samples | length) > 0)] | length > 0' "$1" &&
    json_says '([.results[] | select(.status == "failed" or .reason != "")] | length > 0)
      or ([.results[].points[] | select((.failure // "") != "")] | length > 0)' "$1"
}

@test "the library alone changes nothing" {
  with_fault '' latency "${few_sizes[@]}" --json
  [ "$status" -eq 0 ]
}

@test "a crash while measuring ends one child; it is said, and the rest is measured" {
  CLPROBE_FAULT_ONCE=$PWD/once with_fault crash@clEnqueueNDRangeKernel:60 latency \
    "${few_sizes[@]}" -o a.json
  [ -e once ]
  [ "$status" -le 1 ]
  json_says '[.results[].points[] | select((.samples | length) > 0)] | length > 0' a.json
}

@test "a driver that crashes every time: exit 1, what was measured is kept" {
  with_fault crash@clEnqueueNDRangeKernel:60 latency "${few_sizes[@]}" -o a.json
  [ "$status" -eq 1 ]
  partly_measured a.json
}

@test "a driver that ends the process" {
  with_fault exit@clEnqueueNDRangeKernel:60 latency "${few_sizes[@]}" -o a.json
  [ "$status" -eq 1 ]
  partly_measured a.json
}

@test "a driver that hangs is given up" {
  with_fault hang@clFinish:60 latency "${few_sizes[@]}" -o a.json
  [ "$status" -eq 1 ]
  partly_measured a.json
}

@test "a driver that hangs at once is given up" {
  with_fault hang@clGetPlatformIDs latency "${few_sizes[@]}"
  [ "$status" -ne 124 ]
  [ "$status" -ne 0 ]
  one_line_error
}

@test "a failing launch costs one point and no more" {
  with_fault error=-5@clEnqueueNDRangeKernel:60 latency "${few_sizes[@]}" -o a.json
  [ "$status" -le 1 ]
  json_says '[.results[].points[] | select((.samples | length) > 0)] | length > 0' a.json
}

@test "a kernel that does not build: exit 1, with the compiler's words" {
  with_fault fail@clBuildProgram latency "${few_sizes[@]}"
  [ "$status" -eq 1 ]
  one_line_error
}

@test "no memory for buffers: exit 1" {
  with_fault fail@clCreateBuffer latency "${few_sizes[@]}"
  [ "$status" -eq 1 ]
  [[ $stderr == *CL_MEM_OBJECT_ALLOCATION_FAILURE* ]]
}

@test "a device that disappears: exit 1, what was measured is kept" {
  with_fault gone@clEnqueueNDRangeKernel:60 latency "${few_sizes[@]}" -o a.json
  [ "$status" -eq 1 ]
  partly_measured a.json
}

@test "event times that lie: another timer is used, with a warning" {
  with_fault lie@clGetEventProfilingInfo latency "${few_sizes[@]}" --json
  [ "$status" -eq 0 ]
  json_says '.device.timer != "event"'
  json_says '[.warnings[], .results[].warnings[]] | length > 0'
}

@test "event times that fail: another timer is used" {
  with_fault fail@clGetEventProfilingInfo latency "${few_sizes[@]}" --json
  [ "$status" -eq 0 ]
  json_says '.device.timer != "event"'
}

@test "a wrong bit in what is read back fails, and does not look fast" {
  with_fault wrong@clEnqueueReadBuffer:20 latency "${few_sizes[@]}" -o a.json
  [ "$status" -eq 1 ]
  grep -q 'wrong result' a.json
  json_says '[.results[].findings[] | select(.value != null)] | length == 0' a.json
}

@test "no platforms and no devices: exit 3" {
  with_fault empty@clGetPlatformIDs latency
  fails_with 3
  with_fault empty@clGetDeviceIDs latency
  fails_with 3
}
