#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; jq has its own
# The probe stalls on a device: every kernel ends, proves itself, and is made into a bar.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
}

small=(--quick --max-memory 4MiB --json)

@test "kernels that are built to wait for one thing: all sets of causes, and noise" {
  # The budget is never used up, but that of --quick could be on a busy host.
  clprobe stalls "${small[@]}" --case latency-bound,barrier --time-budget 60s
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok"'
  # Every set of the causes that the points name has a build: 2 to the power of their number.
  json_says '[.results[0].points[] | select((.samples | length) > 0 and .parameters.idealised != null
      and .parameters.noise == null and .parameters.phase == null)]
    | group_by(.series) | map(.[0].series) == ["barrier", "latency-bound"] and all(
      (.[0].parameters.factors | split(",") | length) as $causes
      | $causes >= 3 and (map(.parameters.idealised) | unique) == [range(0; pow(2; $causes))])'
  # Every kind of noise was made in three amounts or more, none at all among them.
  json_says '[.results[0].points[] | select((.samples | length) > 0 and .parameters.noise != null)]
    | group_by([.series, .parameters.noise]) | length == 2 * 4
      and all(map(.parameters.noise_amount) | unique | .[0] == 0 and length >= 3)'
  # The parts of each bar, what is left among them, are all of it. Beside other load a part can come
  # out below nothing: then it is not known, and says so. One that comes out a little above the whole
  # is the whole: the others are then less than nothing by as much.
  json_says '[.results[0].findings[] | select(.name == "stall" and .method == "shapley")]
    | group_by(.series) | length == 2 and all(
      if all(.value != null) then
        (map(.value) | add) as $sum | ($sum - 1 | fabs < 1e-6) or (any(.value == 1) and $sum < 1)
      else all(.value != null or (.reason | startswith("not known: "))) end)'
  # What the noise says follows from what it found: not known where no cause costs time for sure,
  # inconclusive only where a resource has less than a tenth left.
  json_says '[.results[0].findings[] | select(.method == "shapley" or .method == "noise")]
    | group_by(.series) | length == 2 and all(
      (map(select(.name == "noise")) | length == 1)
      and (map(select(.name == "noise"))[0].label) as $verdict
      | (any(.[]; .name == "stall" and .label != "unattributed" and .value > 0
            and .reason == null) or $verdict == "not known")
        and ($verdict != "inconclusive"
            or any(.[]; .name == "absorbed" and .reason == null and .high < 0.1)))'
  json_says 'any(.results[0].findings[]; .label == "memory data: L2 or main memory")'
}

@test "an array by way of local memory, by an asynchronous copy, and where it is" {
  # Without each clocked phase a bar is not whole: a busy host could use up the budget of --quick.
  clprobe stalls "${small[@]}" --case implicit --time-budget 60s
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok"'
  json_says '[.results[0].points[] | select((.samples | length) > 0).series] | unique
    == ["implicit, async copy", "implicit, direct", "implicit, local memory"]'
  json_says '[.results[0].findings[] | select(.name == "stall" and .method == "clock")]
    | group_by(.series) | length == 3 and all((map(.value) | add) - 1 | fabs < 1e-6)'
  json_says '[.results[0].findings[] | select(.label == "idle: tail")]
    | length == 3 and all(.value >= 0 and .value <= 1)'
}

@test "kernels that wait for a unit run where they are named, and prove what they stored" {
  local names=uncoalesced-loads,uncoalesced-stores,store-bound,release,function-unit
  clprobe stalls "${small[@]}" --case "$names" --time-budget 60s
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok"'
  json_says '[.results[0].points[] | select((.samples | length) > 0).series] | unique
    == ["function-unit", "release", "store-bound", "uncoalesced-loads", "uncoalesced-stores"]'
  # What delays stores is gone before they are: of eight sets six.
  json_says '[.results[0].points[] | select(.series == "release" and .parameters.noise == null
      and .parameters.phase == null) | .parameters.idealised] | unique == [0, 1, 3]'
  clprobe stalls --max-memory 4MiB --dry-run
  [[ "$output" != *store-bound* ]]
  clprobe stalls --max-memory 4MiB --thorough --dry-run
  [[ "$output" == *"  store-bound: "* ]]
}

@test "tree searches end on a single thread, where nobody else goes on, and count every node" {
  POCL_MAX_PTHREAD_COUNT=1 clprobe stalls "${small[@]}" --case uts,utsd
  [ "$status" -eq 0 ]
  # Each sample's nodes were compared with those of the tree.
  json_says '.results[0].status == "ok"'
  json_says '[.results[0].points[] | select((.samples | length) > 0)] | length >= 2'
  json_says '[.results[0].findings[] | select(.name == "thesis" or .name == "here") | .name]
    | sort == ["here", "thesis"]'
}

@test "without a clock there are no phases, and it says so" {
  clprobe stalls "${small[@]}" --case uts,utsd --clock none
  [ "$status" -eq 0 ]
  json_says '[.results[0].points[] | select(.parameters.phase)] == []'
  json_says 'any(.results[0].findings[]; .name == "stall" and .value == null and (.reason | contains("clock")))'
}

@test "former names of cases are no names of --case, and the nearest is shown" {
  clprobe stalls --case memory
  fails_with 2 --case memory "did you mean 'memory-bound'"
}

@test "a plan says how much memory it takes, and keeps to what is allowed" {
  clprobe stalls --max-memory 4MiB --dry-run
  [ "$status" -eq 0 ]
  [[ "$output" =~ "stalls: "[0-9]+" points in 11 series, "[0-9.]+" MiB" ]]
  clprobe stalls --max-memory 16KiB --case memory-bound --dry-run
  [ "$status" -eq 0 ]
  [[ "$output" == *"stalls memory-bound: not measured: --max-memory"* ]]
}

@test "a kernel for devices is none for simulated machines" {
  clprobe --device sim:gsi gsi --case memory-bound
  fails_with 2 --case memory-bound 'uts, utsd, implicit'
}
