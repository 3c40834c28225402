#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2034  # Bats and common.bash set and use the variables
# The command `fleet report`, on a fleet made of a stored run of an H200.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  python3 "$BATS_TEST_DIRNAME/../../bench/fleet.py" --make fleet --devices 16 --slow 5 --program "$CLPROBE"
}

@test "a slow device is found, with node, cause and host list" {
  clprobe fleet report fleet -o page.html -o fleet.csv -o fleet.jsonl -o fleet.prom -o fleet.json -o fleet.md
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == *'16 devices of 2 nodes, 0 missing, 0 failed, 1 slow, 0 suspect'* ]]
  [[ $output == *'a001 slot 5'*'memory'* ]]
  [ "${lines[-1]// /}" = a001 ]
  json_says '.schema == "clprobe-fleet" and .offenders[0].slot == "5" and .hosts == "a001"' fleet.json
  grep --quiet '^clprobe_slow{node="a001",slot="5".* 1$' fleet.prom
  [ "$(grep --count '"standing":"slow"' fleet.jsonl)" -ge 1 ]
  grep --quiet 'aria-label="map of nodes and slots"' page.html
}

@test "conditions, missing nodes and bad files" {
  clprobe fleet report fleet --fail-on slow
  [ "$status" -eq 4 ]
  clprobe fleet report fleet --fail-on missing
  [ "$status" -eq 0 ]
  clprobe fleet report fleet --nodes 'a[001-003]' --fail-on missing
  [ "$status" -eq 4 ]
  clprobe fleet report fleet --nodes 'a[001-003]' --suspects
  [ "$output" = 'a[001,003]' ]
  head -c 1000 fleet/a001-00.json >fleet/half.json
  echo '{"a": 1}' >fleet/foreign.json
  clprobe fleet report fleet
  [ "$status" -eq 0 ]
  [[ $output == *'2 failed'*'foreign.json'*'half.json'* ]]
}

@test "hostile names stay harmless" {
  jq '.labels.node = "<script>\u001b[31m\"$(reboot)\\"' fleet/a001-05.json >fleet/x.json
  rm fleet/a001-05.json
  clprobe fleet report fleet -o page.html -o fleet.prom
  [ "$status" -eq 0 ]
  [[ $output != *$'\e['* ]]
  [[ ${lines[-1]} == *'no offending nodes'* ]]
  run ! grep --quiet '<script>?' page.html
  # shellcheck disable=SC2016  # a name that must not be expanded
  grep --quiet 'node="<script>?\[31m\\"$(reboot)\\\\"' fleet.prom
}

@test "usage errors" {
  clprobe fleet report
  [ "$status" -eq 2 ]
  clprobe fleet report fleet --fail-on worse
  [ "$status" -eq 2 ]
  clprobe fleet report fleet --nodes 'a[3-1]'
  [ "$status" -eq 2 ]
  clprobe report fleet/a001-00.json -f prometheus
  [ "$status" -eq 2 ]
  clprobe fleet report none
  [ "$status" -eq 2 ]
}

@test "labels state where the devices of a run are" {
  clprobe latency --quick --sizes 4KiB -d sim:fermi-m2070,sim:gsi --label node=a001 \
    --label rack=r1 -o a.json
  json_says '[.[].labels | [.node, .rack, .slot]] == [["a001", "r1", "0"], ["a001", "r1", "1"]]' \
    a.json
  clprobe latency --label shelf=3 -o b.json
  fails_with 2 "unknown key 'shelf': choose node, slot, rack, campaign or job"
}
