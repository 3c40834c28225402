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

# Fewer than eight points: the engine then follows no reference point, which could meet a fault that happens
# once in the place of a point. And global memory alone: a first launch that fails for want of resources
# with constants or local memory is a refusal and no failure. They need more than 20 launches.
few_points=(--sizes "16KiB-64KiB*1.4" --series global --quick --time-budget 60s)

# Faults in the middle of the measuring: counted from the first chase on.
while_measuring() {
  CLPROBE_FAULT_KERNEL=latency_chase with_fault "$@"
}

# failed_points FILTER FILE: exit 1, one line that says so, the number of failed points passes the
# filter, and the others have their samples.
failed_points() {
  fails_with 1 'latency: ' 'points failed' 'results are kept' || return 1
  json_says '.results[0].status == "failed"' "$2" &&
    json_says "[.results[].points[] | select((.failure // \"\") != \"\")] | length | $1" "$2" &&
    json_says '[.results[].points[] | select((.failure // "") == "")] |
      length > 0 and all(.samples | length > 0)' "$2"
}

@test "the library alone changes nothing" {
  with_fault '' latency "${few_sizes[@]}" --json
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
}

@test "a crash while measuring costs one point; it is said, and the rest is measured" {
  CLPROBE_FAULT_ONCE=$PWD/once while_measuring crash@clEnqueueNDRangeKernel:12 latency \
    "${few_points[@]}" -o a.json
  [ -e once ]
  failed_points '. == 1' a.json
  [[ $stderr == *'signal 11'* ]]
}

@test "a crash while the device is tried costs a warning" {
  CLPROBE_FAULT_ONCE=$PWD/once with_fault crash@clEnqueueNDRangeKernel:3 latency \
    "${few_sizes[@]}" --json
  [ -e once ]
  [ "$status" -eq 0 ]
  json_says '[.warnings[] | select(.source == "engine") | .code] == ["event_times_false"]'
}

@test "a dry run tries the device as a run does, and survives its driver" {
  CLPROBE_FAULT_ONCE=$PWD/once with_fault crash@clEnqueueNDRangeKernel:3 latency "${few_sizes[@]}" launch \
    --dry-run
  [ -e once ]
  [ "$status" -eq 0 ]
  [[ $output == *'latency: '*'launch back-to-back: not measured: '*'together: up to '* ]]
  with_fault error=-6@clCreateContext latency --dry-run
  fails_with 1 'clCreateContext'
  [ -z "$output" ]
}

@test "a driver that crashes again and again: what was measured between is kept" {
  while_measuring crash@clEnqueueNDRangeKernel:20 latency "${few_sizes[@]}" -o a.json
  failed_points '. > 1' a.json
}

@test "a driver that ends the process" {
  while_measuring exit@clEnqueueNDRangeKernel:20 latency "${few_sizes[@]}" -o a.json
  failed_points '. > 1' a.json
  [[ $stderr == *'exited with status 8'* ]]
}

@test "a driver that hangs is given up, and the rest is measured" {
  CLPROBE_FAULT_ONCE=$PWD/once while_measuring hang@clFinish:12 latency "${few_points[@]}" \
    --timeout 10s -o a.json
  [ -e once ]
  failed_points '. == 1' a.json
  [[ $stderr == *'did not respond within 10 s; --timeout'* ]]
}

@test "a driver that hangs at once is given up" {
  with_fault hang@clGetPlatformIDs latency "${few_sizes[@]}" --timeout 2s
  fails_with 1 'cannot list the devices' 'did not respond within 2 s; --timeout'
  with_fault hang@clGetPlatformIDs list --timeout 2s
  fails_with 1 'cannot list the devices'
}

@test "a device that does not answer what every device has to is left out, and no probe calls it unsupported" {
  with_fault error=-5@clRetainDevice:1 latency "${few_sizes[@]}"
  fails_with 3 'device 0 does not report its type'
  # Wherever it falls silent: measured, or an error.
  local call
  for call in 10 40 60 70 80 90; do
    with_fault error=-5@clGetDeviceInfo:"$call" latency "${few_sizes[@]}" -o a.json
    if [ "$status" -eq 0 ]; then
      json_says '.results[0].status == "ok"' a.json
    else
      fails_with '[13]'
    fi
    rm -f a.json once
  done
}

@test "SIGINT while a driver hangs: exit 130, and what was measured is in the file" {
  local pid
  CLPROBE_FAULT_ONCE=$PWD/once CLPROBE_FAULT_KERNEL=latency_chase CLPROBE_FAULT=hang@clFinish:40 \
    LD_PRELOAD="$CLPROBE_FAULT_LIBRARY" setsid env --default-signal=INT "$CLPROBE" latency \
    "${few_sizes[@]}" --timeout 60s -o a.json >stdout 2>stderr &
  pid=$!
  until [ -e once ] || ! kill -0 "$pid"; do sleep 0.1; done
  kill -INT -- -"$pid"
  status=0
  wait "$pid" || status=$?
  [ "$status" -eq 130 ]
  json_says '.interrupted and .results[0].status == "interrupted"' a.json
  json_says '[.results[].points[] | select((.samples | length) > 0)] | length > 0' a.json
}

@test "a failing launch costs one point and no more" {
  CLPROBE_FAULT_ONCE=$PWD/once while_measuring error=-5@clEnqueueNDRangeKernel:12 latency \
    "${few_points[@]}" -o a.json
  [ -e once ]
  failed_points '. == 1' a.json
  [[ $stderr == *'clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5) in latency ('*'KiB)'* ]]
}

@test "what a driver says when it refuses local memory is no failure, all else is one" {
  local local_points=(--sizes "16KiB-64KiB*1.4" --series local --quick --time-budget 60s)
  CLPROBE_FAULT_ONCE=$PWD/once while_measuring error=-5@clEnqueueNDRangeKernel latency \
    "${local_points[@]}" -o a.json
  [ -e once ]
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok"' a.json
  json_says '[.results[0].warnings[] | select(.code == "point_refused") | .facts.reason] |
    length == 1 and (.[0] | contains("CL_OUT_OF_RESOURCES"))' a.json
  rm once
  CLPROBE_FAULT_ONCE=$PWD/once while_measuring error=-36@clEnqueueNDRangeKernel latency \
    "${local_points[@]}" -o a.json
  [ -e once ]
  failed_points '. == 1' a.json
  [[ $stderr == *'CL_INVALID_COMMAND_QUEUE (-36)'* ]]
}

@test "a table that is too large is refused, a chase that builds with no table has failed" {
  local tables=(--sizes "4KiB-16KiB*1.4" --series constant-program --quick --time-budget 60s)
  CLPROBE_FAULT_ONCE=$PWD/once while_measuring error=-11@clBuildProgram latency "${tables[@]}" \
    -o a.json
  [ -e once ]
  [ "$status" -eq 0 ]
  json_says '[.results[0].warnings[] | select(.code == "point_refused") | .facts.reason] |
    length == 1 and (.[0] | contains("rejects a constant table of"))' a.json
  while_measuring fail@clBuildProgram latency "${tables[@]}" -o a.json
  failed_points '. > 0' a.json
  [[ $stderr == *'latency.cl does not build'* ]]
}

@test "a kernel that does not build: exit 1, with the compiler's words" {
  with_fault fail@clBuildProgram latency "${few_sizes[@]}"
  fails_with 1 'facts.cl does not build' CL_BUILD_PROGRAM_FAILURE 'unknown type name'
  while_measuring fail@clBuildProgram:2 latency "${few_sizes[@]}" -o a.json
  failed_points '. > 0' a.json
  [[ $stderr == *'latency.cl does not build'*'unknown type name'* ]]
}

@test "no memory for buffers: exit 1" {
  with_fault fail@clCreateBuffer latency "${few_sizes[@]}"
  fails_with 1 CL_MEM_OBJECT_ALLOCATION_FAILURE
}

@test "a device that disappears: exit 1, what was measured is kept" {
  CLPROBE_FAULT_ONCE=$PWD/once while_measuring gone@clEnqueueNDRangeKernel:40 latency \
    "${few_sizes[@]}" -o a.json
  [ -e once ]
  failed_points '. > 1' a.json
  [[ $(jq -r '.results[0].points[].failure // ""' a.json) == *'has disappeared'*'clprobe list'* ]]
}

@test "event times that lie: another timer is used, with a warning" {
  with_fault lie@clGetEventProfilingInfo latency "${few_sizes[@]}" --json
  [ "$status" -eq 0 ]
  json_says '.device.timer == "clock" and [.warnings[] | select(.source == "engine") | .code] == ["event_times_false"]'
  with_fault lie@clGetEventProfilingInfo latency "${few_sizes[@]}" --json --clock none
  [ "$status" -eq 0 ]
  json_says '.device.timer == "host" and [.warnings[] | select(.source == "engine") | .code] == ["event_times_false"]'
}

@test "event times that are too short or too long: another timer is used" {
  # A busy host may disturb the host's times by 20 %, hence 50 and 150. Unit tests have the limit.
  for percent in 50 150 4200; do
    with_fault percent=$percent@clGetEventProfilingInfo latency "${few_sizes[@]}" --json --clock none
    [ "$status" -eq 0 ]
    # A busy host may have other warnings.
    json_says '.device.launch_timer == "host" and ([.warnings[].code] | index("event_times_false")) != null'
  done
}

@test "a device without a name has one that can be selected" {
  with_fault nameless@clGetDeviceInfo list
  [[ $output == *'unnamed cpu'* ]]
  with_fault nameless@clGetDeviceInfo latency -d 'unnamed cpu' "${few_sizes[@]}"
  [[ ${lines[0]} == 'unnamed cpu'* ]]
}

@test "on an Intel GPU, whose compiler chooses, kernels require 16 lanes per sub-group" {
  with_fault intel@clGetDeviceInfo latency "${few_sizes[@]}" --json
  json_says '.device.type == "gpu" and .device.sub_group_size == 16'
  json_says '[.results[0].kernels[].options | test("-DSUB_GROUP=16 ")] | length > 0 and all'
}

@test "event times that fail: another timer is used" {
  with_fault fail@clGetEventProfilingInfo latency "${few_sizes[@]}" --json --clock none
  [ "$status" -eq 0 ]
  json_says '.device.timer == "host" and [.warnings[] | select(.source == "engine") | .code] == ["event_times_false"]'
}

@test "a wrong bit in what is read back fails, and does not look fast" {
  while_measuring wrong@clEnqueueReadBuffer latency "${few_sizes[@]}" -o a.json
  fails_with 1 'wrong result' 'so the measured time is invalid'
  json_says '[.results[].points[] | select(.failure | startswith("wrong result"))] | length > 0' \
    a.json
  json_says '[.results[].points[].samples[]] | length == 0' a.json
  json_says '[.results[].findings[] | select(.value != null)] | length == 0' a.json
}

@test "no platforms and no devices: exit 3" {
  with_fault empty@clGetPlatformIDs latency
  fails_with 3 'no OpenCL device' /etc/OpenCL/vendors/pocl.icd 'offers no platform' pocl-opencl-icd
  with_fault empty@clGetDeviceIDs latency
  fails_with 3 'no OpenCL device' 'Portable Computing Language' 'no devices'
}

@test "a point that fails while stderr is closed or full: a document, and the later probe is in it" {
  for streams in '2>&-' '2>/dev/full' '>/dev/full 2>/dev/full' '<&- >&- 2>&-'; do
    rm -f once a.json
    status=0
    CLPROBE_FAULT_ONCE=$PWD/once CLPROBE_FAULT_KERNEL=latency_chase \
      CLPROBE_FAULT=crash@clEnqueueNDRangeKernel:12 bash -c 'exec timeout 180 env \
      LD_PRELOAD="$CLPROBE_FAULT_LIBRARY" "$@" '"$streams" bash "$CLPROBE" \
      latency "${few_points[@]}" stride --grid 2^10 -o a.json >out || status=$?
    [ -e once ]
    [ "$status" -eq 1 ]
    json_says '.interrupted == false and [.results[].status] == ["failed", "ok"]' a.json
    run ! grep -q 'clprobe: ' a.json out
  done
}

# Sets so small that a launch goes over them many times.
@test "a launch that makes half of its rounds is seen in whatever it moves" {
  local series
  for series in read write copy; do
    with_fault short@clCreateProgramWithSource bandwidth --series "$series" --sizes 64KiB-256KiB*2 --quick \
      --time-budget 60s -o a.json
    [ "$status" -eq 1 ]
    json_says '[.results[0].points[].failure | startswith("wrong result:")] | length >= 2 and all' a.json
    rm a.json
  done
}

# Registers are what a driver gives out by the group: what needs more of them than there are is refused.
@test "of a kernel that has registers for few work-items, larger groups are left out, and a warning says so" {
  with_fault fits=16@clGetKernelWorkGroupInfo banks --series load-latency,load-model --ways 1,2 \
    --sub-groups 1,2,4 --instructions 1 --quick --time-budget 60s -o a.json
  [ "$status" -eq 0 ]
  local lanes
  lanes=$(jq '.results[0].points[] | select(.series == "load-model") | .parameters.lanes' a.json | head -n 1)
  [ "$lanes" -eq 8 ] || skip "sub-groups of $lanes here"
  json_says '[.results[0].points[] | select(.series == "load-model") | .parameters.sub_groups] | sort == [1, 1, 2, 2]' \
    a.json
  json_says '.results[0].warnings | map(select(.code == "point_refused").facts) == [{"series": "load-model",
    "reason": "the driver runs this kernel with at most 16 work-items per work-group, but the probe needs 32", "points": 2}]' a.json
  run --separate-stderr "$CLPROBE" report a.json
  [[ $output == *'with at most 16 work-items'* ]]
}
