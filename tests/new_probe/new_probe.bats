#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # Bats and common.bash set the variables
# A probe that tools/new-probe made, through everything that a probe goes through.
bats_require_minimum_version 1.5.0

setup() {
  load ../cli/common
  common_setup
  new_probe=$BATS_TEST_DIRNAME/../../tools/new-probe
}

measure() {
  clprobe --device 0 --quick unheard_of --chains 1,2,4,8 "$@"
  [ "$status" -eq 0 ]
}

# The program that has not heard of the probe.
plain() {
  run --separate-stderr "$CLPROBE_PLAIN" "$@"
}

@test "it makes six files and a line, and touches nothing else" {
  mkdir -p tree/src/probes
  cp "$BATS_TEST_DIRNAME/../../src/probes/probes.def" tree/src/probes
  run --separate-stderr "$new_probe" reach tree
  [ "$status" -eq 0 ]
  [ "$(cd tree && find . -type f | sort | tr '\n' ' ')" = "./cl/reach.cl ./docs/reach.md \
./src/probes/probes.def ./src/probes/reach/launch.cpp ./src/probes/reach/launch.hpp \
./src/probes/reach/reach.cpp ./src/probes/reach/reach_test.cpp " ]
  run diff "$BATS_TEST_DIRNAME/../../src/probes/probes.def" tree/src/probes/probes.def
  [ "${lines[1]}" = '> PROBE(reach)' ]
  [ "${#lines[@]}" -eq 2 ]
  run ! grep -r '@ID@' tree
  run --separate-stderr "$new_probe" reach tree
  [ "$status" -eq 2 ]
  [[ $stderr == *'already exists'* ]]
  run --separate-stderr "$new_probe" 'No Id' tree
  [ "$status" -eq 2 ]
}

@test "list, help, man page, explain and completions know it" {
  clprobe list --json
  json_says '[.probes[].id] | index("unheard_of") != null'
  clprobe --help
  [[ $output == *unheard_of* ]]
  clprobe unheard_of --help
  [[ $output == *--chains* ]]
  clprobe explain unheard_of
  [[ $output == 'unheard_of: '*'What is found'*'What can fool it'* ]]
  clprobe --generate man
  [[ $output == *'.SS unheard_of'* && $output == *'\-\-chains'* ]]
  clprobe --complete unh
  [[ $output == *unheard_of* ]]
  clprobe --complete unheard_of --ch
  [[ $output == *--chains* ]]
  clprobe latency --chains 2
  fails_with 2 'belongs to compute or unheard_of'
}

@test "it measures on PoCL, and every format shows it" {
  measure -o run.json -o run.csv -o run.md -o run.html -o run.svg -o run.txt
  [[ $output == *throughput* && $output == *Gop/s* ]]
  [ "$(jq -r '.results[0] | .probe, .status, .unit, .view.x' run.json | tr '\n' ' ')" = 'unheard_of ok seconds chains ' ]
  [ "$(jq -r '[.results[0].findings[] | .name + ":" + (.role // "fact") + ":" + .better] | join(" ")' run.json)" = \
    'latency:headline:less throughput:fact:more' ]
  [ "$(jq '.results[0].points | length' run.json)" -eq 4 ]
  grep -q unheard_of run.csv
  grep -q throughput run.md
  grep -q 'unheard_of' run.html
  grep -q '<svg' run.svg
  grep -q throughput run.txt
}

@test "runs of it are compared" {
  measure -o run.json
  clprobe compare run.json run.json --json
  [ "$status" -eq 0 ]
  json_says '[.findings[] | select(.probe == "unheard_of")] | length == 2'
  json_says '.runs[1].verdicts | .worse == 0 and .different == 0 and .unclear == 0'
}

@test "a program that does not know it draws and judges it all the same" {
  measure -o run.json
  plain report run.json -o run.html -o run.svg -o run.md
  [ "$status" -eq 0 ]
  [[ $output == *throughput* && $output == *Gop/s* ]]
  grep -q '<svg' run.svg
  # Half the throughput and twice the latency: both are worse, as the document declares, on a
  # machine that nobody else used meanwhile.
  jq 'del(.results[].others_share, .host.is_virtual)' run.json >quiet.json
  jq '.results[0].findings |= map(. as $f | (if $f.name == "latency" then 2 else 0.5 end) as $by |
    .value *= $by | .low *= $by | .high *= $by)' quiet.json >slow.json
  plain compare quiet.json slow.json --json
  [ "$status" -eq 0 ]
  jq -e '.runs[1].verdicts.worse == 2' <<<"$output"
}
