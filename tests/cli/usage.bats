#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; bash -c expands its own
# What is typed wrong: exit 2, one line, the nearest match where there is one.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
}

@test "an unknown probe names the nearest" {
  clprobe latensy
  fails_with 2 latensy latency
}

@test "an unknown option names the nearest" {
  clprobe --devise 0
  fails_with 2 --devise --device
}

@test "a flag without its value says so" {
  clprobe latency --sizes
  fails_with 2 --sizes
}

@test "an unknown device says what there is" {
  clprobe latency --device nosuchdevice
  fails_with 3 nosuchdevice
}

@test "CLPROBE_DEVICE stands for --device where none is typed" {
  CLPROBE_DEVICE=nosuchdevice clprobe latency --dry-run
  fails_with 3 nosuchdevice
  CLPROBE_DEVICE=nosuchdevice clprobe latency --dry-run --device sim:gsi
  [ "$status" -eq 0 ]
}

@test "report takes folders, and knows a mistyped probe from a file" {
  mkdir runs
  clprobe --device sim:gsi latency --sizes 1KiB -o runs/one.json
  echo '{}' >runs/other.json
  clprobe report runs
  [[ $status -eq 0 && $output == *'simulated gsi'* && $stderr == *'clprobe import'*'is skipped'* ]]
  clprobe report runs/one.json latensy
  fails_with 2 "file 'latensy' does not exist" "the probe 'latency'"
  clprobe report runs/other.json
  fails_with 2 'clprobe import'
}

@test "a device index that does not exist" {
  clprobe latency --device 99
  fails_with 3 99
}

@test "an empty word in a list of devices" {
  local devices
  for devices in '' ',' '0,' ',0'; do
    clprobe latency --device "$devices"
    fails_with 2 --device
  done
}

@test "sizes that are no sizes" {
  local sizes
  for sizes in banana 1KiB- -1KiB 1QiB-2QiB '1KiB-64KiB*0.5' '64KiB-1KiB' 1e400; do
    clprobe latency --sizes "$sizes"
    fails_with 2 --sizes
  done
}

@test "a size of 0" {
  clprobe latency --sizes 0
  fails_with 2 0
}

@test "a size above the device's memory" {
  clprobe latency --device 0 --sizes 60000GiB
  fails_with 2 --sizes 'exceeds the largest buffer' 'choose at most'
  clprobe latency --device 0 --max-memory 60000GiB
  fails_with 2 --max-memory 'exceeds the largest buffer'
  clprobe latency --device 0 --sizes 60000GiB --dry-run
  fails_with 2 --sizes
}

@test "sizes of less than two steps: the least is named" {
  clprobe latency --sizes 16
  fails_with 2 --sizes '16 B' 'choose at least 128 B'
  clprobe latency --sizes 16 --dry-run
  fails_with 2 'choose at least 128 B'
  clprobe latency --sizes 128KiB --step 1MiB --series global
  fails_with 2 'choose at least 2 MiB' --step
}

@test "steps that are none, or leave no memory two nodes" {
  local step
  for step in 0 -8 9 100 x 4294967297GiB; do
    clprobe latency --step "$step"
    fails_with 2 --step
  done
  clprobe latency --step 512GiB
  fails_with 2 --step '512 GiB' 'choose at most'
  clprobe latency --step 1GiB
  fails_with 2 --step 'choose at most'
}

@test "an unroll that is no number, 0, or too great" {
  local unroll
  for unroll in x 0 -1 100000; do
    clprobe latency --unroll "$unroll"
    fails_with 2 --unroll
  done
}

@test "accesses to local memory that no device has" {
  clprobe banks --device 0 --ways 128
  fails_with 2 --ways 128 'choose 1 to'
  clprobe banks --device 0 --sub-groups 1024
  fails_with 2 --sub-groups 1024 'choose 1 to'
  clprobe banks --device 0 --strides 0-3,65536
  fails_with 2 --strides 65536 'local memory' 'choose 0 to'
  clprobe banks --device 0 --ways 128 --dry-run
  fails_with 2 --ways
}

@test "numbers of banks that are no numbers, or out of bounds" {
  local words
  for words in '--ways 0' '--ways 1,' '--ways 8-2' '--word-size 5' '--instructions 33' \
    '--sub-groups -1' '--strides x' '--strides 0-1000'; do
    # shellcheck disable=SC2086
    clprobe banks $words
    fails_with 2 "${words%% *}"
  done
}

@test "an unknown format names the nearest" {
  clprobe latency --format jsn
  fails_with 2 jsn json
}

@test "an extension of an output that is no format" {
  clprobe latency -o out.xyz
  fails_with 2 out.xyz
}

@test "explain of an unknown probe" {
  clprobe explain latnecy
  fails_with 2 latnecy latency
}

@test "help, version and explain write to stdout and end with 0" {
  clprobe --help
  [[ $status -eq 0 && -z $stderr ]]
  # The probes by their words, and options of measuring and of saving.
  local word
  for word in latency stride banks --device --json --time-budget; do
    grep --quiet --fixed-strings --word-regexp -e "$word" <<<"$output"
  done
  clprobe --version
  [[ $status -eq 0 && -z $stderr ]]
  [[ ${lines[0]} =~ ^clprobe\ [0-9]+\.[0-9]+\.[0-9]+ ]]
  local version=$output
  clprobe version
  [[ $status -eq 0 && -z $stderr && $output == "$version" ]]
  clprobe --help
  local help=$output
  clprobe help
  [[ $status -eq 0 && -z $stderr && $output == "$help" ]]
  clprobe help report
  [[ $status -eq 0 && $output == 'clprobe report FILE'* && $output == *--series* ]]
  [[ $output != *--time-budget* ]]
  clprobe help stride
  [[ $status -eq 0 && $output == *--grid* ]]
  clprobe explain latency
  [[ $status -eq 0 && -z $stderr ]]
}

@test "report of a file that is not there, is empty, or is no run" {
  clprobe report nosuch.json
  fails_with 2 nosuch.json 'No such file' -o
  : >empty.json
  clprobe report empty.json
  fails_with 2 empty.json empty
  echo '{"schema": "something else"}' >other.json
  clprobe report other.json
  fails_with 2 other.json schema expected
  echo '{"schema": ' >cut.json
  clprobe report cut.json
  fails_with 2 cut.json 'truncated'
}
