#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2034  # Bats and common.bash set and use the variables
# The command doctor: no false alarm on devices that work, and every fault of a driver by name.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  : "${CLPROBE_FAULT_LIBRARY:?names libclprobe_fault.so}"
}

# ill FAULT TEXT [ARGUMENT...]: doctor finds a problem whose line has the text.
ill() {
  run --separate-stderr timeout 300 env LD_PRELOAD="$CLPROBE_FAULT_LIBRARY" CLPROBE_FAULT="$1" \
    "$CLPROBE" doctor --time-budget 4s "${@:3}"
  [ "$status" -eq 1 ] || return 1
  grep --quiet --extended-regexp "$2" <<<"$output$stderr"
}

@test "a CPU through PoCL, and a simulated device" {
  clprobe_seconds=600
  clprobe doctor -o run.json
  [[ $output == *'had the right checksums'* ]]
  # On a busy host, event times can grow by other amounts than the host's times.
  problems=$(grep PROBLEM <<<"$output" | grep --invert-match 'false event times' || true)
  [ -z "$problems" ]
  json_says '[.results[].probe] == ["latency", "stride", "launch", "banks"]' run.json
  measured=$status
  clprobe doctor run.json
  [ "$status" -eq "$measured" ]
  clprobe doctor -d sim:fermi-m2070
  [ "$status" -eq 0 ]
  [[ $output == *'No problem was found.' ]]
}

@test "a stored run of a GPU" {
  clprobe doctor "$BATS_TEST_DIRNAME/../../results/nvidia/h200/580.159.04_2026-12-01.json"
  [ "$status" -eq 0 ]
  [[ $output == *'%clock64'*'reports 32 work-items'*'No problem was found.' ]]
  clprobe doctor latency
  fails_with 2 'doctor chooses its probes'
}

@test "a driver that crashes, ends the process, hangs or loses the device" {
  export CLPROBE_FAULT_KERNEL=latency_chase CLPROBE_FAULT_ONCE=$PWD/once
  ill crash@clEnqueueNDRangeKernel:3 'signal 11'
  rm once
  ill exit@clEnqueueNDRangeKernel:3 'exit(ed)? .*8'
  rm once
  ill hang@clFinish:3 'no response|did not respond' --timeout 2s
  rm once
  ill gone@clEnqueueNDRangeKernel:3 'CL_DEVICE_NOT_AVAILABLE'
}

@test "a driver that refuses programs, buffers or launches" {
  ill fail@clBuildProgram 'CL_BUILD_PROGRAM_FAILURE'
  ill fail@clCreateBuffer 'CL_(MEM_OBJECT_ALLOCATION_FAILURE|OUT_OF_)'
  ill fail@clEnqueueNDRangeKernel 'CL_OUT_OF_RESOURCES'
}

@test "a driver whose event times or results are false" {
  ill lie@clGetEventProfilingInfo 'event times are wrong'
  ill fail@clGetEventProfilingInfo 'event times are wrong'
  CLPROBE_FAULT_KERNEL=latency_chase ill garbage@clEnqueueReadBuffer:3 'wrong result'
}
