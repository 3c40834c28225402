#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; messages have backquotes
# Options follow their probe, and whatever is typed has an effect or is an error.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
}

@test "an option of another probe names its owner" {
  clprobe latency --word-size 8
  fails_with 2 --word-size 'belongs to banks' 'write it after `banks`'
  clprobe stride --strides 1,2,4
  fails_with 2 --strides banks
  clprobe stride --sizes 1KiB-64KiB
  fails_with 2 --sizes latency
  clprobe inflight --timer host
  fails_with 2 --timer stride
  clprobe stride --word-size 4
  fails_with 2 --word-size banks
  clprobe latency stride --grid 1024 latency --grid 1024
  fails_with 2 --grid stride
}

@test "a series of another probe is refused, with those that the probe has" {
  clprobe latency --series load-latency
  fails_with 2 --series load-latency 'choose global'
  [[ $stderr != *load-throughput* ]]
  clprobe stride --series local
  fails_with 2 --series 'belongs to'
  clprobe latency --series foo
  fails_with 2 foo global
}

@test "flags of commands have no meaning where something is measured" {
  clprobe latency --fail-on worse
  fails_with 2 --fail-on 'leave it out'
  clprobe latency --baseline a.json
  fails_with 2 --baseline 'leave it out'
}

@test "a probe's own help lists its options alone" {
  clprobe stride --help
  [ "$status" -eq 0 ]
  [[ $output == *--grid* && $output == *--operation* ]]
  [[ $output != *--unroll* && $output != *--fail-on* ]]
  clprobe --help
  [[ $output == *'latency '* && $output == *--device* ]]
  [[ $output != *--grid* ]]
}

@test "a dry run says points, memory and time" {
  clprobe --device 0 --dry-run latency --series global --max-memory 64MiB stride --vector 4
  [ "$status" -eq 0 ]
  [[ $output =~ latency:\ [0-9]+\ points\ in\ 1\ series,\ [0-9.]+\ MiB,\ up\ to\ [0-9]+\ s ]]
  [[ $output =~ stride:\ [0-9]+\ points\ in\ 1\ series ]]
}

@test "options of two probes in one command" {
  clprobe --device sim:gsi --dry-run latency --sizes 4KiB,8KiB --series global stride --type int --vector 4
  [ "$status" -eq 0 ]
  [[ $output == *'latency: 2 points'* ]]
}

@test "a file without a run, another document, and a run among imports" {
  echo '[]' >empty.json
  clprobe report empty.json
  fails_with 2 empty.json 'no run'
  clprobe import nosuch.csv
  fails_with 2 nosuch.csv 'another tool'
  [[ $stderr != *-o* ]]
  cp "$BATS_TEST_DIRNAME/../golden/run.json" run.json
  clprobe import run.json
  fails_with 2 run.json 'clprobe report'
  echo '{"a": 1}' >foreign.json
  clprobe import foreign.json
  fails_with 2 foreign.json 'not from a known tool'
  printf '1,2\n2,3\n' >list.csv
  clprobe import list.csv
  fails_with 2 list.csv '--size-unit B, KiB or MiB'
}

@test "a clock that was asked for and does not work is a failure" {
  clprobe latency --device 0 --clock nvidia-clock64 --sizes 4KiB --series global
  [ "$status" -eq 1 ]
  [[ $stderr == *'--clock nvidia-clock64 does not work on this device'* ]]
}

@test "a probe of which nothing can be measured says why by the commonest of its reasons" {
  clprobe --device sim:gsi launch
  [[ $output == *'not supported: the simulator has no trace for launch'* ]]
  [[ $output == *'the device has no out-of-order queues'* ]]
}
