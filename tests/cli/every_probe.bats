#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # Bats and common.bash set the variables
# Each probe on PoCL, whatever probes there are.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
}

@test "every probe measures within a little memory, or says why it cannot" {
  local probes words
  probes=$("$CLPROBE" list --json | jq --compact-output '[.probes[].id] - ["gsi"]')  # simulated devices alone
  mapfile -t words < <(jq --raw-output '.[]' <<<"$probes")
  clprobe --device 0 --quick --time-budget 10s --max-memory 4MiB --json "${words[@]}"
  [ "$status" -eq 0 ]
  json_says "[.results[].probe] == $probes"
  json_says '[.results[] | select(.status == "ok" or (.status == "unsupported" and .reason != "") | not)] == []'
  json_says '[.results[].points[] | select(.failure)] == []'
  json_says '[.results[] | select(.status == "ok") | [.points[].samples | length] | add > 0] | length > 0 and all'
}

# series_of_plan <PLAN: "probe series" for each, sorted.
series_of_plan() {
  sed -n -e 's/^  \([a-z]*\): [0-9]* points\{0,1\} in .*/probe \1/p' \
    -e 's/^    \(.*\): [0-9]* points\{0,1\}$/\1/p' |
    awk '/^probe / { probe = $2; next } { print probe " " $0 }' | LC_ALL=C sort
}

@test "a dry run has the series of the run, for every probe" {
  local words little=(--device 0 --quick --time-budget 600s --max-memory 4MiB)
  # shellcheck disable=SC2034
  clprobe_seconds=600  # the sanitizers on a busy host take more than two minutes
  mapfile -t words < <("$CLPROBE" list --json | jq --raw-output '.probes[].id | select(. != "gsi")')
  clprobe "${little[@]}" --json "${words[@]}"
  printf '%s\n' "$stderr"
  [ "$status" -eq 0 ]
  # On one core launches that need two groups side by side are refused: a finding says so.
  jq --raw-output '[.[].results[] | .probe as $probe | .points[], (.findings[] | select(.reason)) |
    "\($probe) \(.series)"] | unique[]' <<<"$output" | LC_ALL=C sort >told
  jq --raw-output '[.[].results[] | .probe as $probe | .points[] | "\($probe) \(.series)"] | unique[]' \
    <<<"$output" | LC_ALL=C sort >measured
  clprobe "${little[@]}" --dry-run "${words[@]}"
  [ "$status" -eq 0 ]
  series_of_plan <<<"$output" >planned
  # The distances between two words depend on the levels that the rings of `line` show.
  sed --in-place '/^line .*pairs$/d' measured
  [[ -z $(LC_ALL=C comm -23 measured planned) && -z $(LC_ALL=C comm -13 told planned) ]] || {
    diff measured planned
    return 1
  }
  grep -q '^clock ' measured
  # A busy host may refuse this series too.
  grep -q '^launch back-to-back$' told
}
