#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # Bats and common.bash set the variables
# The probe stride on PoCL: what it refuses, that every kind of launch proves itself, its formats.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
}

# Strides of 1 to 64 elements of a small buffer: a second or two.
small=(--elements 64K --grid 64 --work-group 8 --quick --time-budget 60s)

@test "numbers that are no powers of two name those around them" {
  clprobe stride --grid 1000
  fails_with 2 --grid 1000 'choose 512 or 1024'
  clprobe stride --elements 3
  fails_with 2 --elements 'choose 2 or 4'
  clprobe stride --work-group 96
  fails_with 2 --work-group 'choose 64 or 128'
}

@test "an index space smaller than the grid, and a grid that a work-group does not divide" {
  clprobe stride --elements 1024 --grid 4096
  fails_with 2 --grid 'exceed the 1024 elements' 'at most 1024'
  clprobe stride --grid 64 --work-group 128
  fails_with 2 --work-group 'exceeds the grid' 'at most 64'
}

@test "more memory than there is" {
  clprobe stride --elements 2^40
  fails_with 2 --elements 'available memory' 'choose at most'
  # What checks need counts as well, so that the next power of two below 1 MiB is left.
  clprobe stride --elements 1M --operation read --vector 1 --max-memory 1MiB
  fails_with 2 --elements 'choose at most 131072'
}

@test "words that are no types, operations or counts" {
  clprobe stride --type half
  fails_with 2 half 'int, float or double'
  clprobe stride --operation reed
  fails_with 2 reed "did you mean 'read'"
  clprobe stride --vector 3
  fails_with 2 --vector 3
  local count
  for count in 0 -1 1KB banana 2^; do
    clprobe stride --elements "$count"
    fails_with 2 --elements
  done
}

@test "a type that the device lacks" {
  require_driver rusticl
  export OCL_ICD_VENDORS=/etc/OpenCL/vendors/rusticl.icd RUSTICL_ENABLE=llvmpipe
  clprobe stride --type double
  fails_with 2 --type 'not support double' 'int or float'
}

@test "every operation in every type and kind of buffer moves what it must" {
  clprobe stride --elements 16K --grid 16 --work-group 8 --quick --time-budget 100s \
    --type int,double --vector 1,8 --buffer device,host,svm --operation read,write,copy,update --json
  [ "$status" -eq 0 ]
  # 5 strides of 48 series; a witness that is wrong would be a failure.
  json_says '.results[0] | .status == "ok" and .unit == "bytes_per_second"'
  json_says '.results[0].points | length == 240 and all(.samples | length > 0)'
  json_says '[.results[0].points[] | select(.parameters.operation == "write") | .samples[].witness]
    | all(. > 0)'
}

@test "a single element, and one for each work-item" {
  clprobe stride --elements 1 --grid 1 --work-group 1 --operation read,copy --quick --time-budget 60s --json
  [ "$status" -eq 0 ]
  json_says '.results[0].points | length == 2'
  clprobe stride --elements 64 --grid 64 --work-group 8 --operation read,copy --quick --time-budget 60s --json
  [ "$status" -eq 0 ]
  json_says '.results[0].points | length == 14'
}

@test "all formats, and a report that finds the same" {
  clprobe stride "${small[@]}" -o a.json -o a.csv -o a.md -o a.txt
  [ "$status" -eq 0 ]
  [[ $output == *'read int'* && $output == *'GB/s'* ]]
  grep -q 'stride_bytes' a.csv
  grep -q '| series | level | bandwidth |' a.md
  clprobe report a.json --json
  [ "$status" -eq 0 ]
  diff <(jq '.results[].findings' a.json) <(jq '.[0].results[].findings' <<<"$output")
  json_says '[.results[0].findings[] | select(.name == "advice")] | length == 1'
}

@test "the host's clock instead of events" {
  clprobe stride "${small[@]}" --timer host --json
  [ "$status" -eq 0 ]
  json_says '[.results[0].points[].parameters.timer] | unique == ["host"]'
}

@test "a launch that moves the whole buffer, on a processor as well" {
  clprobe stride --elements 2^22 --grid 64 --type int --vector 1 --operation copy --per-launch whole \
    --time-budget 100s --quick --json
  [ "$status" -eq 0 ]
  json_says '[.results[0].points[] | select(.failure)] == []'
  # Both directions.
  json_says '[.results[0].points[].samples[].accesses] | unique == [2 * 4 * 4194304]'
  json_says '[.results[0].points[].parameters.per_launch] | unique == ["whole"]'
}

@test "explain stride, and a plan without measuring" {
  clprobe explain stride --full
  [ "$status" -eq 0 ]
  [[ $output == *'Grid stride'* ]]
  clprobe stride --dry-run
  [ "$status" -eq 0 ]
  [[ $output == *'    read int: '* ]]
}
