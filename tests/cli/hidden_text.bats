#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # Bats and common.bash set the variables
# Characters that are not seen, in names that people, drivers and files choose. Nothing is measured.
bats_require_minimum_version 1.5.0

# A right-to-left override, an isolate, a zero-width space, a tag, a byte order mark, a variation
# selector, a line separator, and an escape sequence: bytes, since the shell's locale may be any.
hidden=$'\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8b\xf3\xa0\x81\x81\xef\xbb\xbf\xef\xb8\x8f\xe2\x80\xa8\e[31m'

setup() {
  load common
  common_setup
  stored=$BATS_TEST_DIRNAME/../../results/intel/xeon/pocl-5.0_2026-11-20.json
}

# A message of one line with nothing in it that is not seen, and the status.
complains() {
  fails_with "$1" || return 1
  only_seen <<<"$stderr"
}

@test "the test sees what is not seen" {
  run only_seen <<<"gpu${hidden}xyz"
  [ "$status" -ne 0 ]
  [[ $output == *'U+202E U+2066 U+200B U+E0041 U+FEFF U+FE0F U+2028 U+001B'* ]]
  only_seen <<<$'Intel\xc2\xae 5 \xc2\xb5s \xe6\xbc\xa2'
}

@test "words of the command line are quoted with what is hidden in them made visible" {
  clprobe -d "gpu${hidden}xyz" latency
  complains 3
  [[ $stderr == *'gpu\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8b\xf3\xa0\x81\x81'*'xyz'* ]]
  clprobe "lat${hidden}ency"
  complains 2
  clprobe "--na${hidden}me"
  complains 2
  clprobe latency --sizes "4${hidden}KiB"
  complains 2
  clprobe latency --json --format "${hidden}"
  complains 2
  clprobe -d "sim:${hidden}" latency
  complains 2
}

@test "names of files are quoted too" {
  local command
  for command in report compare import; do
    clprobe "$command" "no${hidden}file.json"
    complains 2
  done
  printf '{"%s": "%s"' "$hidden" "$hidden" >"bad${hidden}.json"
  for command in report compare import; do
    clprobe "$command" "bad${hidden}.json"
    complains 2
  done
  clprobe -d "sim:bad${hidden}.json" latency
  complains 2
  clprobe report "$stored" -o "none/${hidden}.json"
  complains 2
}

@test "a device's name reaches neither list nor plan" {
  clprobe -d sim:gsi latency --series global --sizes 4KiB --json
  jq --arg hidden "$hidden" '.[0].device.reported.machine | fromjson | .name += $hidden' <<<"$output" >mine.json
  clprobe list -d sim:mine.json
  [ "$status" -eq 0 ]
  [[ $output == *'simulated gsi?'* ]]
  only_seen <<<"$output"
  clprobe latency -d sim:mine.json --dry-run
  [ "$status" -eq 0 ]
  [[ $output == *'simulated gsi?'* ]]
  only_seen <<<"$output"
}

@test "a driver's words reach no report" {
  # In every text of the document that is free.
  jq --arg hidden "$hidden" '
    .device.name += $hidden | .device.driver += $hidden | .device.platform += $hidden |
    .device.vendor += $hidden | .device.version += $hidden | .host.cpu += $hidden |
    .arguments += [$hidden] | .device.reported["key" + $hidden] = "value" + $hidden |
    .warnings += [{code: "odd", source: "engine", facts: {("fact" + $hidden): ("value" + $hidden)}}] |
    .results[].points[].series += $hidden | .results[].findings[].series += $hidden |
    (.results[].findings[] | select(.label) | .label) += $hidden |
    (.results[].findings[] | select(.reason) | .reason) += $hidden |
    (.results[].findings[] | select(.method) | .method) += $hidden' "$stored" >"run${hidden}.json"
  for file in a.txt a.json a.csv a.md a.html latency.svg; do
    clprobe report "run${hidden}.json" -o "$file"
    [ "$status" -eq 0 ]
    only_seen <"$file"
  done
  for format in table json csv markdown; do
    clprobe compare "$stored" "run${hidden}.json" -f "$format"
    printf '%s: %s\n' "$format" "$stderr"
    [ "$status" -eq 0 ]
    only_seen <<<"$output"
  done
}
