#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # Bats and common.bash set the variables
# The probe inflight and simulated devices: what they refuse, that they prove themselves.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
}

@test "a simulated device needs no OpenCL at all" {
  OCL_ICD_VENDORS=$PWD/none clprobe --device sim:fermi-m2070 latency --sizes 4KiB-64KiB \
    --series global --json
  [ "$status" -eq 0 ]
  json_says '.device.type == "simulated" and .results[0].status == "ok"'
  json_says '[.results[0].findings[] | select(.name == "cycles") | .value | round][0] == 45'
  OCL_ICD_VENDORS=$PWD/none clprobe list --device sim:fermi-m2070
  [ "$status" -eq 0 ]
  [[ "$output" == *"simulated fermi-m2070"* ]]
}

@test "a simulated device beside a real one" {
  clprobe --device 0,sim:fermi-m2070 latency --sizes 4KiB --series global --quick --json
  [ "$status" -eq 0 ]
  json_says 'length == 2 and .[1].device.type == "simulated"'
}

@test "an unknown preset shows the list, and the nearest" {
  clprobe --device sim:fermi-m2071 latency
  fails_with 2 fermi-m2071 'did you mean fermi-m2070' 'hopper-like'
}

@test "a machine file that is not there, or wrong, says where and what was expected" {
  clprobe --device sim:nosuch.json latency
  fails_with 2 --device nosuch.json
  echo '{"name": "mine"}' >mine.json
  clprobe --device sim:mine.json latency
  fails_with 2 mine.json 'core: expected an object'
}

@test "a machine file is a device: what a run says of a preset can be run again" {
  clprobe --device sim:gsi latency --sizes 4KiB --series global --json
  [ "$status" -eq 0 ]
  jq -r '.[0].device.reported.machine' <<<"$output" >gsi.json
  clprobe --device sim:gsi.json latency --sizes 4KiB --series global --json
  [ "$status" -eq 0 ]
  json_says '.device.name == "simulated gsi" and .results[0].status == "ok"'
}

@test "a simulated device takes the time that it needs, and less where that was asked for" {
  local words=(--device sim:fermi-m2070 latency --series global --sizes "4KiB-64MiB*1.1" --json)
  clprobe "${words[@]}" --quick
  [ "$status" -eq 0 ]
  json_says '.results[0].warnings == [] and (.results[0].points | length) > 50'
  clprobe "${words[@]}" --quick --time-budget 1ms
  [ "$status" -eq 0 ]
  json_says '[.results[0].warnings[].code] == ["time_budget_short"]'
}

@test "the limit of the M2070 is found" {
  clprobe --device sim:fermi-m2070 inflight --loads 1,2,3 --mergers 1,2 --target cache --quick \
    --time-budget 60s --json
  [ "$status" -eq 0 ]
  json_says '[.results[0].findings[] | select(.name == "limit") | .label] == ["MSHR"]'
  json_says '[.results[0].findings[] | select(.name == "requests")][0] | .low <= 128 and .high >= 128'
}

@test "work-items, loads, mergers and targets that cannot be" {
  clprobe --device sim:gsi inflight --work-items 4096
  fails_with 2 --work-items 4096 'choose 1 to 1024'
  clprobe --device sim:gsi inflight --mergers 2048
  fails_with 2 --mergers 2048 'choose 1 to 1024'
  clprobe --device sim:gsi inflight --loads 17
  fails_with 2 --loads 17
  clprobe --device sim:gsi inflight --target tape
  fails_with 2 --target tape 'cache'
}

@test "chains and rounds prove themselves on a processor" {
  clprobe --device 0 inflight --work-items 8 --loads 1,3 --mergers 1,2 --max-memory 4MiB --quick \
    --time-budget 60s --json
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok"'
  json_says '[.results[0].points[] | select((.samples | length) == 0)] == []'
  json_says '[.results[0].points[].series] | unique | contains(["cache-x3-across-2", "memory-chains"])'
  json_says '[.results[0].findings[] | select(.name == "limit") | .reason]
    | length == 1 and (.[0] | test("one after another"))'
}

@test "each sub-group's own time, and when it began, which on a processor are a work-item's" {
  clprobe --device 0 inflight --series sub-groups --loads 2 --target cache --max-memory 4MiB --quick \
    --time-budget 60s --json
  [ "$status" -eq 0 ]
  json_says '[.results[0].points[].series] | unique == ["cache-x2-of-8"]'
  json_says '[.results[0].points[].parameters.sub_group_number] | sort == [range(8)]'
  # One behind the other: the last one begins when the first one has ended.
  json_says '[.results[0].points[] | [.parameters.sub_group_number, .facts.begin_ticks, .facts.end_ticks]]
    | sort | .[7][1] > .[0][2] and all(.[]; .[2] > .[1])'
  json_says '[.results[0].findings[] | select(.name == "fastest_sub_group") | .value > 0] == [true]'
}

@test "work-groups that run one after another are told, not measured" {
  POCL_MAX_PTHREAD_COUNT=1 clprobe --device 0 inflight --series loaded --max-memory 64MiB --quick \
    --json
  [ "$status" -eq 0 ]
  json_says '[.results[0].points[] | select(.failure)] == []'
  json_says '[.results[0].findings[] | select(.name | startswith("memory_parallelism"))] == []'
  json_says '[.results[0].findings[].reason] | any(test("did not run at the same time as"))'
}

@test "streams beside a chase prove themselves, whether they ran side by side or not" {
  POCL_MAX_PTHREAD_COUNT=2 clprobe --device 0 inflight --series loaded --max-memory 64MiB --quick \
    --time-budget 60s --json
  [ "$status" -eq 0 ]
  json_says '[.results[0].points[] | select(.failure)] == []'
  json_says '[.results[0].points[].series] | unique - ["loaded-latency", "loaded-traffic"] == []'
  json_says '([.results[0].findings[] | select((.name | startswith("memory_parallelism")) and .value > 0)]
    + [.results[0].findings[] | select((.reason // "") | test("did not run at the same time as"))]
    + [.results[0].warnings[]? | select(.code == "point_refused")]) | length > 0'
}

@test "series of the probe are chosen by words, and a word of another probe is refused" {
  clprobe --device sim:fermi-m2070 inflight --series chains --target cache --json
  [ "$status" -eq 0 ]
  json_says '[.results[0].points[].series] | unique == ["cache-chains"]'
  clprobe --device sim:fermi-m2070 inflight --series global
  fails_with 2 --series global 'choose thread-latency'
  clprobe --device sim:fermi-m2070 inflight --series nosuch
  fails_with 2 --series nosuch
}

@test "explain tells the method" {
  clprobe explain inflight --full
  [ "$status" -eq 0 ]
  [[ "$output" == *"Thread-Latency"* ]]
  [[ "$output" == *"loaded latency"* ]]
}
