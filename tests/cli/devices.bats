#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016,SC2030,SC2031  # Bats and common.bash set the variables; bash -c expands its own
# Platforms that are missing, empty or failing.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
}

@test "list names PoCL, as text and as JSON" {
  clprobe list
  [ "$status" -eq 0 ]
  [[ $output == *cpu* ]]
  clprobe list --json
  [ "$status" -eq 0 ]
  json_says '(.devices | length) == 1 and .devices[0].platform == "Portable Computing Language"'
}

@test "PoCL has as many threads as there are cores that may be used, unless somebody says how many" {
  [ "$(nproc)" -gt 1 ] || skip "there is one core"
  local core
  core=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
  run --separate-stderr taskset -c "$core" "$CLPROBE" list --json
  json_says '.devices[0].compute_units == 1'
  POCL_MAX_PTHREAD_COUNT=2 run --separate-stderr taskset -c "$core" "$CLPROBE" list --json
  json_says '.devices[0].compute_units == 2'
  clprobe list --json
  json_says ".devices[0].compute_units == $(nproc)"
}

@test "no driver at all: exit 3, and which package or file is missing" {
  local command
  for command in list latency; do
    OCL_ICD_VENDORS=$PWD/none clprobe "$command"
    fails_with 3
    [[ $stderr == *pocl-opencl-icd* || $stderr == *.icd* ]]
  done
}

@test "a driver file that names a library which is not there" {
  mkdir vendors
  echo "$PWD/none/libdriver.so" >vendors/broken.icd
  OCL_ICD_VENDORS=$PWD/vendors/ clprobe latency
  fails_with 3
}

@test "a platform without devices leaves the others usable" {
  # Clover has none on a machine without an AMD device.
  require_driver mesa
  mkdir vendors
  cp /etc/OpenCL/vendors/{mesa,pocl}.icd vendors/
  OCL_ICD_VENDORS=$PWD/vendors/ clprobe list
  [ "$status" -eq 0 ]
  [[ $output == *cpu* ]]
}

@test "only platforms without devices: exit 3" {
  require_driver mesa
  OCL_ICD_VENDORS=/etc/OpenCL/vendors/mesa.icd clprobe latency
  fails_with 3 Clover 'no devices' pocl-opencl-icd
}

@test "an ambiguous device lists the candidates" {
  require_driver rusticl
  mkdir vendors
  cp /etc/OpenCL/vendors/{rusticl,pocl}.icd vendors/
  # Both names hold an "l".
  OCL_ICD_VENDORS=$PWD/vendors/ RUSTICL_ENABLE=llvmpipe clprobe latency --device l
  fails_with 2 --device llvmpipe pthread 'by its index'
}

@test "a device by index, by platform:device, by part of its name, and as a list" {
  local selection name
  name=$("$CLPROBE" list --json | jq -r '.devices[0].name')
  for selection in 0 0:0 "${name:0:5}" 0,0 all; do
    clprobe latency "${few_sizes[@]}" --json --device "$selection"
    [ "$status" -eq 0 ]
  done
}

# vendors_with NAME...: a folder `vendors` with PoCL and drivers that misbehave when they are loaded
# (tests/fault/icd.cpp).
vendors_with() {
  local name
  : "${CLPROBE_ICD_LIBRARY:?names libclprobe_icd.so}"
  rm -rf vendors
  mkdir vendors
  cp /etc/OpenCL/vendors/pocl.icd vendors/
  for name in "$@"; do
    cp "$CLPROBE_ICD_LIBRARY" "lib$name.so"
    echo "$PWD/lib$name.so" >"vendors/$name.icd"
  done
  export OCL_ICD_VENDORS=$PWD/vendors
}

# left_out NAME REASON: PoCL is listed, and the driver NAME is said to be left out, with a reason that
# holds REASON.
left_out() {
  [ "$status" -eq 0 ] || {
    printf 'status %s: %s\n' "$status" "$stderr"
    return 1
  }
  json_says '[.devices[].platform] == ["Portable Computing Language"]' &&
    json_says "[.problems[] | select(.driver == \"$PWD/vendors/$1.icd\") | .reason // .problem] |
      length == 1 and (.[0] | contains(\"$2\"))"
}

@test "a driver that ends the process when it is loaded costs its platform alone" {
  vendors_with crash
  clprobe list --json
  left_out crash 'signal 11'
  json_says '.problems | length == 1'
  vendors_with exit
  clprobe list --json
  left_out exit 'exited with status 0'
  vendors_with garbage
  clprobe list --json
  left_out garbage 'signal'
}

@test "what leaves out a driver is said, and measuring goes on" {
  vendors_with crash
  clprobe list
  [ "$status" -eq 0 ]
  [[ $output == *"driver '$PWD/vendors/crash.icd' is skipped: "*"signal 11"* ]]
  [[ $output == *"to skip it without testing it, set OCL_ICD_VENDORS='$PWD/vendors/pocl.icd'"* ]]
  clprobe latency "${few_sizes[@]}" --json
  [ "$status" -eq 0 ]
  one_line_error
  [[ $stderr == *"driver '$PWD/vendors/crash.icd' is skipped: "* ]]
  json_says '.results[0].status == "ok"'
  # The way that was named.
  OCL_ICD_VENDORS=$PWD/vendors/pocl.icd clprobe list
  [ "$status" -eq 0 ]
  [[ $output != *'is skipped'* ]]
  # Nothing is left behind.
  TMPDIR=$PWD/temporary
  mkdir temporary
  TMPDIR=$PWD/temporary clprobe list
  [ -z "$(ls temporary)" ]
}

@test "a driver that hangs or prints without end when it is loaded costs its platform alone" {
  vendors_with hang
  clprobe list --json --timeout 5s
  left_out hang 'did not respond within 5 s; --timeout'
  vendors_with babble
  clprobe list --json --timeout 5s
  left_out babble 'did not respond within 5 s; --timeout'
}

@test "what a driver prints is kept neither in a file nor in memory" {
  vendors_with flood
  # A file of 256 MiB would end the process by SIGXFSZ.
  ulimit -f 65536
  clprobe list --json
  left_out flood 'signal 11'
  json_says '[.problems[].problem | length] | max < 1000'
}

@test "drivers that only fail together: one of them is left out" {
  vendors_with mean mean2
  mv vendors/mean2.icd vendors/a.icd
  clprobe list --json
  left_out mean 'signal 11'
  json_says '.problems | length == 1'
}

@test "a platform that says senseless things leaves the others usable" {
  vendors_with vast long
  clprobe list --json
  [ "$status" -eq 0 ]
  json_says '[.devices[] | select(.platform == "Portable Computing Language")] | length == 1'
  json_says '[.problems[] | select(.platform == "Strange") | .problem] == ["the platform reports 2147483647 devices, which is implausible"]'
}

@test "an index means the same device whether a driver is left out or not" {
  local index name
  require_driver rusticl
  vendors_with crash exit
  cp /etc/OpenCL/vendors/rusticl.icd vendors/
  export RUSTICL_ENABLE=llvmpipe
  clprobe list --json
  [ "$status" -eq 0 ]
  json_says '[.devices[].index] == [0, 1] and (.problems | length) == 2'
  printf '%s\n' "$output" >list.json
  for index in 0 1; do
    name=$(jq -r ".devices[$index].name" list.json)
    clprobe latency --device "$index" "${few_sizes[@]}" --series global --json
    [ "$status" -eq 0 ]
    jq -e --arg name "$name" '[.[].device.name] == [$name]' <<<"$output"
    name=$(jq -r ".devices[$index].platform_index" list.json)
    clprobe list --device "$name" --json
    jq -e --argjson index "$index" '[.devices[].index] == [$index]' <<<"$output"
  done
  # By another child than the one that listed: the second of two devices.
  clprobe latency --device all "${few_sizes[@]}" --series global --json
  [ "$status" -eq 0 ]
  jq -e --slurpfile list list.json '[.[].device.name] == [$list[0].devices[].name]' <<<"$output"
}

@test "only drivers that crash: each is named" {
  vendors_with crash exit
  rm vendors/pocl.icd
  clprobe list
  fails_with 1 'cannot list the devices' "$PWD/vendors/crash.icd: the driver's process was killed by signal 11" \
    "$PWD/vendors/exit.icd: the driver's process exited with status 0"
  vendors_with crash
  rm vendors/pocl.icd
  clprobe latency
  fails_with 1 'cannot list the devices' "$PWD/vendors/crash.icd: the driver's process was killed by signal 11"
}

@test "a driver that cannot be loaded: why" {
  mkdir vendors
  echo "$PWD/none/libdriver.so" >vendors/broken.icd
  OCL_ICD_VENDORS=$PWD/vendors/ clprobe list
  fails_with 3 "$PWD/vendors/broken.icd" './none/libdriver.so: cannot open shared object file'
}
