#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; jq has its own
# gsi --trace: a kernel of one's own, from its text to the reports, and what is refused.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
}

# Two warps, of which each loads two lines of main memory one after the other.
write_chase() {
  cat >chase.trace <<'END'
clprobe-trace 1
kernel chase
program 0
  load r1 at=0x10000 warp=4096
  load r2 at=0x20000 warp=4096 needs=r1
  alu r3 needs=r2
group
  warp program=0 lanes=32 count=2
END
}

@test "a trace is simulated, and is a run like others" {
  write_chase
  OCL_ICD_VENDORS=$PWD/none clprobe -d sim:gsi gsi --trace chase.trace -o run.json
  [ "$status" -eq 0 ]
  [[ "$output" == *'memory data: main memory'*' 98.2'* ]]
  jq -e '.results | length == 1' run.json
  jq -e '.results[0].points[0] | .series == "chase" and .parameters.case == "trace"' run.json
  # Of each warp three instructions, of which no two issue in one cycle.
  jq -e '.results[0].points[0].facts.gsi_no_stall_cycles == 6' run.json
  jq -e '[.results[0].findings[] | select(.name == "stall" and .method == "gsi").value] | add
         | . > 0.999999 and . < 1.000001' run.json
  clprobe report run.json -f html -o page.html -o bars.svg
  [ "$status" -eq 0 ]
  grep -q chase page.html
  grep -q '<svg' bars.svg
}

@test "two traces of one kernel are compared by their kernel's name" {
  write_chase
  clprobe -d sim:gsi gsi --trace chase.trace -o before.json
  # Loads that do not wait for each other.
  sed 's/ needs=r1$//' chase.trace >apart.trace
  clprobe -d sim:gsi gsi --trace apart.trace -o after.json
  clprobe compare before.json after.json --fail-on worse
  [ "$status" -eq 0 ]
  [[ "$output" == *chase* ]]
  clprobe compare after.json before.json --fail-on worse
  [ "$status" -eq 4 ]
}

@test "a trace says where in it a line is none, and what was expected" {
  write_chase
  sed 's/alu r3/alu r64/' chase.trace >wrong.trace
  clprobe -d sim:gsi gsi --trace wrong.trace
  fails_with 2 "--trace: 'wrong.trace': line 6: expected a register, r0 to r63, found 'r64'"
  clprobe -d sim:gsi gsi --trace missing.trace
  fails_with 2 "--trace: cannot read 'missing.trace': No such file"
  clprobe -d sim:gsi gsi --trace .
  fails_with 2 --trace 'cannot read'
  head -c 4096 /dev/urandom >noise.trace
  clprobe -d sim:gsi gsi --trace noise.trace
  fails_with 2 "line 1: the first line of a trace must be 'clprobe-trace 1'"
  clprobe -d sim:gsi gsi --trace ''
  fails_with 2 --trace 'needs a value'
}

@test "a trace without a machine that simulates it is a mistake" {
  write_chase
  clprobe gsi --trace chase.trace
  fails_with 2 'gsi runs only on simulated devices' '--device sim:gsi gsi'
  clprobe -d sim:gsi gsi --trace chase.trace -o run.json
  clprobe -d sim:gsi stalls --trace chase.trace
  fails_with 2 '--trace belongs to gsi'
  sed 's/lanes=32/lanes=64/' chase.trace >wide.trace
  clprobe -d sim:gsi gsi --trace wide.trace
  fails_with 2 '--trace: gsi cannot run chase: groups[0]: expected warps of 1 to 32 lanes, found 64'
}

@test "a trace is not replaced by what is found in it, and its folder is not kept" {
  mkdir secret
  write_chase
  mv chase.trace secret/chase.json
  clprobe -d sim:gsi gsi --trace secret/chase.json -o secret/chase.json
  fails_with 2 chase.json
  clprobe -d sim:gsi gsi --trace secret/chase.json --json
  [ "$status" -eq 0 ]
  [[ "$output" == *chase.json* && "$output" != *secret* ]]
}

@test "a kernel's own cycles on two machines, side by side" {
  write_chase
  clprobe -d sim:gsi,sim:fermi-m2070 gsi --trace chase.trace --dry-run
  [ "$status" -eq 0 ]
  [ "$(grep -c 'gsi: 1 point in 1 series' <<<"$output")" -eq 2 ]
  clprobe compare --live -d sim:gsi --b-device sim:fermi-m2070 gsi --trace chase.trace
  [ "$status" -eq 0 ]
  [[ "$output" == *chase* ]]
}
