#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016,SC2030,SC2031  # Bats and common.bash set the variables; jq has its own
# PoCL, alone and beside others: a run from the command line to every report.
bats_require_minimum_version 1.5.0

setup() {
  load ../cli/common
  common_setup
}

@test "PoCL, rusticl and Clover together: each device is listed, and the platform without one" {
  require_driver rusticl
  require_driver mesa
  mkdir vendors
  cp /etc/OpenCL/vendors/{mesa,pocl,rusticl}.icd vendors/
  export OCL_ICD_VENDORS=$PWD/vendors/ RUSTICL_ENABLE=llvmpipe
  clprobe list
  [ "$status" -eq 0 ]
  [[ $output == *pthread* && $output == *llvmpipe* && $output == *"'Clover': no devices"* ]]
  clprobe list --json
  [ "$status" -eq 0 ]
  json_says '[.devices[].platform] | sort == ["Portable Computing Language", "rusticl"]'
  json_says '[.devices[].index] == [0, 1]'
  json_says '.problems == [{"platform": "Clover", "problem": "no devices"}]'
  # Without a name for its device, rusticl has none either.
  unset RUSTICL_ENABLE
  clprobe list --json
  [ "$status" -eq 0 ]
  json_says '[.problems[].platform] | sort == ["Clover", "rusticl"]'
}

@test "two devices in one run stand side by side" {
  require_driver rusticl
  mkdir vendors
  cp /etc/OpenCL/vendors/{pocl,rusticl}.icd vendors/
  export OCL_ICD_VENDORS=$PWD/vendors/ RUSTICL_ENABLE=llvmpipe
  clprobe latency "${few_sizes[@]}" --series global --device all -o a.json
  [ "$status" -eq 0 ]
  [[ $output == *llvmpipe* && $output == *pthread* ]]
  clprobe report a.json
  [ "$status" -eq 0 ]
  [[ $output == *llvmpipe* && $output == *pthread* ]]
}

@test "transfers between two devices of a platform, each with a context of both" {
  POCL_DEVICES="basic pthread" clprobe transfer --device 0:1 --time-budget 60s --sizes 64B-64KiB*8 \
    --series to-peer,from-peer --json
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok"'
  json_says '[.results[0].points[].series] | unique == ["from-peer-0", "to-peer-0"]'
  json_says '[.results[0].points[] | select((.samples | length) == 0)] == []'
  json_says '[.results[0].points[].facts | .peer_name[:5], .peer_shares_memory] | unique == [1, "basic"]'
  json_says '[.results[0].findings[] | select(.name == "peer_path").label] == ["in one memory", "in one memory"]'
  # One alone.
  clprobe transfer --series to-peer --json
  [ "$status" -eq 0 ]
  json_says '.results[0].findings[0].reason == "the platform has no other device"'
}

@test "mapping a buffer moves no bytes, as the host's memory is the device's" {
  clprobe transfer --time-budget 60s --sizes 64MiB --json \
    --series to-device,from-device,to-device-map,from-device-map
  [ "$status" -eq 0 ]
  json_says '[.results[0].findings[] | select(.name == "zero_copy").label] == ["yes"]'
}

@test "what takes long is done once a visit: programs that are built, and transfers in which the host copies" {
  clprobe launch --time-budget 60s --series build,build-again,new-local-size --json
  [ "$status" -eq 0 ]
  json_says '[.results[0].points[] | .samples | group_by(.visit)[] | length] | unique == [1]'
  json_says '[.results[0].points[].samples | length] | min >= 2'
  clprobe transfer --time-budget 60s --sizes 64KiB,256MiB --series to-device-map --json
  [ "$status" -eq 0 ]
  json_says '[.results[0].points[] | select(.parameters.transfer_bytes == 268435456) | .samples
    | group_by(.visit)[] | length] | unique == [1]'
  json_says '[.results[0].points[] | select(.parameters.transfer_bytes == 65536) | .samples
    | group_by(.visit)[] | length] | max > 1'
}

@test "each device of a platform copies to and from each other one, in one run" {
  POCL_DEVICES="basic pthread basic" clprobe transfer --device all --time-budget 60s --sizes 64KiB \
    --series to-peer,from-peer -o a.json
  [ "$status" -eq 0 ]
  # In order: what each device's points are called.
  json_says '[.[] | [.results[0].points[] | select((.samples | length) > 0) | .series] | unique] == [
    ["from-peer-1", "from-peer-2", "to-peer-1", "to-peer-2"],
    ["from-peer-0", "from-peer-2", "to-peer-0", "to-peer-2"],
    ["from-peer-0", "from-peer-1", "to-peer-0", "to-peer-1"]]' a.json
  clprobe report a.json
  [ "$status" -eq 0 ]
  [[ $output == *to-peer-2* && $output == *from-peer-0* ]]
}

@test "one run in every format, and a report of its JSON is the same text" {
  clprobe latency "${few_sizes[@]}" -o a.json -o a.csv -o a.md -o a.txt
  [ "$status" -eq 0 ]
  printf '%s\n' "$output" >printed
  clprobe report a.json
  [ "$status" -eq 0 ]
  diff printed <(printf '%s\n' "$output")
  local format file
  for format in table:a.txt csv:a.csv markdown:a.md; do
    file=${format#*:}
    clprobe report a.json --format "${format%:*}"
    [ "$status" -eq 0 ]
    diff "$file" <(printf '%s\n' "$output")
  done
  clprobe report a.json --json
  diff <(jq '[.]' a.json) <(jq . <<<"$output")
}

@test "the findings of a report are those of the run" {
  clprobe latency "${few_sizes[@]}" -o a.json
  clprobe report a.json --json
  [ "$status" -eq 0 ]
  diff <(jq '.results[].findings' a.json) <(jq '.[0].results[].findings' <<<"$output")
}

@test "a seed fixes the order of the points and the cycles; another gives others" {
  local seed
  for seed in 7 8; do
    clprobe latency --sizes 16KiB-64KiB*1.1 --series global --quick --time-budget 60s --seed "$seed" -o "$seed.json"
    [ "$status" -eq 0 ]
    json_says ".seed == $seed" "$seed.json"
  done
  clprobe latency --sizes 16KiB-64KiB*1.1 --series global --quick --time-budget 60s --seed 7 -o again.json
  # Where a chase ends tells the cycle. The clock decides how long it is, so that only samples of
  # the same length compare.
  ends='[.results[0].points[] | .parameters.working_set_bytes as $size | .samples[]
    | {key: "\($size) \(.accesses) \(.visit)", value: .witness}] | from_entries'
  jq --exit-status --null-input --slurpfile a 7.json --slurpfile b again.json "
    (\$a[0] | $ends) as \$first | (\$b[0] | $ends) as \$second
    | [\$first | keys[] | select(\$second[.] != null)] | length > 0 and all(\$first[.] == \$second[.])"
}

@test "explain says question, method and what can fool it" {
  clprobe explain latency --full
  [ "$status" -eq 0 ]
  [[ ${output,,} == *question* && ${output,,} == *method* && ${output,,} == *fool* ]]
}

@test "dry-run names every series that a run measures" {
  clprobe latency "${few_sizes[@]}" --dry-run
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  local series planned=$output
  clprobe latency "${few_sizes[@]}" --json
  for series in $(jq -r '[.[0].results[].points[].series] | unique[]' <<<"$output"); do
    [[ $planned == *"    $series: "* ]]
  done
}

@test "a foreign clock that was asked for and does not build is a failure, and says why" {
  clprobe latency "${few_sizes[@]}" --series global --clock intel-cycle-counter --json
  [ "$status" -eq 1 ]
  [[ $stderr == *'--clock intel-cycle-counter does not work on this device'* ]]
  json_says '[.warnings[].code] == ["device_failed"]'
}

@test "no clock leaves the times of launches" {
  clprobe latency "${few_sizes[@]}" --series global --clock none --json
  [ "$status" -eq 0 ]
  json_says '.device.timer != "clock" and .device.clock.kind == "none"'
  json_says '.results[0].status == "ok"'
}
