#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # Bats and common.bash set the variables
# rusticl on llvmpipe, of Mesa 22.3: event times are 0, 1, 2, 3 for every command; all loops of a
# launch end after 65,535 iterations in all, and the stores behind them never happen; a clock
# builtin makes the driver end the process; an image of a buffer is refused.
bats_require_minimum_version 1.5.0

setup() {
  load ../cli/common
  common_setup
  require_driver rusticl
  export OCL_ICD_VENDORS=/etc/OpenCL/vendors/rusticl.icd RUSTICL_ENABLE=llvmpipe
}

@test "every series: the host's clock is used, and what cannot be is said" {
  clprobe latency --device llvmpipe --sizes 1KiB,16KiB,64KiB --quick --time-budget 60s --json
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  json_says '.device.timer == "host" and .device.clock.kind == "none"'
  json_says '[.warnings[] | select(.source == "engine") | .code] == ["event_times_false"]'
  json_says '.results[0].status == "ok"'
  # Each sample was checked against its witness: a wrong one would be a failure.
  json_says '[.results[0].points[] | select((.failure // "") != "" or (.samples | length) == 0)] == []'
  json_says '[.results[0].points[].series] | unique ==
    ["constant-argument", "constant-program", "global", "global-pages", "local"]'
  json_says '[.results[0].findings[] | select(.series == "image") | .reason]
    | length == 1 and (.[0] | test("cannot create an image"))'
}

@test "more loads than a driver's 65,535 iterations are cut into launches" {
  # Smallest unroll: each load is an iteration.
  clprobe latency --device llvmpipe --sizes 1KiB,4MiB --series global --unroll 1 --quick --time-budget 60s --json
  [ "$status" -eq 0 ]
  json_says '[.results[0].points[].samples[].accesses] | max < 65535 and min > 0'
}

@test "a large ring is laid out whole within 65,535 iterations of each work-item" {
  clprobe latency --device llvmpipe --sizes 160MiB --series global --quick --time-budget 60s --json
  [ "$status" -eq 0 ]
  json_says '[.results[0].points[].samples[].witness] | length > 0 and all(. > 0)'
}

@test "a clock that ends the driver's process costs the device, and says so" {
  clprobe latency --device llvmpipe --sizes 4KiB --series global --quick --time-budget 60s --json \
    --clock cpu-cycle-counter
  [ "$status" -eq 1 ]
  json_says '[.warnings[].code] == ["device_failed"]'
  json_says '.warnings[0].facts | (.reason | startswith("--clock cpu-cycle-counter does not work on this device")) and
    (.reason | test("exited with status 8; driver output: .*readcyclecounter|exited with status 8; driver output: .*InvalidFunctionCall"))'
}

@test "a clock that does not build costs the device, and says so" {
  clprobe latency --device llvmpipe --sizes 4KiB --series global --quick --time-budget 60s --json \
    --clock nvidia-clock64
  [ "$status" -eq 1 ]
  [[ $stderr == *'--clock nvidia-clock64 does not work on this device'* ]]
}

@test "strides by the host's clock, within 65,535 iterations of each work-item" {
  # 2^18 elements of each of 4 work-items would be 16,384 batches; with vectors of 16 131,072.
  clprobe stride --device llvmpipe --elements 1M --grid 4 --work-group 2 --vector 1,16 \
    --operation read,copy --quick --time-budget 60s --json
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok" and (.results[0].points | length) == 12'
  json_says '[.results[0].points[].parameters.timer] | unique == ["host"]'
  json_says '[.results[0].points[] | select((.samples | length) == 0)] == []'
}

@test "loads in flight: chains by slopes of the host's clock, and why there is no limit" {
  clprobe inflight --device llvmpipe --max-memory 1MiB --quick --time-budget 60s --json
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok"'
  json_says '[.results[0].points[].series] | unique == ["cache-chains", "memory-chains"]'
  json_says '[.results[0].findings[] | select(.name == "limit") | .reason] | length == 1'
  json_says '[.results[0].points[].samples[].ticks // 0] | max == 0'
}

@test "loads in flight: lines of many MiB are filled whole within 65,535 iterations" {
  # 16 MiB are 4 Mi words: 65,536 of each work-item where there are fewer than 64 of them.
  clprobe inflight --device llvmpipe --series chains --max-memory 32MiB --quick --time-budget 60s --json
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok"'
  json_says '[.results[0].points[] | select(.series == "memory-chains") | .facts.buffer_bytes] |
    length > 0 and max == 16777216'
  json_says '[.results[0].points[] | select((.failure // "") != "" or (.samples | length) == 0)] == []'
}

@test "banks: slopes of the host's clock, and the model is said not to be measured" {
  clprobe banks --device llvmpipe --quick --time-budget 60s --json --word-size 4 --strides 1,32 \
    --series load-latency,store-throughput,load-model --sub-groups 2 --instructions 2
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok"'
  json_says '[.results[0].points[] | select((.failure // "") != "" or (.samples | length) == 0)] == []'
  json_says '[.results[0].findings[] | select(.name == "c1") | .reason] == ["without an in-kernel clock, clprobe cannot time runs of only a few accesses"]'
}

@test "a survey counts launches, and warns that their times are none" {
  clprobe profile --list --json -- "$CLPROBE_SURVEYED" many 20
  [ "$status" -eq 0 ]
  json_says '.launches == 20 and .timed >= 4 and .has_doubtful_times'
  clprobe profile --list -- "$CLPROBE_SURVEYED" many 20
  [[ $output == *'warning: according to'*'no launch took longer than'* ]]
}

@test "kernels with images of each kind leave the program's pixels in a replay, plain and renamed" {
  local kernel
  for kernel in gather fade; do
    clprobe profile --quick --kernel "$kernel" -o a.json -- "$CLPROBE_SURVEYED" images
    [ "$status" -eq 0 ]
    json_says '[.results[0].points[].facts | .deterministic, .equal_to_app] | unique == [1]' a.json
    json_says '[.results[0].points[] | select(.parameters.variant == "instrumented") | .samples | length > 0] |
      length > 1 and all' a.json
  done
}

@test "transfers: every way of one queue is seen to have moved the bytes" {
  clprobe transfer --device llvmpipe --sizes 64B,64KiB --quick --time-budget 60s --json \
    --series to-device,from-device,to-device-pinned,from-device-pinned,to-device-map,from-device-map,to-device-kernel,from-device-kernel,on-device
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok" and (.results[0].points | length) == 18'
  json_says '[.results[0].points[] | select((.failure // "") != "" or (.samples | length) == 0)] == []'
}

# Of two queues at once this driver loses what one of them writes or reads, in most samples.
@test "transfers: bytes that two queues lose are an error, and never a fast result" {
  clprobe transfer --device llvmpipe --sizes 1MiB --quick --time-budget 60s --json \
    --series both-pinned,to-device-duplex,from-device-duplex
  json_says '[.results[0].points[].failure // "" | select(. != "" and (startswith("wrong result:") | not))] == []'
  json_says '[.results[0].points[] | select((.failure // "") == "" and (.samples | length) == 0)] == []'
}

@test "launches: queues and builds by the host's clock, and why there is no gap" {
  clprobe launch --device llvmpipe --launches 1,16 --quick --time-budget 60s --json \
    --series queued,event,build,build-again,back-to-back
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok"'
  json_says '[.results[0].points[].series] | unique == ["build", "build-again", "event", "queued"]'
  json_says '[.results[0].points[] | select((.failure // "") != "" or (.samples | length) == 0)] == []'
  json_says '[.results[0].findings[] | select(.name == "gap").reason] == ["the driver'"'"'s event times are unreliable"]'
}

@test "bandwidth: what is read and written by the host's clock, within 65,535 iterations of each work-item" {
  clprobe bandwidth --device llvmpipe --sizes 1MiB --series read,write --quick --time-budget 60s --json
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok" and .results[0].points[0].parameters.timer == "host"'
  json_says '[.results[0].points[] | select((.failure // "") != "" or (.samples | length) == 0)] == []'
}

@test "the clock of a core cannot be told, and why" {
  clprobe clock --device llvmpipe --burn 200 --json
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "unsupported" and .results[0].reason == "kernels cannot read a clock on this device"'
}
