#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; jq has its own
# The probe gsi: the thesis's cases on simulated machines, and
# what is refused.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
}

@test "an unknown case shows the nearest, and all of them" {
  clprobe --device sim:gsi gsi --case implicid
  fails_with 2 --case implicid "did you mean 'implicit'" 'uts, utsd, implicit or compute'
  clprobe --device sim:gsi gsi --case uts,
  fails_with 2 --case
}

# most_threads COMMAND...: runs it, and says how many threads it was seen to have at once.
most_threads() {
  "$@" >/dev/null 2>&1 &
  local pid=$! most=0 now
  while kill -0 "$pid" 2>/dev/null; do
    now=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
    most=$((now > most ? now : most))
  done
  wait "$pid" || return
  printf '%d\n' "$most"
}

@test "a simulation that may use one core has one thread, however many the machine has" {
  run most_threads taskset --cpu-list "$(taskset --cpu-list --pid $$ | sed 's/.*[ ,-]//')" \
    "$CLPROBE" --device sim:gsi gsi --case utsd,implicit --set nodes=2048
  [ "$status" -eq 0 ]
  [ "$output" -eq 1 ]
}

@test "a case that a machine cannot run is a mistake where it was asked for, else a reason" {
  clprobe --device sim:gsi gsi --case implicit --json
  [ "$status" -eq 0 ]
  jq -r '.[0].device.reported.machine' <<<"$output" |
    jq '.name = "small" | .local.bytes = 512 | .core.compute_units = 2' >small.json
  clprobe --device sim:small.json gsi --case implicit
  fails_with 2 --case implicit 'small cannot run this case' \
    'expected at most 512 bytes of local memory, found 1024'
  clprobe --device sim:small.json gsi --dry-run
  [ "$status" -eq 0 ]
  [[ "$output" == *"  gsi: 8 points in 8 series"* ]]
  [[ "$output" == *"    utsd, ownership: 1 point"* ]]
  [[ "$output" == *"gsi implicit: not measured: small cannot run this case"* ]]
}

@test "implicit on GSI's machine: every bar is whole, and stands beside the thesis" {
  OCL_ICD_VENDORS=$PWD/none clprobe --device sim:gsi gsi --case implicit -o run.json
  [ "$status" -eq 0 ]
  [[ "$output" == *"full MSHR"* && "$output" == *"pending DMA"* ]]
  [[ "$output" == *"implicit, stash, 256 MSHRs"* ]]
  json_says '.results[0].status == "ok" and (.results[0].points | length) == 12' run.json
  json_says '[.results[0].findings[] | select(.name == "stall")]
    | group_by([.series, .method]) | length == 24
      and all(.[]; (map(.value) | add) as $all | $all > 0.999999 and $all < 1.000001)' run.json
  json_says '[.results[0].findings[] | select(.name == "thesis") | .value]
    == [0.64, 0.69, 1.67, 1.34, 0, 13, 8.9, 2.1]' run.json
}

@test "bars fit the terminal and need neither colour nor Unicode" {
  clprobe --device sim:gsi gsi --case implicit -o run.json
  [ "$status" -eq 0 ]
  LC_ALL=C clprobe report run.json
  [ "$status" -eq 0 ]
  [ "$(LC_ALL=C awk 'length > 80' <<<"$output" | wc -l)" -eq 0 ]
  [[ "$output" != *$'\x1b'* ]]
  [[ "$output" == *"# no stall"* && "$output" == *"M memory structural"* ]]
}

@test "every format has the shares, and a report makes them anew from the document" {
  clprobe --device sim:gsi gsi --case implicit -o run.json
  [ "$status" -eq 0 ]
  jq '.results[0].findings = []' run.json >bare.json
  clprobe report bare.json -o again.json -o again.md -o again.csv -o again.html -o again.svg
  [ "$status" -eq 0 ]
  [ "$(jq -c '.results[0].findings' run.json)" = "$(jq -c '.results[0].findings' again.json)" ]
  grep -q '| memory structural: full MSHR | 35.5 |' again.md
  grep -q 'gsi_memory_structural_full_mshr_cycles' again.csv
  grep -q 'memory structural: full MSHR: 35.5 %' again.html
  grep -q '<title>memory structural: full MSHR: 35.5 %</title>' again.svg
}

@test "a document whose account was edited says that it does not add up" {
  clprobe --device sim:gsi gsi --case implicit -o run.json
  [ "$status" -eq 0 ]
  jq '.results[0].points[].facts.gsi_no_stall_cycles = 7' run.json >edited.json
  clprobe report edited.json --json
  [ "$status" -eq 0 ]
  json_says '[.results[0].findings[] | select(.reason | strings | test("does not add up"))]
    | length == 12'
  json_says '[.results[0].findings[] | select(.name == "time")] == []'
}

@test "the same machine gives the same run, and another one is told from it" {
  clprobe --device sim:gsi gsi --case implicit -o one.json
  clprobe --device sim:gsi gsi --case implicit --seed 42 -o two.json
  clprobe compare one.json two.json --fail-on changed
  [ "$status" -eq 0 ]
  clprobe --device sim:fermi-m2070 gsi --case implicit -o other.json
  [ "$status" -eq 0 ]
  clprobe compare one.json other.json --fail-on changed
  [ "$status" -eq 4 ]
}

@test "a machine without MSHRs has no sweep, and says why" {
  clprobe --device sim:kepler-k20-prt gsi --case implicit --json
  [ "$status" -eq 0 ]
  json_says '(.results[0].points | length) == 3'
  json_says '[.results[0].findings[] | select(.method == "plan") | .reason]
    | length == 1 and (.[0] | test("kepler-k20-prt has no MSHRs to sweep"))'
}

@test "a search by several compute units: options, priorities, and what single units have" {
  clprobe --device sim:gsi gsi --case utsd --compute-units 2 --set nodes=60,poll=group,back-off=50 \
    --priority control,idle -o run.json
  [ "$status" -eq 0 ]
  jq -e '.results[0].points | length == 2 and all(.parameters.units == 2 and
    .parameters.poll == "group" and .parameters.cycle_priority == "control,idle")' run.json
  jq -e '[.results[0].findings[] | select(.name == "most_unit" and .label == "no stall")]
    | length == 2' run.json
  clprobe report run.json -v
  [ "$status" -eq 0 ]
  [[ "$output" == *"maximum over the compute units"* ]]
  clprobe --device sim:gsi gsi --case implicit --set nodes=60
  fails_with 2 '--set nodes: applies only to uts and utsd'
  clprobe --device sim:gsi gsi --case uts --set node=60
  fails_with 2 "--set: unknown parameter 'node' (did you mean nodes?); choose poll, "
  clprobe --device sim:gsi gsi --case uts --priority luck
  fails_with 2 --priority
}

@test "gsi needs a simulated device, and stalls a real one" {
  clprobe gsi --json
  fails_with 2 'gsi runs only on simulated devices' '--device sim:gsi gsi'
  clprobe --device sim:gsi stalls
  fails_with 2 'stalls does not run on simulated devices' '--device sim:gsi gsi'
}

@test "explain tells the method and GSI's names" {
  clprobe explain gsi --full
  [ "$status" -eq 0 ]
  [[ "$output" == *"Algorithm 1"* && "$output" == *"pending release"* ]]
}

@test "the picture of the page is what its command draws" {
  root=$BATS_TEST_DIRNAME/../..
  command=$(grep --only-matching 'clprobe --device .* -o docs/images/.*' "$root/docs/gsi.md")
  read -ra words <<<"$command"
  clprobe "${words[@]:1:${#words[@]}-2}" stalls.svg
  [ "$status" -eq 0 ]
  # All but the line with the day of the run.
  diff <(grep -v 'clprobe simulator' stalls.svg) \
    <(grep -v 'clprobe simulator' "$root/${words[-1]}")
}
