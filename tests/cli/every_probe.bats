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
  probes=$("$CLPROBE" list --json | jq --compact-output '[.probes[].id]')
  mapfile -t words < <(jq --raw-output '.[]' <<<"$probes")
  clprobe --device 0 --quick --time-budget 10s --max-memory 4MiB --json "${words[@]}"
  [ "$status" -eq 0 ]
  json_says "[.results[].probe] == $probes"
  json_says '[.results[] | select(.status == "ok" or (.status == "unsupported" and .reason != "") | not)] == []'
  json_says '[.results[].points[] | select(.failure)] == []'
  json_says '[.results[] | select(.status == "ok") | [.points[].samples | length] | add > 0] | length > 0 and all'
}
