#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; jq expands its own
# compare --live: two sides measured alternately.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  : "${CLPROBE_FAULT_LIBRARY:?names libclprobe_fault.so}"
}

live() {
  clprobe compare --live "$@"
}

# Three sizes of the first cache, and of memory: a second or two on PoCL.
few=(latency --series global --sizes "2KiB-12KiB*1.2,32MiB-64MiB*1.2" --time-budget 20s)
# side_b FAULT: side B's driver misbehaves.
side_b() {
  live "${few[@]}" --b-env LD_PRELOAD="$CLPROBE_FAULT_LIBRARY" --b-env CLPROBE_FAULT="$1" "${@:2}"
}

@test "two simulated machines are told apart, one is like itself, and both are said" {
  live --device sim:fermi-m2070 --b-device sim:kepler-k20-prt latency --series global --json --fail-on worse
  [ "$status" -eq 4 ]
  json_says '[.runs[].device] == ["simulated fermi-m2070", "simulated kepler-k20-prt"]'
  json_says '[.findings[] | select(.name == "latency" and .level == 1) | .runs[].ratio // empty][0] > 5'
  json_says 'all(.findings[]; .name | IN("latency", "cycles", "capacity", "step"))'
  live --device sim:fermi-m2070 latency --series global --json --fail-on changed
  [ "$status" -eq 0 ]
  [[ $stderr == *'the same device in the same environment'* ]]
  json_says '[.findings[].runs[] | .verdict // empty] | length > 3 and all(. == "same")'
  json_says 'any(.findings[].runs[].reason // ""; test("alternating pass"))'
}

@test "a driver that takes 20 % longer is worse in every level that was alternated" {
  side_b stretch=20@clEnqueueNDRangeKernel --b-env CLPROBE_FAULT_STRETCHED=latency_chase \
    --fail-on worse --json --runs both.json
  [ "$status" -eq 4 ]
  [[ $stderr == *"worse: level 1 latency:"* && $stderr != *"$PWD"* ]]
  [[ $stderr != *"$CLPROBE_FAULT_LIBRARY"* ]]
  json_says '[.findings[].runs[] | select((.reason // "") | test("alternating pass"))] | length > 0 and
    all(.verdict == "worse" and .ratio > 1.1 and .ratio < 1.3 and .interval_low > 1.03)'
  # Both runs are there, with the samples of all passes, and can be reported and compared.
  json_says 'length == 2 and all(.[]; .interrupted == false)' both.json
  json_says 'all(.[]; [.results[].points[].samples[].visit] | max > 5)' both.json
  json_says '.[1].arguments | index("LD_PRELOAD=libclprobe_fault.so") != null' both.json
  clprobe report both.json
  [ "$status" -eq 0 ]
  clprobe compare both.json
  [ "$status" -eq 0 ]
}

@test "a driver that fails on side B is no pass, whichever the moment" {
  side_b fail@clCreateContext --fail-on worse
  [ "$status" -eq 5 ]
  [[ $stderr == *'side B'* && $stderr == *'cannot be decided'* ]]
  side_b fail@clCreateContext
  [ "$status" -eq 1 ]
  # While alternating: measuring once has a third as many launches.
  side_b gone@clEnqueueNDRangeKernel:60 --fail-on worse --runs both.json
  [ "$status" -eq 5 ]
  json_says '.[0].results[0].status == "ok" and .[1].results[0].status == "failed"' both.json
  # Without the library on side A there is nothing wrong with it.
  json_says '.[0].results[0].points | all((.failure // "") == "")' both.json
}

@test "an interrupt leaves the comparison and both runs as they are" {
  live_and_interrupt() {
    "$CLPROBE" compare --live "${few[@]}" --threshold 0.0001% --runs both.json --json >out.json &
    local pid=$!
    for _ in {1..600}; do
      [[ -e both.json ]] && jq -e 'all(.[]; [.results[].points[].samples[].visit] | max > 5)' both.json >/dev/null 2>&1 && break
      sleep 0.1
    done
    kill -TERM "$pid"  # SIGINT is ignored in a background job
    wait "$pid"
  }
  run --separate-stderr live_and_interrupt
  [ "$status" -eq 130 ]
  json_says 'all(.runs[]; .interrupted)' out.json
  json_says 'any(.findings[].runs[].reason // ""; test("alternating pass"))' out.json
  json_says 'length == 2 and all(.[]; .interrupted and ([.results[].points[].samples[].visit] | max > 5))' both.json
}

@test "each side has its own drivers, and what is wrong with one is said of it" {
  live --b-env OCL_ICD_VENDORS=/nowhere/at/all latency
  fails_with 3 'side B, ' 'no OpenCL device'
  live --b-device sim:nothing latency
  fails_with 2 "side B: --device: no machine is called 'nothing'"
  live --device sim:gsi,sim:fermi-m2070 latency
  fails_with 2 'side A selects 2 devices'
}

@test "what is typed means something or is refused" {
  live --b-env NOVALUE latency
  fails_with 2 'write NAME=VALUE'
  live --b-env =x latency
  fails_with 2 'write NAME=VALUE'
  live latency -o page.xml
  fails_with 2 '.html'
  live latency --baseline a.json
  fails_with 2 '--baseline belongs to compare'
  live latncy
  fails_with 2 "did you mean 'latency'"
  live --grid 2^20 latency
  fails_with 2 '--grid belongs to'
  live latency -- stride
  fails_with 2 '-- does not apply'
  clprobe compare a.json b.json --device 0
  fails_with 2 '--device belongs to'
  clprobe latency --b-env A=B
  fails_with 2 'compare --live'
  live latency -o same.json --runs same.json
  fails_with 2 '--runs and -o'
}

@test "what is typed beside the sides has an effect" {
  local flags words=(--device sim:gsi --b-device sim:fermi-m2070 latency --series global)
  outcome() {
    live "${words[@]}" "$@"
    printf '%s %s %s\n' "$status" "$(ls)" "$output" | sed 's/20[0-9-]*T[0-9:]*Z//'
  }
  local without
  without=$(outcome)
  [[ $(outcome) == "$without" ]]
  for flags in '--threshold 900%' '--thorough' '--max-memory 64KiB' --verbose '--format csv' --json '--color always' \
    '--fail-on worse' '--a-env A=1' '--b-env B=1' '--output out.csv' '--runs both.json' '--sizes 4KiB-64KiB'; do
    # shellcheck disable=SC2086
    [[ $(outcome $flags) != "$without" ]] || {
      printf 'no effect: %s\n' "$flags"
      return 1
    }
    rm -f out.csv both.json
  done
  # Too little time for four passes.
  live latency --series global --sizes 4KiB-12KiB*1.2 --time-budget 1ms --json
  json_says '[.findings[].runs[] | select((.reason // "") | test("alternating pass"))] | length > 0 and
    all(.verdict == "unclear" and (has("interval_high") | not))'
  # The clock that alone is tried, and the seed, are those of both runs.
  live latency --series global --sizes 4KiB-12KiB*1.2 --time-budget 1ms --clock none --seed 7 --runs both.json
  json_says 'all(.[]; .device.clock.kind == "none" and .seed == 7)' both.json
}
