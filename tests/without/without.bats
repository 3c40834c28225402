#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats sets the variables; messages have backquotes
# A build with -DCLPROBE_PROFILE=OFF or -DCLPROBE_SIMULATION=OFF.
bats_require_minimum_version 1.5.0

setup() { cd "$BATS_TEST_TMPDIR" || return; }

@test "without: the probes of devices measure, and their runs are reported and compared" {
  run --separate-stderr "$CLPROBE" latency --quick --sizes 4KiB,8KiB,16KiB -o a.json
  [ "$status" -eq 0 ]
  run --separate-stderr "$CLPROBE" report a.json
  [ "$status" -eq 0 ]
  [[ "$output" == *latency* ]]
  run --separate-stderr "$CLPROBE" compare a.json a.json
  [ "$status" -eq 0 ]
}

@test "without: a stored run that has findings of a missing probe is reported" {
  run --separate-stderr "$CLPROBE" report "$BATS_TEST_DIRNAME/../curves/sim-gsi-stalls.json"
  [ "$status" -eq 0 ]
}

@test "without: profile, simulated devices and their probes say how to get them" {
  if [ "$CLPROBE_PROFILE" = 0 ]; then
    run --separate-stderr "$CLPROBE" profile -- true
    [ "$status" -eq 2 ]
    [[ "$stderr" == *'this build has no `profile`: rebuild clprobe with -DCLPROBE_PROFILE=ON'* ]]
  fi
  if [ "$CLPROBE_SIMULATION" = 0 ]; then
    run --separate-stderr "$CLPROBE" -d sim:gsi latency
    [ "$status" -eq 2 ]
    [[ "$stderr" == *'no simulated devices: configure it with -DCLPROBE_SIMULATION=ON'* ]]
    run --separate-stderr "$CLPROBE" help gsi
    [ "$status" -eq 2 ]
  fi
}
