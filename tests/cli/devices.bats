#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; bash -c expands its own
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

@test "no driver at all: exit 3, and which package or file is missing" {
  local command
  for command in list latency; do
    OCL_ICD_VENDORS=/nonexistent clprobe "$command"
    fails_with 3
    [[ $stderr == *pocl-opencl-icd* || $stderr == *.icd* ]]
  done
}

@test "a driver file that names a library which is not there" {
  mkdir vendors
  echo /nonexistent/libdriver.so >vendors/broken.icd
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
